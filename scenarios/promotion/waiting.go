// This file holds the properties of progress: livelocks, a status that explains the waiting, how
// soon a promotion is ordered, and back-off after refusals.

package promotion

import (
	"fmt"
	"net/http"
	"regexp"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/scenarios/internal/stored"
	"github.com/wavetank/wavetank/scenarios/promotion/forge"
	"github.com/wavetank/wavetank/sim/property"
)

const (
	// mostInVain is how many passes may end without progress after one change, and mostPeriods how
	// many back-off periods a promotion may take to be ordered.
	mostInVain, mostPeriods = 3, 3
	// firstBackOff and longestBackOff are those of controller-runtime's queues.
	firstBackOff, longestBackOff = 5 * time.Millisecond, 1000 * time.Second
)

// backOff is what controller-runtime's queues put a key off for after n failures in a row.
func backOff(n int) time.Duration { return min(firstBackOff<<min(n-1, 20), longestBackOff) }

// excused reports whether a pass began with a stale cache or met with a fault: another attempt is
// what one wants of it.
func (r *Record) excused(pass *view.Reconcile) bool {
	failed := func(e *history.Event) bool {
		return e.Code == 403 || e.Code == 422 || e.Code == 429 || e.Code >= 500
	}
	met := len(pass.Stale) > 0 || len(pass.Faults) > 0 || r.cutOff[pass]
	for _, c := range pass.Calls {
		met = met || failed(&c.Request) || c.Reply != nil && failed(c.Reply)
	}
	return met
}

// progress reports whether a pass brought things forward: by an order, or by a write of more than
// times and messages in a pipeline's status.
func progress(r *view.Reconcile) bool {
	for _, c := range r.Calls {
		if c.Request.Host != "" && c.Request.Verb != "GET" {
			return true
		}
		for i := range c.Request.Changes {
			is := &c.Request.Changes[i]
			if is.Ref.Kind != "Pipeline" || is.Type != "MODIFIED" || gist(is.Previous) != gist(is.Object) {
				return true
			}
		}
	}
	return false
}

// volatile is what may differ each time that a pipeline is looked at.
var volatile = regexp.MustCompile(
	`"(resourceVersion|message|time|lastTransitionTime|lastAttemptedTime)":"(\\.|[^"\\])*"`)

// gist is a stored pipeline without that.
func gist(object []byte) string { return volatile.ReplaceAllString(string(object), "") }

// tried takes in an event for noLivelock. A pass does not count while some pipeline waits for a
// target that it cannot read, because it has to come back for that.
func (r *Record) tried(e *history.Event) {
	pass := r.view.Of(e)
	switch {
	case len(e.Changes) > 0 && pass == nil:
		r.inVain = nil // another writer has changed the world
	case e.Kind == history.Done && pass.Retries() && pass.Open() == 0 && !progress(pass) && !r.excused(pass):
		for p := range r.pipelines.Live() {
			if apimeta.IsStatusConditionFalse(p.Value().Status.Conditions, v1alpha1.ReadyCondition) {
				return
			}
		}
		r.inVain = append(r.inVain, fmt.Sprintf("%s %s: %s", e.Actor(), e.Reconcile, e.Outcome))
	}
}

// noLivelock (S4-L4): if it has all that it needs and no other writer interferes, the operator does
// not repeat passes that change nothing.
func (r *Record) noLivelock(*history.History) error {
	if v := r.inVain; len(v) > mostInVain {
		return fmt.Errorf("%d passes have ended without progress since the last change, the last of them %s", len(v),
			v[len(v)-1])
	}
	return nil
}

// wait reports whether a pipeline had to wait from a time on, and whether its status said for what.
type wait struct {
	since           history.Time
	waits, explains bool
}

// clock takes in an event for actionable. Time counts from the end of the first pass of an operator
// on, because one that is not there cannot tell.
func (r *Record) clock(e *history.Event) {
	ends := e.Kind == history.Crash || e.Kind == history.Stop
	begins := e.Kind == history.Done && r.away
	switch {
	case e.Process == Operator && (ends || begins):
		r.away = ends
	case len(e.Changes) == 0:
		return
	}
	all := wait{since: e.At, explains: true}
	for p := range r.pipelines.Live() {
		waits, explains := r.waits(p.Value())
		all.waits = all.waits || waits && !r.away
		all.explains = all.explains && (explains || !waits)
	}
	r.waited = append(r.waited, all)
}

