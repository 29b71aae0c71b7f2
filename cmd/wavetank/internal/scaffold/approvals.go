package scaffold

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// approvals are the keys of annotations and labels that functions of a package read and none
// writes, as auto.Approvals takes them. A key that is compared with a constant has that value.
type approvals struct {
	read    map[string]string // values by key; "" if it is not known
	written map[string]bool
}

// find reads a package.
func (a *approvals) find(pkg *packages.Package) {
	if a.read == nil {
		a.read, a.written = map[string]string{}, map[string]bool{}
	}
	for _, file := range pkg.Syntax {
		f := &keyFinder{approvals: a, pkg: pkg, maps: map[types.Object]bool{}}
		ast.Inspect(file, f.visit)
	}
}

// keys are the annotations and labels that users may set, in order.
func (a *approvals) keys() (out []string) {
	for key, value := range a.read {
		if a.written[key] || !strings.Contains(key, "/") || strings.Contains(key, "kubernetes.io/") {
			continue
		}
		if value != "" {
			key += "=" + value
		}
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// keyFinder goes through a file.
type keyFinder struct {
	*approvals
	pkg  *packages.Package
	maps map[types.Object]bool // variables with the annotations or labels of an object
}

func (k *keyFinder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if at, ok := left.(*ast.IndexExpr); ok {
				k.write(at.Index)
			}
			if id, ok := left.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) && k.isMap(n.Rhs[i]) {
				k.maps[k.pkg.TypesInfo.ObjectOf(id)] = true
			}
		}
	case *ast.KeyValueExpr:
		k.write(n.Key)
	case *ast.CallExpr:
		k.call(n)
	case *ast.BinaryExpr:
		for _, pair := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
			if at, ok := ast.Unparen(pair[0]).(*ast.IndexExpr); ok && n.Op == token.EQL && k.isMap(at.X) {
				k.note(at.Index, k.text(pair[1]))
			}
		}
	case *ast.IndexExpr:
		if k.isMap(n.X) {
			k.note(n.Index, "")
		}
	}
	return true
}

// call reads the helpers of apimachinery.
func (k *keyFinder) call(n *ast.CallExpr) {
	of := callee(k.pkg, n)
	switch {
	case of == nil || len(n.Args) < 2:
	case of.Name() == "HasAnnotation" || of.Name() == "HasLabel":
		k.note(n.Args[1], "")
	case strings.HasPrefix(of.Name(), "SetMetaData"), strings.HasPrefix(of.Name(), "Set"):
		k.write(n.Args[1])
	}
}

// isMap reports whether an expression is the annotations or the labels of an object.
func (k *keyFinder) isMap(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return k.maps[k.pkg.TypesInfo.ObjectOf(x)]
	case *ast.SelectorExpr:
		return x.Sel.Name == "Annotations" || x.Sel.Name == "Labels"
	case *ast.CallExpr:
		sel, ok := x.Fun.(*ast.SelectorExpr)
		return ok && (sel.Sel.Name == "GetAnnotations" || sel.Sel.Name == "GetLabels")
	}
	return false
}

func (k *keyFinder) note(key ast.Expr, value string) {
	if key := k.text(key); key != "" && k.read[key] == "" {
		k.read[key] = value
	}
}

func (k *keyFinder) write(key ast.Expr) {
	if key := k.text(key); key != "" {
		k.written[key] = true
	}
}

// text is a constant text; "" if an expression is none.
func (k *keyFinder) text(x ast.Expr) string {
	if v := k.pkg.TypesInfo.Types[x].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v)
	}
	return ""
}
