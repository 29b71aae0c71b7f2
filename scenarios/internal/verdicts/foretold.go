// This file exists for what a page says beside its cells: what was foretold has a cell that says what became of it, what was wanted
// has questions that tell it, and what upstream settled for has its price.

package verdicts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Prediction is what the dossier derived from reading the code, without having seen it happen.
type Prediction[V ~string] struct {
	// Says what will be so. It is if the cell of Column and Variant falls, or if it holds unless Falls.
	Says    string
	Column  string
	Variant V
	Falls   bool
}

// Wanted is a scenario that the dossier lists beyond its table of variants, and where it is told: in questions, in a test of the
// scenario's folder, or in none, for a reason.
type Wanted struct {
	Scenario string
	Columns  []string
	Test     string
	Unless   string
}

// ending is what the page says below its cells.
func (t Table[V]) ending() string { return t.upstream() + t.Predicted(t.Foretold) + t.told() }

// upstream says what the variant that upstream settled for keeps and gives up: the questions that it holds and falls under.
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
	for _, part := range []struct{ mark, says string }{{Holds, "keeps"}, {Falls, "gives up"}, {Silent, "is not asked"}} {
		if names := by[part.mark]; len(names) > 0 {
			fmt.Fprintf(&b, "\n%s %s, as the columns are called: %s.\n", t.Upstream, part.says, strings.Join(names, "; "))
		}
	}
	return b.String()
}

// Predicted holds predictions against the table, which the tests hold against the runs: a section of a page, "" for none.
func (t Table[V]) Predicted(predictions []Prediction[V]) string {
	if len(predictions) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## What was foretold\n\nPredictions from reading the code, before anything ran, and what the cells of [VERDICTS.md](VERDICTS.md) say of them:\n\n" +
		"| prediction | cell | |\n|---|---|---|\n")
	for _, p := range predictions {
		verdict, column := "refuted", t.Column(p.Column)
		switch answer := column.Answer(p.Variant); {
		case answer == Silent:
			panic(fmt.Sprintf("verdicts: %q is not asked of %s, which is to say whether %q", p.Column, p.Variant, p.Says))
		case answer == Falls == p.Falls:
			verdict = "confirmed"
		case column.Because[p.Variant] != "":
			verdict += ": " + column.Because[p.Variant]
		}
		fmt.Fprintf(&b, "| %s | %s: %s | %s |\n", p.Says, p.Column, p.Variant, verdict)
	}
	return b.String()
}

// told says which questions and tests tell what was wanted.
func (t Table[V]) told() string {
	if len(t.Wanted) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## What was wanted\n\nScenarios that the dossier lists beyond its variants, and what tells them:\n\n| scenario | told by |\n|---|---|\n")
	for _, w := range t.Wanted {
		var by []string
		for _, column := range w.Columns {
			by = append(by, t.Column(column).Name)
		}
		if w.Test != "" {
			by = append(by, "`"+w.Test+"`")
		}
		if w.Unless != "" {
			by = append(by, "not told: "+w.Unless)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", w.Scenario, strings.Join(by, "; "))
	}
	return b.String()
}

// there holds that whatever was wanted is told, by tests that are there, or that the page says why not.
func (t Table[V]) there(tb testing.TB) {
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
			tb.Errorf("%q is told by %s, which is not there", w.Scenario, w.Test)
		}
		if told := len(w.Columns) > 0 || w.Test != ""; told == (w.Unless != "") {
			tb.Errorf("%q is told: %v, and why it is not: %q", w.Scenario, told, w.Unless)
		}
	}
}
