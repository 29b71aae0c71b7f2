package scaffold

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/printer"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const modulePath = "github.com/wavetank/wavetank"

// Test is a test for one controller.
type Test struct {
	File   string // path
	Name   string // of the test function, or of the suite's
	Source []byte
	// Suite is the path of the Ginkgo suite that a spec belongs to; "" for a plain test.
	Suite       string
	SuiteSource []byte
	// Guesses are what was not seen in the project.
	Guesses []string
}

// writer collects the parts of a test.
type writer struct {
	project *Project
	c       Controller
	ginkgo  bool
	imports map[string]string // name by path
	guesses []string
}

// Test renders the test of a controller. In a project with Ginkgo it is a spec in a package of its
// own, which needs no etcd.
func (p *Project) Test(c Controller) (*Test, error) {
	w := &writer{project: p, c: c, ginkgo: p.usesGinkgo(c), imports: map[string]string{
		"time": "", "sigs.k8s.io/controller-runtime": "ctrl", modulePath + "/sim": "",
		modulePath + "/sim/fault": "",
	}}
	short := strings.TrimSuffix(strings.TrimSuffix(c.Name, "Reconciler"), "Controller")
	t := &Test{Name: "TestSimulated" + short}
	dir, pkg := c.Dir, c.Package.Name
	if w.ginkgo {
		dir, pkg = filepath.Join(c.Dir, "simulation"), "simulation"
		t.Suite, t.Name = filepath.Join(dir, "suite_test.go"), "TestSimulations"
		w.imports[modulePath+"/sim/simginkgo"] = ""
		w.imports["github.com/onsi/ginkgo/v2"] = "."
	} else {
		w.imports["testing"] = ""
	}
	t.File = filepath.Join(dir, strings.ToLower(short)+"_sim_test.go")
	body := w.body(dir, strings.ToLower(short))
	head, tail := "func "+t.Name+"(t *testing.T) {\n", "}\n"
	check := "sim.Check(t, func(w *sim.World) {\n"
	if w.ginkgo {
		head, tail = fmt.Sprintf("var _ = Describe(%q, func() {\nIt(\"settles\", func() {\n", short), "})\n})\n"
		check = "simginkgo.Check(func(w *sim.World) {\n"
	}
	var scheme string
	var err error
	if w.ginkgo {
		t.SuiteSource, err = w.suite()
	} else {
		scheme = w.scheme() // before the imports are known
	}
	if err != nil {
		return nil, err
	}
	source := fmt.Sprintf("package %s\n\n%s\n%s%s%s%s})\n%s", pkg, w.importBlock(), head, scheme, check, body, tail)
	if t.Source, err = format.Source([]byte(source)); err != nil {
		return nil, fmt.Errorf("%w in:\n%s", err, source)
	}
	t.Guesses = w.guesses
	return t, nil
}

// suite renders the bootstrap of a Ginkgo suite of simulations, with the scheme that its specs
// share.
func (w *writer) suite() ([]byte, error) {
	s := &writer{project: w.project, c: w.c, ginkgo: true, imports: map[string]string{"testing": "",
		"github.com/onsi/ginkgo/v2": ".", "github.com/onsi/gomega": ".", modulePath + "/sim/simginkgo": ""}}
	scheme := s.scheme()
	w.guesses = append(w.guesses, s.guesses...)
	return format.Source([]byte(fmt.Sprintf(`// Package simulation has simulated specs: they need no etcd.
package simulation

%s
func TestSimulations(t *testing.T) {
	RegisterFailHandler(Fail)
	simginkgo.Use(t)
	RunSpecs(t, "Simulations")
}

// schemeOfMain has the kinds that main registers.
func schemeOfMain() *runtime.Scheme {
	%s	return scheme
}
`, s.importBlock(), scheme)))
}

// usesGinkgo says whether tests beside a controller are Ginkgo's.
func (p *Project) usesGinkgo(c Controller) bool {
	files, _ := filepath.Glob(filepath.Join(c.Dir, "*_test.go"))
	return slices.ContainsFunc(files, func(f string) bool { return contains(f, `"github.com/onsi/ginkgo/v2"`) })
}

