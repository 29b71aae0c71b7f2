// This file checks which packages import which, what importers of public packages build, where
// goroutines begin, and how much package sim shows.

package tidy

import (
	"bytes"
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
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const module = "github.com/wavetank/wavetank"

// arrows are the packages of ours that a package's shipped code may import, by the longest prefix
// of its path. A package may always import what is below itself.
var arrows = map[string][]string{
	"history":                  {"internal/kept"},
	"history/view":             {"history"},
	"internal/story":           {"history", "internal/atomicfile"},
	"sim/property":             {"history", "internal/kept", "internal/word"},
	"sim/result":               {"history", "internal/story"},
	"sim/internal/host":        {"sim/internal/shell"},
	"sim/internal/bubble":      {"internal/versions"},
	"internal/atomicfile":      {},
	"internal/rate":            {"sim"}, // benchmarks
	"internal/versions":        {},
	"internal/causes":          {},
	"internal/kept":            {},
	"internal/word":            {},
	"internal/deployed":        {},
	"internal/strategy":        {},
	"sim/internal/choice":      {"internal/story"},
	"sim/internal/definitions": {},
	"sim/internal/draw":        {"sim/internal/choice"},
	"sim/internal/shell":       {},
	"sim/internal/sched":       {"sim/internal/choice"},
	"sim/internal/user":        {"sim/internal/definitions"},
	"sim/internal/wire": {"sim/internal/choice", "sim/internal/sched", "history", "models", "internal/kept",
		"internal/story"},
	"sim/internal/realserver": {"sim/internal/choice", "sim/internal/sched", "sim/internal/wire", "history", "models",
		"internal/story"},
	"sim/internal/child": {"sim/internal/choice", "sim/internal/wire", "history"},
	"sim/internal/process": {"sim/internal/child", "sim/internal/choice", "sim/internal/sched", "sim/internal/wire",
		"history", "internal/versions", "models", "internal/story"},
	"sim/internal/inject": {"sim/internal/choice", "sim/internal/process", "sim/internal/sched", "sim/internal/wire",
		"history", "models", "internal/story"},
	"sim/fault": {"sim/internal/choice", "sim/internal/inject", "sim/internal/process", "sim/internal/sched",
		"sim/internal/wire", "history", "models", "internal/story"},
	"sim/internal/run":      {"sim/internal/choice", "sim/result", "history", "internal/story"},
	"sim/internal/callsite": {"internal/story"},
	"sim/internal/explain": {"sim/internal/choice", "sim/internal/run", "sim/result", "history", "reports",
		"internal/story"},
	"sim/internal/campaign": {"sim/internal/host", "sim/internal/bubble", "sim/internal/callsite",
		"sim/internal/choice", "sim/internal/explain", "sim/internal/process", "sim/internal/realserver",
		"sim/internal/run", "sim/internal/shell", "sim/internal/wire",
		"sim/result", "history", "internal/atomicfile", "internal/strategy", "internal/versions", "reports",
		"internal/story"},
	"sim/internal/world": {"sim/fault", "sim/internal/bubble", "sim/internal/child", "sim/internal/choice",
		"sim/internal/definitions", "sim/internal/draw",
		"sim/internal/inject", "sim/internal/process", "sim/internal/realserver", "sim/internal/run",
		"sim/internal/sched", "sim/internal/shell",
		"sim/internal/user", "sim/internal/wire", "sim/property", "sim/result", "history", "internal/story",
		"internal/deployed", "internal/versions", "models"},
	"sim":      {"models", "history"},
	"sim/auto": {"sim", "history", "internal/word"},
	"sim/internal/simtest": {"sim", "sim/fault", "sim/result", "sim/internal/campaign", "sim/internal/host",
		"history"}, // what tests share
	"sim/simginkgo": {"sim", "history", "internal/story"},
	"models":        {"history", "internal/kept", "internal/versions", "models/apiserver", "models/actor"},
	"controllers":   {"controllers/internal"}, // they do not know that they are simulated
	"scenarios": {"sim", "models", "controllers", "reports", "history", "internal/story", "scenarios/internal",
		"internal/atomicfile", "internal/versions", "internal/causes", "internal/rate"},
	"fuzz":    {"scenarios", "sim", "models", "history", "internal/story", "internal/causes", "internal/rate"},
	"reports": {"history", "internal/atomicfile", "internal/story"},
	"cmd": {"history", "internal/atomicfile", "internal/deployed", "internal/strategy", "reports",
		"internal/story"},
	"conformance":              {"models", "sim", "internal/versions"},
	"sim/internal/determinism": {"sim", "models"},
	"hack":                     {}, // tools of the Makefile

	// The API model is built in layers.
	"models/apiserver/internal/store":    {},
	"models/apiserver/internal/object":   {"internal/kept", "internal/versions"},
	"models/apiserver/internal/registry": {"models/apiserver/internal/object", "internal/versions"},
}

// reserved are modules that only some packages may import: they are too heavy for users of the
// other packages.
var reserved = map[string][]string{
	"helm.sh/": {"controllers", "scenarios"},
}

// listed is what go list says about a package.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// The folders at the top keep their names: people and pages refer to them.
func TestTopFoldersStay(t *testing.T) {
	for _, name := range []string{"sim", "scenarios", "models", "controllers", "fuzz", "reports"} {
		if files, err := filepath.Glob(filepath.Join(name, "*")); err != nil || len(files) == 0 {
			t.Errorf("the top-level folder %s is missing or empty (%v); it stays where users look for it", name, err)
		}
	}
}

func goList(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out
}

func TestImportArrows(t *testing.T) {
	all := goList(t, "-json=ImportPath,Imports,TestImports,XTestImports", module+"/...")
	dec := json.NewDecoder(bytes.NewReader(all))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		from := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if from == "" {
			continue // the root has documentation only
		}
		room, allowed := roomOf(from)
		if room == "" {
			t.Errorf("%s is in no room of the house: give it a line in arrows", from)
			continue
		}
		for _, i := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			for heavy, who := range reserved {
				if strings.HasPrefix(i, heavy) &&
					!slices.ContainsFunc(who, func(w string) bool { return below(from, w) }) {
					t.Errorf("%s imports %s; only %v may", from, i, who)
				}
			}
		}
		imports := p.Imports
		if room == "controllers" {
			imports = slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		}
		for _, i := range imports {
			to, ours := strings.CutPrefix(i, module+"/")
			if ours && !below(to, parent(from, room)) &&
				!slices.ContainsFunc(allowed, func(a string) bool { return below(to, a) }) {
				t.Errorf("%s imports %s; %s may import of ours only %v", from, to, room, allowed)
			}
		}
	}
}

