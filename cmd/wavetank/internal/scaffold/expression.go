package scaffold

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// expression reads an expression, and reports whether to look at its parts.
func (r *reader) expression(n ast.Expr) bool {
	if r.standIn(n) {
		return false
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		return r.call(n)
	case *ast.UnaryExpr:
		if lit, ok := n.X.(*ast.CompositeLit); ok && (r.t == nil || !r.t.before) && ownTransport(r.in, lit) {
			r.write(n, func() string { return "sim.HTTPClient(" + r.w.manager.Name() + ")" })
			return false
		}
	case *ast.SelectorExpr:
		id, ok := n.X.(*ast.Ident)
		if of, isPackage := r.in.TypesInfo.Uses[id].(*types.PkgName); ok && isPackage {
			if r.t != nil {
				name := r.t.use(of.Imported().Path(), of.Name())
				if name != "" {
					name += "."
				}
				r.edits = append(r.edits, edit{n.Pos(), n.Sel.Pos(), name})
			}
			return false
		}
		ast.Inspect(n.X, r.visit)
		return false
	case *ast.KeyValueExpr:
		if id, ok := n.Key.(*ast.Ident); !ok || !isField(r.in.TypesInfo.Uses[id]) {
			ast.Inspect(n.Key, r.visit)
		}
		ast.Inspect(n.Value, r.visit)
		return false
	case *ast.Ident:
		r.name(n)
	}
	return true
}

func isField(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && v.IsField()
}

// write replaces an expression, once it is written.
func (r *reader) write(n ast.Node, text func() string) {
	if r.t != nil {
		r.replace(n, text())
	}
}

// standIn replaces contexts, flag sets and commands of cobra: outside of function literals, what
// main has of them belongs to its own process.
func (r *reader) standIn(n ast.Expr) bool {
	t := r.in.TypesInfo.TypeOf(n)
	if t == nil {
		return false
	}
	_, isCall := n.(*ast.CallExpr)
	id, isName := n.(*ast.Ident)
	local := isName && r.object(id) != nil
	sel, isSelector := n.(*ast.SelectorExpr)
	global := isSelector && isFlagPackage(pathOf(r.in.TypesInfo.Uses[sel.Sel]))
	switch typeName(t) {
	case "context.Context":
		if local && (r.literals == 0 || !r.inside(r.object(id))) || isCall && r.literals == 0 {
			r.write(n, func() string { return r.t.use("context", "") + ".Background()" })
			return true
		}
	case "*flag.FlagSet", "*github.com/spf13/pflag.FlagSet":
		if local || isCall || global {
			path := strings.TrimSuffix(strings.TrimPrefix(typeName(t), "*"), ".FlagSet")
			r.write(n, func() string {
				in := r.t.use(path, "")
				return fmt.Sprintf("%s.NewFlagSet(\"operator\", %[1]s.ContinueOnError)", in)
			})
			return true
		}
	case "*github.com/spf13/cobra.Command":
		if local {
			r.write(n, func() string { return "&" + r.t.use("github.com/spf13/cobra", "") + ".Command{}" })
			return true
		}
	}
	return false
}

// inside reports whether a variable is declared in the unit itself.
func (u *unit) inside(o types.Object) bool {
	return u.stmt != nil && o.Pos() >= u.stmt.Pos() && o.Pos() < u.stmt.End()
}

// realConfigs are the functions that read the configuration of a real cluster.
var realConfigs = []string{"GetConfig", "GetConfigWithContext", "InClusterConfig", "BuildConfigFromFlags"}

