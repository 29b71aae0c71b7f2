package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The pages that are made from the code are up to date.
func TestPagesAreFresh(t *testing.T) {
	for page, render := range map[string]func(string) ([]byte, error){
		properties: renderProperties, callsPage: renderCalls,
	} {
		want, err := render(filepath.Join("..", ".."))
		if err != nil {
			t.Fatal(err)
		}
		if readPage(t, page) != string(want) {
			t.Errorf("%s is not what the code says: run make generate", page)
		}
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
		pkg, err := documented(filepath.Join("..", "..", filepath.FromSlash(dir)))
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
