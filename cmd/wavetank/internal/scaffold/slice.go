package scaffold

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"slices"
	"strings"
)

// slice is the part of a wiring that a test repeats. It owns which variables are declared where.
type slice struct {
	*imports
	*remarks
	root     string // of the project
	of       *wiring
	before   bool           // the manager does not exist yet, and an error is a panic
	given    []types.Object // variables that the manager has got
	units    map[*unit]bool
	read     map[types.Object]bool
	declared map[types.Object]bool
	folded   map[types.Object]bool // declared by what binds the flag
	renamed  map[types.Object]string
}

func (w *writer) sliceOf(units map[*unit]bool, also []types.Object) *slice {
	s := &slice{imports: w.imports, remarks: w.remarks, root: w.project.Root, of: w.process.wiring, units: units,
		read:     map[types.Object]bool{},
		declared: map[types.Object]bool{w.process.wiring.manager: true}, folded: map[types.Object]bool{},
		renamed: map[types.Object]string{}}
	for _, o := range also {
		s.read[o] = true
	}
	for u := range units {
		for _, o := range u.reads {
			s.read[o] = true
		}
	}
	for u := range units { // a parameter that is named like a variable of the caller
		for o := range s.read {
			if u.param != nil && o != u.param && o.Name() == u.param.Name() {
				s.renamed[u.param] = u.param.Name() + "Given"
			}
		}
	}
	return s
}

// name is how the slice calls a variable.
func (s *slice) name(o types.Object) string { return cmp.Or(s.renamed[o], o.Name()) }

// text is the source of the slice, statement by statement.
func (s *slice) text() (out []string) {
	for _, u := range s.of.units {
		if !s.units[u] {
			continue
		}
		text, why := s.unit(u)
		if why != "" {
			s.leftOut(u, why)
			continue
		}
		out = append(out, s.missing(u)...)
		if s.declare(u); strings.TrimSpace(text) != "" {
			out = append(out, text)
		}
	}
	return out
}

// leftOut says that a unit cannot be written, and what to do.
func (s *slice) leftOut(u *unit, why string) {
	at := ast.Node(u.stmt)
	if u.stmt == nil {
		at = u.arg
	}
	var names []string
	for _, o := range u.sets {
		if s.read[o] && !isError(o.Type()) && !slices.Contains(names, o.Name()) {
			names = append(names, o.Name())
		}
	}
	line := line(s.root, u.in, at.Pos())
	if len(names) == 0 {
		s.guess("%s is left out, because it depends on %s: write what stands for it", line, why)
		return
	}
	for _, name := range names {
		s.empty = append(s.empty, Empty{name, fmt.Sprintf("%s was left empty: %s sets it from %s, which could not be "+
			"evaluated", name, line, why)})
	}
	s.guess("%s is left empty, because %s sets it from %s: write its value", strings.Join(names, ", "), line, why)
}

// unit is a unit as the test writes it.
func (s *slice) unit(u *unit) (text, why string) {
	r := &reader{unit: &unit{in: u.in, stmt: u.stmt, fails: u.fails, after: u.after}, w: s.of, t: s}
	if u.stmt == nil {
		ast.Inspect(u.arg, r.visit)
		if r.why != "" || !s.read[u.param] || u.param.Name() == "" || u.param.Name() == "_" {
			return "", r.why
		}
		return s.name(u.param) + " := " + r.text(u.arg), r.why
	}
	if d, ok := u.stmt.(*ast.DeclStmt); ok {
		if text, ok := s.variables(r, d); ok {
			return text, r.why
		}
	}
	ast.Inspect(u.stmt, r.visit)
	return r.text(u.stmt), r.why
}

// variables is a declaration of variables, with those that are read.
func (s *slice) variables(r *reader, d *ast.DeclStmt) (text string, ok bool) {
	g, ok := d.Decl.(*ast.GenDecl)
	if !ok || g.Tok.String() != "var" {
		return "", false
	}
	for _, spec := range g.Specs {
		v := spec.(*ast.ValueSpec)
		if len(v.Values) > 0 {
			ast.Inspect(v, r.visit)
			for _, name := range v.Names {
				if !s.read[r.object(name)] {
					r.replace(name, "_")
				}
			}
			text += "var " + r.text(v) + "\n"
			continue
		}
		var names []string
		for _, name := range v.Names {
			switch o := r.object(name); {
			case !s.read[o]:
			case s.byFlag(o):
				s.folded[o] = true
			default:
				names = append(names, name.Name)
			}
		}
		if len(names) > 0 {
			ast.Inspect(v.Type, r.visit)
			text += "var " + strings.Join(names, ", ") + " " + r.text(v.Type) + "\n"
		}
	}
	return text, true
}

