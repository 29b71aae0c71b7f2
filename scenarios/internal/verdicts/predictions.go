// This file renders what a page says below its cells: predictions, situations to cover, and what
// upstream chose.

package verdicts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Prediction was made from reading the code, before anything ran.
type Prediction[V ~string] struct {
	// Says is the prediction. It is confirmed if the cell of Column and Variant fails, where Falls
	// is set, and otherwise if it passes.
	Says    string
	Column  string
	Variant V
	Falls   bool
}

// Wanted is a situation that was to be covered beside the table of variants, and what covers it:
// columns, a test of the scenario's folder, or nothing, for a reason.
type Wanted struct {
	Scenario string
	Columns  []string
	Test     string
	Unless   string
}

// ending is what the page says below its cells.
func (t Table[V]) ending() string { return t.upstream() + t.Predicted(t.Foretold) + t.covered() }

// upstream lists the cases that the variant that upstream chose passes and fails.
func (t Table[V]) upstream() string {
	if t.Settled == "" {
		return ""
	}
	by := map[string][]string{}
	for _, c := range t.Columns {
		by[c.Answer(t.Upstream)] = append(by[c.Answer(t.Upstream)], c.Name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## What upstream settled for\n\n%s\n", t.Settled)
	for _, part := range []struct{ mark, says string }{{Holds, "passes"}, {Falls, "fails"}, {Silent, "is not run in"}} {
		if names := by[part.mark]; len(names) > 0 {
			fmt.Fprintf(&b, "\n%s %s these cases: %s.\n", t.Upstream, part.says, strings.Join(names, "; "))
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
		"and what the cells of [VERDICTS.md](VERDICTS.md) say of them:\n\n| prediction | cell | |\n|---|---|---|\n")
	for _, p := range predictions {
		verdict, column := "refuted", t.Column(p.Column)
		switch answer := column.Answer(p.Variant); {
		case answer == Silent:
			panic(fmt.Sprintf("verdicts: %q is not run with %s, so it cannot confirm %q", p.Column, p.Variant, p.Says))
		case answer == Falls == p.Falls:
			verdict = "confirmed"
		case column.Because[p.Variant] != "":
			verdict += ": " + column.Because[p.Variant]
		}
		fmt.Fprintf(&b, "| %s | %s: %s | %s |\n", p.Says, p.Column, p.Variant, verdict)
	}
	return b.String()
}

// covered lists which cases and tests cover what was wanted.
func (t Table[V]) covered() string {
	if len(t.Wanted) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## Situations\n\n" +
		"Situations that were to be covered beside the variants, and what covers them:\n\n" +
		"| situation | covered by |\n|---|---|\n")
	for _, w := range t.Wanted {
		var by []string
		for _, column := range w.Columns {
			by = append(by, t.Column(column).Name)
		}
		if w.Test != "" {
			by = append(by, "`"+w.Test+"`")
		}
		if w.Unless != "" {
			by = append(by, "not covered: "+w.Unless)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", w.Scenario, strings.Join(by, "; "))
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
	for _, w := range t.Wanted {
		if w.Test != "" && !strings.Contains(tests.String(), "func "+w.Test+"(") {
			tb.Errorf("%q is covered by %s, which does not exist", w.Scenario, w.Test)
		}
		if covered := len(w.Columns) > 0 || w.Test != ""; covered == (w.Unless != "") {
			tb.Errorf("%q is covered: %v, and the reason why it is not: %q", w.Scenario, covered, w.Unless)
		}
	}
}
