package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
)

const (
	maxBefore = 3 // earlier steps that a paragraph names
	maxAfter  = 3 // later ones
	slow      = time.Second
)

// narrator owns which sentences say what led to a violation, and their order.
type narrator struct {
	*wording
	d     int // the step that the sentences are about; -1 if there is none
	start int // the dequeue with which its reconcile began; -1 if it belongs to none
}

func newNarrator(u *unseen) *narrator {
	n := &narrator{d: u.decision(), start: -1, wording: &wording{requests: &requests{u}, texts: map[int]string{},
		steps: map[int]bool{}, told: map[int]bool{}}}
	for _, l := range u.h.Lines() {
		n.texts[l.Event] = strings.TrimSpace(l.Text)
	}
	return n
}

func (n *narrator) sentences() (out []string) {
	add := func(format string, args ...any) {
		if sentence := fmt.Sprintf(format, args...); !slices.Contains(out, sentence) {
			out = append(out, sentence)
		}
	}
	for i := range n.violation {
		if e := &n.h.Events[i]; e.Kind == history.Mutation {
			add("%s: %s.", e.Actor(), n.texts[i])
		}
	}
	how := "step that led to it"
	switch {
	case n.d < 0:
		n.d, how = n.latest(), "step of a program"
	case n.goesOn() && n.changes(n.d):
		how = "change by a program that led to it"
	case n.goesOn():
		how = "step of a program that led to it"
	}
	if n.d < 0 {
		add("No program has changed anything.")
		n.idle(add)
		n.unchanged(add)
		return out
	}
	add("The last %s was %s%s.", how, n.step(n.d), n.unanswered())
	if start, ok := n.dequeued[n.d]; ok {
		n.start = start
		n.began(add)
		n.failures(add)
	}
	if n.start >= 0 {
		n.based(n.start, n.d, add)
	}
	n.quoted(add)
	if before := n.before(); len(before) > 0 {
		add("Before it: %s.", strings.Join(before, "; "))
	}
	if after := n.after(); len(after) > 0 {
		add("After it: %s.", strings.Join(after, "; "))
	}
	for i := n.violation - 1; i >= 0; i-- {
		if n.h.Events[i].Kind == history.Upgrade {
			add("The last upgrade was %s.", n.step(i))
			break
		}
	}
	n.idle(add)
	n.asleep(add)
	n.refusal(add)
	n.unchanged(add)
	return out
}

// goesOn reports whether something after the step led to the violation, too: a failed request of a
// program, or what a user or a controller of the cluster changed.
func (n *narrator) goesOn() bool {
	start, reconciles := n.dequeued[n.d]
	for i := n.d + 1; i < n.violation; i++ {
		e := &n.h.Events[i]
		of, ok := n.dequeued[i]
		fails := e.Kind == history.Request && refused(e) && (n.on(i) || reconciles && ok && of == start)
		if (fails || n.changes(i) && n.on(i)) && !e.Chatter() {
			return true
		}
	}
	return false
}

// unanswered says that the reply to the step had not arrived long after it.
func (n *narrator) unanswered() string {
	e := &n.h.Events[n.d]
	_, killed := n.crash[e.Actor()]
	done := func(j int) bool { return n.h.Events[j].Kind == history.Done }
	if start, ok := n.dequeued[n.d]; ok && slices.ContainsFunc(n.inside[start], done) {
		return ""
	}
	if e.Kind != history.Request || killed || n.h.Events[n.violation].At-e.At <= slow || n.reply(n.d) >= 0 {
		return ""
	}
	return "; its reply did not arrive before the violation"
}

