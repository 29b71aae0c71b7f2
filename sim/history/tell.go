package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Telling is one line of a story: the event that it is about, and what happened in words.
type Telling struct {
	Event int // its Index
	Text  string
}

// Tellings is the story of the run as its controllers saw it, one for each thing that mattered: writes and what answered
// them, reconciles with their causes and stale caches, watch events that came late, crashes and faults. Chatter (opening
// watches, prompt deliveries, replies that arrived) is left out. Of a lease it is told who takes it and who releases it; what a
// holder renews in between is one line, with a count, at the last of them.
func (h *History) Tellings() []Telling {
	committed := map[commit]Time{}
	effects := map[int][]Effect{}
	for _, e := range h.effects {
		effects[e.Event] = append(effects[e.Event], e)
	}
	var out []Telling
	leases := h.leases()
	for i := range h.Events {
		e := &h.Events[i]
		for _, c := range e.Changes {
			committed[commit{c.Ref.Cluster, c.Revision}] = c.At
		}
		if what := leases[i]; what != "" {
			out = append(out, Telling{i, what})
			continue
		}
		if what := e.tell(effects[i], committed); what != "" {
			out = append(out, Telling{i, what})
		}
	}
	return out
}

// Tell is [History.Tellings] as lines: virtual time, who, what.
func (h *History) Tell() []string {
	var out []string
	for _, t := range h.Tellings() {
		e := &h.Events[t.Event]
		out = append(out, fmt.Sprintf("%-12s %-16s %s", Clock(e.At), e.Actor(), t.Text))
	}
	return out
}

// commit names a write: each cluster counts its own.
type commit struct {
	cluster  string
	revision int64
}

func (e *Event) tell(effects []Effect, committed map[commit]Time) string {
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
	case Mutation:
		return fmt.Sprintf("%s rv %d was changed in place in its cache: %s", e.Ref, e.Revision, e.Note)
	case Request:
		return e.tellRequest(effects)
	case Reply:
		if e.Note != "" {
			return fmt.Sprintf("  no reply to %s: %s", e.what(), e.Note)
		}
	case Deliver:
		if at, ok := committed[commit{e.Ref.Cluster, e.Revision}]; ok && e.At > at && e.Ref.Kind != "Lease" && e.Verb != "LIST" {
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

func (e *Event) tellRequest(effects []Effect) string {
	chatter := e.Ref.Kind == "Lease" || e.Verb == "watch" || e.Verb == "list" || e.Ref.Kind == "Event"
	if chatter && e.Code < 400 {
		return ""
	}
	s := e.what()
	if e.Reconcile != "" {
		s = "  " + s
	}
	if e.Verb == "patch" && slices.ContainsFunc(e.Changes, func(c Change) bool { return c.Type == "ADDED" && c.Ref == e.Ref }) {
		s += ", which creates it" // server-side apply of what is not there
	}
	if e.Revision != 0 {
		s += fmt.Sprintf(" → rv %d", e.Revision)
	}
	if e.Code >= 400 || e.Host != "" {
		s += fmt.Sprintf(" → %d", e.Code)
	}
	for _, effect := range effects {
		s += fmt.Sprintf("; %s: %s", effect.Kind, cmp.Or(effect.Detail, effect.Key))
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
