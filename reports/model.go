package reports

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/wavetank/wavetank/history"
)

// This file turns a run into the data of the page's script: web/src/model.ts has the same fields.
// What needs the whole history is computed here; the script only lays out and draws.

// model is one run for the script. Indices into tables are counted from 1 where 0 means none.
type model struct {
	Title    string      `json:"title"`
	Kind     string      `json:"kind,omitempty"`
	Property string      `json:"property,omitempty"`
	Site     string      `json:"site,omitempty"`
	Message  string      `json:"message,omitempty"`
	Replay   string      `json:"replay,omitempty"`
	File     string      `json:"file,omitempty"`
	Why      []string    `json:"why,omitempty"` // the paragraph that explains the violation
	Facts    [][2]string `json:"facts,omitempty"`
	Shares   []share     `json:"shares,omitempty"`
	Choices  []string    `json:"choices,omitempty"`
	Lanes    []lane      `json:"lanes"`
	Refs     []refRow    `json:"refs"`
	Events   []eventRow  `json:"events"`
	Chain    []Link      `json:"chain,omitempty"`
	bodies   []string
	places   map[string]int
	refs     map[history.Ref]int
	lanes    map[string]int
	trace    *unseen
	lines    map[int]string // rendered events, by index
}

// share says how many continuations of the run violate its property, from a step on.
type share struct {
	Step      int `json:"s"`
	Violating int `json:"n"`
	Of        int `json:"of"`
	// Rises is set if the share rises at the step before, or if that step decides.
	Rises bool `json:"r,omitempty"`
}

// refRow is an object: kind, namespace/name.
type refRow struct {
	Kind    string `json:"kind,omitempty"`
	Name    string `json:"name"`
	Cluster string `json:"cluster,omitempty"`
}

// eventRow is one event.
type eventRow struct {
	Step      int    `json:"s"`
	At        int64  `json:"t"` // nanoseconds of virtual time
	Kind      string `json:"k"`
	Lane      int    `json:"l"`           // who acts; -1 for the whole world
	To        int    `json:"to"`          // the lane that is asked; -1 for none
	Text      string `json:"x"`           // what happened, in words
	Who       string `json:"w,omitempty"` // the actor, where several share the lane
	Chatter   bool   `json:"c,omitempty"` // left out unless asked for
	Ref       int    `json:"o,omitempty"` // place in refs
	Reconcile int    `json:"r,omitempty"` // index of its dequeue
	// Partner is the request of a reply, the write of a delivery, the end of a reconcile, or the
	// next incarnation after a crash.
	Partner  int         `json:"p,omitempty"`
	Late     int64       `json:"late,omitempty"`
	Verb     string      `json:"v,omitempty"`
	Code     int         `json:"code,omitempty"`
	Revision int64       `json:"rv,omitempty"`
	Server   int64       `json:"sv,omitempty"`
	Name     string      `json:"n,omitempty"` // of the reconcile that begins here
	Cause    string      `json:"cause,omitempty"`
	Outcome  string      `json:"out,omitempty"`
	Wait     int64       `json:"wait,omitempty"`
	Since    int         `json:"since,omitempty"` // of a delayed dequeue: the end of the reconcile that requested it
	Note     string      `json:"note,omitempty"`
	Reads    []string    `json:"rd,omitempty"`    // of the cache, before the request or the end of the reconcile
	Seen     [][3]int64  `json:"seen,omitempty"`  // object, cache, server
	Holds    [][2]int64  `json:"holds,omitempty"` // of an initial list: object, revision
	Changes  []changeRow `json:"ch,omitempty"`
	Effects  []string    `json:"fx,omitempty"`
	Sent     int         `json:"sent,omitempty"` // place in bodies
	Received int         `json:"recv,omitempty"`
}

type changeRow struct {
	Type     string `json:"t"`
	Ref      int    `json:"o"`
	Revision int64  `json:"rv"`
	After    int    `json:"a,omitempty"`
	Before   int    `json:"b,omitempty"`
}

