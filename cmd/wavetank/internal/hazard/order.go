package hazard

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// This file finds lists in the order of a map. An object with such a list differs from run to run,
// so it is sent again and again.

// unsorted reports lists that are appended to inside a range over a map, or collected from one, and
// not sorted afterwards in the same function. Each list is reported once. In functions that no
// reconciler of the package calls, only lists of API types count: they make objects for reconcilers
// of other packages.
func unsorted(pass *analysis.Pass, f *ast.FuncDecl, called bool, callers func(*ast.FuncDecl) []*ast.FuncDecl) {
	reported := map[string]bool{}
	report := func(at ast.Node, list ast.Expr, how string) {
		t := pass.TypesInfo.TypeOf(list)
		name := types.ExprString(list)
		if reported[name] || t == nil || !called && !ofAPI(t) || sorts(pass, f.Body, list, at.End()) {
			return
		}
		if returns(pass, f, list) {
			for _, caller := range callers(f) {
				if sorts(pass, caller.Body, list, token.NoPos) {
					return
				}
			}
		}
		reported[name] = true
		pass.Reportf(at.Pos(), "%s %s and is not sorted afterwards: its order changes from run to run, "+
			"and with it every object that it is put into; "+
			"range over slices.Sorted(maps.Keys(m)), or sort it", name, how)
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if fromMap(pass, n.X) {
				appended(pass, n, func(list ast.Expr) { report(n, list, "is appended to inside a range over a map") })
			}
		case *ast.AssignStmt:
			for i, right := range n.Rhs {
				if len(n.Lhs) == len(n.Rhs) && collectsMap(pass, right) {
					report(n, n.Lhs[i], "is collected from a map")
				}
			}
		}
		return true
	})
}

// collectsMap reports whether an expression is slices.Collect of a map's keys or values.
func collectsMap(pass *analysis.Pass, x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	return ok && isOf(callee(pass, call), "slices", "Collect") && len(call.Args) == 1 && fromMap(pass, call.Args[0])
}

// fromMap reports whether what is ranged over comes in the order of a map: a map, or an iterator of
// package maps.
func fromMap(pass *analysis.Pass, x ast.Expr) bool {
	if t := pass.TypesInfo.TypeOf(x); t != nil {
		if _, ok := t.Underlying().(*types.Map); ok {
			return true
		}
	}
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	return ok && isOf(callee(pass, call), "maps", "Keys", "Values", "All")
}

// appended reports each list, declared outside, to which the body of a range appends. Lists that
// are elements of a map are left out: most of them are grouped by the key that is ranged over.
func appended(pass *analysis.Pass, loop *ast.RangeStmt, report func(list ast.Expr)) {
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
			return true
		}
		call, ok := ast.Unparen(assign.Rhs[0]).(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		if builtin, ok := callee(pass, call).(*types.Builtin); !ok || builtin.Name() != "append" {
			return true
		}
		if types.ExprString(call.Args[0]) != types.ExprString(assign.Lhs[0]) {
			return true
		}
		if root := rootOf(assign.Lhs[0]); root != nil {
			if o := pass.TypesInfo.ObjectOf(root); o != nil && (o.Pos() < loop.Pos() || o.Pos() > loop.End()) {
				report(assign.Lhs[0])
			}
		}
		return true
	})
}

// rootOf is the variable that a list is, or is a field of; nil where it is neither.
func rootOf(x ast.Expr) *ast.Ident {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.Ident:
			return e
		case *ast.SelectorExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		default:
			return nil
		}
	}
}

// sorts reports whether a body sorts a list after a place, by package slices or sort, or by a
// function with "sort" in its name. The list may have got another name, so its type decides. Lists
// of basic types are frequent, so their names must be equal, too.
func sorts(pass *analysis.Pass, body ast.Node, list ast.Expr, after token.Pos) (found bool) {
	t := pass.TypesInfo.TypeOf(list)
	slice, _ := t.Underlying().(*types.Slice)
	common := false
	if slice != nil {
		_, common = slice.Elem().(*types.Basic)
	}
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found || call.Pos() < after {
			return !found
		}
		o := callee(pass, call)
		if o == nil || !isOf(o, "sort") && !strings.Contains(strings.ToLower(o.Name()), "sort") {
			return true
		}
		operands := call.Args
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			operands = append([]ast.Expr{sel.X}, operands...)
		}
		for _, x := range operands {
			ast.Inspect(x, func(n ast.Node) bool { // sort.Sort(byName(list)), too
				e, ok := n.(ast.Expr)
				if !ok {
					return !found
				}
				have := pass.TypesInfo.TypeOf(e)
				alike := have != nil && types.Identical(have.Underlying(), t.Underlying())
				named := !common || after == token.NoPos || types.ExprString(e) == types.ExprString(list)
				found = found || alike && named
				return !found
			})
		}
		return !found
	})
	return found
}

// returns reports whether a function returns the list to its callers, which may sort it.
func returns(pass *analysis.Pass, f *ast.FuncDecl, list ast.Expr) (found bool) {
	root := rootOf(list)
	if root == nil {
		return false
	}
	o := pass.TypesInfo.ObjectOf(root)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			for _, x := range n.Results {
				if id, ok := ast.Unparen(x).(*ast.Ident); ok && pass.TypesInfo.ObjectOf(id) == o {
					found = true
				}
			}
			found = found || len(n.Results) == 0
		}
		return !found
	})
	return found
}

// isOf reports whether an object is one of these functions of a package, or any function where none
// is named.
func isOf(o types.Object, pkg string, names ...string) bool {
	if o == nil || o.Pkg() == nil || o.Pkg().Path() != pkg {
		return false
	}
	for _, name := range names {
		if o.Name() == name {
			return true
		}
	}
	return len(names) == 0
}

// ofAPI reports whether a list is one of a Kubernetes API's types, or of requests.
func ofAPI(t types.Type) bool {
	list, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	elem := list.Elem()
	if p, ok := elem.(*types.Pointer); ok {
		elem = p.Elem()
	}
	named, ok := types.Unalias(elem).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	path := named.Obj().Pkg().Path()
	return strings.HasPrefix(path, "k8s.io/") || strings.HasPrefix(path, "sigs.k8s.io/")
}
