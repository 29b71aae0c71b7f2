package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// callsPage lists what a test can call.
const callsPage = "docs/calls.md"

const callsHead = `# What a scenario can call

<!-- Made by make generate from the documentation of the code. Do not edit. -->

One line for each call. [scenarios.md](scenarios.md) shows how they fit together, and
[pkg.go.dev](https://pkg.go.dev/github.com/wavetank/wavetank/sim) has the full text with examples. In a checkout,
` + "`go doc ./sim World.Start`" + ` prints it.
`

// calls are the parts of the page: functions of a package, or those that belong to a type.
var calls = []struct {
	intro, dir, prefix string
	of                 string // the type; "" for functions of no type
	methods            bool   // of the type, or else functions that return it
}{
	{"## The world", "sim", "w.", "World", true},
	{"## Another cluster\n\n`w.Cluster` returns one.", "sim", "cluster.", "Cluster", true},
	{"## Options of w.Start and w.Run", "sim", "sim.", "ProcessOption", false},
	{"## Campaigns and helpers", "sim", "sim.", "", false},
	{"## Options of sim.Check\n\nMost have a flag, for example `-sim.runs`.", "sim", "sim.", "ExploreOption", false},
	{"## Scenarios without an author\n\n[auto.md](auto.md) explains them.", "sim/auto", "auto.", "", false},
	{"## Options of auto.Scenario", "sim/auto", "auto.", "Option", false},
}

// renderCalls makes the page.
func renderCalls(root string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(callsHead)
	for _, part := range calls {
		pkg, err := documented(filepath.Join(root, filepath.FromSlash(part.dir)))
		if err != nil {
			return nil, err
		}
		funcs := pkg.Funcs
		for _, t := range pkg.Types {
			if t.Name == part.of {
				if funcs = t.Funcs; part.methods {
					funcs = t.Methods
				}
			}
		}
		if len(funcs) == 0 {
			return nil, fmt.Errorf("%s has no %s", part.dir, part.of)
		}
		fmt.Fprintf(&b, "\n%s\n\n| call | what it does |\n| --- | --- |\n", part.intro)
		for _, f := range funcs {
			said := strings.TrimPrefix(pkg.Synopsis(f.Doc), f.Name+" ")
			if colon, ok := strings.CutSuffix(said, ":"); ok { // before an example
				said = colon + "."
			}
			fmt.Fprintf(&b, "| `%s%s%s` | %s |\n", part.prefix, f.Name, parameters(f.Decl.Type),
				strings.ReplaceAll(said, "|", "\\|"))
		}
	}
	return b.Bytes(), nil
}

// documented is the documentation of a package's files.
func documented(dir string) (*doc.Package, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return doc.NewFromFiles(fset, files, dir)
}

// parameters are those of a function, by name.
func parameters(f *ast.FuncType) string {
	var all []string
	for _, p := range f.Params.List {
		more := ""
		if _, ok := p.Type.(*ast.Ellipsis); ok {
			more = "..."
		}
		for _, name := range p.Names {
			all = append(all, name.Name+more)
		}
		if len(p.Names) == 0 {
			all = append(all, types.ExprString(p.Type))
		}
	}
	return "(" + strings.Join(all, ", ") + ")"
}