// mostDraws is how many drawn values a page lists.
const mostDraws = 100

func newModel(r Run) *model {
	m := &model{
		Title: r.title(), File: r.File, trace: newTracing(r.History),
		places: map[string]int{}, refs: map[history.Ref]int{}, lines: map[int]string{},
	}
	if s := r.Story; s != nil {
		m.Kind, m.Property, m.Site, m.Message, m.Replay = s.Kind, s.Property, s.Site, s.Message, s.Replay
		m.Why, m.Facts = s.Paragraph(), facts(r)
		for _, of := range s.Shares {
			m.Shares = append(m.Shares, share(of))
		}
		for _, d := range first(r.History.Draws(), mostDraws) {
			m.Facts = append(m.Facts, [2]string{"drew " + d.Label, d.Value})
		}
		for _, c := range s.Choices {
			m.Choices = append(m.Choices, fmt.Sprintf("%d %s", c.Value, c.ID))
		}
	}
	h := r.History
	if at := m.trace.violation; at >= 0 && r.Story == nil {
		m.Kind, m.Message = "broke", h.Events[at].Note
	}
	m.Lanes, m.lanes = lanes(h)
	m.Chain = Chain(h)
	for _, l := range h.Lines() {
		m.lines[l.Event] = l.Text
	}
	m.Events = make([]eventRow, len(h.Events))
	for i := range h.Events {
		m.Events[i] = m.row(&h.Events[i])
	}
	m.join(h)
	return m
}

// facts are further facts about a story, in pairs of name and value.
func facts(r Run) [][2]string {
	s := r.Story
	out := [][2]string{{"found by", s.Seed}, {"as found", s.Before.String()}, {"shrunk to", s.After.String()}}
	for _, name := range sortedKeys(s.Versions) {
		out = append(out, [2]string{name, s.Versions[name]})
	}
	if s.Confirmed != "" {
		out = append(out, [2]string{"confirmed on", s.Confirmed})
	}
	return out
}

func (m *model) ref(r history.Ref) int {
	if r == (history.Ref{}) {
		return 0
	}
	n, ok := m.refs[r]
	if !ok {
		name := r.Name
		if r.Namespace != "" {
			name = r.Namespace + "/" + r.Name
		}
		m.Refs = append(m.Refs, refRow{r.Kind, name, r.Cluster})
		n = len(m.Refs)
		m.refs[r] = n
	}
	return n
}

func (m *model) body(b []byte) int {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return 0
	}
	n, ok := m.places[string(b)]
	if !ok {
		m.bodies = append(m.bodies, string(b))
		n = len(m.bodies)
		m.places[string(b)] = n
	}
	return n
}

func (m *model) row(e *history.Event) eventRow {
	out := eventRow{
		Step: e.Step, At: int64(e.At), Kind: string(e.Kind), Lane: -1, To: -1, Verb: e.Verb, Code: e.Code,
		Revision: e.Revision, Server: e.Server, Wait: int64(e.Wait),
		Note: e.Remark(), Ref: m.ref(e.Ref),
	}
	if l, ok := m.lanes[e.Actor()]; ok && e.Process != "" {
		if out.Lane = l; m.Lanes[l].Incarnation == 0 && e.Incarnation > 0 {
			out.Who = e.Actor()
		}
	}
	out.Text, out.Chatter = m.words(e)
	switch e.Kind {
	case history.Request, history.Reply:
		out.To = recipient(e, m.lanes)
	case history.Dequeue:
		out.Name, out.Cause = e.Reconcile.String(), e.Cause.String()
	case history.Done:
		out.Outcome = e.Outcome.String()
	}
	if e.Kind != history.Deliver { // frames repeat what was committed
		out.Sent, out.Received = m.body(e.Sent), m.body(e.Received)
	} else if e.Verb == "LIST" {
		out.Holds = m.listed(e)
	}
	for _, s := range e.Seen {
		out.Seen = append(out.Seen, [3]int64{int64(m.ref(s.Ref)), s.Cache, s.Server})
	}
	for _, r := range e.Reads {
		out.Reads = append(out.Reads, r.String())
	}
	for _, c := range e.Changes {
		out.Changes = append(out.Changes,
			changeRow{c.Type, m.ref(c.Ref), c.Revision, m.body(c.Object), m.body(c.Previous)})
	}
	for _, f := range m.trace.effects[e.Index] {
		if f.Unnamed() {
			out.Effects = append(out.Effects, f.Detail)
			continue
		}
		out.Effects = append(out.Effects, fmt.Sprintf("%s of %s: %s", f.Kind, f.Key, f.Detail))
	}
	return out
}

