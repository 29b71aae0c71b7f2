package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// figures are the constants that docs/concepts.md states in words.
var figures = []struct{ file, constant, value, words string }{
	{"sim/internal/world/settle.go", "faultPhaseTime", "3 * time.Minute", "lasts three minutes or 2,000 steps"},
	{"sim/internal/world/settle.go", "faultPhaseSteps", "2000", "lasts three minutes or 2,000 steps"},
	{"sim/internal/world/quiescence.go", "quietPeriod", "time.Second", "Nothing has happened for one second."},
	{"sim/internal/world/quiescence.go", "idlePeriod", "time.Minute",
		"If keys poll, it is enough that for one minute nothing happened"},
	{"sim/internal/world/quiescence.go", "silentPeriod", "longestBackOff", "has been silent for 1,000 s"},
	{"sim/internal/world/quiescence.go", "longestBackOff", "1000 * time.Second",
		"longest back-off of controller-runtime is 1,000 s"},
	{"sim/internal/world/quiescence.go", "patience", "longestBackOff + idlePeriod", "nothing has changed for 1,060 s"},
	{"sim/internal/world/quiescence.go", "outsidePatience", "2 * longestBackOff", "nothing has changed for 2,000 s"},
	{"sim/internal/world/activity.go", "maxPolls", "10", "fewer than 10 times since the last change"},
}

// The figures of docs/concepts.md are those of the code.
func TestFiguresOfConcepts(t *testing.T) {
	page := strings.Join(strings.Fields(readPage(t, "docs/concepts.md")), " ")
	for _, f := range figures {
		code, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(f.file)))
		if err != nil {
			t.Error(err)
			continue
		}
		constant := regexp.MustCompile(`(?m)^\s*(?:const )?` + f.constant + `\s*=\s*` + regexp.QuoteMeta(f.value) + `$`)
		if !constant.Match(code) {
			t.Errorf("%s is not %s in %s; docs/concepts.md says %q", f.constant, f.value, f.file, f.words)
		}
		if !strings.Contains(page, f.words) {
			t.Errorf("docs/concepts.md does not say %q of %s = %s", f.words, f.constant, f.value)
		}
	}
}
