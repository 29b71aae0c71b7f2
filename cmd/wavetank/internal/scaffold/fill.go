package scaffold

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// simulated are the options of a manager that a simulation heeds, except the scheme.
var simulated = []string{"Cache", "NewCache", "Client", "NewClient", "Controller", "MapperProvider",
	"GracefulShutdownTimeout"}

// election are the options of a leader election.
var election = []string{"LeaderElection", "LeaderElectionID", "LeaderElectionNamespace",
	"LeaderElectionReleaseOnCancel", "LeaseDuration", "RenewDeadline", "RetryPeriod"}

// options are those of main, as far as a simulation heeds them, and the statements that they need.
func (w *writer) options() (before, options string) {
	of := w.process.wiring
	if of == nil {
		if w.ginkgo { // the suite makes it
			return "", composite("ctrl.Options", []string{"Scheme: " + w.schemeName()})
		}
		return w.scheme(), composite("ctrl.Options", []string{"Scheme: " + w.schemeName()})
	}
	names, out := append([]string{"Scheme"}, simulated...), []string{}
	if x := of.options["LeaderElection"]; x != nil && !of.isFalse(x) {
		names = append(names, election...)
	}
	s := w.sliceOf(map[*unit]bool{}, nil)
	s.before = true
	var need []types.Object
	fields := map[string]ast.Expr{}
	for _, name := range names {
		if x := of.options[name]; x != nil {
			fields[name] = x
			r := &reader{unit: &unit{in: of.pkg}, w: of}
			ast.Inspect(x, r.visit)
			need = append(need, r.reads...)
		}
	}
	units := of.closure(nil, need)
	s = w.sliceOf(units, need)
	s.before = true
	lines := s.text()
	for _, name := range names {
		x := fields[name]
		if x == nil {
			continue
		}
		r := &reader{unit: &unit{in: of.pkg}, w: of, t: s}
		ast.Inspect(x, r.visit)
		text := joined(r.text(x))
		if r.why != "" {
			w.guess("main sets %s of ctrl.Options to %s; it depends on %s, and the test leaves it out", name,
				oneLine(types.ExprString(x)), r.why)
			continue
		}
		out = append(out, name+": "+text)
	}
	if name := onlyScheme(of.pkg); fields["Scheme"] == nil && name != "" {
		w.guess("the scheme of the manager was not seen, so the test's is the only one of its package, %s", name)
		out = append(out, "Scheme: "+name)
	} else if fields["Scheme"] == nil {
		scheme := w.scheme()
		lines, out = append(lines, strings.TrimSuffix(scheme, "\n")), append(out, "Scheme: "+w.schemeName())
	}
	if fields["LeaderElection"] != nil && fields["LeaderElectionNamespace"] == nil && w.project.Rights == "" {
		w.guess("the namespace of the leader election is that of the manager's Pod, here default")
		out = append(out, `LeaderElectionNamespace: "default"`)
	}
	if before = strings.Join(lines, "\n"); before != "" {
		before += "\n"
	}
	return before, composite("ctrl.Options", out)
}

// onlyScheme is the package variable that is a scheme, if there is one only.
func onlyScheme(pkg *packages.Package) (name string) {
	for _, n := range pkg.Types.Scope().Names() {
		v, ok := pkg.Types.Scope().Lookup(n).(*types.Var)
		if !ok || typeName(v.Type()) != "*k8s.io/apimachinery/pkg/runtime.Scheme" {
			continue
		}
		if name != "" {
			return ""
		}
		name = n
	}
	return name
}

// isFalse reports whether an expression is false, or a variable whose flag's default is.
func (w *wiring) isFalse(x ast.Expr) bool {
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	if id.Name == "false" {
		return true
	}
	o := w.object(w.pkg, id)
	for _, u := range w.units {
		if o == nil || u.stmt == nil || !slices.Contains(u.sets, o) {
			continue
		}
		switch s := u.stmt.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok {
				_, def := flagOf(u.in, call)
				return def != nil && types.ExprString(def) == "false"
			}
		case *ast.AssignStmt:
			if call, ok := s.Rhs[0].(*ast.CallExpr); ok {
				def := flagPointer(u.in, call)
				return def != nil && types.ExprString(def) == "false"
			}
		}
	}
	return false
}

// main is the setup function of the process: what main does with its manager.
func (w *writer) main(given []types.Object) string {
	of := w.process.wiring
	s := w.sliceOf(w.process.units, nil)
	s.given = given
	lines := s.text()
	if len(lines) == 0 {
		lines = []string{"return nil"}
	}
	last := &lines[len(lines)-1]
	if m := onlyReturns.FindStringSubmatch(*last); m != nil {
		*last = "return " + m[1]
	} else if !strings.HasPrefix(*last, "return ") {
		lines = append(lines, "return nil")
	}
	return fmt.Sprintf("func(%s ctrl.Manager) error {\n%s\n}", of.manager.Name(), strings.Join(lines, "\n"))
}

// onlyReturns matches a statement that returns its error, if there is one.
var onlyReturns = regexp.MustCompile(`(?s)^if err :?= (.*); err != nil \{\s*return err\s*\}$`)

// composite is a literal of a struct, on one line if that is not long.
func composite(of string, fields []string) string {
	if line := strings.Join(fields, ", "); len(line) < 90 {
		return of + "{" + line + "}"
	}
	return of + "{\n" + strings.Join(fields, ",\n") + ",\n}"
}

var (
	lineBreak = regexp.MustCompile(`\s*\n\s*`)
	lastComma = regexp.MustCompile(`, ?([})])`)
)

// joined is a literal on one line. What has comments, statements or texts of several lines stays.
func joined(source string) string {
	has := func(part string) bool { return strings.Contains(source, part) }
	if !has("\n") || has("//") || has("func(") || has("`") {
		return source
	}
	source = lineBreak.ReplaceAllString(source, " ")
	return strings.ReplaceAll(lastComma.ReplaceAllString(source, "$1"), "{ ", "{")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
