// Package shell writes words as a POSIX shell reads them.
package shell

import (
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// Quote makes one word of a text.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

var plain = regexp.MustCompile(`^[A-Za-z0-9_./~:@%+=,<>-]+$`)

// Word is Quote for a text that usually needs no quotes.
func Word(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return Quote(s)
}

// Split takes a command apart into the words that [Quote] and [Word] have made.
func Split(command string) (words []string) {
	var word strings.Builder
	quoted, begun := false, false
	for i := 0; i < len(command); i++ {
		switch b := command[i]; {
		case b == '\'':
			quoted, begun = !quoted, true
		case b == ' ' && !quoted:
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case b == '\\' && !quoted && i+1 < len(command):
			i++
			word.WriteByte(command[i])
			begun = true
		default:
			word.WriteByte(b)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// GoTest begins the command that tests a package as this test binary was built.
func GoTest(pkg string) string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		info = &debug.BuildInfo{}
	}
	return goTest(pkg, info.Settings)
}

// Races reports whether this test binary looks for data races.
func Races() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// goTest names the settings without which another program would be built, or one that does not see
// what this one saw.
func goTest(pkg string, settings []debug.BuildSetting) string {
	command := "go test " + pkg
	for _, s := range settings {
		switch {
		case s.Key == "-tags":
			command += " -tags=" + Word(s.Value)
		case s.Key == "-race" && s.Value == "true":
			command += " -race"
		}
	}
	return command
}
