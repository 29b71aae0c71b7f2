// This file renders what a page says below its matrix: predictions, and situations to cover.

package matrix

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Prediction was made before anything ran.
type Prediction[V ~string] struct {
	// Says is the prediction. It is confirmed if the cell of Case and Variant fails, where Fails is
	// set, and otherwise if it passes.
	Says    string
	Case    string
	Variant V
	Fails   bool
	// Link is where the thread says so; "" for what follows from the code alone.
	Link string
}

// Situation is one that was to be covered beside the table of variants, and what covers it: cases,
// a test of the scenario's folder, or nothing, for a reason.
type Situation struct {
	Text   string
	Cases  []string
	Test   string
	Reason string
}

// Covered is a situation that cases cover, Tested one that a test covers, alone or beside cases,
// and Open one that nothing covers, for a reason.
func Covered(text string, cases ...string) Situation { return Situation{Text: text, Cases: cases} }

// Tested is documented at Covered.
func Tested(text, test string, cases ...string) Situation {
	return Situation{Text: text, Test: test, Cases: cases}
}

// Open is documented at Covered.
func Open(text, reason string) Situation { return Situation{Text: text, Reason: reason} }

// predicted compares the predictions with the table: a section of a page, or "" if there are none.
func (t Table[V]) predicted() string {
	if len(t.Predictions) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## Predictions\n\n")
	b.WriteString("These were made in the thread, or from reading the code, before anything ran:\n\n")
	b.WriteString("| prediction | cell | |\n|---|---|---|\n")
	for _, p := range t.Predictions {
		asked := t.Case(p.Case)
		answer, outcome := "not confirmed", asked.Outcome(p.Variant)
		if outcome == NotRun {
			panic(fmt.Sprintf("matrix: %q is not run with %s, so it cannot confirm %q", p.Case, p.Variant, p.Says))
		}
		if (outcome == Fails) == p.Fails {
			answer = "confirmed"
		} else if note := asked.note(p.Variant); note != "" {
			answer += ": " + note
		}
		says := p.Says
		if p.Link != "" {
			says = fmt.Sprintf("%s ([thread](%s))", says, p.Link)
		}
		fmt.Fprintf(&b, "| %s | %s: %s | %s |\n", says, p.Case, p.Variant, answer)
	}
	return b.String()
}

// covered lists which cases and tests cover what was wanted, and what is not covered.
func (t Table[V]) covered() string {
	var b, not strings.Builder
	for _, w := range t.Situations {
		var by []string
		for _, name := range w.Cases {
			by = append(by, t.Case(name).Name)
		}
		if w.Test != "" {
			by = append(by, "`"+w.Test+"`")
		}
		if w.Reason != "" {
			fmt.Fprintf(&not, "- %s: %s.\n", w.Text, w.Reason)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |\n", w.Text, strings.Join(by, "; "))
	}
	out := ""
	if b.Len() > 0 {
		out = "\n## Situations\n\n| situation | covered by |\n|---|---|\n" + b.String()
	}
	if not.Len() > 0 {
		out += "\n## Not covered\n\n" + not.String()
	}
	return out
}

// checkSituations checks that each situation is covered, by tests that exist, or has a reason.
func (t Table[V]) checkSituations(tb testing.TB) {
	var tests strings.Builder
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		tb.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		tests.Write(data)
	}
	for _, w := range t.Situations {
		if w.Test != "" && !strings.Contains(tests.String(), "func "+w.Test+"(") {
			tb.Errorf("%q is covered by %s, which does not exist", w.Text, w.Test)
		}
		if covered := len(w.Cases) > 0 || w.Test != ""; covered == (w.Reason != "") {
			tb.Errorf("%q is covered: %v, and the reason why it is not: %q", w.Text, covered, w.Reason)
		}
	}
}