// waits reports whether a pipeline has to wait for something, and whether its status says for what:
// of a missing target its error says that it does not exist.
func (r *Record) waits(p *v1alpha1.Pipeline) (waits, explains bool) {
	for _, t := range r.allTargets(p) {
		if !t.exists {
			return true, t.isSaidAbsent()
		}
	}
	pending := apimeta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.PromotionPendingCondition)
	env, revision, _ := r.behind(p)
	if env == nil {
		return revision == "", pending // "": the first environment itself is not ready
	}
	// Who has been promoted waits for the cluster, whose objects say the rest.
	now := shown(p, env.Name)
	return true, pending || now.Revision == revision && now.Succeeded
}

// actionable (S4-A2): for 95 % of the time in which a pipeline has to wait, its status says for
// what. A share of less than a minute says nothing: a pass takes a second.
func (r *Record) actionable(h *history.History) error {
	var all, silent time.Duration
	for i, w := range r.waited {
		until := h.Now()
		if i+1 < len(r.waited) {
			until = r.waited[i+1].since
		}
		if w.waits {
			all += until - w.since
		}
		if w.waits && !w.explains {
			silent += until - w.since
		}
	}
	if all-silent < all*95/100 && all >= time.Minute {
		return fmt.Errorf("the pipeline waited for %v, and for %v of that its status did not say for what", all, silent)
	}
	return nil
}

// dueness is that an environment is to be promoted to a revision.
type dueness struct {
	what    string
	periods int // of back-off that have ended since it is due, or since another writer last changed the world
}

// tick reads an event for orderedSoon. Each disturbance gives the operator the whole time again.
// Passes with a stale cache or a fault end no period, nor do those that cannot read every target
// yet.
func (r *Record) tick(e *history.Event) {
	disturbed := e.Kind == history.Fault || e.Kind == history.Heal || e.Incarnation == 0 && len(e.Changes) > 0
	pass := r.view.Of(e)
	ends := e.Kind == history.Done && pass.Timed && !r.excused(pass)
	if !disturbed && !ends && len(e.Changes) == 0 {
		return
	}
	for p := range r.pipelines.Live() {
		what := ""
		if env, revision, _ := r.behind(p.Value()); env != nil {
			what = env.Name + "/" + revision
		}
		d := r.due[p.UID]
		if d == nil || d.what != what || disturbed {
			d = &dueness{what: what}
			r.due[p.UID] = d
		}
		if ends && pass.ID.Namespace == p.Ref.Namespace && pass.ID.Name == p.Ref.Name && isReady(p.Value()) {
			d.periods++
		}
	}
}

// orderedSoon (S4-L1): what is due is ordered within three back-off periods.
func (r *Record) orderedSoon(p *pipeline) error {
	d := r.due[p.UID]
	if d == nil || d.what == "" || d.periods <= mostPeriods {
		return nil
	}
	env, revision, _ := r.behind(p.Value())
	if len(r.promoted(p, env.Name, revision, forge.Attempt)) > 0 {
		return nil
	}
	return fmt.Errorf("%s is to be promoted to %s, and after %d back-off periods has not been", env.Name, revision,
		d.periods)
}

// posts takes in an event for spaced (S4-L2): who has been refused waits before the next order,
// twice as long each time and at least as long as the queue would.
func (r *Record) posts(e *history.Event) {
	if e.Kind != history.Request || e.Host != gitHost || e.Verb != http.MethodPost {
		return
	}
	var o forge.Order
	stored.Decode(e.Sent, &o)
	calls, before := r.view.Of(e).Calls, r.posted[o.Key()]
	n := len(before)
	if refused := n > 0 && before[n-1].Reply != nil && before[n-1].Reply.Code/100 != 2; refused {
		if since, wait := e.At-before[n-1].Reply.At, backOff(n); since < wait {
			r.Breaks(spaced, "the %s was ordered again %v after order %d had been refused, not %v", o, since, n, wait)
		}
	}
	r.posted[o.Key()] = append(before, calls[len(calls)-1])
}

// tries are the orders of each promotion. After a sleep that is longer than the longest lag, no
// other order may follow sooner. Sleeps without the process, or that faults may have prolonged, do
// not count. When faults have ended, it has to settle once more.
func (r *Record) tries() property.Attempts {
	return property.Attempts{
		Of: func(e *history.Event) string {
			if e.Kind != history.Request || e.Host != gitHost || e.Verb != http.MethodPost {
				return ""
			}
			var o forge.Order
			stored.Decode(e.Sent, &o)
			return o.String()
		},
		Period: func(all []property.Attempt) time.Duration {
			for i, a := range all[1:] {
				slept := a.Incarnation == all[i].Incarnation && !a.Disturbed && a.At-all[i].At > lag
				if slept && a.At >= r.ended {
					return lag
				}
			}
			return 0
		},
		Longest: longestBackOff, Lag: lag, Ended: func() history.Time { return r.ended },
	}
}
