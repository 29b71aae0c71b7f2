package auto

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// fromPattern is a text that a pattern matches: its shortest alternatives, with other characters
// for each variant. It is not found for patterns with conditions on neighbouring characters.
func fromPattern(pattern string, variant int) (string, bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	matches, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	for _, v := range []int{variant, 0} {
		var b strings.Builder
		write(&b, re.Simplify(), v)
		if matches.MatchString(b.String()) {
			return b.String(), true
		}
	}
	return "", false
}

func write(b *strings.Builder, re *syntax.Regexp, variant int) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(character(re.Rune, variant))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte("abcd"[variant])
	case syntax.OpCapture, syntax.OpPlus:
		write(b, re.Sub[0], variant)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			write(b, sub, variant)
		}
	case syntax.OpAlternate:
		write(b, re.Sub[variant%len(re.Sub)], variant)
	case syntax.OpRepeat:
		for range re.Min {
			write(b, re.Sub[0], variant)
		}
	}
}

// character is one of a class: a letter or a digit if there is one.
func character(class []rune, variant int) rune {
	for _, wanted := range []string{"abcd", "ABCD", "1234"} {
		r := rune(wanted[variant])
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= r && r <= class[i+1] {
				return r
			}
		}
	}
	return class[0]
}
