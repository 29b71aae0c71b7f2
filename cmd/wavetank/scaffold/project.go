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

	packages []*packages.Package
	schemes  []string // import paths of the packages whose AddToScheme main calls
	hooks    []hook
	literals map[string]*literal // how main fills in a controller, by the type's path and name
}

// Sample is a file of config/samples.
type Sample struct{ File, Kind string }

// hook is a function that registers a webhook.
type hook struct{ name, path, kind string }

// literal is a composite literal in main.
type literal struct {
	*ast.CompositeLit
	in *packages.Package
}

// Read reads a project. Dir is the root of its module.
func Read(dir string) (*Project, error) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir}, "./...")
	if err != nil {
		return nil, err
	}
	p := &Project{Root: dir, packages: loaded, literals: map[string]*literal{}}
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
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				p.scheme(pkg, n)
			case *ast.CompositeLit:
				if of, ok := pkg.TypesInfo.TypeOf(n).(*types.Named); ok && pkg.Name == "main" {
					p.literals[fullName(of)] = &literal{n, pkg}
				}
			}
			return true
		})
	}
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
			p.hooks = append(p.hooks, hook{f.Name.Name, pkg.PkgPath, kind})
		}
		return
	}
	t := recv.Type()
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || !strings.HasPrefix(f.Name.Name, "Setup") {
		return
	}
	if _, isStruct := named.Underlying().(*types.Struct); !isStruct || !named.Obj().Exported() {
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
			t := pkg.TypesInfo.TypeOf(arg)
			if ptr, ok := t.(*types.Pointer); ok {
				t = ptr.Elem()
			}
			if named, ok := t.(*types.Named); ok {
				if _, isStruct := named.Underlying().(*types.Struct); isStruct {
					kind, in = named.Obj().Name(), named.Obj().Pkg()
				}
			}
		}
		return true
	})
	return kind, in
}

// scheme notes a call of some package's AddToScheme in main.
func (p *Project) scheme(pkg *packages.Package, call *ast.CallExpr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || pkg.Name != "main" || sel.Sel.Name != "AddToScheme" && sel.Sel.Name != "Install" {
		return
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return
	}
	if of, ok := pkg.TypesInfo.Uses[id].(*types.PkgName); ok && !slices.Contains(p.schemes, of.Imported().Path()) {
		p.schemes = append(p.schemes, of.Imported().Path())
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
