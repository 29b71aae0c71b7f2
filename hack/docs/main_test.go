package main

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// The page of tables is what the code says now.
func TestPropertiesAreFresh(t *testing.T) {
	want, err := renderProperties(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if readPage(t, properties) != string(want) {
		t.Errorf("%s is not what the code says: run make generate", properties)
	}
}

// A table that is not in the code is an error.
func TestTableIsMissing(t *testing.T) {
	missing := table{files: []string{"sim/property/state.go"}, name: "noSuchList"}
	if text, err := missing.render(filepath.Join("..", "..")); err == nil {
		t.Errorf("the table is %s", text)
	}
}

// Each fault and each property has an example, because its documentation is the page that users
// read.
func TestConstructorsHaveExamples(t *testing.T) {
	for _, dir := range []string{"sim/fault", "sim/property"} {
		names, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s has no files: %v", dir, err)
		}
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range names {
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		pkg, err := doc.NewFromFiles(fset, files, dir)
		if err != nil {
			t.Fatal(err)
		}
		funcs := pkg.Funcs
		for _, typ := range pkg.Types {
			if strings.HasSuffix(typ.Name, "Scope") {
				continue // the package's documentation shows them together
			}
			funcs = append(funcs, typ.Funcs...)
		}
		for _, f := range funcs {
			if len(f.Examples) == 0 {
				t.Errorf("%s.%s has no example", dir, f.Name)
			}
		}
	}
}
