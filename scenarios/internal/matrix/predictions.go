// This file renders what a page says below its cells: predictions, situations to cover, and what
// upstream chose.

package matrix

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Prediction was made from reading the code, before anything ran.
type Prediction[V ~string] struct {
	// Says is the prediction. It is confirmed if the cell of Case and Variant fails, where Fails is
	// set, and otherwise if it passes.
	Says    string
	Case    string
	Variant V
	Fails   bool
}

// Situation is one that was to be covered beside the table of variants, and what covers it: cases,
// a test of the scenario's folder, or nothing, for a reason.
type Situation struct {
	Text   string
	Cases  []string
	Test   string
	Reason string
}

// ending is what the page says below its cells.
func (t Table[V]) ending() string { return t.upstream() + t.Predicted(t.Predictions) + t.covered() }

var verbs = map[string]string{Passes: "passes", Fails: "fails", NotRun: "is not run in"}

// upstream lists the cases that the variant that upstream chose passes and fails.
func (t Table[V]) upstream() string {
	if t.UpstreamNote == "" {
		return ""
	}
	by := map[string][]string{}
	for _, c := range t.Cases {
		by[c.Outcome(t.Upstream)] = append(by[c.Outcome(t.Upstream)], c.Name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## What upstream settled for\n\n%s\n", t.UpstreamNote)
	for _, mark := range []string{Passes, Fails, NotRun} {
		if names := by[mark]; len(names) > 0 {
			fmt.Fprintf(&b, "\n%s %s these cases: %s.\n", t.Upstream, verbs[mark], strings.Join(names, "; "))
		}
	}
	return b.String()
}

// Predicted compares predictions with the table: a section of a page, or "" if there are none.
func (t Table[V]) Predicted(predictions []Prediction[V]) string {
	if len(predictions) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## Predictions\n\nPredictions from reading the code, before anything ran, " +
		"and what the cells of [README.md](README.md) say of them:\n\n| prediction | cell | |\n|---|---|---|\n")
	for _, p := range predictions {
		answer, asked := "refuted", t.Case(p.Case)
		switch outcome := asked.Outcome(p.Variant); {
		case outcome == NotRun:
			panic(fmt.Sprintf("matrix: %q is not run with %s, so it cannot confirm %q", p.Case, p.Variant, p.Says))
		case outcome == Fails == p.Fails:
			answer = "confirmed"
		case asked.Notes[p.Variant] != "":
			answer += ": " + asked.Notes[p.Variant]
		}
		fmt.Fprintf(&b, "| %s | %s: %s | %s |\n", p.Says, p.Case, p.Variant, answer)
	}
	return b.String()
}

// covered lists which cases and tests cover what was wanted.
func (t Table[V]) covered() string {
	if len(t.Situations) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## Situations\n\n" +
		"Situations that were to be covered beside the variants, and what covers them:\n\n" +
		"| situation | covered by |\n|---|---|\n")
	for _, w := range t.Situations {
		var by []string
		for _, name := range w.Cases {
			by = append(by, t.Case(name).Name)
		}
		if w.Test != "" {
			by = append(by, "`"+w.Test+"`")
		}
		if w.Reason != "" {
			by = append(by, "not covered: "+w.Reason)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", w.Text, strings.Join(by, "; "))
	}
	return b.String()
}

// checkWanted checks that what was wanted is covered, by tests that exist, or that the page says
// why not.
func (t Table[V]) checkWanted(tb testing.TB) {
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
