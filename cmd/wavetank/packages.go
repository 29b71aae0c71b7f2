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
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
)

const (
	ours = "github.com/wavetank/wavetank" // the module of sim
	// simPackage is the import path of the public API. A test binary that links it has the -sim
	// flags.
	simPackage = ours + "/sim"
)

// testPackage is a package whose tests link sim.
type testPackage struct {
	Path  string
	Dir   string
	Files []string // its test files
	// Linking are imported packages that link sim.
	Linking map[string]bool
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, ForTest  string
	Name                      string
	Deps                      []string
	TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports []string
	DepOnly                   bool // it was not named
	Module                    struct{ Main bool }
}

// linksSim reports whether sim is among what a package is built from.
func (l listed) linksSim() bool {
	return slices.ContainsFunc(l.Deps, func(d string) bool {
		d, _, _ = strings.Cut(d, " ")
		return d == simPackage
	})
}

// goList lists packages.
func goList(ctx context.Context, args ...string) (out []listed, err error) {
	for _, a := range args {
		if strings.HasPrefix(a, "-") && !slices.Contains([]string{"-test", "-deps", "-e"}, a) {
			return nil, fmt.Errorf("%q is no package", a) // it may come from a story, and go would run a -toolexec
		}
	}
	const fields = "ImportPath,Dir,ForTest,Name,Deps,TestGoFiles,XTestGoFiles,TestImports,XTestImports,DepOnly,Module"
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=" + fields}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if outsideModules.Match(stderr.Bytes()) {
		here, _ := os.Getwd()
		if err := isModule(here, "cd "); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
}

// outsideModules is what the go command says of a directory that belongs to no module.
var outsideModules = regexp.MustCompile(
	`does not contain (main module|modules listed in go\.work)|go\.mod file not found`)

func noScenario(patterns []string) error {
	return fmt.Errorf("no package among %s has a test that imports %s", strings.Join(patterns, " "), simPackage)
}

// testPackages finds the packages among patterns whose tests link sim.
func testPackages(ctx context.Context, patterns []string) ([]testPackage, error) {
	all, err := goList(ctx, append([]string{"-test"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	files := map[string]listed{}
	var linked []string
	for _, p := range all {
		if tested, ok := strings.CutSuffix(p.ImportPath, ".test"); ok && p.Name == "main" {
			if p.linksSim() {
				linked = append(linked, tested)
			}
		} else if p.ForTest == "" {
			files[p.ImportPath] = p
		}
	}
	if len(linked) == 0 {
		return nil, fmt.Errorf("%w; wavetank init writes a first one for what main starts", noScenario(patterns))
	}
	slices.Sort(linked)
	var out []testPackage
	var imports []string
	for _, path := range linked {
		p := files[path]
		out = append(out, testPackage{Path: path, Dir: p.Dir, Files: append(p.TestGoFiles, p.XTestGoFiles...)})
		imports = append(append(imports, p.TestImports...), p.XTestImports...)
	}
	slices.Sort(imports)
	imported, err := goList(ctx, slices.Compact(imports)...)
	if err != nil {
		return nil, err
	}
	linking := map[string]bool{}
	for _, p := range imported {
		linking[p.ImportPath] = p.linksSim()
	}
	for i := range out {
		out[i].Linking = linking
	}
	return out, nil
}

// scenario is a call that runs a scenario, in the source of a test.
type scenario struct {
	Test string // the Test or Fuzz function that it stands in; "" for one that a suite runs
	In   string // the package clause of its file
	Call string // sim.Check, sim.Explore, simginkgo.Check, …
	Site string // file:line
	// Function is the named function that is the scenario; "" for a function literal or an
	// expression.
	Function string
}

// apis are the packages whose calls run scenarios, by their names in a file: sim, simginkgo, and
// helpers that link sim.
type apis map[string]string

// eachFile parses the test files of a package.
func (t testPackage) eachFile(visit func(*token.FileSet, *ast.File, apis)) error {
	for _, name := range t.Files {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join(t.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		known := apis{}
		for _, i := range file.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if path != simPackage && !t.Linking[path] {
				continue
			}
			local := path[strings.LastIndex(path, "/")+1:]
			if i.Name != nil {
				local = i.Name.Name
			}
			known[local] = path
		}
		visit(set, file, known)
	}
	return nil
}

// scenarios finds the calls that run a scenario in the test files of a package.
func (t testPackage) scenarios() (out []scenario, err error) {
	err = t.eachFile(func(set *token.FileSet, file *ast.File, apis apis) {
		for _, d := range file.Decls {
			for _, s := range scenariosIn(set, d, apis) {
				s.In = file.Name.Name
				out = append(out, s)
			}
		}
	})
	return out, err
}

// selected is the package and the function of a call.
func selected(call *ast.CallExpr) (from, function string, ok bool) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", "", false
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", "", false
	}
	return id.Name, sel.Sel.Name, true
}

// scenariosIn are the calls in a declaration that run a scenario: Check, Explore and Fuzz, and
// those that hand the test's t to a helper that links sim.
func scenariosIn(set *token.FileSet, d ast.Decl, apis apis) []scenario {
	test := ""
	if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && isTest(f.Name.Name) {
		test = f.Name.Name
	}
	var out []scenario
	ast.Inspect(d, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		from, function, ok := selected(call)
		ours := slices.Contains([]string{simPackage, simPackage + "/simginkgo"}, apis[from])
		switch {
		case !ok || apis[from] == "", ours && !slices.Contains([]string{"Check", "Explore", "Fuzz"}, function):
			return true
		case !ours && !(test != "" && hands(call, "t")):
			return true
		}
		at := set.Position(call.Pos())
		site := fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
		s := scenario{Test: test, Call: from + "." + function, Site: site}
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

// hands reports whether a variable is an argument of a call.
func hands(call *ast.CallExpr, name string) bool {
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		id, ok := arg.(*ast.Ident)
		return ok && id.Name == name
	})
}

// tests are the names of the functions in the test files of a package.
func (t testPackage) tests() (names []string, err error) {
	for _, name := range t.Files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(t.Dir, name), nil, parser.SkipObjectResolution)
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
func (t testPackage) stories() ([]string, error) {
	var out []string
	err := filepath.WalkDir(filepath.Join(t.Dir, "testdata"), func(path string, d fs.DirEntry, err error) error {
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
