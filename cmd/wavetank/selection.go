package main

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// unnamed is the name of what a Ginkgo suite runs: declarations without a name, and init functions.
// Those of each file have a name of their own, with the file behind it.
const unnamed = "_"

// declared is what the test files of a package declare: for each top-level name, what it refers to.
// Methods belong to the name of their type.
type declared struct {
	refers    map[string][]string
	scenarios map[string]bool     // names whose declaration calls a scenario
	suites    map[string]bool     // names whose declaration calls simginkgo.Use
	files     map[string][]string // the files of a name
	tests     []string
}

// add reads one declaration of a file.
func (d *declared) add(set *token.FileSet, decl ast.Decl, apis apis) {
	file := filepath.Base(set.Position(decl.Pos()).Filename)
	for _, name := range namesOf(decl) {
		if name == unnamed {
			name += " " + file
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				d.refers[name] = append(d.refers[name], n.Name)
			case *ast.CallExpr:
				if from, f, ok := selected(n); ok && f == "Use" && apis[from] == simPackage+"/simginkgo" {
					d.suites[name] = true
				}
			}
			return true
		})
		d.scenarios[name] = d.scenarios[name] || len(scenariosIn(set, decl, apis)) > 0
		d.files[name] = append(d.files[name], file)
	}
	if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && isTest(f.Name.Name) {
		d.tests = append(d.tests, f.Name.Name)
	}
}

func isTest(name string) bool {
	return strings.HasPrefix(name, "Test") && name != "TestMain" || strings.HasPrefix(name, "Fuzz")
}

// namesOf are the top-level names that a declaration belongs to.
func namesOf(decl ast.Decl) (names []string) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			if decl.Name.Name == "init" {
				return []string{unnamed}
			}
			return []string{decl.Name.Name}
		}
		ast.Inspect(decl.Recv.List[0].Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && names == nil {
				names = []string{id.Name}
			}
			return true
		})
	case *ast.GenDecl:
		for _, s := range decl.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// reaches reports whether a name refers to one of some names, also through others.
func (d *declared) reaches(name string, goals map[string]bool) bool {
	seen, todo := map[string]bool{name: true}, []string{name}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if goals[at] {
			return true
		}
		for _, next := range d.refers[at] {
			if !seen[next] && d.files[next] != nil {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return false
}

// selection returns the arguments with which a test binary runs the scenarios of its package, those
// that wavetank run --list shows, and no other test. A package in which no scenario can be seen
// runs all its tests.
func (t testPackage) selection() (args []string, err error) {
	d := &declared{map[string][]string{}, map[string]bool{}, map[string]bool{}, map[string][]string{}, nil}
	err = t.eachFile(func(set *token.FileSet, file *ast.File, apis apis) {
		for _, decl := range file.Decls {
			d.add(set, decl, apis)
		}
	})
	if err != nil {
		return nil, err
	}
	ofSuite, suite := false, false
	for name := range d.files {
		ofSuite = ofSuite || strings.HasPrefix(name, unnamed+" ") && d.reaches(name, d.scenarios)
	}
	var tests []string
	for _, name := range d.tests {
		boots := ofSuite && d.reaches(name, d.suites)
		suite = suite || boots
		if boots || d.reaches(name, d.scenarios) {
			tests = append(tests, regexp.QuoteMeta(name))
		}
	}
	if len(tests) == 0 {
		return nil, nil
	}
	slices.Sort(tests)
	args = []string{"-test.run=^(" + strings.Join(slices.Compact(tests), "|") + ")$"}
	if suite {
		for _, file := range d.suiteFiles() {
			args = append(args, "-ginkgo.focus-file=/"+regexp.QuoteMeta(file)+"$")
		}
	}
	return args, nil
}

// suiteFiles are the files in which specs of a suite may stand that run scenarios.
func (d *declared) suiteFiles() (files []string) {
	for name, in := range d.files {
		if !slices.Contains(d.tests, name) && d.reaches(name, d.scenarios) {
			files = append(files, in...)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
