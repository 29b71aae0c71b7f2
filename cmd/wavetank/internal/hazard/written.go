package hazard

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// WrittenVariable is a package variable that code of a process writes. A process that is killed in
// a run begins again in the same test binary, so it finds there what a real one would have lost.
type WrittenVariable struct {
	Variable string         // as package.name
	At       token.Position // of the write
	In       string         // the function that writes
	From     string         // the setup function or reconciler that leads there
}

// Message says what was found, and what to do.
func (w WrittenVariable) Message() string {
	in := w.In
	if w.From != w.In {
		in += ", which " + w.From + " leads to,"
	}
	return fmt.Sprintf("%s writes the package variable %s: it outlives a crash in a run, where a real process would "+
		"lose it; make it a field of what the setup function makes", in, w.Variable)
}

// WrittenVariables finds the package variables that setup functions (those that are given a
// Manager) and reconcilers write, and the functions, methods and handlers that they lead to. Only
// the code of these packages is looked at, so a variable that another module changes is not found.
// Neither are contents that are reached through a pointer that was copied from the variable first.
// Each variable is named once.
func WrittenVariables(loaded []*packages.Package) []WrittenVariable {
	program, all := ssautil.Packages(loaded, ssa.InstantiateGenerics)
	program.Build()
	w := &walk{program: program, ours: map[*types.Package]bool{}, rootOf: map[*ssa.Function]*ssa.Function{},
		writtenParams: map[*ssa.Function]map[int]bool{}, found: map[*ssa.Global]WrittenVariable{}}
	for i, p := range all {
		if p != nil && loaded[i].Name != "main" {
			w.ours[p.Pkg] = true
		}
	}
	roots := ssautil.AllFunctions(program)
	maps.DeleteFunc(roots, func(f *ssa.Function, _ bool) bool {
		return f.Pkg == nil || !w.ours[f.Pkg.Pkg] || !isRoot(f)
	})
	for _, f := range sorted(roots) {
		w.visit(f, f)
	}
	for len(w.todo) > 0 {
		f := w.todo[0]
		w.todo = w.todo[1:]
		w.visitCalled(f)
	}
	w.findWrites()
	byName := func(a, b WrittenVariable) int { return strings.Compare(a.Variable, b.Variable) }
	return slices.SortedFunc(maps.Values(w.found), byName)
}

// isRoot reports whether a run calls a function: it is given a Manager or a reconcile.Request, or
// is a method called Reconcile.
func isRoot(f *ssa.Function) bool {
	if f.Signature.Recv() != nil && f.Name() == "Reconcile" {
		return true
	}
	for p := range f.Signature.Params().Variables() {
		of := named(p.Type())
		if strings.HasSuffix(of, "/manager.Manager") || strings.HasSuffix(of, "/reconcile.Request") {
			return true
		}
	}
	return false
}

// walk goes through the functions that a process of a run may call.
type walk struct {
	program *ssa.Program
	ours    map[*types.Package]bool
	rootOf  map[*ssa.Function]*ssa.Function // of the functions visited: where the way there began
	todo    []*ssa.Function
	// writtenParams are the parameters through which a function writes, by position.
	writtenParams map[*ssa.Function]map[int]bool
	found         map[*ssa.Global]WrittenVariable
}

func (w *walk) visit(f, root *ssa.Function) {
	if f == nil || f.Blocks == nil || w.rootOf[f] != nil {
		return
	}
	w.rootOf[f] = root
	w.todo = append(w.todo, f)
}

// visitCalled visits what a function calls or mentions. A value that becomes an interface may have
// any of its methods called, by code that is not looked at.
func (w *walk) visitCalled(f *ssa.Function) {
	root := w.rootOf[f]
	for in := range instructions(f) {
		if made, ok := in.(*ssa.MakeInterface); ok {
			w.visitMethods(made.X.Type(), root)
		}
		for _, operand := range in.Operands(nil) {
			if f, ok := (*operand).(*ssa.Function); ok { // of a closure, too: it is an operand where that is made
				w.visit(f, root)
			}
		}
	}
}

func (w *walk) visitMethods(t types.Type, root *ssa.Function) {
	of := t
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	n, ok := types.Unalias(of).(*types.Named)
	if !ok || !w.ours[n.Obj().Pkg()] {
		return
	}
	methods := w.program.MethodSets.MethodSet(t)
	for m := range methods.Methods() {
		w.visit(w.program.MethodValue(m), root)
	}
}