// began says why the reconcile of the step began, and what its cache had not received then.
func (n *narrator) began(add func(string, ...any)) {
	e := &n.h.Events[n.start]
	what, why, _ := strings.Cut(strings.TrimPrefix(n.texts[n.start], "reconciles "), ", because of ")
	if why != "" {
		why = " because of " + why
	}
	add("Its reconcile, %s%s, began at %s%s.", what, n.incarnation(n.start), history.Moment(e.At), why)
	for _, s := range e.Seen {
		if writes := n.writesBefore(s.Ref, n.start); len(writes) > 0 {
			add("It did not know of the last write, %s.", n.step(writes[len(writes)-1]))
		}
	}
	for _, note := range n.lacking(n.start) {
		add("When that reconcile began, %s.", note)
	}
	if read := n.readOf(n.start, n.d); read != "" {
		add("Before that step %s.", read)
	}
	if w := n.firstWrite(n.start); w >= 0 && w < n.d {
		add("Its first write was %s.", n.step(w))
	}
	n.retries(add)
}

// retries says what failed in the reconcile of the same key before the step's.
func (n *narrator) retries(add func(string, ...any)) {
	latestOf(n.done[n.h.Events[n.start].KeyID()], n.start, func(end int) {
		for _, j := range slices.Backward(n.inside[n.dequeued[end]]) {
			if j < end && refused(&n.h.Events[j]) && n.texts[j] != "" {
				add("In the reconcile before it a request failed %s.", n.step(j))
				return
			}
		}
		if n.h.Events[end].Outcome.Failed() {
			add("The reconcile before it had failed %s.", n.step(end))
		}
	})
	if w := n.firstWrite(n.failedBefore(n.start)); w >= 0 && !n.steps[w] {
		add("The first write of the reconcile before it was %s.", n.step(w))
	}
}

// failures says which requests of the reconcile failed, and how it ended.
func (n *narrator) failures(add func(string, ...any)) {
	last, failures, end := -1, 0, ""
	for _, j := range n.inside[n.start] {
		switch e := &n.h.Events[j]; {
		case j == n.d || j > n.violation:
		case e.Kind == history.Done:
			end = n.texts[j]
		case refused(e):
			last, failures = j, failures+1
		}
	}
	switch {
	case failures == 1:
		add("In %s a request failed %s.", n.reconcile(n.start), n.step(last))
	case failures > 1:
		add("In %s %d requests failed, the last %s.", n.reconcile(n.start), failures, n.step(last))
	}
	if end != "" {
		n.ends(n.start, end, add)
	}
}

// refusal names the last request of the chain that failed, if no sentence has: one whose reconcile
// ended without an error, or one of a program whose work is no reconcile.
func (n *narrator) refusal(add func(string, ...any)) {
	for i := n.violation - 1; i >= 0; i-- {
		e := &n.h.Events[i]
		if !n.on(i) || !refused(e) || e.Incarnation == 0 || e.Chatter() || n.texts[i] == "" {
			continue
		}
		if n.steps[i] {
			return
		}
		add("A request failed %s.", n.step(i))
		if start, ok := n.dequeued[i]; ok {
			for _, j := range n.inside[start] {
				if n.h.Events[j].Kind == history.Done && j < n.violation && n.texts[j] != "" {
					n.ends(start, n.texts[j], add)
				}
			}
		}
		return
	}
}

