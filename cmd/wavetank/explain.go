package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/wavetank/wavetank/internal/story"
)

// explainAll explains stories in sentences, each abridged unless all is set.
func explainAll(out io.Writer, paths []string, all bool) error {
	for _, path := range paths {
		s, err := story.Read(path)
		if err != nil {
			return err
		}
		if !all {
			s.Abridge(story.MaxLines)
		}
		explain(out, path, s)
	}
	return nil
}

// explain writes one story in sentences: what broke, what happened with a paragraph for each
// reconcile, and the choices that were not the default. The choices that matter least come last.
func explain(out io.Writer, path string, s *story.Story) {
	what := fmt.Sprintf("%s %q, declared at %s,", s.Kind, s.Property, s.Site)
	if s.Property == "" {
		what = s.Kind
	}
	fmt.Fprintf(out, "In %s, %s broke: %s.\n\n", s.Test, what, strings.TrimSuffix(s.Message, "."))
	for _, sentence := range s.Paragraph() {
		fmt.Fprintln(out, sentence)
	}
	if len(s.Paragraph()) > 0 {
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out, "What happened:")
	lines := slices.Clone(s.History)
	for _, l := range s.Led {
		for _, note := range l.Notes {
			lines[l.Line] += "; " + note
		}
	}
	for _, p := range paragraphs(lines) {
		fmt.Fprintf(out, "  %s\n", p)
	}
	if len(s.Choices) == 0 {
		fmt.Fprint(out, "\nIt needs nothing out of the ordinary: no fault, no delay, first come first served.\n")
	} else {
		fmt.Fprintf(out, "\nWhat was out of the ordinary (%d choices are left of the %d of the run as it was found):\n",
			len(s.Choices), s.Before.Choices)
		choices := slices.Clone(s.Choices)
		slices.SortStableFunc(choices, func(a, b story.Choice) int { return cmp.Compare(weight(a), weight(b)) })
		for _, c := range choices {
			fmt.Fprintf(out, "  - %s\n", story.Printable(choiceInWords(c)))
		}
	}
	fmt.Fprintf(out, "\nSee it again: wavetank replay %s\n\n", shellquote.Join(relative(path)))
}

// weight orders choices: injected faults come before declared ones, then order and delays, and last
// the seeds of values that rarely matter.
func weight(c story.Choice) int {
	switch c.Kind {
	case story.Arm:
		return 1
	case story.Next, story.Request, story.Reply:
		return 2
	case story.Names, story.Seed:
		return 3
	}
	return 0
}

// choiceInWords says what a choice decided.
func choiceInWords(c story.Choice) string {
	nth := c.Nth + 1
	where := ""
	if c.What != "" {
		where = " in " + c.What
	}
	switch c.Kind {
	case story.Draw:
		word, _ := strconv.Atoi(c.What)
		return fmt.Sprintf("random word %d of draw %d of %q", word+1, nth, c.Of)
	case story.Arm:
		often := map[int]string{1: "sometimes", 2: "often"}[c.Value]
		return fmt.Sprintf("the fault %s%s may be injected, %s", c.Of, c.What, often)
	case story.Names:
		server := "the API server"
		if c.What != "" {
			server += " of " + c.What
		}
		return server + " generates other UIDs and names than usual, which rarely matters"
	case story.Seed:
		return fmt.Sprintf("math/rand has another seed than usual%s, as for jitter, which rarely matters", where)
	case story.Next:
		return fmt.Sprintf("at choice %d of the next action, action %d was taken in place of the oldest", nth, c.Value)
	case story.Request, story.Reply:
		return fmt.Sprintf("the %s of %s %s %s is slow (call %d of its kind)", c.Kind, c.Who, c.Verb, c.What, nth)
	}
	return fmt.Sprintf("%s (call %d of its kind, answer %d)", c.Label, nth, c.Value)
}

// paragraphs joins what a reconcile did to the line with which it began.
func paragraphs(history []string) []string {
	var out []string
	last := map[string]int{} // the actor's latest paragraph
	for _, l := range history {
		if strings.HasPrefix(l, "… ") { // lines are left out
			out = append(out, l)
			clear(last)
			continue
		}
		at, who, what := columns(l)
		if i, ok := last[who]; ok && strings.HasPrefix(what, "  ") {
			out[i] += "; it " + predicate(strings.TrimSpace(what))
			continue
		}
		last[who] = len(out)
		out = append(out, strings.Join(strings.Fields(fmt.Sprintf("At %s, %s %s", at, who, predicate(what))), " "))
	}
	for i := range out {
		if !strings.HasPrefix(out[i], "… ") {
			out[i] = strings.TrimSuffix(out[i], ".") + "."
		}
	}
	return out
}

// verbs are the words with which lines begin, and what they are in a sentence.
var verbs = map[string]string{
	"create": "creates", "update": "updates", "patch": "patches",
	"delete": "deletes", "deletecollection": "deletes all of", "get": "gets", "list": "lists",
	"GET": "sends a GET to", "POST": "sends a POST to", "PUT": "sends a PUT to", "PATCH": "sends a PATCH to",
	"DELETE": "sends a DELETE to", "no": "gets no", "fault:": "meets a fault:",
}

// predicate is a line as the predicate of a sentence.
func predicate(what string) string {
	first, rest, _ := strings.Cut(what, " ")
	if v := verbs[first]; v != "" {
		return v + " " + rest
	}
	return what
}

// columns splits a line of a story into its time, its actor and the rest. The time has 12 columns,
// or as many as its nanoseconds need; the actor has 16, or as many as its name needs.
func columns(l string) (at, who, what string) {
	at, _, _ = strings.Cut(l, " ")
	first := max(12, len(at)) + 1
	second := first + 16
	if len(l) <= second {
		return "", "", l
	}
	end := second
	if l[end] != ' ' {
		if end += strings.IndexByte(l[end:], ' '); end < second {
			return at, l[first:], ""
		}
	}
	return at, strings.TrimSpace(l[first:end]), l[end+1:]
}