// byFlag reports whether a variable is declared best by the default of its flag.
func (s *slice) byFlag(o types.Object) bool {
	if basic, ok := o.Type().(*types.Basic); !ok || basic.Kind() != types.String && basic.Kind() != types.Bool &&
		basic.Kind() != types.Int {
		return false
	}
	for _, u := range s.of.units {
		x, ok := u.stmt.(*ast.ExprStmt)
		if !ok || !s.units[u] || !slices.Contains(u.sets, o) && !slices.Contains(u.changes, o) {
			continue
		}
		call, ok := x.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		to, _ := flagOf(u.in, call)
		return to != nil && isName(to.X)
	}
	return false
}

func isName(x ast.Expr) bool { _, ok := x.(*ast.Ident); return ok }

// begins reports whether a variable that gets the default of its flag is declared there.
func (s *slice) begins(o types.Object, x ast.Expr) bool {
	return o != nil && isName(x) && s.folded[o] && !s.declared[o]
}

// declaredAll reports whether := would declare nothing that is new.
func (s *slice) declaredAll(r *reader, n *ast.AssignStmt) bool {
	for _, left := range n.Lhs {
		id, ok := left.(*ast.Ident)
		if o := r.object(id); ok && id.Name != "_" && s.read[o] && !s.declared[o] {
			return false
		}
	}
	return true
}

// missing are declarations of variables that a unit needs and whose own are left out.
func (s *slice) missing(u *unit) (out []string) {
	r := &reader{unit: u, w: s.of}
	begun := map[types.Object]bool{}
	if a, ok := u.stmt.(*ast.AssignStmt); ok && a.Tok.String() == ":=" {
		for _, left := range a.Lhs {
			if id, ok := left.(*ast.Ident); ok {
				begun[r.object(id)] = true
			}
		}
	}
	for _, o := range slices.Concat(u.reads, u.sets) {
		local := o.Pkg() != nil && o.Parent() != o.Pkg().Scope()
		if !local || s.declared[o] || begun[o] || s.folded[o] || !s.read[o] || o == u.param || r.inside(o) ||
			isContext(o.Type()) || isScheme(o.Type()) && !s.before && slices.Contains(s.given, o) {
			continue
		}
		if _, isType := o.(*types.TypeName); isType || strings.HasSuffix(typeName(o.Type()), "cobra.Command") {
			continue
		}
		s.declared[o] = true
		out = append(out, fmt.Sprintf("var %s %s", o.Name(), types.TypeString(o.Type(), s.qualify)))
		if isError(o.Type()) || slices.ContainsFunc(s.empty, func(e Empty) bool { return e.Name == o.Name() }) {
			continue
		}
		line := line(s.root, u.in, o.Pos())
		s.empty = append(s.empty, Empty{o.Name(), fmt.Sprintf("%s of %s was left empty", o.Name(), line)})
		s.guess("%s of %s is left empty, because what it gets was not seen: write its value", o.Name(), line)
	}
	return out
}

func (s *slice) declare(u *unit) {
	for _, o := range u.sets {
		s.declared[o] = s.declared[o] || !isDeclaration(u.stmt) || !s.folded[o]
	}
}

// text is a part of the source, edited.
func (r *reader) text(n ast.Node) string {
	from, to := r.in.Fset.Position(n.Pos()), r.in.Fset.Position(n.End())
	source, err := os.ReadFile(from.Filename)
	if err != nil || to.Offset > len(source) {
		r.why = "a file that cannot be read"
		return ""
	}
	slices.SortStableFunc(r.edits, func(a, b edit) int { return int(a.from - b.from) })
	var b strings.Builder
	at := from.Offset
	for _, e := range r.edits {
		begin, end := r.in.Fset.Position(e.from).Offset, r.in.Fset.Position(e.to).Offset
		if begin < at || end > to.Offset {
			continue // of another part
		}
		b.Write(source[at:begin])
		b.WriteString(e.text)
		at = end
	}
	b.Write(source[at:to.Offset])
	return b.String()
}
