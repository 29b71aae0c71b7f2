package shell

import (
	"slices"
	"testing"
)

func TestSplitTakesApartWhatQuoteMade(t *testing.T) {
	words := []string{"go", "test", "a b", "it's", "", `\d+ 'x'$`, "-x=y z"}
	command := ""
	for _, w := range words {
		command += Word(w) + " "
	}
	if got := Split(command); !slices.Equal(got, words) {
		t.Errorf("%q is split into %q, want %q", command, got, words)
	}
	if got := Split("a  -f='b c'd"); !slices.Equal(got, []string{"a", "-f=b cd"}) {
		t.Errorf("split into %q", got)
	}
}