// body is what the scenario does.
func (w *writer) body(dir, process string) string {
	var b strings.Builder
	p := w.project
	up := func(file string) string {
		rel, _ := filepath.Rel(dir, filepath.Join(p.Root, filepath.FromSlash(file)))
		return filepath.ToSlash(rel)
	}
	var install []string
	if p.Definitions != "" {
		install = append(install, fmt.Sprintf("%q", up(p.Definitions)))
	}
	var hooks []hook
	for _, h := range p.hooks {
		if p.Webhooks != "" && h.kind == w.c.Kind && h.kind != "" {
			hooks = append(hooks, h)
		}
	}
	if len(hooks) > 0 {
		install = append(install, fmt.Sprintf("%q", up(p.Webhooks)))
	}
	if len(install) > 0 {
		fmt.Fprintf(&b, "w.Install(%s)\n", strings.Join(install, ", "))
	}
	fmt.Fprintf(&b, "w.Start(%q, func(mgr ctrl.Manager) error {\n", process)
	for _, h := range hooks {
		in := w.use(h.path, "webhook"+path.Base(h.path))
		fmt.Fprintf(&b, "if err := %s.%s(mgr); err != nil {\nreturn err\n}\n", in, h.name)
	}
	of := ""
	if w.ginkgo {
		of = w.use(w.c.Package.PkgPath, "") + "."
	}
	fmt.Fprintf(&b, "return (&%s%s{%s}).%s(%s)\n", of, w.c.Name, w.fields(process), w.c.Setup, w.arguments())
	scheme := "scheme"
	if w.ginkgo {
		scheme = "schemeOfMain()"
	}
	fmt.Fprintf(&b, "}, sim.Options(ctrl.Options{Scheme: %s}))\n", scheme)
	fmt.Fprintf(&b, "w.Inject(fault.StaleCache(30*time.Second), fault.Crash(%q), fault.LostReply())\n", process)
	i := slices.IndexFunc(p.Samples, func(s Sample) bool { return s.Kind == w.c.Kind })
	switch {
	case i >= 0:
		fmt.Fprintf(&b, "w.ApplyFiles(%q)\n", up(p.Samples[i].File))
	case w.c.Kind != "":
		meta := w.use("k8s.io/apimachinery/pkg/apis/meta/v1", "metav1")
		kind := w.c.Kind
		if in := w.use(w.c.kindPkg.Path(), schemeAlias(w.c.kindPkg.Path())); in != "" {
			kind = in + "." + kind
		}
		b.WriteString("// guess: there is no sample\n")
		fmt.Fprintf(&b, "w.Apply(&%s{ObjectMeta: %s.ObjectMeta{", kind, meta)
		b.WriteString("Namespace: \"default\", Name: \"sample\"}})\n")
		w.guess("no file below config/samples has a %s, so the test makes one with an empty spec", w.c.Kind)
	default:
		b.WriteString("// guess: apply what the controller reconciles\n")
		w.guess("the builder's For was not seen, so the test applies nothing")
	}
	b.WriteString("w.Settle()\n")
	return b.String()
}

// scheme makes the scheme as main does.
func (w *writer) scheme() string {
	const machinery = "k8s.io/apimachinery/pkg/"
	schemes := w.project.schemes
	if len(schemes) == 0 {
		schemes = []function{{"k8s.io/client-go/kubernetes/scheme", "AddToScheme"}}
		if w.c.kindPkg != nil {
			schemes = append(schemes, function{w.c.kindPkg.Path(), "AddToScheme"})
		}
		w.guess("no call of AddToScheme was seen in package main, so the scheme has the built-in kinds and %s",
			w.c.Kind)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "scheme := %s.NewScheme()\n", w.use(machinery+"runtime", ""))
	for _, add := range schemes {
		in := w.use(add.path, schemeAlias(add.path))
		fmt.Fprintf(&b, "%s.Must(%s.%s(scheme))\n", w.use(machinery+"util/runtime", "utilruntime"), in, add.name)
	}
	return b.String()
}

func schemeAlias(importPath string) string {
	if importPath == "k8s.io/client-go/kubernetes/scheme" {
		return "clientgoscheme"
	}
	base := path.Base(importPath)
	if strings.HasPrefix(base, "v1") || strings.HasPrefix(base, "v2") {
		return strings.NewReplacer("-", "", ".", "").Replace(path.Base(path.Dir(importPath))) + base
	}
	return ""
}

// fields fills the controller in as main does. What depends on more than the manager is left out,
// or made of the field's type.
func (w *writer) fields(process string) string {
	var out []string
	main := w.project.filled[fullName(w.c.typ)]
	s := w.c.typ.Underlying().(*types.Struct)
	for f := range s.Fields() {
		if !f.Exported() {
			continue
		}
		set, isSet := main.fields[f.Name()]
		value := ""
		if isSet {
			value = w.ofManager(main.in, set)
		}
		if value = cmp.Or(value, w.byType(f.Type(), process)); value != "" {
			out = append(out, f.Name()+": "+value)
		} else if isSet {
			w.guess("main sets %s.%s to %s, which is not made of the manager; the test leaves it empty",
				w.c.Name, f.Name(), types.ExprString(set))
		}
	}
	return strings.Join(out, ", ")
}

