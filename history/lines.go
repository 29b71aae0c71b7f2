package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Line is one line of a rendered history: an event, and what happened in words.
type Line struct {
	Event int // its Index
	Text  string
}

// Lines renders the run as its controllers saw it. There is a line for each write, reconcile, late
// watch event, crash and fault. Opened watches, prompt deliveries and replies that arrived are left
// out. A lease has a line when it is taken or released, and one line with a count for all renewals
// in between.
func (h *History) Lines() []Line {
	committed := map[commit]Time{}
	effects := map[int][]Effect{}
	for _, e := range h.effects {
		effects[e.Event] = append(effects[e.Event], e)
	}
	var out []Line
	leases := leaseLines(h.Events)
	failed := map[ReconcileID]bool{} // reconciles in which a request failed
	ended := map[string]Time{}       // when a reconcile of a controller ended last, by actor and controller
	names := namesInViolation(h.Events)
	for i := range h.Events {
		e := &h.Events[i]
		if e.failed() && !e.Reconcile.None() {
			failed[e.ReconcileID()] = true
		}
		for _, c := range e.Changes {
			committed[commit{c.Ref.Cluster, c.Revision}] = c.At
		}
		if what := leases[i]; what != "" {
			out = append(out, Line{i, what})
			continue
		}
		request := e
		if e.Kind == Reply && e.Call > 0 && e.Call < i && h.Events[e.Call].Index == e.Call {
			request = &h.Events[e.Call]
		}
		what := e.line(request.requestInWords(), effects[i], committed, names)
		workers := e.Actor() + " " + e.Reconcile.Controller
		switch wait := e.At - e.Ready; {
		case e.Kind == Dequeue && e.Ready > 0 && wait >= longWait && ended[workers] > e.Ready:
			what += fmt.Sprintf("; it waited %v for a worker", rounded(wait))
		case e.Kind == Done:
			ended[workers] = e.At
			if what == "" && failed[e.ReconcileID()] {
				what = "  ends: ok, though a request failed"
			}
			delete(failed, e.ReconcileID())
		}
		if what != "" {
			out = append(out, Line{i, what})
		}
	}
	return out
}

// namesInViolation are the words of the sentence of the last violation.
func namesInViolation(events []Event) map[string]bool {
	for i := range slices.Backward(events) {
		if e := &events[i]; e.Kind == Violation {
			return namesIn(e.Note)
		}
	}
	return nil
}

// longWait is how long a key must have waited for a worker for its line to say so.
const longWait = time.Second

// failed reports whether a request was refused or got no reply. That a get finds nothing is an
// answer.
func (e *Event) failed() bool {
	switch e.Kind {
	case Request:
		return e.Code >= 400 && !(e.Verb == "get" && e.Code == 404) && !e.Chatter()
	case Reply:
		return e.Note != "" && !e.Chatter()
	}
	return false
}

// Render is [History.Rendered] as text.
func (h *History) Render() []string {
	var out []string
	for _, l := range h.Rendered() {
		out = append(out, l.Text)
	}
	return out
}

// Rendered is [History.Lines] with the virtual time and the actor. The values that the scenario
// drew are in between, as lines of no event: their Event is -1.
func (h *History) Rendered() []Line {
	var out []Line
	draws := h.draws
	for _, l := range h.Lines() {
		e := &h.Events[l.Event]
		for ; len(draws) > 0 && draws[0].Event <= e.Index; draws = draws[1:] {
			out = append(out, Line{-1, draws[0].line()})
		}
		out = append(out, Line{l.Event, fmt.Sprintf("%-12s %-16s %s", Moment(e.At), e.Actor(), l.Text)})
	}
	for _, d := range draws {
		out = append(out, Line{-1, d.line()})
	}
	return out
}

// commit names a write: each cluster counts its own.
type commit struct {
	cluster  string
	revision int64
}

// Moment is a virtual time as lines show it: [h:]mm:ss.mmm. Drawn delays have many more digits.
func Moment(t Time) string { return Clock(t.Truncate(time.Millisecond)) }

// rounded is a span of time as lines show it.
func rounded(d Time) Time {
	if d < time.Millisecond {
		return d
	}
	return d.Round(time.Millisecond)
}

