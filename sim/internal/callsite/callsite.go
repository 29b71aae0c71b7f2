// Package callsite finds the lines of a program's source that write to the API server, so that a
// campaign can name those that no run has reached. It reads syntax only, without types.
package callsite

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
)

// function is a function of the program.
type function struct {
	name     string // as "(*Reconciler).Reconcile"
	receiver string // base type; "" for a plain function
	declared string // dir/file.go:line
	mentions map[string]bool
	calls    []story.SourceCall
}

// source is what was read of a module.
type source struct {
	functions []*function
	named     map[string][]*function // by name, without the receiver
}

// Find returns the writes of each reconciler that has sent a request from one of the lines that
// were reached: those in its Reconcile, and in functions that it may call. It follows calls by name
// through the directories of those lines. root is the directory of the module.
func Find(root string, reached []string) (out []story.SourceCall) {
	s := read(root, reached)
	have := map[string]bool{}
	for _, entry := range s.named["Reconcile"] {
		if entry.receiver == "" {
			continue
		}
		var calls []story.SourceCall
		for _, f := range s.reachable(entry) {
			calls = append(calls, f.calls...)
		}
		if !slices.ContainsFunc(calls, func(c story.SourceCall) bool { return slices.ContainsFunc(reached, c.Has) }) {
			continue // this test does not run it
		}
		for _, c := range calls {
			if !have[c.Source] {
				have[c.Source] = true
				c.Controller = entry.receiver
				out = append(out, c)
			}
		}
	}
	return out
}

// Root is the directory of the module that a directory is in; "" if there is none.
func Root(dir string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// read parses the directories of some lines. What does not parse is left out.
func read(root string, lines []string) *source {
	s := &source{named: map[string][]*function{}}
	var dirs []string
	for _, line := range lines {
		if dir := path.Dir(line); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	for _, dir := range dirs {
		full := filepath.Join(root, filepath.FromSlash(dir))
		entries, _ := os.ReadDir(full) // an imported program is in another module
		for _, e := range entries {
			name := e.Name()
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				continue
			}
			if match, err := build.Default.MatchFile(full, name); err == nil && match {
				s.file(filepath.Join(full, name), path.Join(dir, name))
			}
		}
	}
	for _, f := range s.functions {
		short := f.name[strings.LastIndex(f.name, ".")+1:]
		s.named[short] = append(s.named[short], f)
	}
	for _, f := range s.functions {
		f.calls = slices.DeleteFunc(f.calls, func(c story.SourceCall) bool { return s.shadows(f, c) })
		for i := range f.calls {
			f.calls[i].Verb = strings.TrimPrefix(f.calls[i].Verb, mark)
		}
	}
	return s
}

// file adds the functions of a file.
func (s *source) file(full, name string) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, full, nil, parser.SkipObjectResolution)
	if err != nil {
		return
	}
	line := func(at token.Pos) int { return files.Position(at).Line }
	for _, d := range parsed.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Body == nil {
			continue
		}
		f := &function{name: decl.Name.Name, mentions: map[string]bool{}}
		f.declared = fmt.Sprintf("%s:%d", name, line(decl.Pos()))
		self := ""
		if decl.Recv != nil && len(decl.Recv.List) == 1 {
			r := decl.Recv.List[0]
			if f.receiver = base(r.Type); len(r.Names) == 1 {
				self = r.Names[0].Name
			}
			f.name = fmt.Sprintf("(%s).%s", f.receiver, f.name)
		}
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				f.mentions[n.Name] = true
			case *ast.CallExpr:
				if verb := writes(n, self); verb != "" {
					f.calls = append(f.calls, story.SourceCall{Function: f.name, Declared: f.declared, Verb: verb,
						Source: fmt.Sprintf("%s:%d", name, line(n.Pos())), End: line(n.End())})
				}
			}
			return true
		})
		s.functions = append(s.functions, f)
	}
}

// base is the name of a receiver's type.
func base(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return base(e.X)
	case *ast.IndexExpr:
		return base(e.X)
	case *ast.IndexListExpr:
		return base(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// reachable are the functions that an entry may call, itself included.
func (s *source) reachable(entry *function) []*function {
	out := []*function{entry}
	seen := map[*function]bool{entry: true}
	for i := 0; i < len(out); i++ {
		for _, f := range s.functions {
			short := f.name[strings.LastIndex(f.name, ".")+1:]
			if !seen[f] && out[i].mentions[short] && short != "Reconcile" {
				seen[f] = true
				out = append(out, f)
			}
		}
	}
	return out
}

// shadows reports whether a call that looks like one of an embedded client's is of a method that
// the receiver's type declares itself.
func (s *source) shadows(f *function, c story.SourceCall) bool {
	verb, own := strings.CutPrefix(c.Verb, mark)
	return own && slices.ContainsFunc(s.named[verb], func(m *function) bool { return m.receiver == f.receiver })
}

// verbs are the methods of clients that write, and the functions of controllerutil.
var verbs = []string{"Create", "Update", "UpdateStatus", "Patch", "Apply", "Delete", "DeleteAllOf",
	"DeleteCollection", "CreateOrUpdate", "CreateOrPatch"}

// mark begins the name of a method that is called on the receiver.
const mark = "self "

var (
	clientName  = regexp.MustCompile(`(?i)client|writer|^(c|cl|kube|k8s|controllerutil)$`)
	contextName = regexp.MustCompile(`(?i)ctx|context`)
	versioned   = regexp.MustCompile(`V[0-9]`)
)

// writes is the method of a call that writes by a client; "" for another call. The method of the
// receiver self, which may embed a client, is marked.
func writes(call *ast.CallExpr, self string) string {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(verbs, method.Sel.Name) || len(call.Args) < 2 || !isContext(call.Args[0]) {
		return ""
	}
	switch x := method.X.(type) {
	case *ast.Ident:
		if x.Name == self && self != "" {
			return mark + method.Sel.Name
		}
		if clientName.MatchString(x.Name) {
			return method.Sel.Name
		}
	case *ast.SelectorExpr:
		if clientName.MatchString(x.Sel.Name) {
			return method.Sel.Name
		}
	case *ast.CallExpr:
		if isClient(x) {
			return method.Sel.Name
		}
	}
	return ""
}

// isClient reports whether a call returns a client: r.Status(), r.SubResource("scale"), or
// clientset.CoreV1().Pods("default").
func isClient(call *ast.CallExpr) bool {
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	known := []string{"Status", "SubResource", "GetClient"}
	if slices.Contains(known, of.Sel.Name) || versioned.MatchString(of.Sel.Name) {
		return true
	}
	inner, ok := of.X.(*ast.CallExpr)
	return ok && isClient(inner)
}

func isContext(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return contextName.MatchString(e.Name)
	case *ast.SelectorExpr:
		return contextName.MatchString(e.Sel.Name)
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.SelectorExpr)
		return ok && (isContext(f.X) || isContext(f))
	}
	return false
}
