package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
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

// quiet is the virtual time without an event from which texts mention it.
const quiet = time.Second

// WriteText writes a run for a terminal: the violation and why, the story with marks at what led to
// it, and the replay command. Colour is for terminals only; the caller knows whether it has one.
func WriteText(w io.Writer, r Run, colour bool) error {
	paint := func(how, s string) string {
		s = story.Printable(s)
		if !colour || s == "" {
			return s
		}
		return how + s + plain
	}
	var b strings.Builder
	fmt.Fprintln(&b, paint(bold, r.title()))
	if s := r.Story; s != nil {
		fmt.Fprintf(&b, "%s\n    %s\n", paint(bold+red, broke(s)), strings.ReplaceAll(s.Message, "\n", "\n    "))
		for _, sentence := range s.Paragraph() {
			fmt.Fprintf(&b, "    %s\n", story.Printable(sentence))
		}
	} else {
		fmt.Fprintln(&b, paint(green, "every property held"))
	}
	chain := onChain(r.History)
	var before history.Time
	for _, l := range r.History.Lines() {
		e := &r.History.Events[l.Event]
		if e.At-before >= quiet {
			fmt.Fprintln(&b, paint(dim, fmt.Sprintf("  ⋯ %v of quiet", (e.At-before).Round(time.Millisecond))))
		}
		before = e.At
		mark := " "
		if chain[l.Event] {
			mark = paint(red, "│")
		}
		clock, actor := fmt.Sprintf("%-12s", history.Clock(e.At)), fmt.Sprintf("%-16s", e.Actor())
		fmt.Fprintf(&b, "%s %s %s %s\n", mark, paint(dim, clock), paint(cyan, actor), paint(colourOf(e), l.Text))
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
	case e.Kind == history.Done, e.Kind == history.HandledError, e.Code >= 400:
		return red
	case len(e.Seen) > 0:
		return yellow
	case e.Write():
		return bold
	}
	return plain
}