func (e *Event) line(request string, effects []Effect, committed map[commit]Time, names map[string]bool) string {
	switch e.Kind {
	case Start:
		if e.Incarnation > 1 {
			return "starts again, with empty memory"
		}
	case Upgrade:
		return "is upgraded: " + e.Note
	case Stop:
		return "stops: " + e.Outcome.exit()
	case Crash:
		return "is killed"
	case Fault:
		if e.Injection != nil && e.Injection.Lasting {
			return e.Injection.String()
		}
		return "fault: " + e.Injection.String()
	case Heal:
		return "faults stop and are healed"
	case Settled:
		return "the world has settled"
	case Again:
		return "applies the same objects once more"
	case Mutation:
		return fmt.Sprintf("%s rv %d was changed in place in its cache: %s", e.Ref, e.Revision, e.Note)
	case HandlerPause:
		return e.Note
	case Request:
		return e.requestLine(request, effects, names)
	case Reply:
		if e.Note != "" {
			return fmt.Sprintf("  no reply to %s: %s", request, e.Note)
		}
	case Deliver:
		if e.Verb == "ERROR" {
			return fmt.Sprintf("  its watch of %s is closed with an error", e.Ref.Kind)
		}
		if at, ok := committed[commit{e.Ref.Cluster, e.Revision}]; ok && e.At > at && !e.Ref.Lease() &&
			e.Verb != "LIST" {
			return fmt.Sprintf("  learns of %s %s rv %d, %v late", strings.ToLower(e.Verb), e.Ref, e.Revision,
				rounded(e.At-at))
		}
	case Dequeue:
		return e.dequeueLine()
	case Done, HandledError:
		if !e.Outcome.OK() {
			s := fmt.Sprintf("  ends: %s", e.Outcome)
			if e.Source != "" {
				s += " at " + e.Source
			}
			return s
		}
	}
	return ""
}

// requestInWords is the verb and the object of a request.
func (e *Event) requestInWords() string {
	ref := e.Ref
	if e.Verb == "create" && ref.Name == "" { // it was refused or lost, so only its body has the name
		ref.Name = NameIn(e.Sent)
	}
	s := strings.TrimSpace(e.Verb + " " + ref.String() + e.Host + e.Path)
	if e.Sub != "" {
		s += "/" + e.Sub
	}
	return s
}

// NameIn is the name of the object in a body. It is "name-…" if the server completes it, and "" if
// there is none.
func NameIn(body []byte) string {
	var o struct {
		Metadata struct{ Name, GenerateName string }
	}
	if json.Unmarshal(body, &o) != nil {
		return ""
	}
	if o.Metadata.Name == "" && o.Metadata.GenerateName != "" {
		return o.Metadata.GenerateName + "…"
	}
	return o.Metadata.Name
}

func (e *Event) requestLine(request string, effects []Effect, names map[string]bool) string {
	chatter := e.Chatter() || e.Verb == "watch" || e.Verb == "list"
	if chatter && e.Code < 400 {
		return ""
	}
	s := request
	if !e.Reconcile.None() {
		s = "  " + s
	}
	created := func(c Change) bool { return c.Type == "ADDED" && c.Ref == e.Ref }
	if e.Verb == "patch" && slices.ContainsFunc(e.Changes, created) {
		s += ", which creates it" // server-side apply of an object that does not exist
	}
	if e.Revision != 0 {
		s += fmt.Sprintf(" → rv %d", e.Revision)
	}
	s += e.changed(names)
	if e.Code >= 400 || e.Host != "" {
		s += fmt.Sprintf(" → %d", e.Code)
	}
	for _, effect := range effects {
		if effect.Unnamed() { // the line has it already
			continue
		}
		s += fmt.Sprintf("; %s: %s", effect.Kind, cmp.Or(effect.Detail, effect.Key))
	}
	if e.Source != "" {
		s += " at " + e.Source
	}
	return s
}

func (e *Event) dequeueLine() string {
	s := "reconciles " + e.Reconcile.String()
	if e.Cause != (Cause{}) {
		s += ", because of " + e.Cause.words()
	}
	if e.Wait > 0 {
		s += fmt.Sprintf(" after %v", rounded(e.Wait))
	}
	for _, seen := range e.Seen {
		switch {
		case seen.Cache == 0:
			s += fmt.Sprintf("; its cache does not hold %s, the server has rv %d", seen.Ref, seen.Server)
		case seen.Server == 0:
			s += fmt.Sprintf("; its cache holds %s rv %d, which the server no longer has", seen.Ref, seen.Cache)
		default:
			s += fmt.Sprintf("; its cache holds %s rv %d, the server rv %d", seen.Ref, seen.Cache, seen.Server)
		}
	}
	return s
}