// listed is what a cache holds after an initial list.
func (m *model) listed(e *history.Event) (holds [][2]int64) {
	for _, o := range initialObjects(e) {
		holds = append(holds, [2]int64{int64(m.ref(o.ref)), o.revision})
	}
	return holds
}

// words describes an event and reports whether it is chatter. The words are those of the story,
// which omits chatter.
func (m *model) words(e *history.Event) (text string, chatter bool) {
	if text, ok := m.lines[e.Index]; ok {
		return strings.TrimSpace(text), false
	}
	target := strings.TrimSpace(e.Ref.String() + e.Host + e.Path)
	if e.Sub != "" {
		target += "/" + e.Sub
	}
	lease := e.Ref.Chatter()
	switch e.Kind {
	case history.Violation:
		return e.Note, false
	case history.Start:
		return "starts", false
	case history.Done:
		return "ends: ok", false
	case history.Deliver:
		if e.Verb == "LIST" {
			return fmt.Sprintf("cache is filled: %s, %s", target, e.Note), lease
		}
		text := fmt.Sprintf("learns of %s %s rv %d at once", strings.ToLower(e.Verb), target, e.Revision)
		return text, lease || e.Verb == "BOOKMARK"
	case history.Reply:
		return fmt.Sprintf("reply to %s %s → %d", e.Verb, target, e.Code), true
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s → %d", e.Verb, target, e.Code)), true
}

// join links the events that belong together: replies and requests, deliveries and writes, ends and
// beginnings of reconciles, delayed requeues and the reconciles that requested them, and
// incarnations.
func (m *model) join(h *history.History) {
	crashed := map[string]int{}
	for i := range h.Events {
		e, out := &h.Events[i], &m.Events[i]
		if start, ok := m.trace.dequeued[i]; ok {
			out.Reconcile = start + 1
		}
		switch e.Kind {
		case history.Reply:
			// A request that was lost on its way never took effect, and its Call is -1.
			if e.Call >= 0 && e.Call < i && h.Events[e.Call].Kind == history.Request {
				out.Partner = e.Call + 1
			}
		case history.Deliver:
			if w, ok := m.trace.write[commit{e.Ref.Cluster, e.Revision}]; ok && w < i && isChange(e.Verb) {
				out.Partner, out.Late = w+1, int64(e.At-h.Events[w].At)
			}
		case history.Done:
			if start, ok := m.trace.dequeued[i]; ok {
				m.Events[start].Partner = i + 1
			}
		case history.Dequeue:
			if e.Cause.Timer() {
				ends := m.trace.done[e.KeyID()]
				if n := sort.SearchInts(ends, i); n > 0 {
					out.Since = ends[n-1] + 1
				}
			}
		case history.Crash, history.Stop:
			crashed[e.Process] = i
		case history.Start:
			if at, ok := crashed[e.Process]; ok {
				m.Events[at].Partner = i + 1
			}
		}
	}
}

// isChange reports whether a frame of a watch is about a change of one object.
func isChange(verb string) bool { return verb != "LIST" && verb != "BOOKMARK" && verb != "ERROR" }
