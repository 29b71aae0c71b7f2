// Command docs writes the pages of docs/ that are made from the documentation and the compiled
// examples of the code:
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

// page is a page that is made from packages.
type page struct {
	file  string // below the root
	title string
	parts []part // it begins with the documentation of the first one's package
	// tables are shown after the functions of these names.
	tables map[string]table
	last   []table // end the page
}

// part is some functions of a package.
type part struct {
	dir    string   // of the package, below the root
	names  []string // the functions, in the order of the page
	result string   // the functions are all that return this type, in the order of their examples
}

var pages = []page{
	{
		file: "docs/properties.md", title: "Properties that ship",
		parts: []part{{dir: "sim/property", names: []string{
			"Settles", "IdempotentAtRest", "ApplyIsStable", "NoHotLoop", "BackoffSettled", "NoFutileRequeue",
			"NoStarvation", "NoPanic", "CacheUntouched", "ActionableStatus", "AtMostOnce", "ExactlyOnce",
			"NoStuckFinalizer", "NamespaceFinishes", "NoOrphans", "DeletionOrder", "DeletesWhatItRead",
			"BoundedRecords", "NoLostUpdate", "ObservedGeneration", "StatusNamesWhatExists", "CrashSafe",
		}}},
		tables: map[string]table{"CrashSafe": allocated}, last: []table{alarms, mutants},
	},
	{
		file: "docs/faults.md", title: "Faults",
		parts: []part{{dir: "sim/fault", result: "Fault"}, {dir: "sim", names: []string{"Vary", "ListThenWatch"}}},
	},
}

// allocated is what CrashSafe leaves aside because a cluster allocates it.
var allocated = table{
	intro: "These values are allocated by the cluster and not compared. Files are those of kubernetes/kubernetes.",
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

// alarms are the false alarms of the properties of package auto.
var alarms = table{
	intro: "## Known false alarms of package auto\n\n" +
		"`auto.Scenario` asks these properties of every operator ([auto.md](auto.md)). `auto.Without` switches one " +
		"off by its name.",
	files: []string{"sim/auto/alarms.go"},
	name:  "alarms",
	columns: []column{
		{head: "property", field: "property"},
		{head: "operators whose behaviour is intended", field: "operator"},
		{head: "instead", field: "instead"},
	},
}

// mutants is which properties see which mistakes.
var mutants = table{
	intro: "## Which mistakes they see\n\n" +
		"Common mistakes, planted in the operators of `examples/`. Each set of properties was tried by itself under " +
		"the faults " +
		"of `TestEachProperty` there: the default pack, some properties of this page, " +
		"and an Always of the operator's own. The " +
		"sets that are not named saw nothing in 100 runs. No default property sees any of these mistakes: declare " +
		"the named " +
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

// function is a function of a page, in its package.
type function struct {
	*doc.Func
	pkg *doc.Package
	dir string
}

// render makes the page from the packages' source.
func (p page) render(root string) ([]byte, error) {
	fset := token.NewFileSet()
	var funcs []function
	for _, of := range p.parts {
		pkg, err := load(fset, filepath.Join(root, filepath.FromSlash(of.dir)))
		if err != nil {
			return nil, err
		}
		chosen, err := of.functions(pkg)
		if err != nil {
			return nil, err
		}
		funcs = append(funcs, chosen...)
	}
	var names []string
	for _, f := range funcs {
		names = append(names, f.Name)
	}
	var b bytes.Buffer
	first := funcs[0]
	fmt.Fprintf(&b, "# %s\n\n", p.title)
	fmt.Fprintf(&b, "<!-- Made by make docs from the documentation of %s. Do not edit. -->\n\n", first.dir)
	b.Write(first.markdown(first.pkg.Doc, names))
	b.WriteString("\n| name | in short |\n| --- | --- |\n")
	for _, f := range funcs {
		short := strings.ReplaceAll(f.pkg.Synopsis(f.Doc), "|", "\\|")
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", f.Name, strings.ToLower(f.Name), short)
	}
	for _, f := range funcs {
		fmt.Fprintf(&b, "\n## %s\n\n```go\n%s\n```\n\n", f.Name, source(fset, f.Decl))
		b.Write(f.markdown(f.Doc, names))
		for _, e := range f.Examples {
			b.WriteString("\n")
			b.Write(f.markdown(e.Doc, names))
			fmt.Fprintf(&b, "```go\n%s\n```\n", body(fset, e))
		}
		if t, ok := p.tables[f.Name]; ok {
			text, err := t.render(root)
			if err != nil {
				return nil, err
			}
			b.Write(text)
		}
	}
	for _, t := range p.last {
		text, err := t.render(root)
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	return b.Bytes(), nil
}

// functions are the functions of the part. Each must have an example.
func (p part) functions(pkg *doc.Package) (chosen []function, err error) {
	all := slices.Clone(pkg.Funcs)
	for _, t := range pkg.Types { // functions that return a type of the package are kept with it
		all = append(all, t.Funcs...)
	}
	for _, f := range all {
		if !slices.Contains(p.names, f.Name) && !p.returns(f.Decl) {
			continue
		}
		if len(f.Examples) == 0 {
			return nil, fmt.Errorf("%s.%s has no example", p.dir, f.Name)
		}
		chosen = append(chosen, function{f, pkg, p.dir})
	}
	for _, name := range p.names {
		if !slices.ContainsFunc(chosen, func(f function) bool { return f.Name == name }) {
			return nil, fmt.Errorf("%s has no function %s", p.dir, name)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%s has no function that returns %s", p.dir, p.result)
	}
	slices.SortStableFunc(chosen, func(a, b function) int {
		if p.result != "" {
			return a.Examples[0].Order - b.Examples[0].Order
		}
		return slices.Index(p.names, a.Name) - slices.Index(p.names, b.Name)
	})
	return chosen, nil
}

// returns reports whether the function has the result of the part.
func (p part) returns(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) != 1 {
		return false
	}
	t, ok := f.Type.Results.List[0].Type.(*ast.Ident)
	return ok && t.Name == p.result
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

// markdown writes a doc comment of the function's package; its headings are those of a section, and
// names of the page are links to them.
func (f function) markdown(text string, names []string) []byte {
	p := f.pkg.Printer()
	p.HeadingLevel = 3
	p.HeadingID = func(*comment.Heading) string { return "" }
	p.DocLinkURL = func(l *comment.DocLink) string {
		if l.ImportPath == "" && l.Recv == "" {
			if !slices.Contains(names, l.Name) {
				return "https://pkg.go.dev/github.com/wavetank/wavetank/" + f.dir + "#" + l.Name
			}
			return "#" + strings.ToLower(l.Name)
		}
		return l.DefaultURL("https://pkg.go.dev/")
	}
	return p.Markdown(f.pkg.Parser().Parse(text))
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
	node := &printer.CommentedNode{Node: e.Code, Comments: e.Comments}
	format.Node(&b, fset, node) //nolint:errcheck // it was parsed a moment ago
	s := strings.TrimSuffix(strings.TrimPrefix(b.String(), "{"), "}")
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "\t")
	}
	return strings.Join(lines, "\n")
}
