package word

import (
	"slices"
	"strings"
)

// Pattern matches texts that differ in one part, as those with a random value do.
type Pattern struct {
	Prefix, Suffix string // whole words that all these texts have
	least, most    int    // how long the part that differs may be
	digits         bool   // it is a number
}

// Between returns the pattern of two texts that differ.
func Between(a, b string) Pattern {
	p := Pattern{Prefix: a[:samePrefix(a, b)]}
	restA, restB := a[len(p.Prefix):], b[len(p.Prefix):]
	p.Suffix = restA[len(restA)-sameSuffix(restA, restB):]
	x, y := p.part(a), p.part(b)
	if x == "" || y == "" {
		p.Prefix, p.Suffix = "", ""
		x, y = a, b
	}
	p.least, p.most = min(len(x), len(y))/2, 2*max(len(x), len(y))
	p.digits = number(x) && number(y)
	return p
}

// Match returns the part of a text that differs, and whether the text fits the pattern.
func (p Pattern) Match(s string) (part string, ok bool) {
	if len(s) < len(p.Prefix)+len(p.Suffix) || !strings.HasPrefix(s, p.Prefix) || !strings.HasSuffix(s, p.Suffix) {
		return "", false
	}
	part = p.part(s)
	return part, part != "" && len(part) >= p.least && len(part) <= p.most && (!p.digits || number(part))
}

// String is the pattern with "…" for the part that differs.
func (p Pattern) String() string { return p.With("…") }

// With is a text that fits, with some part in place of the one that differs.
func (p Pattern) With(part string) string {
	if p.Prefix != "" {
		part = p.Prefix + "-" + part
	}
	if p.Suffix != "" {
		part += "-" + p.Suffix
	}
	return part
}

// part is what is between prefix and suffix, without punctuation around it.
func (p Pattern) part(s string) string {
	return strings.TrimFunc(s[len(p.Prefix):len(s)-len(p.Suffix)], func(r rune) bool {
		return r < 0x80 && !alnum(byte(r))
	})
}

// samePrefix is the length of the whole words with which both texts begin.
func samePrefix(a, b string) (n int) {
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if alnum(a[i]) && (i+1 == len(a) || !alnum(a[i+1])) && (i+1 == len(b) || !alnum(b[i+1])) {
			n = i + 1
		}
	}
	return n
}

// sameSuffix is the length of the whole words with which both texts end.
func sameSuffix(a, b string) (n int) {
	for i := 1; i <= len(a) && i <= len(b) && a[len(a)-i] == b[len(b)-i]; i++ {
		if alnum(a[len(a)-i]) && (i == len(a) || !alnum(a[len(a)-i-1])) && (i == len(b) || !alnum(b[len(b)-i-1])) {
			n = i
		}
	}
	return n
}

func number(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Pairs puts each text with the one of the others with which it has most in common.
func Pairs(a, b []string) (out [][2]string) {
	b = slices.Clone(b)
	for _, x := range a {
		if len(b) == 0 {
			break
		}
		score := func(y string) int {
			p := Between(x, y)
			return len(p.Prefix) + len(p.Suffix)
		}
		best := 0
		for i := range b {
			if score(b[i]) > score(b[best]) {
				best = i
			}
		}
		out = append(out, [2]string{x, b[best]})
		b = slices.Delete(b, best, best+1)
	}
	return out
}
