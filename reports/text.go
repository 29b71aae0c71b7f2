package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/story"
)

// The colours of a terminal, by what they stand for.
const (
	plain  = "\x1b[0m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
)

// quiet is the stretch of virtual time from which texts say that nothing happened.
const quiet = time.Second

// Text writes a run for a terminal: what broke, the story with what led to it marked, and how to see it again. Colour is
// for terminals only; the caller knows whether it has one.
func Text(w io.Writer, r Run, colour bool) error {
	paint := func(how, s string) string {
		if !colour || s == "" {
			return s
		}
		return how + s + plain
	}
	var b strings.Builder
	fmt.Fprintln(&b, paint(bold, r.title()))
	if s := r.Story; s != nil {
		fmt.Fprintf(&b, "%s\n    %s\n", paint(bold+red, broke(s)), strings.ReplaceAll(s.Message, "\n", "\n    "))
	} else {
		fmt.Fprintln(&b, paint(green, "everything held"))
	}
	chain := onChain(r.History)
	var before history.Time
	for _, t := range r.History.Tellings() {
		e := &r.History.Events[t.Event]
		if e.At-before >= quiet {
			fmt.Fprintln(&b, paint(dim, fmt.Sprintf("  %s", "⋯ "+(e.At-before).Round(time.Millisecond).String()+" of quiet")))
		}
		before = e.At
		mark := " "
		if chain[t.Event] {
			mark = paint(red, "│")
		}
		fmt.Fprintf(&b, "%s %s %s %s\n", mark, paint(dim, fmt.Sprintf("%-12s", history.Clock(e.At))), paint(cyan, fmt.Sprintf("%-16s", e.Actor())), paint(colourOf(e), t.Text))
	}
	if s := r.Story; s != nil {
		fmt.Fprintf(&b, "%s\nreplay: %s\n", paint(dim, "│ led to the failure"), s.Replay)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func colourOf(e *history.Event) string {
	switch {
	case e.Kind == history.Fault, e.Kind == history.Crash, e.Kind == history.Reply, e.Kind == history.Deliver:
		return yellow
	case e.Kind == history.Done, e.Code >= 400:
		return red
	case len(e.Seen) > 0:
		return yellow
	case e.Write():
		return bold
	}
	return plain
}

func onChain(h *history.History) map[int]bool {
	on := map[int]bool{}
	for _, l := range Chain(h) {
		on[l.From], on[l.To] = true, true
	}
	return on
}

// broke says what broke in a story, and where that is declared.
func broke(s *story.Story) string {
	what := s.Headline()
	if s.Property != "" {
		what += " broke"
	}
	if s.Site != "" {
		what += " (" + s.Site + ")"
	}
	return what
}
