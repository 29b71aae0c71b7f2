package scaffold

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// edit replaces a part of a source text.
type edit struct {
	from, to token.Pos
	text     string
}

// reader goes through a unit of a wiring. It notes the local variables, and, if there is a writer,
// how the unit reads in a test: what leaves main returns an error, and what reaches out of the
// simulation is replaced.
type reader struct {
	*unit
	w        *wiring
	t        *slice // nil while a unit is only analysed
	literals int    // function literals around
	edits    []edit
	why      string // it cannot be written; "" if it can
}

// analyse notes which local variables a unit reads, sets and may change.
func (u *unit) analyse(w *wiring) {
	r := &reader{unit: u, w: w}
	if u.stmt == nil {
		u.sets = []types.Object{u.param}
		ast.Inspect(u.arg, r.visit)
		return
	}
	ast.Inspect(u.stmt, r.visit)
}

func (r *reader) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit:
		r.literals++
		ast.Inspect(n.Type, r.visit)
		ast.Inspect(n.Body, r.visit)
		r.literals--
		return false
	case *ast.DeferStmt:
		if r.literals == 0 {
			r.replace(n, "")
			return false
		}
	case *ast.ReturnStmt:
		if r.literals == 0 {
			r.leave(n, nil)
			return false
		}
	case *ast.IfStmt:
		return r.branch(n)
	case *ast.ExprStmt:
		return r.statement(n)
	case *ast.AssignStmt:
		r.assignment(n)
		return false
	case *ast.ValueSpec:
		for _, name := range n.Names {
			r.set(name)
		}
		if n.Type != nil {
			ast.Inspect(n.Type, r.visit)
		}
		for _, v := range n.Values {
			ast.Inspect(v, r.visit)
		}
		return false
	case ast.Expr:
		return r.expression(n)
	}
	return true
}

func (r *reader) replace(n ast.Node, text string) {
	r.edits = append(r.edits, edit{n.Pos(), n.End(), text})
}

// leave is what the test does where main ends or returns: it returns the error, if there is one.
func (r *reader) leave(n ast.Node, err *ast.Ident) {
	if s, ok := n.(*ast.ReturnStmt); ok && err == nil && r.fails && len(s.Results) > 0 {
		last := s.Results[len(s.Results)-1]
		ast.Inspect(last, r.visit)
		r.edits = append(r.edits, edit{n.Pos(), last.Pos(), "return "})
		return
	}
	text := ""
	switch {
	case err != nil:
		text = err.Name
	case r.t != nil:
		text = fmt.Sprintf("%s.New(%q)", r.t.use("errors", ""), line(r.t.root, r.in, n.Pos())+": main ends here")
	}
	if r.t != nil && r.t.before {
		r.replace(n, "panic("+text+")")
		return
	}
	r.replace(n, "return "+text)
}

// branch reads an if statement. One whose body logs and leaves main becomes one that returns the
// error.
func (r *reader) branch(n *ast.IfStmt) bool {
	if r.literals > 0 || !leaves(r.in, n.Body) {
		return true
	}
	if n.Init != nil {
		r.visit(n.Init)
	}
	ast.Inspect(n.Cond, r.visit)
	var err *ast.Ident
	ast.Inspect(n.Cond, func(x ast.Node) bool {
		if id, ok := x.(*ast.Ident); ok && isError(r.in.TypesInfo.TypeOf(id)) {
			err = id
		}
		return true
	})
	inner := &ast.BlockStmt{Lbrace: n.Body.Lbrace + 1, Rbrace: n.Body.Rbrace - 1}
	r.leave(inner, err)
	last := &r.edits[len(r.edits)-1]
	last.text = "\n" + last.text + "\n"
	if n.Else != nil {
		ast.Inspect(n.Else, r.visit)
	}
	return false
}

// leaves reports whether a block ends with leaving main.
func leaves(pkg *packages.Package, b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch last := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.ExprStmt:
		call, ok := last.X.(*ast.CallExpr)
		return ok && exits(pkg, call)
	}
	return false
}

// logs are packages that only write what is given to them.
var logs = []string{"log", "log/slog", "fmt", "github.com/go-logr/logr", "k8s.io/klog/v2", "go.uber.org/zap",
	"github.com/sirupsen/logrus"}

func pathOf(f types.Object) string {
	if f == nil || f.Pkg() == nil {
		return ""
	}
	return f.Pkg().Path()
}

// exits reports whether a call ends the program.
func exits(pkg *packages.Package, call *ast.CallExpr) bool {
	f := callee(pkg, call)
	if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" {
		return true
	}
	return f != nil && (pathOf(f) == "os" && f.Name() == "Exit" || slices.Contains(logs, pathOf(f)) &&
		(strings.HasPrefix(f.Name(), "Fatal") || strings.HasPrefix(f.Name(), "Exit")))
}

