// This file exists for what was foretold: a prediction has a cell that says what became of it, or it is not worth its name.

package verdicts

import (
	"fmt"
	"strings"
)

// Prediction is what the dossier derived from reading the code, without having seen it happen.
type Prediction[V ~string] struct {
	// Says what will be so. It is if the cell of Column and Variant falls, or if it holds unless Falls.
	Says    string
	Column  string
	Variant V
	Falls   bool
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
		verdict := "refuted"
		switch answer := t.Column(p.Column).Answer(p.Variant); {
		case answer == Silent:
			panic(fmt.Sprintf("verdicts: %q is not asked of %s, which is to say whether %q", p.Column, p.Variant, p.Says))
		case answer == Falls == p.Falls:
			verdict = "confirmed"
		}
		fmt.Fprintf(&b, "| %s | %s: %s | %s |\n", p.Says, p.Column, p.Variant, verdict)
	}
	return b.String()
}