func instructions(f *ssa.Function) func(func(ssa.Instruction) bool) {
	return func(yield func(ssa.Instruction) bool) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if !yield(in) {
					return
				}
			}
		}
	}
}

// findWrites finds the variables that are written. A function that writes through a parameter
// writes what its callers give it, so the functions are gone through until nothing is new.
func (w *walk) findWrites() {
	reached := sorted(w.rootOf)
	for again := true; again; {
		again = false
		for _, f := range reached {
			for in := range instructions(f) {
				for _, target := range w.targets(in) {
					again = w.wrote(f, in, origin(target)) || again
				}
			}
		}
	}
}

// wrote notes that an instruction writes to a variable or through a parameter. It reports whether
// that is news of a parameter.
func (w *walk) wrote(f *ssa.Function, in ssa.Instruction, to ssa.Value) bool {
	switch v := to.(type) {
	case *ssa.Global:
		_, known := w.found[v]
		if !known && w.ours[v.Pkg.Pkg] && !strings.HasPrefix(v.Name(), "init$") {
			w.found[v] = WrittenVariable{Variable: v.Pkg.Pkg.Path() + "." + v.Name(),
				At: w.program.Fset.Position(in.Pos()), In: name(f), From: name(w.rootOf[f])}
		}
	case *ssa.Parameter:
		i := slices.Index(f.Params, v)
		if i < 0 || w.writtenParams[f][i] {
			return false
		}
		if w.writtenParams[f] == nil {
			w.writtenParams[f] = map[int]bool{}
		}
		w.writtenParams[f][i] = true
		return true
	}
	return false
}

// sorted are the functions that are keys of a map.
func sorted[V any](m map[*ssa.Function]V) []*ssa.Function {
	byName := func(a, b *ssa.Function) int {
		return cmp.Or(strings.Compare(a.String(), b.String()), cmp.Compare(a.Pos(), b.Pos()))
	}
	return slices.SortedFunc(maps.Keys(m), byName)
}

// name is a function's name for readers; that of a closure is its function's.
func name(f *ssa.Function) string {
	for f.Parent() != nil {
		f = f.Parent()
	}
	if f.Package() == nil { // an instance of a generic function, or a wrapper
		return f.String()
	}
	return f.RelString(f.Package().Pkg)
}

// changes are the methods of package sync and sync/atomic that change their receiver, except for
// locks, which a process leaves as it found them.
var changes = map[string]bool{
	"Do": true, "Store": true, "Swap": true, "CompareAndSwap": true, "Add": true, "And": true, "Or": true,
	"Delete": true, "CompareAndDelete": true, "Clear": true, "LoadOrStore": true, "LoadAndDelete": true, "Put": true,
}

// targets are what an instruction writes to: addresses, maps, and the arguments through which what
// it calls writes.
func (w *walk) targets(in ssa.Instruction) []ssa.Value {
	switch in := in.(type) {
	case *ssa.Store:
		return []ssa.Value{in.Addr}
	case *ssa.MapUpdate:
		return []ssa.Value{in.Map}
	case ssa.CallInstruction:
		call := in.Common()
		if b, ok := call.Value.(*ssa.Builtin); ok && (b.Name() == "delete" || b.Name() == "clear") {
			return call.Args[:1]
		}
		f := call.StaticCallee()
		if f == nil || len(call.Args) == 0 {
			return nil
		}
		if f.Signature.Recv() != nil && f.Pkg != nil {
			path := f.Pkg.Pkg.Path()
			if (path == "sync" || path == "sync/atomic") && changes[f.Name()] {
				return call.Args[:1]
			}
		}
		var out []ssa.Value
		for i := range w.writtenParams[f] {
			if i < len(call.Args) {
				out = append(out, call.Args[i])
			}
		}
		return out
	}
	return nil
}

// origin is the variable or parameter that an address or a value was reached from.
func origin(v ssa.Value) ssa.Value {
	for range 100 {
		switch x := v.(type) {
		case *ssa.FieldAddr:
			v = x.X
		case *ssa.IndexAddr:
			v = x.X
		case *ssa.Field:
			v = x.X
		case *ssa.Lookup:
			v = x.X
		case *ssa.Slice:
			v = x.X
		case *ssa.UnOp:
			if x.Op != token.MUL {
				return v
			}
			v = x.X
		case *ssa.ChangeType:
			v = x.X
		case *ssa.TypeAssert:
			v = x.X
		default:
			return v
		}
	}
	return v
}
