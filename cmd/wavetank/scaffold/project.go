// Package scaffold writes a first simulated test for each controller of a project. It reads what
// the project says already: which types have SetupWithManager, how main fills them in, which
// schemes main adds, and where definitions, webhooks and samples are.
package scaffold

import (
	"fmt"
	"go/ast"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Controller is a type whose setup function takes a manager.
type Controller struct {
	Name    string // of the type
	Kind    string // that it reconciles, by the builder's For; "" if that is not seen
	Setup   string // SetupWithManager
	Package *packages.Package
	Dir     string

	params  *types.Tuple // of Setup
	typ     *types.Named
	kindPkg *types.Package
}

// Project is what a module says of its operator.
type Project struct {
	Root        string
	Controllers []Controller
	Definitions string // directory of CustomResourceDefinitions, from the root; "" for none
	Webhooks    string // directory of the webhook configuration, from the root; "" for none
	Samples     []Sample

	schemes []function // that main gives a scheme
	hooks   []hook
	filled  map[string]filling // how main fills in a controller, by the type's path and name
}

// Sample is a file of config/samples.
type Sample struct{ File, Kind string }

// function is a function of a package.
type function struct{ path, name string }

// hook is a function that registers a webhook of a kind.
type hook struct {
	function
	kind string
}

// filling is a composite literal in a package main: what each field is set to.
type filling struct {
	fields map[string]ast.Expr
	in     *packages.Package
}

// Read reads a project. Dir is the root of its module.
func Read(dir string) (*Project, error) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: dir}, "./...")
	if err != nil {
		return nil, err
	}
	p := &Project{Root: dir, filled: map[string]filling{}}
	for _, pkg := range loaded {
		for _, e := range pkg.Errors {
			return nil, fmt.Errorf("%s does not build: %w", pkg.PkgPath, e)
		}
		p.look(pkg)
	}
	if len(p.Controllers) == 0 {
		return nil, fmt.Errorf("no type in %s has a method SetupWithManager(ctrl.Manager) error and a method "+
			"Reconcile; write a test by hand: https://github.com/wavetank/wavetank/blob/main/docs/kubebuilder.md", dir)
	}
	return p, p.files()
}

// look reads the declarations of a package.
func (p *Project) look(pkg *packages.Package) {
	for _, file := range pkg.Syntax {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && pkg.Name != "main" {
				p.function(pkg, f)
			}
		}
		if pkg.Name == "main" {
			p.lookAtMain(pkg, file)
		}
	}
}

// lookAtMain reads which functions are given a scheme, and how structs are filled in.
func (p *Project) lookAtMain(pkg *packages.Package, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			p.scheme(pkg, n)
		case *ast.CompositeLit:
			if of, ok := pkg.TypesInfo.TypeOf(n).(*types.Named); ok {
				p.filled[fullName(of)] = filling{fieldsOf(n), pkg}
			}
		}
		return true
	})
}

func fieldsOf(lit *ast.CompositeLit) map[string]ast.Expr {
	out := map[string]ast.Expr{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			out[types.ExprString(kv.Key)] = kv.Value
		}
	}
	return out
}

