package scaffold

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// same is the variable that a variable stands for: a parameter stands for what the caller gives.
func (w *wiring) same(o types.Object) types.Object {
	for range maxCalls {
		of, ok := w.alias[o]
		if !ok {
			break
		}
		o = of
	}
	return o
}

// object is the local variable that a name in a package stands for; nil for anything else.
func (w *wiring) object(pkg *packages.Package, id *ast.Ident) types.Object {
	if id == nil {
		return nil
	}
	v, ok := pkg.TypesInfo.ObjectOf(id).(*types.Var)
	if !ok || v.IsField() || v.Parent() == nil || v.Pkg() == nil || v.Parent() == v.Pkg().Scope() {
		return nil
	}
	return w.same(v)
}

// link notes which parameters stand for variables of the caller.
func (w *wiring) link() {
	for _, u := range w.units {
		if id, ok := u.arg.(*ast.Ident); ok && u.param != nil {
			if of := w.object(u.in, id); of != nil && of != u.param {
				w.alias[u.param] = of
			}
		}
	}
	w.units = slices.DeleteFunc(w.units, func(u *unit) bool { return u.param != nil && w.alias[u.param] != nil })
}

// setups are the statements that use the manager, up to the one that starts it, with all that they
// need. Those that cannot be repeated are told to refuse.
func (w *wiring) setups(refuse func(u *unit, why string)) map[*unit]bool {
	derived := []types.Object{w.manager}
	var roots []*unit
	started := false
	for _, u := range w.units {
		if !u.after {
			continue
		}
		uses := slices.ContainsFunc(u.reads, func(o types.Object) bool { return slices.Contains(derived, o) })
		if !uses {
			continue
		}
		for _, o := range u.sets {
			if !isError(o.Type()) && !isManager(o.Type()) {
				derived = append(derived, o)
			}
		}
		start := starts(u.in, u.stmt)
		switch _, isGo := u.stmt.(*ast.GoStmt); {
		case isGo && !start:
			refuse(u, "it starts a goroutine with the manager; call what it calls before the manager starts")
		case start:
			started = true
		case !w.isRoot(u, derived):
		case started:
			refuse(u, "it uses the manager after it has started; do so before")
		case w.startsInside(u):
			refuse(u, "the function that it calls starts the manager; move what sets up the controllers into a "+
				"function of its own")
		default:
			roots = append(roots, u)
		}
	}
	return w.closure(roots, nil)
}

// closure is what units and variables need.
func (w *wiring) closure(roots []*unit, need []types.Object) map[*unit]bool {
	in := map[*unit]bool{}
	needed := map[types.Object]bool{}
	needs := func(o types.Object) bool { return needed[o] && !isError(o.Type()) && o != w.manager }
	take := func(u *unit) {
		in[u] = true
		for _, o := range u.reads {
			needed[o] = true
		}
		if a, ok := u.stmt.(*ast.AssignStmt); ok && a.Tok == token.DEFINE || isDeclaration(u.stmt) {
			return
		}
		for _, o := range u.sets { // x += 1, or x.y = 1
			needed[o] = true
		}
	}
	for _, o := range need {
		needed[o] = true
	}
	for _, u := range roots {
		take(u)
	}
	for changed := true; changed; {
		changed = false
		for i, u := range w.units {
			_, isGo := u.stmt.(*ast.GoStmt)
			_, isDefer := u.stmt.(*ast.DeferStmt)
			_, isReturn := u.stmt.(*ast.ReturnStmt)
			if in[u] || isGo || isDefer || isReturn || w.makes(u) || len(roots) == 0 && u.after {
				continue
			}
			if slices.ContainsFunc(u.sets, needs) || slices.ContainsFunc(u.changes, needs) ||
				i > 0 && in[w.units[i-1]] && guards(u, w.units[i-1]) || w.bindsFlags(u) {
				take(u)
				changed = true
			}
		}
	}
	return in
}

func isDeclaration(s ast.Stmt) bool { _, ok := s.(*ast.DeclStmt); return ok }

// makes reports whether a unit makes the manager.
func (w *wiring) makes(u *unit) bool {
	return u.stmt != nil && slices.Contains(u.sets, w.manager) && makesManager(u.in, u.stmt) != nil
}

// guards reports whether a unit does no more than look at the error of the one before.
func guards(u, before *unit) bool {
	s, ok := u.stmt.(*ast.IfStmt)
	if !ok || s.Init != nil || !leaves(u.in, s.Body) || len(u.reads) == 0 {
		return false
	}
	for _, o := range u.reads {
		if !isError(o.Type()) || !slices.Contains(before.sets, o) {
			return false
		}
	}
	return true
}

