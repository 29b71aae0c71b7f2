package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	diagram    = regexp.MustCompile("(?s)```mermaid\n(.*?)```")
	node       = regexp.MustCompile(`(\w+)\["([^"<]+)`)
	edge       = regexp.MustCompile(`(?m)^\s*(\w+) --> (\w+)$`)
	sourceFile = regexp.MustCompile("`([a-z_/0-9]+\\.go)`(?:\\s`(\\w+)`)?")
)

// The table of imports is what the tidy test says now.
func TestTheTableOfImportsIsFresh(t *testing.T) {
	want, err := renderArchitecture(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if got := readPage(t, architecture); got != string(want) {
		t.Errorf("%s is not what hack/tidy says: run make generate", architecture)
	}
}

// Every package in the diagram exists, and every arrow is one that the tidy test allows.
func TestTheDiagramIsTrue(t *testing.T) {
	root := filepath.Join("..", "..")
	rules, err := importRules(root)
	if err != nil {
		t.Fatal(err)
	}
	drawn := diagram.FindStringSubmatch(readPage(t, architecture))
	if drawn == nil {
		t.Fatalf("%s has no diagram", architecture)
	}
	packages := map[string]string{}
	for _, m := range node.FindAllStringSubmatch(drawn[1], -1) {
		packages[m[1]] = m[2]
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[2]))); err != nil {
			t.Errorf("the diagram shows %s: %v", m[2], err)
		}
	}
	arrows := edge.FindAllStringSubmatch(drawn[1], -1)
	if len(packages) == 0 || len(arrows) == 0 {
		t.Fatal("the diagram is empty")
	}
	for _, m := range arrows {
		if from, to := packages[m[1]], packages[m[2]]; !mayImport(rules, from, to) {
			t.Errorf("the diagram has an arrow from %s to %s, which hack/tidy does not allow", from, to)
		}
	}
}

// mayImport applies the rule with the longest name that a package is below.
func mayImport(rules []importRule, from, to string) bool {
	var best importRule
	for _, r := range rules {
		if below(from, r.from) && len(r.from) >= len(best.from) {
			best = r
		}
	}
	if best.from == "" || to == "" {
		return false
	}
	for _, allowed := range append(best.to, best.from) {
		if below(to, allowed) {
			return true
		}
	}
	return false
}

func below(path, parent string) bool { return path == parent || strings.HasPrefix(path, parent+"/") }

// The files of the walk-throughs exist, and have the functions that stand behind their names.
func TestTheWalkThroughsAreTrue(t *testing.T) {
	named := sourceFile.FindAllStringSubmatch(readPage(t, architecture), -1)
	if len(named) == 0 {
		t.Fatalf("%s names no file", architecture)
	}
	for _, m := range named {
		path := filepath.Join("..", "..", filepath.FromSlash(m[1]))
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s names %s: %v", architecture, m[1], err)
			continue
		}
		has := slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && f.Name.Name == m[2]
		})
		if m[2] != "" && !has {
			t.Errorf("%s says that %s has a function %s", architecture, m[1], m[2])
		}
	}
}
