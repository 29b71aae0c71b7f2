package scaffold

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
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
	hosts   []string
	imports map[string]string // name by path
	guesses []string
}

// Test renders the test of a controller. In a project with Ginkgo it is a spec in a package of its
// own, which needs no etcd. Hosts are those of services that the controller was seen to ask.
func (p *Project) Test(c Controller, hosts ...string) (*Test, error) {
	w := &writer{project: p, c: c, hosts: hosts, ginkgo: p.usesGinkgo(c), imports: map[string]string{
		"sigs.k8s.io/controller-runtime": "ctrl", modulePath + "/sim": "",
	}}
	short := strings.TrimSuffix(strings.TrimSuffix(c.Name, "Reconciler"), "Controller")
	short = cmp.Or(short, c.Kind, c.Package.Name)
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
	scheme := ""
	var err error
	if w.ginkgo {
		if t.SuiteSource, err = w.suite(); err != nil {
			return nil, err
		}
		t.SuiteSource = Marked(t.SuiteSource)
	} else {
		scheme = w.scheme()
	}
	body := w.body(dir, strings.ToLower(short))
	scenario := w.free(short, t.File)
	source := fmt.Sprintf("package %s\n\n%s\n%s%s\n// %s is what surrounds the operator, and what users do.\n"+
		"func %[5]s(w *sim.World) {\n%s%s}\n",
		pkg, w.importBlock(), w.comments(), w.test(t.Name, short, scenario), scenario, scheme, body)
	if t.Source, err = format.Source([]byte(source)); err != nil {
		return nil, fmt.Errorf("%w in:\n%s", err, source)
	}
	t.Source, t.Guesses = Marked(t.Source), w.guesses
	return t, nil
}

// test is the function, or the spec, that runs the scenario.
func (w *writer) test(name, short, scenario string) string {
	if w.ginkgo {
		return fmt.Sprintf("var _ = It(\"settles with a %s\", func() {\n%ssimginkgo.Check(%s)\n})\n", short,
			w.environment(), scenario)
	}
	return fmt.Sprintf("func %s(t *testing.T) {\n%ssim.Check(t, %s)\n}\n", name, w.environment(), scenario)
}

// free is a name for the scenario that nothing else has in the package of the test, beside the file
// of the test itself.
func (w *writer) free(short, file string) string {
	runes := []rune(short)
	for i, r := range runes {
		if i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(r)
	}
	name := string(runes)
	taken := func(name string) bool {
		return token.IsKeyword(name) || types.Universe.Lookup(name) != nil || w.taken(name) ||
			!w.ginkgo && w.c.Package.Types.Scope().Lookup(name) != nil || declaredBeside(file, name)
	}
	for taken(name) {
		name += "Scenario"
	}
	return name
}

// declaredBeside reports whether another test file of the directory declares a name.
func declaredBeside(file, name string) bool {
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*_test.go"))
	return slices.ContainsFunc(files, func(other string) bool {
		parsed, err := parser.ParseFile(token.NewFileSet(), other, nil, parser.SkipObjectResolution)
		return err == nil && other != file && slices.ContainsFunc(parsed.Decls, func(d ast.Decl) bool {
			f, method := d.(*ast.FuncDecl)
			return parts(d)[name] != nil && !(method && f.Recv != nil)
		})
	})
}

// comments are the guesses, for whoever reads the test.
func (w *writer) comments() string {
	var b strings.Builder
	for _, g := range w.guesses {
		fmt.Fprintf(&b, "// Guess: %s.\n", g)
	}
	return b.String()
}

// environment sets what the Deployment of the manager sets, as far as the code reads it.
func (w *writer) environment() string {
	t := "t"
	if w.ginkgo {
		t = "GinkgoT()"
	}
	var b strings.Builder
	for _, v := range w.project.Environment {
		fmt.Fprintf(&b, "%s.Setenv(%q, %q)\n", t, v.Name, v.Value)
	}
	return b.String()
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
	if slices.ContainsFunc(w.c.children, runsPods) {
		workload, kubelet := w.use(modulePath+"/models/workload", ""), w.use(modulePath+"/models/kubelet", "")
		fmt.Fprintf(&b, "w.Builtin(append(%s.New(), %s.New()...)...)\n", workload, kubelet)
	}
	for _, host := range w.hosts {
		w.guess("what %s answers is not known; auto.REST keeps what is sent, and gives an id to what is posted", host)
		fmt.Fprintf(&b, "w.External(%q, %s.REST())\n", host, w.use(modulePath+"/sim/auto", ""))
	}
	fmt.Fprintf(&b, "w.Start(%q, func(mgr ctrl.Manager) error {\n", process)
	for _, h := range hooks {
		call := w.qualified(h.path, "webhook"+path.Base(h.path), h.name)
		if h.receiver != "" {
			call = fmt.Sprintf("(&%s{}).%s", w.qualified(h.path, schemeAlias(h.path), h.receiver), h.name)
		}
		fmt.Fprintf(&b, "if err := %s(mgr); err != nil {\nreturn err\n}\n", call)
	}
	fmt.Fprintf(&b, "return %s\n", w.setup(process))
	fmt.Fprintf(&b, "}, sim.Options(%s)%s)\n", w.options(), w.rights(up))
	files, found := w.project.samplesFor(w.c)
	watched := w.project.watchedFor(files)
	for i, f := range files {
		files[i] = fmt.Sprintf("%q", up(f))
	}
	if samples := strings.Join(files, ", "); found && w.actsByTheClock() {
		w.guess("with robfig/cron the operator acts by the clock and never comes to rest, so it is watched for %v",
			watched)
		faults, times := w.use(modulePath+"/sim/fault", ""), w.use("time", "")
		fmt.Fprintf(&b, "w.Inject(%s.StaleCache(30*%s.Second), %[1]s.Crash(%[3]q), %[1]s.LostReply())\n", faults, times,
			process)
		fmt.Fprintf(&b, "w.ApplyFiles(%s)\nw.Sleep(%s)\n", samples, inUnits(watched, times))
	} else {
		fmt.Fprintf(&b, "%s.Scenario(w%s)\n", w.use(modulePath+"/sim/auto", ""), w.samples(samples, found))
	}
	return b.String()
}

