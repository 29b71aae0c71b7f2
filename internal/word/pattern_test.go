package word_test

import (
	"testing"

	"github.com/wavetank/wavetank/internal/word"
)

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		a, b, pattern string
		s, part       string // "" if it does not match
	}{
		{"child-a-x1f9", "child-a-77b0", "child-a-…", "child-a-b3d2", "b3d2"},
		{"child-a-x1f9", "child-a-77b0", "child-a-…", "child-b-b3d2", ""},
		{"child-a-x1f9", "child-a-77b0", "child-a-…", "child-a", ""},
		{"child-a-x1f9", "child-a-77b0", "child-a-…", "child-a-b3d2b3d2b3d2", ""},
		{"https://h/a1b2c3/records", "https://h/d4e5f6/records", "https://h-…-records", "https://h/778899/records",
			"778899"},
		{"a1b2c3", "a1d4e5", "…", "ffffff", "ffffff"},
		{"0d1c+8/=", "77aa+9/=", "…", "QQ+Qabc", "QQ+Qabc"},
		{"31245", "30007", "…", "31777", "31777"},
		{"31245", "30007", "…", "ready", ""},
		{"a", "a-1", "…", "a-2", "a-2"},
		{"-----BEGIN KEY-----\nabcd=\n-----END KEY-----\n", "-----BEGIN KEY-----\nefgh=\n-----END KEY-----\n",
			"-----BEGIN KEY-…-END KEY-----\n", "-----BEGIN KEY-----\nijkl\n-----END KEY-----\n", "ijkl"},
	} {
		p := word.Between(c.a, c.b)
		if p.String() != c.pattern {
			t.Errorf("%q and %q: %q", c.a, c.b, p)
		}
		if part, ok := p.Match(c.s); ok != (c.part != "") || ok && part != c.part {
			t.Errorf("%q in %q: %q, %v", p, c.s, part, ok)
		}
	}
}