// before are earlier steps that belong to the step: the same effect, the last write of its object
// and of the object of its reconcile, the last write of a program to an object that the sentence
// names, the last effect that the sentence names, and the end of an incarnation of the program in
// between.
func (n *narrator) before() (out []string) {
	var steps []int
	alike := n.alike(n.d)
	add := func(i int) {
		if !slices.Contains(steps, i) && !n.steps[i] && len(steps) < maxBefore && !n.together(i) &&
			!slices.Contains(alike, i) {
			steps = append(steps, i)
		}
	}
	for _, f := range n.effects[n.d] {
		latestOf(n.same[n.identity(f)], n.d, add)
	}
	for _, c := range n.h.Events[n.d].Changes {
		latestOf(n.telling(c.Ref), n.d, add)
	}
	for _, ref := range n.named {
		latestOf(n.telling(ref), n.d, func(i int) {
			if add(i); removes(&n.h.Events[i], ref) {
				latestOf(n.telling(ref), i, add)
			}
		})
	}
	for _, ref := range n.keyed() {
		latestOf(n.telling(ref), n.d, add)
	}
	latestOf(n.namedKeys(), n.d, add)
	latestOf(n.namedEffects(), n.d, add)
	for _, i := range n.siblings(n.d) {
		add(i)
	}
	slices.Sort(steps)
	for _, i := range steps {
		out = append(out, n.step(i))
		if j := n.reply(i); j >= 0 && n.texts[j] != "" && !n.steps[j] {
			out = append(out, n.step(j))
		}
	}
	if end := n.endBefore(n.d); end >= 0 && !n.steps[end] {
		for _, i := range []int{n.firstWrite(n.cutOff(end)), n.changedLast(end)} {
			if i >= 0 && i < end && !n.steps[i] {
				out = append(out, n.step(i))
			}
		}
		out = append(out, n.step(end))
	}
	if len(alike) > 0 {
		named := n.steps[alike[0]]
		since := n.step(alike[0])
		if named {
			since = "at " + history.Moment(n.h.Events[alike[0]].At)
		}
		out = append(out, fmt.Sprintf("the same request %d times, the first %s", len(alike), since))
	}
	return out
}

// latestOf calls a function with the last of some events that is before event i.
func latestOf(events []int, i int, f func(int)) {
	for _, j := range slices.Backward(events) {
		if j < i {
			f(j)
			return
		}
	}
}

// keyed are the objects with the name of the step's reconcile.
func (n *narrator) keyed() (out []history.Ref) {
	if n.start < 0 {
		return nil
	}
	key := n.h.Events[n.start].Reconcile.Key
	for ref := range n.writes {
		if ref.Namespace == key.Namespace && ref.Name == key.Name {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, history.Ref.Compare)
	return out
}

// together reports whether a request is of the step's reconcile.
func (n *narrator) together(i int) bool {
	of, ok := n.dequeued[i]
	return ok && of == n.start
}

// after are later steps: writes of others to the objects that the step is about, and the end of its
// incarnation.
func (n *narrator) after() (out []string) {
	e, keyed, ended, told := &n.h.Events[n.d], n.keyed(), false, map[int]bool{}
	for i := n.d + 1; i < n.violation; i++ {
		if w := n.deletion(i); w >= 0 && n.on(i) {
			told[w] = true // with the step that follows it
		}
	}
	for i := n.d + 1; i < n.violation && len(out) < maxAfter; i++ {
		o := &n.h.Events[i]
		about := n.on(i) || slices.Contains(n.named, o.Ref) || slices.Contains(keyed, o.Ref)
		end := (o.Kind == history.Crash || o.Kind == history.Stop) && o.Actor() == e.Actor() && !ended
		if o.Write() && o.Actor() != e.Actor() && !o.Chatter() && about && !told[i] || end {
			out = append(out, n.step(i))
			ended = ended || end
		}
	}
	return out
}

// idle is about the last reconcile of the program, if it began after the step and changed nothing,
// and how it ended.
func (n *narrator) idle(add func(string, ...any)) {
	last := n.unneeded(n.d)
	if last < 0 {
		return
	}
	what, end := strings.TrimPrefix(n.texts[last], "reconciles "), ""
	for _, j := range n.inside[last] {
		e := &n.h.Events[j]
		if n.texts[j] != "" && j < n.violation {
			what += "; " + n.texts[j]
		} else if e.Kind == history.Done && e.Outcome.OK() && j < n.violation {
			end = "; it ended without an error"
		}
	}
	n.told[last] = true
	e := &n.h.Events[last]
	of := e.Process
	if n.restarted(last) {
		of = e.Actor()
	}
	add("The last reconcile of %s changed nothing: %s, at %s%s.", of, what, history.Moment(e.At), end)
	for _, note := range n.lacking(last) {
		add("When that reconcile began, %s.", note)
	}
	if read := n.readOf(last, n.violation); read != "" {
		add("In that reconcile %s.", read)
	}
	n.based(last, n.violation, add)
}
