// Package scaffold writes a first simulated test for each process of a project. It reads what
// the project says already: PROJECT, which types have SetupWithManager, how main fills them in and
// makes the manager, and where definitions, webhooks and samples are.
package scaffold

import (
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
)

const byHand = "https://github.com/wavetank/wavetank/blob/main/docs/scenarios.md"

// Controller is a type whose setup function takes a manager.
type Controller struct {
	Name    string // of the type
	Kind    string // that it reconciles, by the builder's For or by PROJECT; "" if neither says
	Setup   string // SetupWithManager
	Package *packages.Package
	Dir     string

	params   *types.Tuple // of Setup
	fullName string       // of Setup
	typ      *types.Named
	kindPath string   // package of Kind
	kindFile string   // with the type of Kind; "" if it is not known
	group    string   // of Kind, as PROJECT says; "" if it does not
	children []string // packages of what the builder Owns
	watches  []string // kinds of what the builder Watches
}

// Project is what a module says of its operator.
type Project struct {
	Root        string
	Module      string    // path
	Manifest    *Manifest // nil if there is no PROJECT file
	Controllers []Controller
	Definitions string // directory of CustomResourceDefinitions, from the root; "" for none
	Webhooks    string // directory of the webhook configuration, from the root; "" for none
	Samples     []Sample
	Rights      string     // path of the manifests with the account and its rights, from the root; "" for none
	Environment []Variable // of the manager, as far as the code reads it
	Notes       []string   // what was looked for and not found, and what is not modelled

	kustomized    map[string][]string // files that kustomizations name, by directory
	manifests     manifests
	withoutRights string // why Rights is empty

	Processes []*Process

	approvals approvals
	deployed  deployment
	guessed   []string        // of the environment
	hooked    []string        // kinds with a function that registers their webhooks; "" if it is not known
	reads     map[string]bool // strings in the code that may be names of variables
	reachable map[string]bool // packages that a package main imports, by their path
}

// function is a function of a package.
type function struct{ path, name string }

// Sample is an object in a file of config/samples.
type Sample struct{ File, Kind, APIVersion string }

// Variable is a variable of the environment.
type Variable struct{ Name, Value string }

// Read reads a project. Dir is the root of its module.
func Read(dir string) (*Project, error) {
	p := &Project{Root: dir, reachable: map[string]bool{}, kustomized: map[string][]string{},
		deployed: deployment{configMaps: map[string]map[string]string{}, namespaces: map[string]string{},
			arguments: arguments{}}}
	if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
		p.Module = modfile.ModulePath(mod)
	}
	if err := p.manifest(); err != nil {
		return nil, err
	}
	var dirs []string
	var err error
	if dirs, p.reads, err = candidates(dir, p.Module); err != nil {
		return nil, err
	}
	var loaded []*packages.Package
	if len(dirs) > 0 {
		if loaded, p.reachable, err = load(dir, dirs); err != nil {
			return nil, fmt.Errorf("the module in %s cannot be read; go build ./... must pass before its controllers "+
				"can be run:\n%w", dir, err)
		}
	}
	for _, pkg := range loaded {
		if pkg.Name != "main" {
			p.look(pkg)
		}
		p.approvals.find(pkg)
	}
	if len(p.Controllers) == 0 {
		return nil, fmt.Errorf("no exported type in %s has a method SetupWithManager(ctrl.Manager) error and a method "+
			"Reconcile; write a test by hand: %s", dir, byHand)
	}
	if err := p.files(); err != nil {
		return nil, err
	}
	p.complete()
	p.processes(loaded)
	if p.Definitions == "" {
		p.note("no CustomResourceDefinition was found below %s (config/crd/bases is where controller-gen writes "+
			"them): run make manifests, and run wavetank init again or w.Install them", dir)
	}
	return p, nil
}

func (p *Project) note(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(p.Notes, s) {
		p.Notes = append(p.Notes, s)
	}
}

// structOf is a named struct, or the one that a type points to; nil for another type.
func structOf(t types.Type) *types.Named {
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return nil
	}
	if _, ok := named.Underlying().(*types.Struct); !ok {
		return nil
	}
	return named
}

func fullName(n *types.Named) string {
	if n.Obj().Pkg() == nil {
		return n.Obj().Name()
	}
	return n.Obj().Pkg().Path() + "." + n.Obj().Name()
}

