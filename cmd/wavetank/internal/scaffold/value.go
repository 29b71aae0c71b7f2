package scaffold

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// edit replaces a part of a source text.
type edit struct {
	from, to token.Pos
	text     string
}

// value renders an expression of main for a test.
type value struct {
	w     *writer
	in    *packages.Package
	mgr   bool // the manager exists already
	depth int
	edits []edit
	why   string // it cannot be rendered; "" if it can
}

// ofMain is an expression of main as a test can write it: the manager is mgr, variables are what
// they are declared with, and those of flags the flag's default. It is "" where main makes it of
// more than that, and why says of what.
func (w *writer) ofMain(pkg *packages.Package, x ast.Expr, mgr bool) (text, why string) {
	return w.render(pkg, x, mgr, 0)
}

func (w *writer) render(pkg *packages.Package, x ast.Expr, mgr bool, depth int) (text, why string) {
	if depth > 5 {
		return "", "variables that are made of one another"
	}
	v := &value{w: w, in: pkg, mgr: mgr, depth: depth}
	ast.Inspect(x, func(n ast.Node) bool { return v.why == "" && v.visit(n, x) })
	if v.why != "" {
		return "", v.why
	}
	from, to := pkg.Fset.Position(x.Pos()), pkg.Fset.Position(x.End())
	source, err := os.ReadFile(from.Filename)
	if err != nil || to.Offset > len(source) {
		return "", "a file that cannot be read"
	}
	slices.SortFunc(v.edits, func(a, b edit) int { return int(a.from - b.from) })
	var b strings.Builder
	at := from.Offset
	for _, e := range v.edits {
		b.Write(source[at:pkg.Fset.Position(e.from).Offset])
		b.WriteString(e.text)
		at = pkg.Fset.Position(e.to).Offset
	}
	b.Write(source[at:to.Offset])
	return joined(b.String()), ""
}

var (
	lineBreak = regexp.MustCompile(`\s*\n\s*`)
	lastComma = regexp.MustCompile(`, ?([})])`)
)

// joined is a literal on one line. What has comments, statements or texts of several lines stays.
func joined(source string) string {
	has := func(part string) bool { return strings.Contains(source, part) }
	if !has("\n") || has("//") || has("func(") || has("`") {
		return source
	}
	source = lineBreak.ReplaceAllString(source, " ")
	return strings.ReplaceAll(lastComma.ReplaceAllString(source, "$1"), "{ ", "{")
}

// visit says whether to look at the parts of n.
func (v *value) visit(n ast.Node, all ast.Expr) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return v.call(n)
	case *ast.UnaryExpr:
		switch of := n.X.(type) {
		case *ast.CompositeLit:
			if v.ownTransport(of) {
				v.replace(n, "sim.HTTPClient(mgr)")
				return false
			}
		case *ast.Ident:
			// A variable has an address, what it is declared with may have none.
			local := v.w.project.main.locals[v.in.TypesInfo.Uses[of]]
			if _, ok := local.value.(*ast.CompositeLit); n.Op == token.AND && local.value != nil && !ok {
				v.why = "the address of " + of.Name
				return false
			}
		}
	case *ast.StarExpr:
		id, ok := n.X.(*ast.Ident)
		if !ok {
			return true
		}
		if of := v.w.project.main.locals[v.in.TypesInfo.Uses[id]]; of.value != nil && !of.changed {
			if def := ofFlag(v.in, of.value); def != nil {
				v.inline(n, def)
				return false
			}
		}
	case *ast.SelectorExpr:
		id, ok := n.X.(*ast.Ident)
		if !ok {
			return true
		}
		if of, ok := v.in.TypesInfo.Uses[id].(*types.PkgName); ok {
			name := v.w.use(of.Imported().Path(), of.Name())
			if name != "" {
				name += "."
			}
			v.edits = append(v.edits, edit{n.Pos(), n.Sel.Pos(), name})
			return false
		}
		v.ident(id, all)
		return false
	case *ast.KeyValueExpr:
		// The name of a field is no variable.
		if _, ok := n.Key.(*ast.Ident); ok && v.isField(n.Key.(*ast.Ident)) {
			ast.Inspect(n.Value, func(n ast.Node) bool { return v.why == "" && v.visit(n, all) })
			return false
		}
	case *ast.Ident:
		v.ident(n, all)
	}
	return true
}

