package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// The list of package-level variables that a run changes names every variable of the harness that
// is assigned by a function, or whose type is made to be changed.
func TestTheListOfChangedVariablesIsComplete(t *testing.T) {
	text, err := os.ReadFile("sim/internal/process/globals.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	dir := ""
	for line := range strings.Lines(string(text)) {
		item, begins := strings.CutPrefix(line, "//   - ")
		if begins {
			dir, item, _ = strings.Cut(item, ": ")
		} else if item, begins = strings.CutPrefix(line, "//     "); !begins {
			dir = ""
		}
		for _, word := range strings.FieldsFunc(item, func(r rune) bool { return !unicode.IsLetter(r) }) {
			listed[dir+" "+word] = true
		}
	}
	for _, dir := range goDirs(t, "sim", "models", "history", "internal/story", "reports") {
		for name, where := range changedVariables(t, dir) {
			if !listed[dir+" "+name] {
				t.Errorf("%s: package-level variable %s is changed; list it in sim/internal/process/globals.go",
					where, name)
			}
		}
	}
}

// goDirs are the directories below some roots that hold Go files.
func goDirs(t *testing.T, roots ...string) (dirs []string) {
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() != "testdata" && d.Name() != "node_modules" {
				dirs = append(dirs, filepath.ToSlash(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

// mutable are the types that are made to be changed.
var mutable = map[string]bool{"sync": true, "atomic": true}

// changedVariables are the package-level variables of a directory that its functions change, with
// where one does.
func changedVariables(t *testing.T, dir string) map[string]string {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	globals, changed := map[string]bool{}, map[string]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		for _, spec := range variables(f) {
			for _, name := range spec.Names {
				globals[name.Name] = true
				if namesMutable(spec) {
					changed[name.Name] = fset.Position(name.Pos()).String()
				}
			}
		}
	}
	for _, f := range files {
		top := map[any]bool{}
		for _, spec := range variables(f) {
			top[spec] = true
		}
		for _, id := range assigned(f) {
			if globals[id.Name] && (id.Obj == nil || top[id.Obj.Decl]) {
				changed[id.Name] = fset.Position(id.Pos()).String()
			}
		}
	}
	return changed
}

// variables are the declarations of package-level variables in a file.
func variables(f *ast.File) (specs []*ast.ValueSpec) {
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				specs = append(specs, s.(*ast.ValueSpec))
			}
		}
	}
	return specs
}

// namesMutable reports whether a declaration is of a type of sync or atomic, or has one in it.
func namesMutable(spec *ast.ValueSpec) (yes bool) {
	ast.Inspect(spec, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			pkg, ok := s.X.(*ast.Ident)
			yes = yes || ok && mutable[pkg.Name]
		}
		_, function := n.(*ast.BlockStmt)
		return !function
	})
	return yes
}

// assigned are the variables to which the functions of a file assign, as a whole or in part.
func assigned(f *ast.File) (ids []*ast.Ident) {
	add := func(e ast.Expr) {
		if id := rootOf(e); id != nil {
			ids = append(ids, id)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, e := range n.Lhs {
					add(e)
				}
			}
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") {
				add(n.Args[0])
			}
		}
		return true
	})
	return ids
}

// rootOf is the variable that an expression is a part of; nil if it is of none.
func rootOf(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.ParenExpr:
		return rootOf(e.X)
	case *ast.StarExpr:
		return rootOf(e.X)
	case *ast.IndexExpr:
		return rootOf(e.X)
	case *ast.SelectorExpr:
		return rootOf(e.X)
	}
	return nil
}