// simLayers are the packages of sim, from the bottom to the top. A package imports only those
// before it.
var simLayers = []string{
	"sim/internal/shell", "sim/internal/choice", "sim/internal/bubble", "sim/internal/draw",
	"sim/internal/definitions", "sim/internal/user", "sim/property", "sim/result", "sim/internal/host",
	"sim/internal/run",
	"sim/internal/sched", "sim/internal/wire", "sim/internal/realserver", "sim/internal/child", "sim/internal/process",
	"sim/internal/inject",
	"sim/fault",
	"sim/internal/world", "sim/internal/explain", "sim/internal/callsite", "sim/internal/campaign", "sim",
	"sim/internal/simtest", "sim/auto",
	"sim/simginkgo", "sim/internal/determinism",
	"sim/controlplane",
}

func TestSimImportsDownwards(t *testing.T) {
	dec := json.NewDecoder(bytes.NewReader(goList(t, "-json=ImportPath,Imports", "./sim/...")))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		from := strings.TrimPrefix(p.ImportPath, module+"/")
		layer := slices.Index(simLayers, from)
		if layer < 0 {
			t.Errorf("%s has no place in simLayers", from)
		}
		for _, i := range p.Imports {
			to := strings.TrimPrefix(i, module+"/")
			if below(to, "sim") && slices.Index(simLayers, to) >= layer {
				t.Errorf("%s imports %s, which is not below it", from, to)
			}
		}
	}
}

// roomOf finds the line of arrows that a package falls under.
func roomOf(pkg string) (room string, allowed []string) {
	for r, a := range arrows {
		if below(pkg, r) && len(r) >= len(room) {
			room, allowed = r, a
		}
	}
	return room, allowed
}

