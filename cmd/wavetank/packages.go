package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/wavetank/wavetank/story"
)

// simPackage is the import path of the public API. A test binary that links it has the -sim flags.
const simPackage = "github.com/wavetank/wavetank/sim"

// testPackage is a package whose tests link sim.
type testPackage struct {
	Path  string
	Dir   string
	Files []string // its test files
}

// testPackages finds the packages among patterns whose tests link sim.
func testPackages(ctx context.Context, patterns []string) ([]testPackage, error) {
	type listed struct {
		ImportPath, Dir, ForTest  string
		Name                      string
		Deps                      []string
		TestGoFiles, XTestGoFiles []string
	}
	const fields = "ImportPath,Dir,ForTest,Name,Deps,TestGoFiles,XTestGoFiles"
	args := append([]string{"list", "-test", "-json=" + fields}, patterns...)
	cmd := exec.CommandContext(ctx, "go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w\n%s", strings.Join(patterns, " "), err, stderr.Bytes())
	}
	files := map[string]listed{}
	linked := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if tested, ok := strings.CutSuffix(p.ImportPath, ".test"); ok && p.Name == "main" {
			linked[tested] = slices.ContainsFunc(p.Deps, func(d string) bool {
				d, _, _ = strings.Cut(d, " ")
				return d == simPackage
			})
		} else if p.ForTest == "" {
			files[p.ImportPath] = p
		}
	}
	var out []testPackage
	for path, ok := range linked {
		if ok {
			p := files[path]
			out = append(out, testPackage{Path: path, Dir: p.Dir, Files: append(p.TestGoFiles, p.XTestGoFiles...)})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	if len(out) == 0 {
		return nil, fmt.Errorf("no package among %s has a test that imports %s",
			strings.Join(patterns, " "), simPackage)
	}
	return out, nil
}

// scenario is a call of sim.Check, sim.Explore or sim.Fuzz in the source of a test.
type scenario struct {
	Test string // the Test or Fuzz function that it stands in; "" for one that a suite runs
	In   string // the package clause of its file
	Call string // sim.Check, sim.Explore, simginkgo.Check, …
	Site string // file:line
	// Function is the named function that is the scenario; "" for a function literal or an
	// expression.
	Function string
}

// scenarios finds the calls that run a scenario in the test files of a package.
func (p testPackage) scenarios() ([]scenario, error) {
	var out []scenario
	for _, name := range p.Files {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		apis := map[string]bool{} // local names of sim and simginkgo
		for _, i := range file.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); path == simPackage || path == simPackage+"/simginkgo" {
				local := path[strings.LastIndex(path, "/")+1:]
				if i.Name != nil {
					local = i.Name.Name
				}
				apis[local] = true
			}
		}
		for _, d := range file.Decls {
			for _, s := range scenariosIn(set, d, apis) {
				s.In = file.Name.Name
				out = append(out, s)
			}
		}
	}
	return out, nil
}

func scenariosIn(set *token.FileSet, d ast.Decl, apis map[string]bool) []scenario {
	test := ""
	if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
		if name := f.Name.Name; strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") {
			test = name
		}
	}
	var out []scenario
	ast.Inspect(d, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		from, ok := sel.X.(*ast.Ident)
		if !ok || !apis[from.Name] || !slices.Contains([]string{"Check", "Explore", "Fuzz"}, sel.Sel.Name) {
			return true
		}
		at := set.Position(call.Pos())
		site := fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
		s := scenario{Test: test, Call: from.Name + "." + sel.Sel.Name, Site: site}
		for _, arg := range call.Args[min(1, len(call.Args)):] {
			if id, ok := arg.(*ast.Ident); ok && s.Function == "" {
				s.Function = id.Name
			}
		}
		out = append(out, s)
		return true
	})
	return out
}

// tests are the names of the functions in the test files of a package.
func (p testPackage) tests() (names []string, err error) {
	for _, name := range p.Files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names, nil
}

// stories finds the story files below the package's testdata.
func (p testPackage) stories() ([]string, error) {
	var out []string
	err := filepath.WalkDir(filepath.Join(p.Dir, "testdata"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && filepath.Ext(path) == ".txtar" {
			if _, bad := story.Read(path); bad == nil {
				out = append(out, path)
			}
		}
		return err
	})
	return out, err
}
