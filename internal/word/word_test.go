package word_test

import (
	"testing"

	"github.com/wavetank/wavetank/internal/word"
)

func TestReplace(t *testing.T) {
	for _, c := range []struct{ text, word, want string }{
		{"10.0.0.1:80 and 10.0.0.12", "10.0.0.1", "…:80 and 10.0.0.12"},
		{"web-abc webabc abc", "abc", "web-… webabc …"},
		{"aaa a a", "a", "aaa … …"},
		{"a-a-a-a", "a-a", "…-…"},
		{"xa-a-a", "a-a", "xa-…"},
		{"nothing", "word", "nothing"},
		{"anything", "", "anything"},
		{"", "word", ""},
	} {
		if got := word.Replace(c.text, c.word, "…"); got != c.want {
			t.Errorf("%q in %q: %q, not %q", c.word, c.text, got, c.want)
		}
	}
}
