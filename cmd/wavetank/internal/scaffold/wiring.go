package scaffold

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// wiring is a function that makes a manager and sets up controllers with it. A test of it stands in
// its package, where the names that it uses are known.
type wiring struct {
	pkg     *packages.Package
	units   []*unit // in the order in which they are executed
	made    token.Pos
	manager types.Object
	options map[string]ast.Expr // of the manager
	flags   flags
	alias   map[types.Object]types.Object
	bodies  map[string]body // functions of the module, by their full name

	arguments arguments
}

// value is an expression with the package that it is written in.
type value struct {
	in *packages.Package
	x  ast.Expr
}

// unit is a statement that a wiring executes itself, or one of those that lead to its call.
type unit struct {
	in    *packages.Package
	stmt  ast.Stmt
	param types.Object // gets arg, if there is no statement
	arg   ast.Expr
	fails bool // the function around it returns an error last
	after bool // the manager exists

	reads, sets, changes []types.Object // local variables
}

// maxCalls limits how many calls may lie between main and the function that makes the manager.
const maxCalls = 5

// wirings are the functions of a module that make managers.
func (p *Project) wirings(loaded []*packages.Package) (out []*wiring) {
	bodies := bodiesOf(loaded)
	for _, pkg := range loaded {
		if pkg.Name != "main" && !p.reachable[pkg.PkgPath] {
			continue
		}
		for _, file := range pkg.Syntax {
			for path, s := range statements(file) {
				w := &wiring{pkg: pkg, flags: flags{}, options: map[string]ast.Expr{}, bodies: bodies,
					alias: map[types.Object]types.Object{}, arguments: p.deployed.arguments}
				if w.manager = makesManager(pkg, s); w.manager == nil {
					continue
				}
				w.made = s.Pos()
				w.units = steps(pkg, path, s)
				if f := declarationOf(path); f != nil {
					w.units = append(w.parameters(loaded, pkg, f, 0), w.units...)
				}
				w.readOptions(s)
				out = append(out, w)
			}
		}
	}
	ships := func(w *wiring) bool { return !isAside(line(p.Root, w.pkg, w.made)) }
	if slices.ContainsFunc(out, ships) {
		out = slices.DeleteFunc(out, func(w *wiring) bool { return !ships(w) })
	}
	for _, w := range out {
		for _, pkg := range loaded {
			w.flags.read(pkg)
		}
		w.link()
		for _, u := range w.units {
			u.analyse(w)
		}
	}
	return out
}

// bodiesOf are the functions of packages.
func bodiesOf(loaded []*packages.Package) map[string]body {
	out := map[string]body{}
	for _, pkg := range loaded {
		for _, file := range pkg.Syntax {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
					if of, ok := pkg.TypesInfo.Defs[f.Name].(*types.Func); ok {
						out[of.FullName()] = body{pkg, f}
					}
				}
			}
		}
	}
	return out
}

// makesManager is the variable that a statement sets to a new manager; nil if it does not.
func makesManager(pkg *packages.Package, s ast.Stmt) types.Object {
	a, ok := s.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		return nil
	}
	id, ok := a.Lhs[0].(*ast.Ident)
	if _, call := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); !ok || !call {
		return nil
	}
	obj := pkg.TypesInfo.ObjectOf(id)
	if obj == nil || !isManager(obj.Type()) {
		return nil
	}
	return obj
}

// statements are the statements of a file's functions, each with what it stands in: functions,
// blocks and statements, the outermost first.
func statements(file *ast.File) func(yield func([]ast.Node, ast.Stmt) bool) {
	return func(yield func([]ast.Node, ast.Stmt) bool) {
		var path []ast.Node
		done := false
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil {
				path = path[:len(path)-1]
				return true
			}
			if s, ok := n.(ast.Stmt); ok && !done {
				done = !yield(slices.Clone(path), s)
			}
			path = append(path, n)
			return !done
		})
	}
}

// declarationOf is the declaration of a function that a path begins with.
func declarationOf(path []ast.Node) *ast.FuncDecl {
	for _, n := range path {
		if f, ok := n.(*ast.FuncDecl); ok {
			return f
		}
	}
	return nil
}

// steps are the statements that are executed around one that stands in path: those before it, those
// after it, and those of a function in which the literal of its own function stands.
func steps(pkg *packages.Package, path []ast.Node, at ast.Stmt) (out []*unit) {
	after := []*unit{}
	fails := false
	for i, n := range path {
		inner := ast.Node(at)
		if i+1 < len(path) {
			inner = path[i+1]
		}
		literal := -1 // the function literal in which the path continues
		switch n := n.(type) {
		case *ast.FuncDecl:
			fails = lastIsError(pkg, n.Type)
		case *ast.FuncLit:
			fails = lastIsError(pkg, n.Type)
		case *ast.BlockStmt:
			for _, later := range path[i+1:] {
				if _, ok := later.(*ast.FuncLit); ok {
					literal = i
				}
			}
			for _, s := range n.List {
				u := &unit{in: pkg, stmt: s, fails: fails}
				switch {
				case s == at || s.Pos() <= inner.Pos() && inner.End() <= s.End():
				case s.Pos() < at.Pos() || literal >= 0:
					out = append(out, u)
				default:
					u.after = true
					after = append(after, u)
				}
			}
		}
	}
	return append(out, after...)
}