// call replaces what reaches out of the simulation.
func (r *reader) call(call *ast.CallExpr) bool {
	if of, fails, ok := r.w.flags.byName(r.in, call); ok {
		sub := &reader{unit: &unit{in: of.in, stmt: r.stmt, after: r.after}, w: r.w, t: r.t}
		t := r.in.TypesInfo.TypeOf(call)
		if pair, ok := t.(*types.Tuple); ok && pair.Len() > 0 {
			t = pair.At(0).Type()
		}
		sub.flagValue(flagName(r.in, call.Args[0]), t, of.x)
		r.reads = append(r.reads, sub.reads...)
		r.write(call, func() string {
			text := sub.text(of.x)
			if r.why = sub.why; fails {
				text += ", error(nil)"
			}
			return text
		})
		return false
	}
	if x := flagPointer(r.in, call); x != nil {
		ptr, ok := r.in.TypesInfo.TypeOf(call).(*types.Pointer)
		if !ok {
			return true
		}
		r.flagValue(flagName(r.in, call.Args[0]), ptr.Elem(), x)
		if r.t != nil {
			begin, end := "new("+types.TypeString(ptr.Elem(), r.t.qualify)+"(", "))"
			if slices.Contains([]string{"new(string(", "new(bool(", "new(int("}, begin) {
				begin, end = "new(", ")"
			}
			r.edits = append(r.edits, edit{call.Pos(), x.Pos(), begin}, edit{x.End(), call.End(), end})
		}
		return false
	}
	// controller-runtime has some of its functions as variables.
	var f types.Object
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.SelectorExpr:
		f = r.in.TypesInfo.Uses[fun.Sel]
	case *ast.Ident:
		f = r.in.TypesInfo.Uses[fun]
	}
	path := pathOf(f)
	switch {
	case strings.HasPrefix(path, "sigs.k8s.io/controller-runtime") && f.Name() == "SetupSignalHandler":
		r.write(call, func() string { return r.t.use("context", "") + ".Background()" })
	case strings.HasPrefix(path, "sigs.k8s.io/controller-runtime") && f.Name() == "GetConfigOrDie":
		r.config(call, "")
	case (strings.HasPrefix(path, "sigs.k8s.io/controller-runtime") || strings.HasPrefix(path, "k8s.io/client-go")) &&
		slices.Contains(realConfigs, f.Name()):
		r.config(call, ", error(nil)")
	default:
		return true
	}
	return false
}

// config replaces the configuration of a real cluster by the manager's.
func (r *reader) config(call *ast.CallExpr, more string) {
	if r.t != nil && r.t.before {
		r.why = "the configuration of a real cluster"
	}
	r.write(call, func() string { return r.w.manager.Name() + ".GetConfig()" + more })
}

// ownTransport reports whether an HTTP client has another transport than the one that the
// simulation serves.
func ownTransport(pkg *packages.Package, lit *ast.CompositeLit) bool {
	t := pkg.TypesInfo.TypeOf(lit)
	return t != nil && typeName(t) == "net/http.Client" && fieldsOf(lit)["Transport"] != nil
}

// name reads an identifier: a variable, or what the package of the unit declares.
func (r *reader) name(id *ast.Ident) {
	o := r.in.TypesInfo.Uses[id]
	if obj := r.object(id); obj != nil {
		r.reads = append(r.reads, obj)
		switch {
		case r.t == nil:
		case isScheme(obj.Type()) && !r.t.before && slices.Contains(r.t.given, obj):
			r.replace(id, r.w.manager.Name()+".GetScheme()")
		case r.t.name(obj) != id.Name:
			r.replace(id, r.t.name(obj))
		}
		return
	}
	if o == nil || o.Pkg() == nil || o.Parent() != o.Pkg().Scope() {
		return
	}
	if v, ok := o.(*types.Var); ok {
		r.reads = append(r.reads, v)
	}
	if r.t == nil || o.Pkg().Path() == r.w.pkg.PkgPath {
		return
	}
	if r.in.Name == "main" || !o.Exported() {
		r.why = fmt.Sprintf("%s of package %s", id.Name, r.in.Name)
		return
	}
	r.replace(id, r.t.qualified(o.Pkg().Path(), o.Pkg().Name(), o.Name()))
}

func isScheme(t types.Type) bool { return typeName(t) == "*k8s.io/apimachinery/pkg/runtime.Scheme" }
