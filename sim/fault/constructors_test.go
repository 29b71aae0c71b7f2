package fault_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// constructors are the functions of this package that return a fault.
func constructors(t *testing.T) map[string]*doc.Func {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	pkg, err := doc.NewFromFiles(fset, files, "sim/fault")
	if err != nil {
		t.Fatal(err)
	}
	faults := map[string]*doc.Func{}
	for _, of := range pkg.Types {
		for _, f := range of.Funcs {
			if of.Name == "Fault" {
				faults[f.Name] = f
			}
		}
	}
	if len(faults) == 0 {
		t.Fatal("the package has no faults")
	}
	return faults
}

func TestEveryFaultHasAnExample(t *testing.T) {
	for name, f := range constructors(t) {
		if len(f.Examples) == 0 {
			t.Errorf("%s has no example: add Example%s to example_test.go", name, name)
		}
		if !strings.HasPrefix(f.Doc, name+" ") {
			t.Errorf("%s is not documented", name)
		}
	}
}

// A fault is known here only. What asks faults goes by the hooks of sim/internal/inject.
func TestTheHarnessNamesNoFault(t *testing.T) {
	faults := constructors(t)
	fset := token.NewFileSet()
	read := 0
	look := func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains([]string{"auto", "simtest"}, filepath.Base(path)) {
			return filepath.SkipDir // scenarios: they declare faults as a user does
		}
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
			strings.Contains(path, "testdata") {
			return err
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		read++
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "fault" && faults[s.Sel.Name] != nil {
				t.Errorf("%s names fault.%s; give the fault a hook instead", fset.Position(s.Pos()), s.Sel.Name)
			}
			return true
		})
		return nil
	}
	for _, dir := range []string{"..", "../../hack/docs", "../../history", "../../models", "../../reports",
		"../../internal/story"} {
		if err := filepath.WalkDir(filepath.FromSlash(dir), look); err != nil {
			t.Fatal(err)
		}
	}
	if read < 100 {
		t.Errorf("%d files were read; expected those of the harness", read)
	}
}
