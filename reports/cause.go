package reports

import (
	"maps"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
)

// Explanation is what a history shows of the cause of its violation.
type Explanation struct {
	// Led are the lines of [history.History.Rendered] that led to the violation.
	Led []story.Led
	// Idle are the lines of reconciles that changed nothing, of objects without a part in it.
	Idle []int
	// Line is the program's line that panicked, or that sent the last request on the chain that
	// changed something or failed, as dir/file.go:line; "" if it is not known.
	Line string
	// Sentences say what the program did last of what led to the violation, what its reconcile had
	// read, what failed in it, and what came before and after.
	Sentences []string
}

// CauseOf follows the chain of a history that ends with a violation. The choices are those of its
// story. Without a violation, there is no cause.
func CauseOf(h *history.History, choices []story.Choice) (c Explanation) {
	u := newTracing(h)
	if u.violation < 0 {
		return c
	}
	u.delay(choices)
	u.trace()
	c.Led = u.led(choices)
	idle := u.idle()
	for n, l := range h.Rendered() {
		if idle[l.Event] {
			c.Idle = append(c.Idle, n)
		}
	}
	if i := u.decision(); i >= 0 {
		c.Line = h.Events[i].Source
	}
	c.Sentences = newNarrator(u).sentences()
	return c
}

// decision is the last event of the chain with which the program changed something or panicked. If
// there is none, it is the last request that failed; -1 if there is none either.
func (t *tracing) decision() int {
	refused := -1
	for i := t.violation - 1; i >= 0; i-- {
		e := &t.h.Events[i]
		switch {
		case !t.on(i) || e.Source == "" || e.Chatter():
		case e.Kind == history.Done || t.changes(i):
			return i
		case refused < 0 && e.Kind == history.Request && failed(e):
			refused = i
		}
	}
	return refused
}

// led are the lines of the chain. With a request that failed comes how its reconcile ended. Beneath
// a reconcile stands what its cache lacked. Values that the scenario drew are shown if the story's
// choices differ from the default there.
func (u *unseen) led(choices []story.Choice) (out []story.Led) {
	ranks := maps.Clone(u.met)
	for i := range u.h.Events {
		start, ok := u.dequeued[i]
		if !ok || u.h.Events[i].Kind != history.Done || u.on(i) {
			continue
		}
		for _, j := range u.inside[start] {
			if u.on(j) && failed(&u.h.Events[j]) {
				ranks[i] = u.met[j]
			}
		}
	}
	drawn := map[string]bool{}
	for _, c := range choices {
		drawn[c.Of] = drawn[c.Of] || c.Kind == story.Draw
	}
	draws := u.h.Draws()
	for n, l := range u.h.Rendered() {
		if l.Event < 0 {
			if drawn[draws[0].Label] {
				out = append(out, story.Led{Line: n})
			}
			draws = draws[1:]
			continue
		}
		if rank, ok := ranks[l.Event]; ok {
			led := story.Led{Line: n, Rank: rank}
			if u.h.Events[l.Event].Kind == history.Dequeue {
				led.Notes = u.lacking(l.Event)
				if read := u.readOf(l.Event, u.violation); read != "" && len(led.Notes) > 0 {
					led.Notes = append(led.Notes, read)
				}
			}
			out = append(out, led)
		}
	}
	return out
}