func lastIsError(pkg *packages.Package, f *ast.FuncType) bool {
	if f.Results == nil || len(f.Results.List) == 0 {
		return false
	}
	return isError(pkg.TypesInfo.TypeOf(f.Results.List[len(f.Results.List)-1].Type))
}

func isError(t types.Type) bool { return t != nil && t.String() == "error" }

// parameters bind the parameters of a function to what its caller gives, with the statements of the
// caller.
func (w *wiring) parameters(loaded []*packages.Package, pkg *packages.Package, f *ast.FuncDecl,
	depth int) (out []*unit) {
	obj, _ := pkg.TypesInfo.Defs[f.Name].(*types.Func)
	if obj == nil || depth > maxCalls || f.Name.Name == "main" {
		return nil
	}
	for _, from := range loaded {
		for _, file := range from.Syntax {
			for path, s := range statements(file) {
				named, call := mention(from, s, obj)
				caller := declarationOf(path)
				if named == nil || caller == nil || caller == f {
					continue
				}
				out = w.parameters(loaded, from, caller, depth+1)
				for _, u := range steps(from, path, s) {
					if !u.after || call == nil { // a function that is handed on is called later
						u.after = false
						out = append(out, u)
					}
				}
				return append(out, bind(from, obj, named, call)...)
			}
		}
	}
	return nil
}

// mention is where a statement itself, and not one in it, names a function, and its call if it
// calls it.
func mention(pkg *packages.Package, s ast.Stmt, f *types.Func) (named ast.Expr, call *ast.CallExpr) {
	is := func(id *ast.Ident) bool {
		of, ok := pkg.TypesInfo.Uses[id].(*types.Func)
		return ok && of.FullName() == f.FullName()
	}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			return false
		case *ast.CallExpr:
			if of := callee(pkg, n); of != nil && of.FullName() == f.FullName() && named == nil {
				named, call = ast.Unparen(n.Fun), n
			}
		case *ast.SelectorExpr:
			if named == nil && is(n.Sel) {
				named = n
			}
		case *ast.Ident:
			if named == nil && is(n) {
				named = n
			}
		}
		return named == nil
	})
	return named, call
}

// callee is the function that a call names; nil if it names none.
func callee(pkg *packages.Package, call *ast.CallExpr) *types.Func {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		of, _ := pkg.TypesInfo.Uses[f].(*types.Func)
		return of
	case *ast.SelectorExpr:
		of, _ := pkg.TypesInfo.Uses[f.Sel].(*types.Func)
		return of
	}
	return nil
}

// bind gives the receiver and the parameters of a function what its caller gives them.
func bind(from *packages.Package, f *types.Func, named ast.Expr, call *ast.CallExpr) (out []*unit) {
	sig := f.Signature()
	if sel, ok := named.(*ast.SelectorExpr); ok && sig.Recv() != nil {
		out = append(out, &unit{in: from, param: sig.Recv(), arg: sel.X})
	}
	if call == nil || sig.Params().Len() != len(call.Args) {
		return out
	}
	i := 0
	for v := range sig.Params().Variables() {
		out = append(out, &unit{in: from, param: v, arg: call.Args[i]})
		i++
	}
	return out
}

// readOptions notes the options of the manager that a statement makes, and what later statements
// set of them.
func (w *wiring) readOptions(s ast.Stmt) {
	var of types.Object // the variable with the options
	literal := func(x ast.Expr) {
		if lit, ok := x.(*ast.CompositeLit); ok && isOptions(w.pkg.TypesInfo.TypeOf(lit)) {
			w.options = fieldsOf(lit)
		}
	}
	call, _ := ast.Unparen(s.(*ast.AssignStmt).Rhs[0]).(*ast.CallExpr)
	for _, arg := range call.Args {
		literal(arg)
		if id, ok := arg.(*ast.Ident); ok && isOptions(w.pkg.TypesInfo.TypeOf(id)) {
			of = w.pkg.TypesInfo.ObjectOf(id)
		}
	}
	for _, u := range w.units {
		if of == nil || u.stmt == nil || u.after {
			continue
		}
		for _, pair := range assignments(u.stmt) {
			switch at := pair[0].(type) {
			case *ast.Ident:
				if w.pkg.TypesInfo.ObjectOf(at) == of {
					literal(pair[1])
				}
			case *ast.SelectorExpr:
				if id, ok := at.X.(*ast.Ident); ok && w.pkg.TypesInfo.ObjectOf(id) == of {
					w.options[at.Sel.Name] = pair[1]
				}
			}
		}
	}
}

// assignments are the pairs of what a statement sets and to what.
func assignments(s ast.Stmt) (out [][2]ast.Expr) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) {
					out = append(out, [2]ast.Expr{n.Lhs[i], n.Rhs[i]})
				}
			}
		case *ast.ValueSpec:
			for i := range n.Names {
				if len(n.Names) == len(n.Values) {
					out = append(out, [2]ast.Expr{n.Names[i], n.Values[i]})
				}
			}
		}
		return true
	})
	return out
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

// isOptions reports whether a type is controller-runtime's Options of a manager.
func isOptions(t types.Type) bool {
	return t != nil && strings.HasSuffix(typeName(t), "/pkg/manager.Options")
}

// line is where something stands, as a path from the root of the module.
func line(root string, pkg *packages.Package, at token.Pos) string {
	position := pkg.Fset.Position(at)
	rel, err := filepath.Rel(root, position.Filename)
	if err != nil {
		rel = position.Filename
	}
	return fmt.Sprintf("%s:%d", filepath.ToSlash(rel), position.Line)
}
