package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// table is a table of a page, made from a variable that holds a list of structs, or several of
// them.
type table struct {
	intro   string
	files   []string // in which the variable is, below the root; their rows come one after another
	name    string   // of the variable
	columns []column
}

// column shows a field of the structs.
type column struct {
	head, field string
	code        bool   // the values are code
	empty       string // what is shown for a field that a row does not set
}

// render makes the table from the source.
func (t table) render(root string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n%s\n\n|", t.intro)
	for _, c := range t.columns {
		fmt.Fprintf(&b, " %s |", c.head)
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(t.columns)) + "\n")
	for _, name := range t.files {
		rows, err := t.rows(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, row := range rows {
			b.WriteString("|")
			for _, c := range t.columns {
				fmt.Fprintf(&b, " %s |", c.cell(row[c.field]))
			}
			b.WriteString("\n")
		}
	}
	return b.Bytes(), nil
}

func (c column) cell(value string) string {
	value = strings.ReplaceAll(value, "|", "\\|")
	switch {
	case value == "":
		return c.empty
	case c.code:
		return "`" + value + "`"
	}
	return value
}

// rows are the fields that each struct of the list sets, by name.
func (t table) rows(file string) (out []map[string]string, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || v.Names[0].Name != t.name || len(v.Values) != 1 {
			return true
		}
		list, ok := v.Values[0].(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, element := range list.Elts {
			row := map[string]string{}
			for _, e := range element.(*ast.CompositeLit).Elts {
				if field, ok := e.(*ast.KeyValueExpr); ok {
					row[field.Key.(*ast.Ident).Name] = literal(field.Value)
				}
			}
			out = append(out, row)
		}
		return false
	})
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no list %s", t.name)
	}
	return out, nil
}

// literal is the value of a constant as a page shows it; "" for what is no constant.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil {
			return s
		}
		return e.Value
	case *ast.BinaryExpr: // strings on several lines
		return literal(e.X) + literal(e.Y)
	case *ast.Ident:
		if e.Name == "true" {
			return "yes"
		}
	}
	return ""
}
