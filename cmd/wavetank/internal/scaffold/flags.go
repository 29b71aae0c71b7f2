package scaffold

import (
	"go/ast"
	"go/constant"
	"go/token"
	"strings"

	"golang.org/x/tools/go/packages"
)

func isFlagPackage(path string) bool { return path == "flag" || path == "github.com/spf13/pflag" }

// flag is the variable that a call binds to a flag, and the flag's default, as in
// flag.StringVar(&addr, "addr", …); nil for any other call.
func (r *reader) flag(call *ast.CallExpr) (to *ast.UnaryExpr, x ast.Expr) {
	f := callee(r.in, call)
	if f == nil || !isFlagPackage(pathOf(f)) || len(call.Args) < 4 {
		return nil, nil
	}
	i := map[bool]int{true: 2, false: 3}[strings.HasSuffix(f.Name(), "Var")]
	to, ok := call.Args[0].(*ast.UnaryExpr)
	if !ok || to.Op != token.AND || i >= len(call.Args) || root(to.X) == nil ||
		!strings.HasSuffix(strings.TrimSuffix(f.Name(), "P"), "Var") {
		return nil, nil
	}
	return to, call.Args[i]
}

// pointer is the default of the flag that a call declares, as in addr := flag.String("addr", …);
// nil for any other call.
func (r *reader) pointer(call *ast.CallExpr) ast.Expr {
	f := callee(r.in, call)
	switch {
	case f == nil || !isFlagPackage(pathOf(f)) || strings.HasSuffix(strings.TrimSuffix(f.Name(), "P"), "Var"):
		return nil
	case len(call.Args) == 3:
		return call.Args[1]
	case len(call.Args) == 4 && strings.HasSuffix(f.Name(), "P"):
		return call.Args[2]
	}
	return nil
}

// readFlags notes the defaults of the flags that a package declares, for those that are read by
// name.
func (w *wiring) readFlags(pkg *packages.Package) {
	for _, file := range pkg.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				r := &reader{unit: &unit{in: pkg}, w: w}
				if x := r.pointer(n); x != nil {
					w.noteFlag(pkg, n.Args[0], x)
				} else if to, x := r.flag(n); to != nil {
					w.noteFlag(pkg, n.Args[1], x)
				}
			case *ast.CompositeLit: // urfave/cli
				t := pkg.TypesInfo.TypeOf(n)
				if t == nil || !strings.HasPrefix(typeName(t), "github.com/urfave/cli") {
					return true
				}
				if fields := fieldsOf(n); fields["Name"] != nil && fields["Value"] != nil {
					w.noteFlag(pkg, fields["Name"], fields["Value"])
				}
			}
			return true
		})
	}
}

func (w *wiring) noteFlag(pkg *packages.Package, name, x ast.Expr) {
	if v := pkg.TypesInfo.Types[name].Value; v != nil && v.Kind() == constant.String {
		w.flags[constant.StringVal(v)] = value{pkg, x}
	}
}

// byName is the default of a flag that a call reads by its name, as in
// cmd.Flags().GetString("addr") or c.String("addr"); fails if the call returns an error, too.
func (r *reader) byName(call *ast.CallExpr) (of value, fails, ok bool) {
	f := callee(r.in, call)
	if f == nil || len(call.Args) != 1 {
		return value{}, false, false
	}
	get := isFlagPackage(pathOf(f)) && strings.HasPrefix(f.Name(), "Get")
	if !get && !strings.HasPrefix(pathOf(f), "github.com/urfave/cli") {
		return value{}, false, false
	}
	v := r.in.TypesInfo.Types[call.Args[0]].Value
	if v == nil || v.Kind() != constant.String {
		return value{}, false, false
	}
	of, ok = r.w.flags[constant.StringVal(v)]
	return of, get, ok
}
