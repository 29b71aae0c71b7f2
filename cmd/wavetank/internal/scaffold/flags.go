package scaffold

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/packages"
)

func isFlagPackage(path string) bool { return path == "flag" || path == "github.com/spf13/pflag" }

// flagOf returns the variable that a call binds to a flag, and the flag's default. An example is
// flag.StringVar(&addr, "addr", …). Any other call has none.
func flagOf(pkg *packages.Package, call *ast.CallExpr) (to *ast.UnaryExpr, x ast.Expr) {
	f := callee(pkg, call)
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

// flagPointer is the default of the flag that a call declares, as in
// addr := flag.String("addr", …); nil for any other call.
func flagPointer(pkg *packages.Package, call *ast.CallExpr) ast.Expr {
	f := callee(pkg, call)
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

// flags are the defaults of the flags that are read by name, by that name.
type flags map[string]value

// read notes the flags that a package declares.
func (f flags) read(pkg *packages.Package) {
	for _, file := range pkg.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if x := flagPointer(pkg, n); x != nil {
					f.note(pkg, n.Args[0], x)
				} else if to, x := flagOf(pkg, n); to != nil {
					f.note(pkg, n.Args[1], x)
				}
			case *ast.CompositeLit: // urfave/cli
				t := pkg.TypesInfo.TypeOf(n)
				if t == nil || !strings.HasPrefix(typeName(t), "github.com/urfave/cli") {
					return true
				}
				if fields := fieldsOf(n); fields["Name"] != nil && fields["Value"] != nil {
					f.note(pkg, fields["Name"], fields["Value"])
				}
			}
			return true
		})
	}
}

func (f flags) note(pkg *packages.Package, name, x ast.Expr) {
	if name := flagName(pkg, name); name != "" {
		f[name] = value{pkg, x}
	}
}

// byName is the default of a flag that a call reads by its name, as in
// cmd.Flags().GetString("addr") or c.String("addr"); fails if the call returns an error, too.
func (f flags) byName(pkg *packages.Package, call *ast.CallExpr) (of value, fails, ok bool) {
	getter := callee(pkg, call)
	if getter == nil || len(call.Args) != 1 {
		return value{}, false, false
	}
	fails = isFlagPackage(pathOf(getter)) && strings.HasPrefix(getter.Name(), "Get")
	if !fails && !strings.HasPrefix(pathOf(getter), "github.com/urfave/cli") {
		return value{}, false, false
	}
	of, ok = f[flagName(pkg, call.Args[0])]
	return of, fails, ok
}