// bindsFlags reports whether a unit gives variables of the package the defaults of flags.
func (w *wiring) bindsFlags(u *unit) bool {
	x, ok := u.stmt.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := x.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	if to, _ := flagOf(u.in, call); to != nil {
		return w.object(u.in, root(to.X)) == nil && u.in == w.pkg
	}
	f := callee(u.in, call)
	return f != nil && f.Signature().Recv() == nil && w.bodies[f.FullName()].f != nil &&
		slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
			t := u.in.TypesInfo.TypeOf(arg)
			return t != nil && strings.HasSuffix(typeName(t), ".FlagSet")
		})
}

// harmless are the methods of a manager that set up no controller.
var harmless = []string{"AddHealthzCheck", "AddReadyzCheck", "AddMetricsServerExtraHandler", "Start"}

// isRoot reports whether a unit sets up something with the manager, or with what came of it.
func (w *wiring) isRoot(u *unit, derived []types.Object) (is bool) {
	defines := false
	switch u.stmt.(type) {
	case *ast.AssignStmt, *ast.DeclStmt:
		defines = true
	}
	ast.Inspect(u.stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			f := callee(u.in, n)
			if f == nil {
				return true
			}
			sel, ok := n.Fun.(*ast.SelectorExpr)
			onManager := ok && isManagerExpr(u.in, sel.X)
			if slices.Contains(logs, pathOf(f)) || onManager && slices.Contains(harmless, f.Name()) ||
				onManager && f.Name() == "Add" && strings.Contains(argument(u.in, n), "certwatcher") {
				return false
			}
			for _, arg := range n.Args {
				is = is || isManagerExpr(u.in, arg)
			}
		case *ast.Ident:
			is = is || !defines && slices.Contains(derived, w.object(u.in, n)) && w.object(u.in, n) != nil
		}
		return !is
	})
	return is
}

func argument(pkg *packages.Package, call *ast.CallExpr) string {
	if len(call.Args) == 0 || pkg.TypesInfo.TypeOf(call.Args[0]) == nil {
		return ""
	}
	return typeName(pkg.TypesInfo.TypeOf(call.Args[0]))
}

func isManagerExpr(pkg *packages.Package, x ast.Expr) bool {
	t := pkg.TypesInfo.TypeOf(x)
	return t != nil && isManager(t)
}

// starts reports whether a part of a program starts a manager.
func starts(pkg *packages.Package, n ast.Node) (does bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Start" && isManagerExpr(pkg, sel.X) {
			does = true
		}
		return !does
	})
	return does
}

// body is a function with its package.
type body struct {
	in *packages.Package
	f  *ast.FuncDecl
}

func (w *wiring) startsInside(u *unit) (does bool) {
	w.reached(map[*unit]bool{u: true}, func(b body) { does = does || starts(b.in, b.f.Body) })
	return does
}

// reached goes through the functions that units call, and those that they call in turn.
func (w *wiring) reached(units map[*unit]bool, each func(body)) {
	seen := map[string]bool{}
	var visit func(pkg *packages.Package, n ast.Node)
	visit = func(pkg *packages.Package, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if f, ok := pkg.TypesInfo.Uses[id].(*types.Func); ok && !seen[f.FullName()] {
				seen[f.FullName()] = true
				if b := w.bodies[f.FullName()]; b.f != nil && b.f.Body != nil {
					each(b)
					visit(b.in, b.f.Body)
				}
			}
			return true
		})
	}
	for _, u := range w.units {
		if units[u] && u.stmt != nil {
			visit(u.in, u.stmt)
		}
	}
}

// start notes which controllers units set up: those whose setup function is reached.
func (w *wiring) start(units map[*unit]bool, all []Controller) (out []Controller) {
	reached := []string{}
	w.reached(units, func(b body) {
		if f, ok := b.in.TypesInfo.Defs[b.f.Name].(*types.Func); ok {
			reached = append(reached, f.FullName())
		}
	})
	for _, c := range all {
		if slices.Contains(reached, c.fullName) || w.madeIn(units, c) {
			out = append(out, c)
		}
	}
	return out
}

// madeIn reports whether units make a controller, whatever calls its setup method.
func (w *wiring) madeIn(units map[*unit]bool, c Controller) (does bool) {
	look := func(pkg *packages.Package, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok && c.typ != nil {
				t := structOf(pkg.TypesInfo.TypeOf(lit))
				does = does || t != nil && fullName(t) == fullName(c.typ)
			}
			return !does
		})
	}
	for _, u := range w.units {
		if units[u] && u.stmt != nil {
			look(u.in, u.stmt)
		}
	}
	w.reached(units, func(b body) { look(b.in, b.f.Body) })
	return does
}

// given are the variables that hold the manager's scheme.
func (w *wiring) given() []types.Object {
	r := &reader{unit: &unit{in: w.pkg}, w: w}
	if x := w.options["Scheme"]; x != nil {
		ast.Inspect(x, r.visit)
	}
	return r.reads
}
