package history

import (
	"cmp"
	"fmt"
	"strings"
)

// Tell is the story of the run as its controllers saw it, a line per thing that mattered: writes and what answered
// them, reconciles with their causes and stale caches, watch events that came late, crashes and faults. Chatter (leases,
// opening watches, prompt deliveries, replies that arrived) is left out.
func (h *History) Tell() []string {
	committed := map[int64]Time{}
	var out []string
	for i := range h.Events {
		e := &h.Events[i]
		for _, c := range e.Changes {
			committed[c.Revision] = c.At
		}
		if what := e.tell(h, committed); what != "" {
			out = append(out, fmt.Sprintf("%-12s %-16s %s", Clock(e.At), e.Actor(), what))
		}
	}
	return out
}

func (e *Event) tell(h *History, committed map[int64]Time) string {
	switch e.Kind {
	case Start:
		if e.Life > 1 {
			return "starts again, with empty memory"
		}
	case Stop:
		return "stops: " + e.Note
	case Crash:
		return "is killed"
	case Fault:
		return "fault: " + e.Note
	case Heal:
		return "faults stop and are healed"
	case Settled:
		return "the world has settled"
	case Request:
		return e.tellRequest(h)
	case Reply:
		if e.Note != "" {
			return fmt.Sprintf("  no reply to %s: %s", e.what(), e.Note)
		}
	case Deliver:
		if at, ok := committed[e.Revision]; ok && e.At > at && e.Ref.Kind != "Lease" && e.Verb != "LIST" {
			return fmt.Sprintf("  learns of %s %s rv %d, %v late", strings.ToLower(e.Verb), e.Ref, e.Revision, e.At-at)
		}
	case Handout:
		return e.tellHandout()
	case Done:
		if e.Outcome != "ok" {
			return fmt.Sprintf("  ends: %s", e.Outcome)
		}
	}
	return ""
}

// what is the request in words.
func (e *Event) what() string {
	s := strings.TrimSpace(e.Verb + " " + e.Ref.String() + e.Host + e.Path)
	if e.Sub != "" {
		s += "/" + e.Sub
	}
	return s
}

func (e *Event) tellRequest(h *History) string {
	chatter := e.Ref.Kind == "Lease" || e.Verb == "watch" || e.Verb == "list" || e.Ref.Kind == "Event"
	if chatter && e.Code < 400 {
		return ""
	}
	s := e.what()
	if e.Reconcile != "" {
		s = "  " + s
	}
	if e.Revision != 0 {
		s += fmt.Sprintf(" → rv %d", e.Revision)
	}
	if e.Code >= 400 || e.Host != "" {
		s += fmt.Sprintf(" → %d", e.Code)
	}
	for _, effect := range h.effects {
		if effect.Event == e.Index {
			s += fmt.Sprintf("; %s: %s", effect.Kind, cmp.Or(effect.Detail, effect.Key))
		}
	}
	return s
}

func (e *Event) tellHandout() string {
	s := "reconciles " + e.Reconcile
	if e.Cause != "" {
		s += ", because of " + e.Cause
	}
	if e.Wait > 0 {
		s += fmt.Sprintf(" after %v", e.Wait)
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