// isManager reports whether a type is controller-runtime's Manager.
func isManager(t types.Type) bool { return strings.HasSuffix(typeName(t), "/pkg/manager.Manager") }

// takesManager reports whether a function takes a manager and returns an error.
func takesManager(sig *types.Signature) bool {
	for p := range sig.Params().Variables() {
		if isManager(p.Type()) {
			return sig.Results().Len() == 1 && sig.Results().At(0).Type().String() == "error"
		}
	}
	return false
}

// look finds the controllers of a package, and which kinds it has webhooks for.
func (p *Project) look(pkg *packages.Package) {
	for _, file := range pkg.Syntax {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				p.function(pkg, f)
			}
		}
	}
}

func (p *Project) function(pkg *packages.Package, f *ast.FuncDecl) {
	obj := pkg.TypesInfo.Defs[f.Name].(*types.Func)
	sig := obj.Signature()
	if !takesManager(sig) || !f.Name.IsExported() {
		return
	}
	var named *types.Named
	if recv := sig.Recv(); recv != nil {
		if named = structOf(recv.Type()); named == nil || !named.Obj().Exported() {
			return
		}
	}
	if strings.Contains(f.Name.Name, "Webhook") && sig.Params().Len() == 1 {
		kind := ""
		if of := given(pkg, f, "NewWebhookManagedBy", "For"); len(of) > 0 {
			kind = of[0].Obj().Name()
		}
		p.hooked = append(p.hooked, kind)
		return
	}
	dir := filepath.Dir(pkg.Fset.Position(f.Pos()).Filename)
	c := Controller{Setup: f.Name.Name, Package: pkg, Dir: dir, typ: named, params: sig.Params(),
		fullName: obj.FullName()}
	of := given(pkg, f, "For")
	if len(of) == 0 {
		of = enqueued(pkg, f)
	}
	if len(of) > 0 {
		c.Kind, c.kindPath = of[0].Obj().Name(), of[0].Obj().Pkg().Path()
		c.kindFile = pkg.Fset.Position(of[0].Obj().Pos()).Filename
	}
	for _, other := range given(pkg, f, "Watches") {
		c.watches = append(c.watches, other.Obj().Name())
	}
	for _, child := range given(pkg, f, "Owns", "For") {
		c.children = append(c.children, child.Obj().Pkg().Path())
	}
	switch {
	case named == nil && c.Kind != "" && strings.HasPrefix(f.Name.Name, "Setup"):
		c.Name = c.Kind
	case named == nil, !strings.HasPrefix(f.Name.Name, "Setup"):
		return
	default:
		c.Name = named.Obj().Name()
		reconcile, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, pkg.Types, "Reconcile")
		if reconcile == nil {
			return // a runnable, for example
		}
	}
	p.Controllers = append(p.Controllers, c)
}

// enqueued are the structs whose events enqueue the object itself, as For does it:
// Watches(&T{}, &handler.EnqueueRequestForObject{}) and source.Kind(cache, &T{}, …).
func enqueued(pkg *packages.Package, f *ast.FuncDecl) (out []*types.Named) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			for i := 1; i < len(call.Args); i++ {
				handler, named := pkg.TypesInfo.TypeOf(call.Args[i]), structOf(pkg.TypesInfo.TypeOf(call.Args[i-1]))
				if named != nil && strings.HasSuffix(typeName(handler), "EnqueueRequestForObject") {
					out = append(out, named)
				}
			}
		}
		return true
	})
	return out
}

// given are the structs that a function hands to methods of a builder.
func given(pkg *packages.Package, f *ast.FuncDecl, methods ...string) (out []*types.Named) {
	for _, method := range methods {
		ast.Inspect(f.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == method {
				for _, arg := range call.Args {
					if named := structOf(pkg.TypesInfo.TypeOf(arg)); named != nil {
						out = append(out, named)
					}
				}
			}
			return true
		})
	}
	return out
}

// typeName is a type's package and name, or what it is otherwise.
func typeName(t types.Type) string {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return fullName(n)
	}
	if p, ok := t.(*types.Pointer); ok {
		return "*" + typeName(p.Elem())
	}
	return t.String()
}

// contains reports whether a file has a text.
func contains(file, text string) bool {
	data, err := os.ReadFile(file)
	return err == nil && strings.Contains(string(data), text)
}
