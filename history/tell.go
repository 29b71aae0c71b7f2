package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
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
		asked := e // of a reply, what it answers
		if e.Kind == Reply && e.Call > 0 && e.Call < i && h.Events[e.Call].Index == e.Call {
			asked = &h.Events[e.Call]
		}
		if what := e.tell(asked.what(), effects[i], committed); what != "" {
			out = append(out, Telling{i, what})
		}
	}
	return out
}

// Tell is [History.Tellings] as lines, and between them what the scenario drew: virtual time, who, what.
func (h *History) Tell() []string {
	var out []string
	draws := h.draws
	for _, t := range h.Tellings() {
		e := &h.Events[t.Event]
		for ; len(draws) > 0 && draws[0].Event <= e.Index; draws = draws[1:] {
			out = append(out, draws[0].tell())
		}
		out = append(out, fmt.Sprintf("%-12s %-16s %s", Clock(e.At), e.Actor(), t.Text))
	}
	for _, d := range draws {
		out = append(out, d.tell())
	}
	return out
}

// commit names a write: each cluster counts its own.
type commit struct {
	cluster  string
	revision int64
}

func (e *Event) tell(asked string, effects []Effect, committed map[commit]Time) string {
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
	case Again:
		return "applies the same objects once more"
	case Mutation:
		return fmt.Sprintf("%s rv %d was changed in place in its cache: %s", e.Ref, e.Revision, e.Note)
	case Request:
		return e.tellRequest(asked, effects)
	case Reply:
		if e.Note != "" {
			return fmt.Sprintf("  no reply to %s: %s", asked, e.Note)
		}
	case Deliver:
		if e.Verb == "ERROR" {
			return fmt.Sprintf("  hears that its watch of %s cannot go on", e.Ref.Kind)
		}
		if at, ok := committed[commit{e.Ref.Cluster, e.Revision}]; ok && e.At > at && !e.Ref.Lease() && e.Verb != "LIST" {
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
	ref := e.Ref
	if e.Verb == "create" && ref.Name == "" { // it was refused or got lost, so no address has its name
		ref.Name = NameIn(e.Sent)
	}
	s := strings.TrimSpace(e.Verb + " " + ref.String() + e.Host + e.Path)
	if e.Sub != "" {
		s += "/" + e.Sub
	}
	return s
}

// NameIn is the name of the object that a body holds, "name-…" where the server is to complete it, "" if it has none.
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

func (e *Event) tellRequest(asked string, effects []Effect) string {
	chatter := e.Ref.Chatter() || e.Verb == "watch" || e.Verb == "list"
	if chatter && e.Code < 400 {
		return ""
	}
	s := asked
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
		if effect.Unnamed() { // the line says all of it
			continue
		}
		s += fmt.Sprintf("; %s: %s", effect.Kind, cmp.Or(effect.Detail, effect.Key))
	}
	return s
}

// led are the steps that make a process the leader. Its queues are filled then with what its caches hold, and that is why it
// reconciles, not the lease.
var led = regexp.MustCompile(`^(reply to )?(create|update|patch) Lease( |$)`)

// toldCause is why a key was handed out, as people say it.
func toldCause(cause string) string {
	if led.MatchString(cause) {
		return "the initial list, as the process leads now"
	}
	return cause
}

func (e *Event) tellHandout() string {
	s := "reconciles " + e.Reconcile
	if e.Cause != "" {
		s += ", because of " + toldCause(e.Cause)
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
