package history

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// String is one line for an event: stable on every replay, without bodies.
func (e *Event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %-7s %s", Clock(e.At), e.Kind, e.Actor())
	if !e.Reconcile.None() {
		fmt.Fprintf(&b, " [%s]", e.Reconcile)
	}
	for _, s := range []string{e.Verb, e.Ref.String(), prefix("/", e.Sub), e.Host + e.Path,
		prefix("cause ", e.Cause.String()), prefix("outcome ", e.outcome()), e.Remark()} {
		if s != "" {
			b.WriteByte(' ')
			b.WriteString(s)
		}
	}
	if e.Code != 0 {
		fmt.Fprintf(&b, " → %d", e.Code)
	}
	if e.Revision != 0 {
		fmt.Fprintf(&b, " rv %d", e.Revision)
	}
	if e.Wait != 0 {
		fmt.Fprintf(&b, " after %v", e.Wait)
	}
	for _, s := range e.Seen {
		fmt.Fprintf(&b, " (cache %s rv %d, server rv %d)", s.Ref, s.Cache, s.Server)
	}
	return b.String()
}

// outcome is how a reconcile ended, in words.
func (e *Event) outcome() string {
	if e.Kind == Stop {
		return ""
	}
	return e.Outcome.String()
}

func prefix(p, s string) string {
	if s == "" {
		return ""
	}
	return p + s
}

// Date is a virtual time as the clocks of a run show it. Every run begins at midnight of January 1,
// 2000, UTC, as every bubble of testing/synctest does.
func Date(t Time) time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(t) }

// Clock writes a virtual time as [h:]mm:ss.mmm, and with micro- and nanoseconds if they are not
// zero.
func Clock(t Time) string {
	s := fmt.Sprintf("%02d:%02d.%09d", int(t.Minutes())%60, int(t.Seconds())%60, t.Nanoseconds()%1e9)
	if t.Hours() >= 1 {
		s = fmt.Sprintf("%d:%s", int(t.Hours()), s)
	}
	for range 2 {
		s = strings.TrimSuffix(s, "000")
	}
	return s
}

// Difference compares two histories event by event, with bodies, committed objects and effects. It
// returns the index of the first event that differs and a sentence about it; -1 and "" when they
// are equal.
func Difference(a, b *History) (int, string) {
	at, what := Divergence(a, b)
	if i, how := differentTexts(a, b); i >= 0 && (at < 0 || i < at) {
		return i, how
	}
	return at, what
}

// Divergence compares what two runs did. It is [Difference] without the texts of the errors with
// which reconciles and processes ended: people read those, and nothing in a run depends on them. An
// error that enters a request or an object is compared there.
func Divergence(a, b *History) (int, string) {
	if a.gone+b.gone > 0 {
		if i, what := compareMarks(a, b); i >= 0 {
			return i, what
		}
		return differentEffects(a, b)
	}
	for i := range a.Events {
		if i >= len(b.Events) {
			return i, fmt.Sprintf("the second run ends after %d events; the first continues with %q", i,
				a.Events[i].String())
		}
		if what := diverges(&a.Events[i], &b.Events[i]); what != "" {
			return i, what
		}
	}
	if len(b.Events) > len(a.Events) {
		i := len(a.Events)
		return i, fmt.Sprintf("the first run ends after %d events; the second continues with %q", i,
			b.Events[i].String())
	}
	return differentEffects(a, b)
}

// diverges says how two events of one index differ, texts left out; "" when they do not.
func diverges(a, b *Event) string {
	x, y := a.withoutText(), b.withoutText()
	what, first, second := differs(&x, &y)
	if what == "" {
		return ""
	}
	return sides(a.Index, what, a.String()+first, b.String()+second)
}

func sides(index int, what, first, second string) string {
	return fmt.Sprintf("event %d differs in its %s:\n  first:  %s\n  second: %s", index, what, first, second)
}

// differentTexts is the first event in which only the text of an error differs. In the forgotten
// part it knows only whether there is such an event.
func differentTexts(a, b *History) (int, string) {
	from := max(a.gone, b.gone)
	for i := from; i < min(a.Len(), b.Len()); i++ {
		x, y := &a.Events[i-a.gone], &b.Events[i-b.gone]
		if x.text() != y.text() {
			return i, sides(i, "text", x.String(), y.String())
		}
	}
	if from > 0 && a.sum != b.sum {
		return from - 1, fmt.Sprintf("the text of an error differs before event %d, where no event is kept", from)
	}
	return -1, ""
}

// text is the part of an event that only people read: the text of an error.
func (e *Event) text() string { return e.Outcome.Text }

// withoutText is the event as [Divergence] compares it.
func (e *Event) withoutText() Event {
	out := *e
	out.Outcome.Text = ""
	return out
}

func differentEffects(a, b *History) (int, string) {
	for i := range a.effects {
		if i >= len(b.effects) || a.effects[i] != b.effects[i] {
			return a.Len(), fmt.Sprintf("effect %d differs", i)
		}
	}
	if len(a.effects) != len(b.effects) {
		return a.Len(), "the second run has more effects"
	}
	return -1, ""
}

// differs says in what two events differ, and where two bodies do.
func differs(a, b *Event) (what, first, second string) {
	bodies := func(name string, a, b []byte) (string, string, string) {
		first, second := excerpts(a, b)
		return name, first, second
	}
	switch {
	case a.String() != b.String():
		return "line", "", ""
	case a.Step != b.Step: // a step without an event came before it
		return "step", fmt.Sprintf(" (step %d)", a.Step), fmt.Sprintf(" (step %d)", b.Step)
	case a.Server != b.Server:
		return "server's state", fmt.Sprintf(" (server at rv %d)", a.Server), fmt.Sprintf(" (server at rv %d)",
			b.Server)
	case a.Call != b.Call:
		return "request", fmt.Sprintf(" (of event %d)", a.Call), fmt.Sprintf(" (of event %d)", b.Call)
	case !bytes.Equal(a.Sent, b.Sent):
		return bodies("request body", a.Sent, b.Sent)
	case !bytes.Equal(a.Received, b.Received):
		return bodies("received body", a.Received, b.Received)
	case len(a.Changes) != len(b.Changes):
		return "committed changes", "", ""
	}
	for i := range a.Changes {
		if !bytes.Equal(a.Changes[i].Object, b.Changes[i].Object) {
			return bodies("committed object "+a.Changes[i].Ref.String(), a.Changes[i].Object, b.Changes[i].Object)
		}
	}
	return "", "", ""
}

// excerpts are the parts of two bodies around their first difference.
func excerpts(a, b []byte) (first, second string) {
	const before, after = 80, 120
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	part := func(body []byte) string {
		from, to := max(0, at-before), min(len(body), at+after)
		s := strings.ToValidUTF8(string(body[from:to]), "·")
		if from > 0 {
			s = "…" + s
		}
		if to < len(body) {
			s += "…"
		}
		return "\n    " + s
	}
	return part(a), part(b)
}

// Hash is a fingerprint of the whole history, bodies and committed objects included.
func (h *History) Hash() uint64 {
	d := digest(h.sum)
	if !h.forgetful {
		d = digest(fnv.New64a().Sum64())
		for i := range h.Events {
			d.event(&h.Events[i])
		}
	}
	for _, e := range h.effects {
		fmt.Fprintf(&d, "%+v\n", e)
	}
	return uint64(d)
}