func below(pkg, room string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") }

// parent is what a package may import as its own: in rooms that are many small houses, its own
// house only.
func parent(pkg, room string) string {
	switch room {
	case "controllers", "models", "scenarios":
		parts := strings.SplitN(pkg, "/", 3)
		return strings.Join(parts[:min(2, len(parts))], "/")
	}
	return room
}

// heavy is what an importer must not be made to pull in, by package, transitively.
var heavy = []struct {
	pkg       string
	forbidden []string
}{
	{"./sim", []string{"github.com/onsi/", "helm.sh/", "k8s.io/kubernetes/", "github.com/charmbracelet/",
		"github.com/mattn/", "github.com/muesli/", "github.com/gdamore/"}},
	{"./history", []string{"k8s.io/", "sigs.k8s.io/", "github.com/", "golang.org/"}},
	{"./internal/story", []string{"k8s.io/", "sigs.k8s.io/"}},
	{"./reports", []string{"k8s.io/", "sigs.k8s.io/", "github.com/"}}, // sim draws with it
}

func TestImportersOfSimStayLight(t *testing.T) {
	for _, h := range heavy {
		for _, dep := range strings.Fields(string(goList(t, "-deps", h.pkg))) {
			for _, f := range h.forbidden {
				if strings.HasPrefix(dep, f) && !strings.HasPrefix(dep, module) {
					t.Errorf("importing %s pulls in %s", h.pkg, dep)
				}
			}
		}
	}
}

// goroutines are the places with go statements, and why they have them. A path that ends with a
// slash is a directory.
var goroutines = map[string]string{
	"sim/internal/bubble/":                "a bubble may end its goroutine, so it gets one",
	"sim/internal/draw/":                  "a generator that wants more words ends its goroutine, so it gets one",
	"sim/internal/world/runner.go":        "the scenario's goroutine",
	"sim/internal/campaign/":              "the watchdog stands outside bubbles; another process is waited for",
	"sim/internal/process/incarnation.go": "an incarnation has goroutines of its own",
	"sim/internal/child/":                 "reads the pipe of another process, outside any bubble",
	"sim/internal/process/hosted.go":      "reads the pipe of the world, outside any bubble",
	"sim/internal/process/random.go":      "a new goroutine has the highest number so far",
	"models/apiserver/serve/":             "answers sockets, outside any bubble",
	"sim/internal/wire/backend_write.go":  "waits for a real server, outside any bubble",
	"sim/internal/realserver/":            "reads a real server's watches, outside any bubble",
	"sim/controlplane/":                   "waits for the end of standard input",
	"conformance/":                        "reads a real server's watch",
	"cmd/":                                "waits for processes",
}

func TestGoroutinesBeginInFewPlaces(t *testing.T) {
	used := map[string]bool{}
	eachFile(t, func(path string, fset *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if _, ok := n.(*ast.GoStmt); !ok {
				return true
			}
			allowed := false
			for place := range goroutines {
				if path == place || strings.HasSuffix(place, "/") && strings.HasPrefix(path, place) {
					used[place], allowed = true, true
				}
			}
			if !allowed {
				t.Errorf("%s: a go statement outside the places in goroutines", fset.Position(n.Pos()))
			}
			return true
		})
	})
	for place := range goroutines {
		if !used[place] {
			t.Errorf("%s has no go statement: remove it from goroutines", place)
		}
	}
}

// What package sim shows.
const (
	mostDocLines = 100
	mostNames    = 40
)

func TestPackageSimIsSmall(t *testing.T) {
	out, err := exec.Command("go", "doc", "./sim").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if lines := bytes.Count(out, []byte("\n")); lines > mostDocLines {
		t.Errorf("go doc ./sim prints %d lines; %d are allowed", lines, mostDocLines)
	}
	var names []string
	eachFile(t, func(path string, _ *token.FileSet, file *ast.File) {
		if filepath.Dir(path) == "sim" {
			names = append(names, exportedNames(file)...)
		}
	})
	if len(names) == 0 || len(names) > mostNames {
		t.Errorf("package sim exports %d names; %d are allowed: %v", len(names), mostNames, names)
	}
}

// exportedNames are the names that a file declares at package level for others.
func exportedNames(file *ast.File) (names []string) {
	add := func(n *ast.Ident) {
		if n.IsExported() {
			names = append(names, n.Name)
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						add(n)
					}
				}
			}
		}
	}
	return names
}

// forbidden are words that tie the project to a machine. They are put together here so that they do
// not find themselves.
var forbidden = []string{"/" + "work/", "/" + "root/", "/" + "home/", "proxy." + "golang.org"}

func TestForbiddenWords(t *testing.T) {
	walk(t, func(path string) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(data) {
			return
		}
		for i, line := range strings.Split(string(data), "\n") {
			for _, f := range forbidden {
				if strings.Contains(line, f) {
					t.Errorf("%s:%d says %q", path, i+1, f)
				}
			}
		}
	})
}

// TestMain runs the tests in the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// eachFile calls f for every Go file that is not a test.
func eachFile(t *testing.T, f func(path string, fset *token.FileSet, file *ast.File)) {
	t.Helper()
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.Contains(filepath.ToSlash(path), "/testdata/") {
			return
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		f(filepath.ToSlash(path), fset, file)
	})
}

// built are directories that hold what was built or written, not what is kept.
var built = []string{".git", "bin", filepath.Join("reports", "out"),
	filepath.Join("reports", "web", "node_modules"), filepath.Join("reports", "web", ".tests")}

// walk calls f for every file that the project keeps.
func walk(t *testing.T, f func(path string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(built, path) || d.Name() == "node_modules"):
			return filepath.SkipDir
		case !d.Type().IsRegular() || path == ".git" || strings.HasSuffix(path, ".test") ||
			strings.HasSuffix(path, ".prof"):
			return nil
		}
		f(path)
		return nil
	})
	if err != nil {
		t.Fatal(fmt.Errorf("walking the project: %w", err))
	}
}