func (r *reader) statement(n *ast.ExprStmt) bool {
	call, ok := n.X.(*ast.CallExpr)
	if !ok {
		return true
	}
	if to, x := flagOf(r.in, call); to != nil {
		r.set(root(to.X))
		if r.t != nil && r.t.begins(r.object(root(to.X)), to.X) {
			r.edits = append(r.edits, edit{n.Pos(), to.X.Pos(), ""}, edit{to.X.End(), x.Pos(), " := "})
		} else {
			r.edits = append(r.edits, edit{n.Pos(), to.X.Pos(), ""}, edit{to.X.End(), x.Pos(), " = "})
			ast.Inspect(to.X, r.visit)
		}
		r.flagValue(flagName(r.in, call.Args[1]), r.in.TypesInfo.TypeOf(to.X), x)
		r.edits = append(r.edits, edit{x.End(), n.End(), ""})
		return false
	}
	f := callee(r.in, call)
	switch {
	case r.literals > 0:
		return true
	case exits(r.in, call):
		r.leave(n, nil)
		return false
	case f != nil && (slices.Contains(logs, pathOf(f)) || isFlagPackage(pathOf(f))):
		r.ofOwnType(call)
		r.replace(n, "") // of a flag without a default, as by flag.Var: a second incarnation must not declare it again
		return false
	}
	r.mayChange(call)
	return true
}

// mayChange notes the variables that a call may change: those that it gets as pointers and the
// like.
func (r *reader) mayChange(call *ast.CallExpr) {
	ast.Inspect(call, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		given := slices.Clone(c.Args)
		if sel, ok := c.Fun.(*ast.SelectorExpr); ok {
			given = append(given, sel.X)
		}
		for _, x := range given {
			at, isAddress := x.(*ast.UnaryExpr)
			if isAddress && at.Op == token.AND {
				x = at.X
			}
			id := root(x)
			if id == nil {
				continue
			}
			obj := r.object(id)
			if obj == nil || isManager(obj.Type()) || isError(obj.Type()) || isContext(obj.Type()) {
				continue
			}
			switch obj.Type().Underlying().(type) {
			case *types.Basic:
				if !isAddress {
					continue
				}
			}
			r.changes = append(r.changes, obj)
		}
		return true
	})
}

func isContext(t types.Type) bool { return typeName(t) == "context.Context" }

// assignment reads what is set and what it is set to. A name that nothing reads becomes _.
func (r *reader) assignment(n *ast.AssignStmt) {
	effect := true // it is there for its effect
	blank := 0
	for _, left := range n.Lhs {
		id, ok := left.(*ast.Ident)
		if !ok {
			if of := root(left); of != nil {
				r.set(of)
				effect = false
			}
			ast.Inspect(left, r.visit)
			continue
		}
		obj := r.object(id)
		effect = effect && (id.Name == "_" || obj != nil && isError(obj.Type()))
		r.set(id)
		switch {
		case id.Name == "_":
			blank++
		case r.t != nil && obj != nil && !r.t.read[obj] && r.literals == 0:
			r.replace(id, "_")
			blank++
		case r.t != nil && obj != nil && r.t.name(obj) != id.Name:
			r.replace(id, r.t.name(obj))
		}
	}
	if r.t != nil && n.Tok == token.DEFINE && (blank == len(n.Lhs) || r.t.declaredAll(r, n)) && r.literals == 0 {
		r.edits = append(r.edits, edit{n.TokPos, n.TokPos + 2, "="})
	}
	for _, right := range n.Rhs {
		if call, ok := right.(*ast.CallExpr); ok && effect {
			r.mayChange(call)
		}
		ast.Inspect(right, r.visit)
	}
}

// object is the local variable that a name stands for; nil for anything else.
func (r *reader) object(id *ast.Ident) types.Object { return r.w.object(r.in, id) }

func (r *reader) set(id *ast.Ident) {
	if obj := r.object(id); obj != nil {
		r.sets = append(r.sets, obj)
	} else if v, ok := r.in.TypesInfo.ObjectOf(id).(*types.Var); ok && !v.IsField() {
		r.sets = append(r.sets, v) // of the package
	}
}

// root is the variable of a.b[c].
func root(x ast.Expr) *ast.Ident {
	for {
		switch at := ast.Unparen(x).(type) {
		case *ast.Ident:
			return at
		case *ast.SelectorExpr:
			x = at.X
		case *ast.IndexExpr:
			x = at.X
		case *ast.StarExpr:
			x = at.X
		default:
			return nil
		}
	}
}
