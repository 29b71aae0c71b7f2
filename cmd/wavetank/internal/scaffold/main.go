package scaffold

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// program is what the packages main of a module say: how the manager is made, and what the
// controllers are given.
type program struct {
	schemes []function         // that a scheme is given to
	filled  map[string]filling // literals of structs, by the type's path and name
	setups  map[string]setup   // calls of setup methods, by the method's full name
	options filling            // of the manager
	locals  map[types.Object]local
}

// function is a function of a package.
type function struct{ path, name string }

// filling is a composite literal: what each field is set to.
type filling struct {
	fields map[string]ast.Expr
	in     *packages.Package
}

// setup is a call of a method that takes the manager.
type setup struct {
	receiver ast.Expr
	args     []ast.Expr
	in       *packages.Package
}

// local is a variable of main. One that is changed after its declaration has no value here.
type local struct {
	value   ast.Expr
	pointer bool // value is what the variable points to
	changed bool
}

func newProgram() program {
	return program{filled: map[string]filling{}, setups: map[string]setup{}, locals: map[types.Object]local{}}
}

// read reads a file of a package main.
func (m *program) read(pkg *packages.Package, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			m.scheme(pkg, n)
			m.flag(pkg, n)
			m.setup(pkg, n)
		case *ast.CompositeLit:
			m.literal(pkg, n)
		case *ast.AssignStmt:
			m.assignment(pkg, n)
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) && len(n.Names) == len(n.Values) {
					m.declare(pkg.TypesInfo.Defs[name], n.Values[i])
				}
			}
		}
		return true
	})
}

func (m *program) literal(pkg *packages.Package, lit *ast.CompositeLit) {
	of, ok := types.Unalias(pkg.TypesInfo.TypeOf(lit)).(*types.Named)
	switch {
	case !ok:
	case isOptions(of):
		m.options = filling{fieldsOf(lit), pkg}
	default:
		m.filled[fullName(of)] = filling{fieldsOf(lit), pkg}
	}
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

// isOptions says whether a type is controller-runtime's Options of a manager.
func isOptions(t types.Type) bool { return strings.HasSuffix(typeName(t), "/pkg/manager.Options") }

// assignment notes what a variable is declared with, and which ones are changed later.
func (m *program) assignment(pkg *packages.Package, s *ast.AssignStmt) {
	for i, left := range s.Lhs {
		sel, isField := left.(*ast.SelectorExpr)
		if isField && isOptions(pkg.TypesInfo.TypeOf(sel.X)) && m.options.fields != nil && len(s.Rhs) == len(s.Lhs) {
			m.options.fields[sel.Sel.Name] = s.Rhs[i]
			continue
		}
		id := root(left)
		if id == nil {
			continue
		}
		if obj := pkg.TypesInfo.Defs[id]; obj != nil && s.Tok == token.DEFINE {
			if len(s.Lhs) == len(s.Rhs) {
				m.declare(obj, s.Rhs[i])
			}
		} else if obj := pkg.TypesInfo.Uses[id]; obj != nil {
			m.locals[obj] = local{changed: true}
		}
	}
}

func (m *program) declare(obj types.Object, value ast.Expr) {
	if was := m.locals[obj]; obj != nil && !was.changed && was.value == nil {
		m.locals[obj] = local{value: value}
	}
}

// root is the variable of a.b[c].
func root(x ast.Expr) *ast.Ident {
	for {
		switch at := x.(type) {
		case *ast.Ident:
			return at
		case *ast.SelectorExpr:
			x = at.X
		case *ast.IndexExpr:
			x = at.X
		default:
			return nil
		}
	}
}

// flag notes the default of a flag as the value of its variable: flag.StringVar(&addr, "addr", …)
// and addr := flag.String("addr", …).
func (m *program) flag(pkg *packages.Package, call *ast.CallExpr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) < 3 {
		return
	}
	f, ok := pkg.TypesInfo.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || !slices.Contains([]string{"flag", "github.com/spf13/pflag"}, f.Pkg().Path()) {
		return
	}
	if at, ok := call.Args[0].(*ast.UnaryExpr); ok && at.Op == token.AND {
		value := call.Args[2]
		if strings.HasSuffix(f.Name(), "VarP") && len(call.Args) > 3 {
			value = call.Args[3]
		}
		if id, ok := at.X.(*ast.Ident); ok {
			m.locals[pkg.TypesInfo.Uses[id]] = local{value: value}
		}
	}
}

// ofFlag is the default of the flag that x makes, as in addr := flag.String("addr", …); nil for
// anything else.
func ofFlag(pkg *packages.Package, x ast.Expr) ast.Expr {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) != 3 {
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	f, ok := pkg.TypesInfo.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || !slices.Contains([]string{"flag", "github.com/spf13/pflag"}, f.Pkg().Path()) {
		return nil
	}
	return call.Args[1]
}

// setup notes the call of a method that takes the manager.
func (m *program) setup(pkg *packages.Package, call *ast.CallExpr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	f, ok := pkg.TypesInfo.Uses[sel.Sel].(*types.Func)
	if ok && f.Signature().Recv() != nil && takesManager(f.Signature()) {
		m.setups[f.FullName()] = setup{ast.Unparen(sel.X), call.Args, pkg}
	}
}

// scheme notes the call of another package's function that adds kinds to a scheme: AddToScheme, or
// Install.
func (m *program) scheme(pkg *packages.Package, call *ast.CallExpr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	takesScheme := false
	if sig, ok := pkg.TypesInfo.TypeOf(sel).(*types.Signature); ok && sig.Params().Len() == 1 {
		takesScheme = isScheme(sig.Params().At(0).Type())
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok || !takesScheme {
		return
	}
	if of, ok := pkg.TypesInfo.Uses[id].(*types.PkgName); ok {
		add := function{of.Imported().Path(), sel.Sel.Name}
		if !slices.Contains(m.schemes, add) {
			m.schemes = append(m.schemes, add)
		}
	}
}

func isScheme(t types.Type) bool { return typeName(t) == "*k8s.io/apimachinery/pkg/runtime.Scheme" }