func (v *value) isField(id *ast.Ident) bool {
	field, ok := v.in.TypesInfo.Uses[id].(*types.Var)
	return ok && field.IsField()
}

func (v *value) replace(n ast.Node, text string) {
	v.edits = append(v.edits, edit{n.Pos(), n.End(), text})
}

// inline puts another expression of main in the place of n.
func (v *value) inline(n ast.Node, x ast.Expr) {
	text, why := v.w.render(v.in, x, v.mgr, v.depth+1)
	if why != "" {
		v.why = why
		return
	}
	if _, binary := x.(*ast.BinaryExpr); binary {
		text = "(" + text + ")"
	}
	v.replace(n, text)
}

// call replaces what reaches out of the simulation.
func (v *value) call(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return true
	}
	f := v.in.TypesInfo.Uses[sel.Sel]
	if f == nil || f.Pkg() == nil || !strings.HasPrefix(f.Pkg().Path(), "sigs.k8s.io/controller-runtime") {
		return true
	}
	switch f.Name() {
	case "SetupSignalHandler":
		v.replace(call, v.w.use("context", "")+".Background()")
		return false
	case "GetConfigOrDie":
		if v.mgr {
			v.replace(call, "mgr.GetConfig()")
		} else {
			v.why = "the configuration of a real cluster"
		}
		return false
	}
	return true
}

// ownTransport says whether an HTTP client does not use the transport that the simulation serves.
func (v *value) ownTransport(lit *ast.CompositeLit) bool {
	return v.mgr && typeName(v.in.TypesInfo.TypeOf(lit)) == "net/http.Client" && fieldsOf(lit)["Transport"] != nil
}

func (v *value) ident(id *ast.Ident, all ast.Expr) {
	switch o := v.in.TypesInfo.Uses[id].(type) {
	case *types.PkgName:
		v.replace(id, v.w.use(o.Imported().Path(), o.Name()))
	case *types.Const:
		if o.Pkg() == v.in.Types {
			v.constant(id, o)
		}
	case *types.Func, *types.TypeName:
		if o.Pkg() == v.in.Types && o.Parent() == v.in.Types.Scope() {
			v.why = fmt.Sprintf("%s of package main", id.Name)
		}
	case *types.Var:
		switch {
		case o.IsField(), o.Pkg() != v.in.Types, o.Pos() >= all.Pos() && o.Pos() < all.End():
		case isManager(o.Type()) && v.mgr:
			v.replace(id, "mgr")
		case isScheme(o.Type()):
			v.replace(id, v.w.schemeName())
		case typeName(o.Type()) == "context.Context":
			v.replace(id, v.w.use("context", "")+".Background()")
		default:
			v.variable(id, o)
		}
	}
}

func (v *value) constant(id *ast.Ident, o *types.Const) {
	if basic, ok := types.Unalias(o.Type()).(*types.Basic); ok && o.Val().Kind() != constant.Float {
		text := o.Val().ExactString()
		if basic.Info()&types.IsString != 0 || basic.Info()&types.IsInteger != 0 || basic.Info()&types.IsBoolean != 0 {
			v.replace(id, text)
			return
		}
	}
	v.why = "a constant of package main"
}

// variable puts in the place of a variable what it is declared with.
func (v *value) variable(id *ast.Ident, o *types.Var) {
	of, ok := v.w.project.main.locals[o]
	switch {
	case !ok || of.value == nil && !of.changed:
		v.why = fmt.Sprintf("%s, whose value is not seen", id.Name)
	case of.changed:
		v.why = fmt.Sprintf("%s, which is changed after its declaration", id.Name)
	default:
		v.inline(id, of.value)
	}
}