// structOf is a named struct, or the one that a type points to; nil for another type.
func structOf(t types.Type) *types.Named {
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok {
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

// isManager says whether a type is controller-runtime's Manager.
func isManager(t types.Type) bool { return strings.HasSuffix(typeName(t), "/pkg/manager.Manager") }

// takesManager says whether a function takes a manager and returns an error.
func takesManager(sig *types.Signature) bool {
	for p := range sig.Params().Variables() {
		if isManager(p.Type()) {
			return sig.Results().Len() == 1 && sig.Results().At(0).Type().String() == "error"
		}
	}
	return false
}

func (p *Project) function(pkg *packages.Package, f *ast.FuncDecl) {
	obj := pkg.TypesInfo.Defs[f.Name].(*types.Func)
	if !takesManager(obj.Signature()) || !f.Name.IsExported() {
		return
	}
	kind, in := reconciled(pkg, f)
	recv := obj.Signature().Recv()
	if recv == nil {
		if strings.Contains(f.Name.Name, "Webhook") && obj.Signature().Params().Len() == 1 {
			p.hooks = append(p.hooks, hook{function{pkg.PkgPath, f.Name.Name}, kind})
		}
		return
	}
	named := structOf(recv.Type())
	if named == nil || !named.Obj().Exported() || !strings.HasPrefix(f.Name.Name, "Setup") {
		return
	}
	reconcile, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, pkg.Types, "Reconcile")
	if reconcile == nil {
		return // a webhook, for example
	}
	p.Controllers = append(p.Controllers, Controller{Name: named.Obj().Name(), Kind: kind, Setup: f.Name.Name,
		Package: pkg, Dir: filepath.Dir(pkg.Fset.Position(f.Pos()).Filename), typ: named, kindPkg: in,
		params: obj.Signature().Params()})
}

// reconciled is the kind that a setup function gives to For, or to the webhook's builder.
func reconciled(pkg *packages.Package, f *ast.FuncDecl) (kind string, in *types.Package) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || kind != "" {
			return kind == ""
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "For" && sel.Sel.Name != "NewWebhookManagedBy" {
			return true
		}
		for _, arg := range call.Args {
			if named := structOf(pkg.TypesInfo.TypeOf(arg)); named != nil {
				kind, in = named.Obj().Name(), named.Obj().Pkg()
			}
		}
		return true
	})
	return kind, in
}

// scheme notes the call of another package's function that adds kinds to a scheme: AddToScheme, or
// Install.
func (p *Project) scheme(pkg *packages.Package, call *ast.CallExpr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	takesScheme := false
	if sig, ok := pkg.TypesInfo.TypeOf(sel).(*types.Signature); ok && sig.Params().Len() == 1 {
		takesScheme = typeName(sig.Params().At(0).Type()) == "*k8s.io/apimachinery/pkg/runtime.Scheme"
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok || !takesScheme {
		return
	}
	if of, ok := pkg.TypesInfo.Uses[id].(*types.PkgName); ok {
		add := function{of.Imported().Path(), sel.Sel.Name}
		if !slices.Contains(p.schemes, add) {
			p.schemes = append(p.schemes, add)
		}
	}
}

// files finds definitions, webhook configurations and samples.
func (p *Project) files() error {
	most := map[string]int{}
	err := filepath.WalkDir(p.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(p.Root, path)
		if d.IsDir() {
			others := []string{"vendor", "testdata", "bin", "node_modules"}
			hidden := strings.HasPrefix(d.Name(), ".") && rel != "."
			if hidden || slices.Contains(others, d.Name()) || strings.Count(rel, string(filepath.Separator)) > 5 {
				return filepath.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, dir := string(data), filepath.ToSlash(filepath.Dir(rel))
		switch {
		case strings.Contains(text, "{{"): // a template of a chart
		case strings.Contains(text, "kind: CustomResourceDefinition\n"):
			most[dir]++
		case strings.Contains(text, "kind: ValidatingWebhookConfiguration\n"),
			strings.Contains(text, "kind: MutatingWebhookConfiguration\n"):
			if p.Webhooks == "" && dir == "config/webhook" {
				p.Webhooks = dir
			}
		case strings.HasSuffix(dir, "samples"):
			for _, c := range p.Controllers {
				if c.Kind != "" && strings.Contains("\n"+text, "\nkind: "+c.Kind+"\n") {
					p.Samples = append(p.Samples, Sample{filepath.ToSlash(rel), c.Kind})
				}
			}
		}
		return nil
	})
	for dir, n := range most {
		was, usual := p.Definitions, "config/crd/bases"
		better := dir == usual || n > most[was] || n == most[was] && dir < was
		if was == "" || was != usual && better {
			p.Definitions = dir
		}
	}
	return err
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

// contains says whether a file has a text.
func contains(file, text string) bool {
	data, err := os.ReadFile(file)
	return err == nil && strings.Contains(string(data), text)
}
