// This file checks how Go source reads: the width of lines, and words that docs/concepts.md has
// replaced.

package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxComment is the number of columns that a comment may have. A column is a rune, and a tab counts
// four. Linters limit the width of code.
const (
	maxComment = 100
	tabWidth   = 4
)

// coined are words of the project's own that docs/concepts.md has replaced. Their plurals and past
// tenses are refused, too.
var coined = []string{
	"temper", "hush", "murmur", "blurted", "tellings", "unheeded", "hinge", "mishaps", "wakers", "retell", "guest",
	"dossier", "oracle", "tape", "dice", "knob", "twin", "storm",
}

// names are public names that have a coined word: the strategy, and what two reference scenarios
// call a case and an object. Stories and seeds depend on them.
var names = map[string]string{
	`storm"`: "internal/strategy/strategy.go sim/internal/campaign/search.go " +
		"sim/internal/campaign/settings.go " +
		"fuzz/endurance/endurance_test.go",
	"`storm`":          "fuzz/planted/page_test.go",
	"random, storm, ":  "sim/options.go",
	"swarm and storm)": "sim/options.go",
	"a storm of e":     "scenarios/throttle/table.go",
	`named("twin"`:     "scenarios/promotion/workloads.go scenarios/promotion/fix_test.go",
}

// thisFile names the words that it refuses.
const thisFile = "hack/tidy/text_test.go"

func TestCommentWidths(t *testing.T) {
	checkEach(t, func(path, text string) []string {
		var out []string
		for i, line := range strings.Split(text, "\n") {
			if n := columns(line); isComment(line) && n > maxComment && !unbreakable(line) {
				out = append(out, fmt.Sprintf("%s:%d has %d columns; %d are allowed", path, i+1, n, maxComment))
			}
		}
		return out
	})
}

func isComment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "//") }

func columns(line string) int {
	return utf8.RuneCountInString(line) + (tabWidth-1)*strings.Count(line, "\t")
}

// markers are comments that tools read, one line each.
var markers = regexp.MustCompile(`^\s*//([a-z]+:|nolint|\s*\+)`)

// unbreakable reports whether the line cannot be broken: a marker for a tool, or a comment of a
// single word, as an address is.
func unbreakable(line string) bool {
	return markers.MatchString(line) || isComment(line) && len(strings.Fields(line)) <= 2
}

func TestCoinedWords(t *testing.T) {
	checkEach(t, func(path, text string) []string {
		var out []string
		if path == thisFile {
			return nil
		}
		if w := coinedWord(path); w != "" {
			out = append(out, fmt.Sprintf("the path %s says %q; see docs/concepts.md for the word to use", path, w))
		}
		for i, line := range strings.Split(text, "\n") {
			if w := coinedWord(withoutNames(path, line)); w != "" {
				out = append(out, fmt.Sprintf("%s:%d says %q; see docs/concepts.md for the word to use", path, i+1, w))
			}
		}
		return out
	})
}

// refused are words that no comment has.
var refused = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever|anew|aloud|in vain|for ever|goes on|go on|` +
	`says whether|but for|has to do with|what is left of)\b`)

func TestRefusedWords(t *testing.T) {
	checkEach(t, func(path, text string) (out []string) {
		if path == thisFile {
			return nil
		}
		for i, line := range strings.Split(text, "\n") {
			_, comment, _ := strings.Cut(line, "// ")
			if w := refused.FindString(comment); w != "" {
				out = append(out, fmt.Sprintf("%s:%d has a comment with %q: name the subject", path, i+1, w))
			}
		}
		return out
	})
}

// parts are the words of a text, and of the identifiers in it.
var parts = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// coinedWord is the first coined word of a text, "" if there is none.
func coinedWord(text string) string {
	for _, word := range parts.FindAllString(text, -1) {
		lower := strings.ToLower(word)
		for _, c := range coined {
			if lower == c || lower == c+"s" || lower == c+"ed" {
				return word
			}
		}
	}
	return ""
}

// withoutNames is a line of a file without the names that it may have.
func withoutNames(path, line string) string {
	for name, files := range names {
		if slices.Contains(strings.Fields(files), path) {
			line = strings.ReplaceAll(line, name, "")
		}
	}
	return line
}

func TestCoinedWordsAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"the temperature of a suggestion": "", "hushed": "hushed", "var hushTime int": "hush",
		"w.longestHush()": "Hush", "sim/unheeded.go": "unheeded",
	} {
		if got := coinedWord(text); got != want {
			t.Errorf("%q has the coined word %q, not %q", text, got, want)
		}
	}
}

// checkEach checks every Go file that is not generated. What check finds is an error.
func checkEach(t *testing.T, check func(path, text string) []string) {
	t.Helper()
	walk(t, func(name string) {
		name = filepath.ToSlash(name)
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "/testdata/") {
			return
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if ast.IsGenerated(file) {
			return
		}
		for _, found := range check(name, string(text)) {
			t.Error(found)
		}
	})
}
