package history

import (
	"fmt"
	"hash/fnv"
	"slices"
	"sort"
)

// This file is about runs whose history would be too long. They keep a window of it, and of earlier
// events only what is needed to compare two runs.

// past is what a history remembers of the events that it has forgotten.
type past struct {
	forgetful bool
	gone      int      // number of forgotten events
	since     Time     // begin of what is kept
	sum       uint64   // fingerprint of all events so far, kept or not
	done      uint64   // the same without the texts of errors, as [Divergence] compares
	marks     []uint32 // for each event, the fingerprint of the history up to there
}

// Forgetful returns an empty history that may forget. It keeps four bytes for each event.
func Forgetful() *History {
	empty := fnv.New64a().Sum64()
	return &History{past: past{forgetful: true, sum: empty, done: empty}}
}

// Forget drops the events before a time. Objects, effects and counts stay.
func (h *History) Forget(before Time) {
	if !h.forgetful {
		panic("history: only a Forgetful history may forget")
	}
	n := sort.Search(len(h.Events), func(i int) bool { return h.Events[i].At >= before })
	h.Events = slices.Clone(h.Events[n:])
	h.gone += n
	h.draws = slices.DeleteFunc(h.draws, func(d Draw) bool { return d.Event < h.gone })
	h.since = max(h.since, before)
}

// Len is how many events there were.
func (h *History) Len() int { return h.gone + len(h.Events) }

// Since are the events from an index on. It panics if one of them is no longer kept.
func (h *History) Since(index int) []Event {
	if index < h.gone {
		panic(fmt.Sprintf("event %d is no longer kept: this run keeps its record from event %d (%s) on; "+
			"read events as they happen, or use a longer window", index, h.gone, Clock(h.since)))
	}
	return h.Events[min(index, h.Len())-h.gone:]
}

// From are the events from a time on. It panics if one of them is no longer kept.
func (h *History) From(t Time) []Event {
	if t < h.since {
		panic(fmt.Sprintf("events at %s are no longer kept: this run keeps its record from %s on; "+
			"use a longer window", Clock(t), Clock(h.since)))
	}
	return h.Events[sort.Search(len(h.Events), func(i int) bool { return h.Events[i].At >= t }):]
}

// Rest is the part that is kept, as a history that begins there. Stories and pages are made from
// it.
func (h *History) Rest() *History {
	if h.gone == 0 {
		return h
	}
	rest := &History{}
	for _, e := range h.Events {
		if e.Call > 0 {
			e.Call = max(e.Call-h.gone, -1)
		}
		rest.Add(e)
	}
	for _, e := range h.effects {
		if e.Event -= h.gone; e.Event >= 0 {
			rest.effects = append(rest.effects, e)
		}
	}
	for _, d := range h.draws {
		d.Event -= h.gone
		rest.draws = append(rest.draws, d)
	}
	return rest
}

// Departs is the index of the first event, from an index on, that differs from another history; -1
// if there is none. The other history may be longer. Both must be Forgetful.
func (p *past) Departs(from int, other *History) int {
	for i := from; i < len(p.marks); i++ {
		if i >= len(other.marks) || p.marks[i] != other.marks[i] {
			return i
		}
	}
	return -1
}

// mark records the fingerprint of the history up to an event.
func (p *past) mark(e *Event) {
	if p.forgetful {
		whole, done := digest(p.sum), digest(p.done)
		whole.event(e)
		bare := e.withoutText()
		done.event(&bare)
		p.sum, p.done = uint64(whole), uint64(done)
		p.marks = append(p.marks, uint32(done>>32)^uint32(done))
	}
}

// compareMarks compares two histories by their marks, if either has forgotten events.
func compareMarks(a, b *History) (int, string) {
	i := a.Departs(0, b)
	if i < 0 && len(b.marks) > len(a.marks) {
		i = len(a.marks)
	}
	if i < 0 {
		return -1, ""
	}
	first, second := lineOf(a, i), lineOf(b, i)
	if first == second && i >= max(a.gone, b.gone) && i < min(a.Len(), b.Len()) {
		return i, diverges(&a.Since(i)[0], &b.Since(i)[0])
	}
	return i, fmt.Sprintf("event %d differs:\n  first:  %s\n  second: %s", i, first, second)
}

func lineOf(h *History, i int) string {
	switch {
	case i >= h.Len():
		return "ends before it"
	case i < h.gone:
		return "no longer keeps it"
	}
	return h.Since(i)[0].String()
}

// digest is a running FNV-1a.
type digest uint64

// Write implements io.Writer.
func (d *digest) Write(p []byte) (int, error) {
	x := uint64(*d)
	for _, b := range p {
		x = (x ^ uint64(b)) * 1099511628211
	}
	*d = digest(x)
	return len(p), nil
}

func (d *digest) event(e *Event) {
	fmt.Fprintf(d, "%d %d %d %s\n", e.Step, e.Server, e.Call, e.String())
	_, _ = d.Write(e.Sent)
	_, _ = d.Write(e.Received)
	for i := range e.Changes {
		_, _ = d.Write(e.Changes[i].Object)
	}
}
