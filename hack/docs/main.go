// Command docs writes the pages of docs/ that are made from the documentation and the compiled examples of the code:
//
//	go run ./hack/docs    # or: make docs
//
// It is run in the root of the module. A test fails when a page is not what the code says.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// page is a page that is made from a package.
type page struct {
	file  string // below the root
	title string
	intro string // what comes first; when empty, the documentation of the package
	dir   string // of the package, below the root
	// names are the functions, in the order of the page.
	names []string
	// tables are shown after the functions of these names.
	tables map[string]table
	last   *table // ends the page
}

var pages = []page{
	{
		file: "docs/properties.md", title: "Properties that ship", dir: "sim/property",
		names: []string{
			"Settles", "IdempotentAtRest", "ApplyIsStable", "NoHotLoop", "BackoffSettled", "NoFutileRequeue", "NoStarvation", "NoPanic", "CacheUntouched",
			"ActionableStatus", "AtMostOnce", "ExactlyOnce", "NoStuckFinalizer", "NamespaceFinishes", "NoOrphans", "DeletionOrder",
			"DeletesWhatItRead",
			"BoundedRecords", "NoLostUpdate", "CrashSafe",
		},
		tables: map[string]table{"CrashSafe": allocated}, last: &mutants,
	},
	{
		file: "docs/faults.md", title: "Faults", dir: "sim", intro: faults,
		names: []string{
			"StaleCache", "MissedStates", "DroppedWatch", "Relist", "Expired", "StaleServer", "Crash", "Restart", "Pause", "LeaderOverlap",
			"RacingRequeue", "LostReply", "Conflict", "ServerError", "Unreachable", "Rejected", "Forbidden", "WebhookDown", "SlowNamespace",
			"SlowEffect", "FailedEffect", "DoubledEffect", "Vary", "ListThenWatch",
		},
	},
}

// allocated is what CrashSafe leaves aside because a cluster allocates it.
var allocated = table{
	intro: "What a cluster allocates is left aside. The files are those of kubernetes/kubernetes.",
	files: []string{"sim/property/allocated.go"},
	name:  "allocated",
	columns: []column{
		{head: "kind", field: "kind"},
		{head: "field", field: "path", code: true, empty: "the whole object"},
		{head: "if", field: "when", code: true, empty: "always"},
		{head: "copies, too", field: "copied", empty: "no"},
		{head: "upstream", field: "upstream", code: true},
	},
}

// mutants is which properties see which mistakes.
var mutants = table{
	intro: "## Which mistakes they see\n\n" +
		"Common mistakes, planted in the operators of `examples/`. Each set of properties was tried by itself under the faults " +
		"of `TestEachProperty` there: the default pack, some properties of this page, and an Always of the operator's own. The " +
		"sets that are not named saw nothing in 100 runs. No default property sees any of these mistakes: declare the named " +
		"ones. `make mutants` makes the table anew.",
	files: []string{"hack/mutants/table.go"},
	name:  "Mutants",
	columns: []column{
		{head: "operator", field: "Operator"},
		{head: "mistake", field: "Mistake"},
		{head: "seen by", field: "Seen", empty: "none"},
		{head: "why", field: "Why"},
	},
}

const faults = `A fault is something that a controller may experience. A scenario declares it in one line; in each run, choices
decide whether it is on, where it is injected and how hard, and shrinking takes away what a failure does not need:

	w.Inject(sim.Crash("operator"), sim.StaleCache(30*time.Second, sim.OfKind("Pod")))

w.Settle lets faults be injected for up to three virtual minutes more and heals them all then: what was delayed arrives, what
was cut off is reachable, who was frozen goes on. A lasting condition, such as a webhook that refuses or a right that is missing, is no fault: the scenario makes it and ends it.

# Scope

sim.In, sim.OfKind, sim.OnVerb and sim.Named narrow a fault. Durations are virtual, and upper bounds.

# Counts

A sim.Report counts for each fault:

  - opportunities: the points at which it could have been injected,
  - injected: those of them at which choices did inject it,
  - observed: those of the injections whose effect was seen before the run ended. However many requests one injection
    fails, it counts once, so observed is at most injected.

A fault that was never injected in a whole campaign is a warning: the scenario says that it tries something, and does not.

# Knobs

[Vary] and [ListThenWatch] are no faults but ways in which operators differ.`

