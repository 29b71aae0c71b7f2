package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// architecture is a page written by hand, except the table between these two lines.
const (
	architecture = "docs/architecture.md"
	importsBegin = "<!-- Made by make generate from the table arrows in hack/tidy/arrows_test.go. -->\n"
	importsEnd   = "<!-- End of the table. -->\n"
)

// importRule says which packages of the project a package and those below it may import.
type importRule struct {
	from string
	to   []string
	note string
}

// importRules reads the table that the tidy test checks imports by.
func importRules(root string) (rules []importRule, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, filepath.Join(root, "hack", "tidy", "arrows_test.go"), nil,
		parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	notes := map[int]string{} // by line
	for _, g := range file.Comments {
		notes[fset.Position(g.Pos()).Line] = strings.TrimSpace(g.Text())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || v.Names[0].Name != "arrows" || len(v.Values) != 1 {
			return true
		}
		for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
			pair := e.(*ast.KeyValueExpr)
			rule := importRule{from: stringOf(pair.Key), note: notes[fset.Position(pair.End()).Line]}
			for _, to := range pair.Value.(*ast.CompositeLit).Elts {
				rule.to = append(rule.to, stringOf(to))
			}
			rules = append(rules, rule)
		}
		return false
	})
	if len(rules) == 0 {
		return nil, errors.New("hack/tidy/arrows_test.go has no table arrows")
	}
	return rules, nil
}

func stringOf(e ast.Expr) string {
	s, _ := strconv.Unquote(e.(*ast.BasicLit).Value) // it was parsed a moment ago
	return s
}

// importTable renders the rules.
func importTable(rules []importRule) []byte {
	var b bytes.Buffer
	b.WriteString("| package | may import |\n| --- | --- |\n")
	for _, r := range rules {
		var to []string
		for _, p := range r.to {
			to = append(to, "`"+p+"`")
		}
		list := strings.Join(to, ", ")
		if list == "" {
			list = "nothing"
		}
		if r.note != "" {
			list += " (" + r.note + ")"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.from, list)
	}
	return b.Bytes()
}

// renderArchitecture is the page with a table that is up to date.
func renderArchitecture(root string) ([]byte, error) {
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(architecture)))
	if err != nil {
		return nil, err
	}
	before, rest, begun := bytes.Cut(page, []byte(importsBegin))
	_, after, ended := bytes.Cut(rest, []byte(importsEnd))
	if !begun || !ended {
		return nil, fmt.Errorf("%s has no place for the table of imports", architecture)
	}
	rules, err := importRules(root)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(importsBegin + "\n")
	b.Write(importTable(rules))
	b.WriteString("\n" + importsEnd)
	b.Write(after)
	return b.Bytes(), nil
}