// runsPods says whether a package has kinds of which a cluster makes Pods.
func runsPods(in string) bool { return in == "k8s.io/api/apps/v1" || in == "k8s.io/api/batch/v1" }

// actsByTheClock reports whether a file with methods of the controller imports a library of
// schedules. Such a controller creates something for ever.
func (w *writer) actsByTheClock() bool {
	for _, file := range w.c.Package.Syntax {
		if !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
			return strings.Contains(i.Path.Value, "github.com/robfig/cron")
		}) {
			continue
		}
		for _, d := range file.Decls {
			for name := range parts(d) {
				if name == w.c.Name || name == w.c.Setup {
					return true
				}
			}
		}
	}
	return false
}

// samples is what users write, as options of the scenario. Files are those with samples, and found
// says whether one has the controller's own kind.
func (w *writer) samples(files string, found bool) string {
	out := ""
	if files != "" {
		out = fmt.Sprintf(", auto.Samples(%s)", files)
	}
	switch {
	case found:
	case w.c.Kind == "":
		w.guess("the builder's For was not seen: give what the controller reconciles to auto.Objects")
	case strings.HasPrefix(w.c.kindPath, "k8s.io/api/") || w.project.Definitions == "":
		w.guess("no file below config/samples has a %s, so users make an empty one", w.c.Kind)
		meta := w.use("k8s.io/apimachinery/pkg/apis/meta/v1", "metav1")
		kind := w.qualified(w.c.kindPath, schemeAlias(w.c.kindPath), w.c.Kind)
		namespace := "Namespace: \"default\", "
		if w.c.isClusterScoped() {
			namespace = ""
		}
		out += fmt.Sprintf(", auto.Objects(&%s{ObjectMeta: %s.ObjectMeta{%sName: \"sample\"}})", kind, meta, namespace)
	default:
		w.guess("no file below config/samples has a %s, so users write what its definition allows", w.c.Kind)
	}
	return out
}

func (w *writer) schemeName() string {
	if w.ginkgo {
		return "schemeOfMain()"
	}
	return "scheme"
}

// scheme makes the scheme as main does.
func (w *writer) scheme() string {
	const machinery = "k8s.io/apimachinery/pkg/"
	schemes := w.project.main.schemes
	if len(schemes) == 0 {
		schemes = []function{{"k8s.io/client-go/kubernetes/scheme", "AddToScheme"}}
		var kinds []string
		for _, c := range w.project.Controllers {
			shares := c.fullName == w.c.fullName || w.ginkgo && c.Dir == w.c.Dir // the suite's scheme
			if !shares || c.kindPath == "" {
				continue
			}
			kinds = append(kinds, c.Kind)
			add := function{c.kindPath, "AddToScheme"}
			if !strings.HasPrefix(c.kindPath, "k8s.io/api/") && !slices.Contains(schemes, add) {
				schemes = append(schemes, add)
			}
		}
		w.guess("no call of AddToScheme was seen in package main, so the scheme has the built-in kinds and %s",
			strings.Join(kinds, ", "))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "scheme := %s.NewScheme()\n", w.use(machinery+"runtime", ""))
	for _, add := range schemes {
		call := w.qualified(add.path, schemeAlias(add.path), add.name)
		fmt.Fprintf(&b, "%s.Must(%s(scheme))\n", w.use(machinery+"util/runtime", "utilruntime"), call)
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

func (w *writer) guess(format string, args ...any) {
	w.guesses = append(w.guesses, fmt.Sprintf(format, args...))
}

// use imports a package, and returns its name in the test; "" for the package that the test is in.
func (w *writer) use(importPath, name string) string {
	if importPath == w.c.Package.PkgPath && !w.ginkgo {
		return ""
	}
	if _, ok := w.imports[importPath]; !ok {
		name = cmp.Or(name, path.Base(importPath))
		for w.taken(name) {
			name += "x"
		}
		w.imports[importPath] = name
	}
	return cmp.Or(w.imports[importPath], path.Base(importPath))
}

func (w *writer) taken(name string) bool {
	for importPath, as := range w.imports {
		if name == cmp.Or(as, path.Base(importPath)) {
			return true
		}
	}
	return false
}

// qualified is a name of a package, as the test writes it.
func (w *writer) qualified(importPath, alias, name string) string {
	if in := w.use(importPath, alias); in != "" {
		return in + "." + name
	}
	return name
}

func (w *writer) importBlock() string {
	var std, others []string
	for importPath, name := range w.imports {
		line := fmt.Sprintf("%q", importPath)
		if name != "" && name != path.Base(importPath) {
			line = name + " " + line
		}
		switch first, _, _ := strings.Cut(importPath, "/"); {
		case !strings.Contains(first, "."):
			std = append(std, line)
		default:
			others = append(others, line)
		}
	}
	byPath := func(a, b string) int { return strings.Compare(a[strings.Index(a, `"`):], b[strings.Index(b, `"`):]) }
	var groups []string
	for _, g := range [][]string{std, others} {
		if slices.SortFunc(g, byPath); len(g) > 0 {
			groups = append(groups, strings.Join(g, "\n"))
		}
	}
	return "import (\n" + strings.Join(groups, "\n\n") + "\n)\n"
}