func main() {
	for _, p := range pages {
		text, err := p.render(".")
		if err == nil {
			err = os.WriteFile(filepath.FromSlash(p.file), text, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "docs:", err)
			os.Exit(1)
		}
	}
	if err := writeArchitecture("."); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

// render makes the page from the package's source.
func (p page) render(root string) ([]byte, error) {
	fset := token.NewFileSet()
	pkg, err := load(fset, filepath.Join(root, filepath.FromSlash(p.dir)))
	if err != nil {
		return nil, err
	}
	funcs := map[string]*doc.Func{}
	for _, f := range pkg.Funcs {
		funcs[f.Name] = f
	}
	for _, t := range pkg.Types { // functions that return a type of the package are kept with it
		for _, f := range t.Funcs {
			funcs[f.Name] = f
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n<!-- Made by make docs from the documentation of %s. Do not edit. -->\n\n", p.title, p.dir)
	intro := p.intro
	if intro == "" {
		intro = pkg.Doc
	}
	b.Write(p.markdown(pkg, intro))
	b.WriteString("\n| name | in short |\n| --- | --- |\n")
	for _, name := range p.names {
		f := funcs[name]
		if f == nil {
			return nil, fmt.Errorf("%s has no function %s", p.dir, name)
		}
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", name, strings.ToLower(name), strings.ReplaceAll(pkg.Synopsis(f.Doc), "|", "\\|"))
	}
	for _, name := range p.names {
		f := funcs[name]
		fmt.Fprintf(&b, "\n## %s\n\n```go\n%s\n```\n\n", name, source(fset, f.Decl))
		b.Write(p.markdown(pkg, f.Doc))
		if len(f.Examples) == 0 {
			return nil, fmt.Errorf("%s.%s has no example", p.dir, name)
		}
		for _, e := range f.Examples {
			b.WriteString("\n")
			b.Write(p.markdown(pkg, e.Doc))
			fmt.Fprintf(&b, "```go\n%s\n```\n", body(fset, e))
		}
		if t, ok := p.tables[name]; ok {
			text, err := t.render(root)
			if err != nil {
				return nil, err
			}
			b.Write(text)
		}
	}
	if p.last != nil {
		text, err := p.last.render(root)
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	return b.Bytes(), nil
}

// load reads the documentation of a package, with the examples of its tests.
func load(fset *token.FileSet, dir string) (*doc.Package, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return doc.NewFromFiles(fset, files, filepath.ToSlash(dir))
}

// markdown writes a doc comment; its headings are those of a section, and names of the page are links to them.
func (of page) markdown(pkg *doc.Package, text string) []byte {
	p := pkg.Printer()
	p.HeadingLevel = 3
	p.HeadingID = func(*comment.Heading) string { return "" }
	p.DocLinkURL = func(l *comment.DocLink) string {
		if l.ImportPath == "" && l.Recv == "" {
			if !slices.Contains(of.names, l.Name) {
				return "https://pkg.go.dev/github.com/wavetank/wavetank/" + of.dir + "#" + l.Name
			}
			return "#" + strings.ToLower(l.Name)
		}
		return l.DefaultURL("https://pkg.go.dev/")
	}
	return p.Markdown(pkg.Parser().Parse(text))
}

// source is a function's head.
func source(fset *token.FileSet, f *ast.FuncDecl) string {
	var b bytes.Buffer
	head := *f
	head.Body, head.Doc = nil, nil
	format.Node(&b, fset, &head) //nolint:errcheck // it was parsed a moment ago
	return b.String()
}

// body is an example without its braces and one indent.
func body(fset *token.FileSet, e *doc.Example) string {
	var b bytes.Buffer
	format.Node(&b, fset, &printer.CommentedNode{Node: e.Code, Comments: e.Comments}) //nolint:errcheck // it was parsed a moment ago
	s := strings.TrimSuffix(strings.TrimPrefix(b.String(), "{"), "}")
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "\t")
	}
	return strings.Join(lines, "\n")
}
