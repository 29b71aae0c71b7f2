// Package hazard finds code of reconcilers whose order or outcome no seed can decide, and package
// variables that outlive a crash. Runs of such code differ although their choices are the same, so
// a story of it may not replay.
package hazard

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Analyzer reports, within reconcilers (functions that are given a reconcile.Request, or are called
// Reconcile) and what they call in their own package:
//
//   - writes to the API server inside a range over a map: their order changes from run to run;
//   - lists that are appended to inside a range over a map, or collected from one, and not sorted
//     afterwards: objects with such lists differ from run to run. Lists of API types count in every
//     function, because packages without a reconciler may make objects for one;
//   - go statements, and Go of an errgroup or a WaitGroup: goroutines of one step race;
//   - math/rand/v2, which cannot be seeded from outside;
//   - select with several channels: if two are ready, the runtime chooses at random.
//
// Everywhere but in package main it reports transports and dialers that would reach the real
// network: http.Transport{} and net.Dialer{}.
var Analyzer = &analysis.Analyzer{
	Name: "reconcilehazard",
	Doc: "reports code in reconcilers whose order or outcome no seed can decide, and clients that reach " +
		"the real network",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

// writes are the methods of client.Writer and client.SubResourceWriter (controller-runtime,
// pkg/client/interfaces.go).
var writes = map[string]bool{
	"Create": true, "Update": true, "Patch": true, "Delete": true, "DeleteAllOf": true, "Apply": true,
}

func run(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	bodies := map[types.Object]*ast.FuncDecl{}
	var todo, all []*ast.FuncDecl
	in.Preorder([]ast.Node{(*ast.FuncDecl)(nil)}, func(n ast.Node) {
		f := n.(*ast.FuncDecl)
		if f.Body == nil {
			return
		}
		bodies[pass.TypesInfo.Defs[f.Name]] = f
		all = append(all, f)
		if reconciles(pass, f) {
			todo = append(todo, f)
		}
	})
	seen := map[*ast.FuncDecl]bool{}
	for len(todo) > 0 {
		f := todo[0]
		todo = todo[1:]
		if seen[f] {
			continue
		}
		seen[f] = true
		ast.Inspect(f.Body, func(n ast.Node) bool {
			look(pass, n)
			if call, ok := n.(*ast.CallExpr); ok {
				if next := bodies[callee(pass, call)]; next != nil {
					todo = append(todo, next)
				}
			}
			return true
		})
	}
	callers := func(of *ast.FuncDecl) (out []*ast.FuncDecl) {
		for _, f := range all {
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && bodies[callee(pass, call)] == of {
					out = append(out, f)
				}
				return true
			})
		}
		return out
	}
	for _, f := range all {
		unsorted(pass, f, seen[f], callers)
	}
	dialers(pass, in)
	return nil, nil
}

// reconciles reports whether a function is a reconciler.
func reconciles(pass *analysis.Pass, f *ast.FuncDecl) bool {
	if f.Recv != nil && f.Name.Name == "Reconcile" {
		return true
	}
	for _, p := range f.Type.Params.List {
		if named, ok := pass.TypesInfo.TypeOf(p.Type).(*types.Named); ok && named.Obj().Name() == "Request" &&
			named.Obj().Pkg() != nil && strings.HasSuffix(named.Obj().Pkg().Path(), "/reconcile") {
			return true
		}
	}
	return false
}

// callee is the function or method that a call names; nil for one that is only known at run time.
func callee(pass *analysis.Pass, call *ast.CallExpr) types.Object {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return pass.TypesInfo.Uses[f]
	case *ast.SelectorExpr:
		return pass.TypesInfo.Uses[f.Sel]
	}
	return nil
}

func look(pass *analysis.Pass, n ast.Node) {
	switch n := n.(type) {
	case *ast.RangeStmt:
		if _, ok := pass.TypesInfo.TypeOf(n.X).Underlying().(*types.Map); ok {
			if w := write(pass, n.Body); w != "" {
				pass.Reportf(n.Pos(), "%s inside a range over a map: the order of the writes changes from run to run; "+
					"range over sorted keys", w)
			}
		}
	case *ast.GoStmt:
		pass.Reportf(n.Pos(), "a goroutine in a reconciler: what it does races with what follows, "+
			"and no seed decides which is first")
	case *ast.CallExpr:
		if f, ok := callee(pass, n).(*types.Func); ok && startsGoroutine(f) {
			pass.Reportf(n.Pos(), "%s.Go in a reconciler: what its goroutines send races, "+
				"and no seed decides which is first", f.Pkg().Name())
		}
	case *ast.SelectStmt:
		if ready := channels(n); ready > 1 {
			pass.Reportf(n.Pos(), "select over %d channels: if two are ready at once, the runtime chooses, "+
				"and no seed decides", ready)
		}
	case *ast.SelectorExpr:
		if f, ok := pass.TypesInfo.Uses[n.Sel].(*types.Func); ok && drawsGlobally(f) {
			pass.Reportf(n.Pos(), "rand.%s of math/rand/v2 cannot be seeded from outside; "+
				"use a source of your own that is, or math/rand", f.Name())
		}
	}
}

// startsGoroutine reports whether a method is Go of a WaitGroup or an errgroup.
func startsGoroutine(f *types.Func) bool {
	if f.Name() != "Go" || f.Pkg() == nil {
		return false
	}
	return f.Pkg().Path() == "sync" || strings.HasSuffix(f.Pkg().Path(), "/errgroup")
}

// drawsGlobally reports whether a function uses the global source of math/rand/v2.
func drawsGlobally(f *types.Func) bool {
	if f.Pkg() == nil || f.Pkg().Path() != "math/rand/v2" || f.Parent() != f.Pkg().Scope() {
		return false
	}
	return f.Signature().Recv() == nil && !strings.HasPrefix(f.Name(), "New")
}

// write is the first write to the API server in a body, as Type.Method; "" if there is none.
func write(pass *analysis.Pass, body ast.Node) (found string) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != "" {
			return found == ""
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if ok && writes[sel.Sel.Name] && len(call.Args) > 1 && isContext(pass.TypesInfo.TypeOf(call.Args[0])) {
			found = sel.Sel.Name
		}
		return found == ""
	})
	return found
}

func isContext(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "context" && named.Obj().Name() == "Context"
}

// channels is how many of a select's cases wait; a case for ctx.Done is not counted, because a
// context ends once.
func channels(s *ast.SelectStmt) (n int) {
	for _, c := range s.Body.List {
		comm := c.(*ast.CommClause).Comm
		if comm == nil {
			return 0 // with default nothing waits
		}
		n++
		ast.Inspect(comm, func(m ast.Node) bool {
			if sel, ok := m.(*ast.SelectorExpr); ok && sel.Sel.Name == "Done" {
				n--
				return false
			}
			return true
		})
	}
	return n
}
