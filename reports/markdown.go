package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
)

// longestSequence is how many messages a sequence diagram may have. In a longer one, only what led
// to the failure is drawn.
const longestSequence = 40

// Markdown renders a run for a pull request: the property that was violated and why, the story as a
// sequence diagram that GitHub and GitLab draw, and the command that replays it.
func Markdown(r Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", r.title())
	s := r.Story
	if s == nil {
		b.WriteString("Every property held.\n\n")
	} else {
		fmt.Fprintf(&b, "**%s**\n\n> %s\n", broke(s), strings.ReplaceAll(s.Message, "\n", "\n> "))
		writeParagraph(&b, s)
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "```mermaid\n%s```\n", sequenceDiagram(r.History))
	if s != nil {
		fmt.Fprintf(&b, "\nShrunk from %s to %s; found by %s.\n\n```sh\n%s\n```\n\n", s.Before, s.After, s.Seed,
			s.Replay)
		fmt.Fprintf(&b, "<details><summary>The story in %d lines</summary>\n\n```\n%s\n```\n\n</details>\n",
			len(s.History), strings.Join(s.History, "\n"))
	}
	return b.String()
}

// sequenceDiagram renders a history as a Mermaid sequence diagram. In a long one, only what led to
// the failure and the injected faults are drawn.
func sequenceDiagram(h *history.History) string {
	all, place := lanes(h)
	lines := h.Lines()
	chain := onChain(h)
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	for i, l := range all {
		sort := "participant"
		if l.Group == "user" {
			sort = "actor"
		}
		fmt.Fprintf(&b, "    %s p%d as %s\n", sort, i, mermaid(l.Name))
	}
	everybody := fmt.Sprintf("p0,p%d", len(all)-1)
	var before history.Time
	for _, t := range lines {
		e := &h.Events[t.Event]
		if len(lines) > longestSequence && !chain[t.Event] && e.Kind != history.Fault && e.Kind != history.Crash {
			continue
		}
		if e.At-before >= quiet {
			fmt.Fprintf(&b, "    Note over %s: %s of quiet\n", everybody, (e.At - before).Round(time.Millisecond))
		}
		before = e.At
		who, ok := place[e.Actor()]
		to := recipient(e, place)
		text := mermaid(strings.TrimSpace(t.Text))
		switch {
		case !ok:
			fmt.Fprintf(&b, "    Note over %s: %s\n", everybody, text)
		case e.Kind == history.Request:
			fmt.Fprintf(&b, "    p%d->>p%d: %s\n", who, to, text)
		case e.Kind == history.Deliver:
			fmt.Fprintf(&b, "    p%d-->>p%d: %s\n", to, who, text)
		case e.Kind == history.Reply:
			fmt.Fprintf(&b, "    p%d--xp%d: %s\n", to, who, text)
		default:
			fmt.Fprintf(&b, "    Note over p%d: %s\n", who, text)
		}
	}
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Violation {
			fmt.Fprintf(&b, "    Note over %s: %s\n", everybody, mermaid("❌ "+e.Note))
		}
	}
	return b.String()
}

// mermaid escapes a text for Mermaid, where semicolons and line ends finish statements and # is an
// escape.
func mermaid(s string) string {
	const longest = 160
	s = strings.NewReplacer("#", "#35;", ";", "#59;", "\n", " ", "<", "#lt;", ">", "#gt;").Replace(cut(s, longest))
	return s
}
