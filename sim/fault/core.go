package fault

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// core is what all faults have in common. It is most of an [inject.Fault].
type core struct {
	class   string // name of the constructor
	given   string // its arguments
	name    string // class and arguments
	process string // whose fault it is, for a fault of one process
	scope   scope
	longest time.Duration // how long it may last
	env     inject.Env    // of the run

	// eagerness is chosen once in each run: 0 is off, 1 rare and 2 often. So every run has its own
	// mixture of faults, and shrinking drops a whole fault by one choice.
	eagerness int
	count     inject.Count
	unseen    int // injections whose effect has not been observed
	noted     int // injections with an event in the history
}

// String implements [Fault] and [inject.Fault].
func (c *core) String() string {
	if c.process != "" {
		return c.name
	}
	return c.name + c.scope.String()
}

// Declared implements [inject.Fault].
func (c *core) Declared() (class, rest string) {
	return c.class, c.String()[len(c.class):]
}

// injection is an occurrence of the fault.
func (c *core) injection(how string) *history.Injection {
	in := &history.Injection{Class: c.class, Arguments: c.given, How: how}
	if in.Lasting = c.noted >= c.count.Injected; !in.Lasting {
		c.noted++
	}
	return in
}

// Check implements [inject.Fault].
func (c *core) Check() error {
	if c.longest < 0 {
		return errors.New("has a negative duration")
	}
	if p := cmp.Or(c.process, c.scope.process); p != "" && !c.env.Started(p) {
		return fmt.Errorf("names process %q, which has not been started", p)
	}
	if c.scope.twice != "" {
		return fmt.Errorf("is narrowed by %s twice; declare a fault for each", c.scope.twice)
	}
	return nil
}

// Arm implements [inject.Fault].
func (c *core) Arm(eagerness int) { c.eagerness = eagerness }

// Armed implements [inject.Fault].
func (c *core) Armed() bool { return c.eagerness > 0 }

// Count implements [inject.Fault].
func (c *core) Count() inject.Count { return c.count }

// covers reports whether an object that a process deals with is in the scope of the fault.
func (c *core) covers(process, kind, verb string, ref history.Ref) bool {
	return (c.process == "" || c.process == process) && c.scope.covers(process, kind, verb, ref)
}

// reaches says the same of a request.
func (c *core) reaches(call *wire.Call) bool {
	ref := call.Ref()
	if c.scope.name != "" {
		ref = call.Object()
	}
	return c.covers(call.Port.Process, call.Kind, call.Verb(), ref)
}

// injected asks whether the fault is injected at a point, and how (0 is not at all). rare and often
// are the odds, one in so many, of the two degrees of eagerness.
func (c *core) injected(where story.Label, n, rare, often int) int {
	if c.env.Ended() {
		return 0
	}
	class := c.of(where)
	c.count.Opportunities++
	class.Opportunities++
	if c.eagerness == 0 {
		return 0
	}
	odds := rare
	if c.eagerness == 2 {
		odds = often
	}
	where.Kind, where.Of = story.Inject, c.name
	v := c.env.Rarely(where, n, odds)
	if v > 0 {
		c.count.Injected++
		class.Injected++
		c.unseen++
	}
	return v
}

// of is the count of the class of requests that a point belongs to.
func (c *core) of(where story.Label) *inject.ClassCount {
	class := choice.ClassOf(where)
	i := slices.IndexFunc(c.count.Classes, func(n inject.ClassCount) bool { return n.Class == class })
	if i < 0 {
		i, c.count.Classes = len(c.count.Classes), append(c.count.Classes, inject.ClassCount{Class: class})
	}
	return &c.count.Classes[i]
}

// injectedAt asks the same at a request.
func (c *core) injectedAt(call *wire.Call, when string, n, rare, often int) int {
	if call.Idle() || call.Verb() == "watch" || !c.reaches(call) {
		return 0
	}
	opportunities, injected := c.count.Opportunities, c.count.Injected
	v := c.injected(at(call, when), n, rare, often)
	if call.Source() != "" && c.count.Opportunities > opportunities {
		site := c.siteOf(call, when)
		site.Opportunities++
		site.Injected += c.count.Injected - injected
	}
	return v
}

// siteOf is the count of the line of the program that sends a call.
func (c *core) siteOf(call *wire.Call, when string) *inject.SiteCount {
	n := inject.SiteCount{Source: call.Source(), Verb: call.Verb(), Kind: call.Kind, Sub: call.Info.Subresource,
		When: when}
	if call.Host != "" {
		n.Kind = call.Host
	}
	i := slices.IndexFunc(c.count.Sites, func(have inject.SiteCount) bool {
		return have.Source == n.Source && have.When == n.When && have.Verb == n.Verb && have.Kind == n.Kind &&
			have.Sub == n.Sub
	})
	if i < 0 {
		i, c.count.Sites = len(c.count.Sites), append(c.count.Sites, n)
	}
	return &c.count.Sites[i]
}

// at is the point at which a request is about to take effect, or has. when says which; "" for a
// fault that knows only one.
func at(call *wire.Call, when string) story.Label {
	who := call.Port.Process
	if when != "" {
		who = when + " " + who
	}
	return story.Label{Who: who, Verb: call.Verb(), What: call.Subject()}
}

// note records that the fault was injected at a request.
func (c *core) note(call *wire.Call, what string) {
	in := c.injection(what)
	in.Verb, in.Ref, in.Of = call.Verb(), call.Object(), call.Description()
	c.env.Note(history.Event{
		Kind: history.Fault, Process: call.Port.Process, Incarnation: call.Port.Incarnation, Reconcile: call.Reconcile,
		Injection: in,
	})
}

// observed counts that one injection has had its effect.
func (c *core) observed() {
	if c.unseen > 0 {
		c.unseen--
		c.count.Observed++
	}
}

// latestObserved counts that something met a fault that lasts. It counts for the latest injection:
// the others are over.
func (c *core) latestObserved() {
	c.unseen = min(c.unseen, 1)
	c.observed()
}

// Shares of the longest time that a fault may last. A choice of 0 injects nothing.
var (
	lags    = []int64{0, 1024, 256, 64, 16, 4, 2, 1}
	lengths = []int64{0, 256, 64, 16, 4, 2, 1}
)

// share is a part of the longest time that the fault may last.
func (c *core) share(shares []int64, v int) time.Duration {
	return c.longest / time.Duration(shares[v])
}

// lasting is the core of a fault that lasts for a while.
type lasting struct {
	core
	until map[string]time.Duration // by what it befalls
}

func newLasting(c core) lasting { return lasting{c, map[string]time.Duration{}} }

// remaining is how much longer the fault lasts; 0 if it does not.
func (l *lasting) remaining(of string) time.Duration {
	if l.env.Ended() {
		return 0
	}
	return max(0, l.until[of]-l.env.Now())
}

// begin lets the fault last for a share of the longest time.
func (l *lasting) begin(of string, v int) time.Duration {
	d := l.share(lengths, v)
	l.until[of] = l.env.Now() + d
	return d
}

// befalls reports whether the fault lasts, or begins with this request. seen is for the request
// with which it begins.
func (l *lasting) befalls(c *wire.Call, of string) (seen func(), befalls bool) {
	if l.remaining(of) > 0 {
		return nil, true
	}
	v := l.injectedAt(c, "", len(lengths), 40, 12)
	if v == 0 {
		return nil, false
	}
	l.note(c, fmt.Sprintf("for %v, beginning with", l.begin(of, v)))
	return l.observed, true
}

// End implements [inject.Ender].
func (l *lasting) End() { clear(l.until) }