// arguments are those of the setup function: the manager, and what is empty of every other type.
func (w *writer) arguments() string {
	var out []string
	for p := range w.c.params.Variables() {
		switch t := types.Unalias(p.Type()); {
		case isManager(t):
			out = append(out, "mgr")
		case typeName(t) == "context.Context":
			out = append(out, w.use("context", "")+".Background()")
		default:
			value := "nil"
			switch u := t.Underlying().(type) {
			case *types.Struct:
				name := func(p *types.Package) string { return w.use(p.Path(), p.Name()) }
				value = types.TypeString(p.Type(), name) + "{}"
			case *types.Basic:
				value = map[bool]string{true: `""`, false: "0"}[u.Info()&types.IsString != 0]
				if u.Info()&types.IsBoolean != 0 {
					value = "false"
				}
			}
			out = append(out, value)
			w.guess("%s gets %s as %s", w.c.Setup, value, p.Name())
		}
	}
	return strings.Join(out, ", ")
}

// ofManager is an expression of main with the manager called mgr; "" if anything else of main is in
// it.
func (w *writer) ofManager(pkg *packages.Package, x ast.Expr) string {
	ok := true
	rename := map[*ast.Ident]string{}
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ok = false
		case *ast.Ident:
			switch o := pkg.TypesInfo.Uses[n].(type) {
			case *types.PkgName:
				rename[n] = w.use(o.Imported().Path(), o.Name())
			case *types.Var:
				if isManager(o.Type()) {
					rename[n] = "mgr"
				} else if !o.IsField() && o.Pkg() == pkg.Types {
					ok = false
				}
			case *types.Func, *types.Const, *types.TypeName:
				if o.Pkg() == pkg.Types {
					ok = false
				}
			}
		}
		return ok
	})
	if !ok {
		return ""
	}
	was := map[*ast.Ident]string{}
	for id, name := range rename {
		was[id], id.Name = id.Name, name
	}
	var b bytes.Buffer
	err := printer.Fprint(&b, pkg.Fset, x)
	for id, name := range was {
		id.Name = name
	}
	if err != nil {
		return ""
	}
	return b.String()
}

// byType is what a field of a type gets from the manager; "" for other types.
func (w *writer) byType(t types.Type, process string) string {
	switch typeName(t) {
	case "sigs.k8s.io/controller-runtime/pkg/client.Client", "sigs.k8s.io/controller-runtime/pkg/client.WithWatch":
		return "mgr.GetClient()"
	case "sigs.k8s.io/controller-runtime/pkg/client.Reader":
		return "mgr.GetAPIReader()"
	case "*k8s.io/apimachinery/pkg/runtime.Scheme":
		return "mgr.GetScheme()"
	case "k8s.io/client-go/tools/record.EventRecorder":
		return fmt.Sprintf("mgr.GetEventRecorderFor(%q)", process)
	case "k8s.io/client-go/tools/events.EventRecorder":
		return fmt.Sprintf("mgr.GetEventRecorder(%q)", process)
	case "github.com/go-logr/logr.Logger":
		return "mgr.GetLogger()"
	case "*k8s.io/client-go/rest.Config":
		return "mgr.GetConfig()"
	case "k8s.io/apimachinery/pkg/api/meta.RESTMapper":
		return "mgr.GetRESTMapper()"
	case "*net/http.Client":
		w.guess("a field is an HTTP client; it reaches what w.External declares, and nothing else")
		return "sim.HTTPClient(mgr)"
	}
	return ""
}

func (w *writer) guess(format string, args ...any) {
	w.guesses = append(w.guesses, fmt.Sprintf(format, args...))
}

// use imports a package, and returns its name in the test.
func (w *writer) use(importPath, name string) string {
	if importPath == w.c.Package.PkgPath && !w.ginkgo {
		return ""
	}
	if _, ok := w.imports[importPath]; !ok {
		w.imports[importPath] = name
	}
	return cmp.Or(w.imports[importPath], path.Base(importPath))
}

func (w *writer) importBlock() string {
	var std, others, ours []string
	for importPath, name := range w.imports {
		line := fmt.Sprintf("%q", importPath)
		if name != "" && name != path.Base(importPath) {
			line = name + " " + line
		}
		switch first, _, _ := strings.Cut(importPath, "/"); {
		case !strings.Contains(first, "."):
			std = append(std, line)
		case strings.HasPrefix(importPath, "github.com/wavetank/"):
			ours = append(ours, line)
		default:
			others = append(others, line)
		}
	}
	byPath := func(a, b string) int { return strings.Compare(a[strings.Index(a, `"`):], b[strings.Index(b, `"`):]) }
	var groups []string
	for _, g := range [][]string{std, others, ours} {
		if slices.SortFunc(g, byPath); len(g) > 0 {
			groups = append(groups, strings.Join(g, "\n"))
		}
	}
	return "import (\n" + strings.Join(groups, "\n\n") + "\n)\n"
}
