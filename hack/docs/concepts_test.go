package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostTerms is how many terms of its own a reader of the project must learn at most.
const mostTerms = 20

// mostWords is how long a sentence of a definition may be.
const mostWords = 25

var (
	termRow      = regexp.MustCompile(`(?m)^\| ([a-z ]+) \| (.+) \|$`)
	numberedItem = regexp.MustCompile(`(?m)^\d+\. `)
	sentenceEnd  = regexp.MustCompile(`[.:] `)
)

// definition is a row of the table of terms.
type definition struct{ term, meaning string }

// definitions reads the table of docs/concepts.md, and returns the page as well.
func definitions(t *testing.T) (terms []definition, page string) {
	t.Helper()
	page = readPage(t, "docs/concepts.md")
	for _, row := range termRow.FindAllStringSubmatch(page, -1) {
		if row[1] != "term" {
			terms = append(terms, definition{row[1], row[2]})
		}
	}
	return terms, page
}

// The vocabulary stays small, and each term has one definition of plain sentences.
func TestConceptsAreFew(t *testing.T) {
	terms, page := definitions(t)
	if len(terms) == 0 || len(terms) > mostTerms {
		t.Errorf("docs/concepts.md defines %d terms; at least one and at most %d are allowed", len(terms), mostTerms)
	}
	if rows := strings.Count(page, "\n| "); rows != len(terms)+2 { // the head and the rule below it
		t.Errorf("docs/concepts.md has %d table rows, and %d of them define a term", rows, len(terms))
	}
	seen := map[string]bool{}
	for _, d := range terms {
		if seen[d.term] {
			t.Errorf("docs/concepts.md defines %q twice", d.term)
		}
		seen[d.term] = true
		for _, sentence := range sentenceEnd.Split(d.meaning, -1) {
			if words := len(strings.Fields(sentence)); words == 0 || words > mostWords {
				t.Errorf("docs/concepts.md: %q has a sentence of %d words, not of at most %d: %s",
					d.term, words, mostWords, sentence)
			}
		}
	}
}

// Quiescence is one of the terms, and what it means stands in a numbered list.
func TestQuiescenceIsAList(t *testing.T) {
	terms, page := definitions(t)
	defined := false
	for _, d := range terms {
		defined = defined || d.term == "quiescence"
	}
	if !defined {
		t.Error("docs/concepts.md does not define quiescence")
	}
	_, section, found := strings.Cut(page, "\n## Quiescence\n")
	if items := len(numberedItem.FindAllString(section, -1)); !found || items < 2 {
		t.Errorf("docs/concepts.md has %d numbered items about quiescence", items)
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}
