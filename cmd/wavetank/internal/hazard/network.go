package hazard

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// dialers reports transports and dialers that lead to the real network, in every function and
// variable: clients are mostly made far from reconcilers. Package main is left out, as no simulated
// process runs it.
func dialers(pass *analysis.Pass, in *inspector.Inspector) {
	if pass.Pkg.Name() == "main" {
		return
	}
	in.Preorder([]ast.Node{(*ast.CompositeLit)(nil), (*ast.CallExpr)(nil)}, func(n ast.Node) {
		var of types.Type
		switch n := n.(type) {
		case *ast.CompositeLit:
			if of = pass.TypesInfo.TypeOf(n); dialsOtherwise(n) {
				return
			}
		case *ast.CallExpr:
			f, ok := ast.Unparen(n.Fun).(*ast.Ident)
			if !ok || len(n.Args) != 1 || pass.TypesInfo.Uses[f] != types.Universe.Lookup("new") {
				return
			}
			of = pass.TypesInfo.TypeOf(n.Args[0])
		}
		switch named(of) {
		case "net/http.Transport":
			pass.Reportf(n.Pos(), "http.Transport{} reaches the real network in a run, too; "+
				"take the client from outside, and give it sim.HTTPClient(mgr) in the scenario")
		case "net.Dialer":
			pass.Reportf(n.Pos(), "net.Dialer{} reaches the real network in a run, too; "+
				"take an http.Client from outside, and give it sim.HTTPClient(mgr) in the scenario")
		}
	})
}

// dialsOtherwise reports whether a transport is given a function that dials. That function is
// looked at by itself.
func dialsOtherwise(lit *ast.CompositeLit) bool {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && (key.Name == "Dial" || key.Name == "DialContext") {
				return true
			}
		}
	}
	return false
}

// named is a type's package and name; "" for one that has none. Elements of a list may be pointers
// whose type is left out.
func named(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return ""
	}
	return n.Obj().Pkg().Path() + "." + n.Obj().Name()
}
