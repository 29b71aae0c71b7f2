package tidy

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// uncircled are packages of many files. None of their files uses a name of a file that uses one of
// its own, directly or through others: a reader can read them from the bottom up.
var uncircled = []string{"reports", "sim/internal/campaign", "sim/internal/process", "sim/internal/wire",
	"sim/internal/world"}

func TestFilesAreInNoCircle(t *testing.T) {
	for _, dir := range uncircled {
		uses := usesOf(t, dir)
		for changed := true; changed; { // until only circles, and what uses them, are left
			changed = false
			for file, used := range uses {
				if !slices.ContainsFunc(used, func(f string) bool { return uses[f] != nil }) {
					delete(uses, file)
					changed = true
				}
			}
		}
		if len(uses) > 0 {
			t.Errorf("%s: these files use names of one another: %q", dir, slices.Sorted(maps.Keys(uses)))
		}
	}
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

// usesOf are the other files of a package that each of its files uses package-level names of.
func usesOf(t *testing.T, dir string) map[string][]string {
	set := token.NewFileSet()
	var files []*ast.File
	paths, _ := filepath.Glob(dir + "/*.go")
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	at := func(p token.Pos) string { return filepath.Base(set.Position(p).Filename) }
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}} // types of other packages are not needed
	pkg, _ := conf.Check(dir, set, files, info)                        //nolint:errcheck // imports fail
	uses := map[string][]string{}
	for name, object := range info.Uses {
		if object.Parent() == pkg.Scope() && at(object.Pos()) != at(name.Pos()) {
			uses[at(name.Pos())] = append(uses[at(name.Pos())], at(object.Pos()))
		}
	}
	return uses
}
