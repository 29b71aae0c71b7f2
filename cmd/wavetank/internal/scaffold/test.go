package scaffold

import (
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

// Test is a test for one process.
type Test struct {
	File   string // path
	Name   string // of the test function, or of the suite's
	Source []byte
	// Suite is the path of the Ginkgo suite that a spec belongs to; "" for a plain test.
	Suite       string
	SuiteSource []byte
	// Guesses are what was not seen in the project.
	Guesses []string
	// Empty is what the test leaves empty, though the operator does not.
	Empty []Empty
}

// Empty is a variable or a field without a value, with the reason.
type Empty struct{ Name, Why string }

// remarks owns what the comments of a test report: what was guessed, and what is left empty.
type remarks struct {
	guesses []string
	empty   []Empty
}

func (r *remarks) guess(format string, args ...any) {
	if g := fmt.Sprintf(format, args...); !slices.Contains(r.guesses, g) {
		r.guesses = append(r.guesses, g)
	}
}

// comments are the guesses, for the reader of the test.
func (r *remarks) comments() string {
	var b strings.Builder
	for _, g := range r.guesses {
		fmt.Fprintf(&b, "// Guess: %s.\n", g)
	}
	return b.String()
}

// writer owns the parts of a test and their order.
type writer struct {
	*imports
	*remarks
	project *Project
	process *Process
	ginkgo  bool
	hosts   []string
}

func (p *Project) writer(process *Process, ginkgo bool, names map[string]string) *writer {
	return &writer{project: p, process: process, ginkgo: ginkgo, remarks: &remarks{},
		imports: &imports{pkg: process.pkg, external: ginkgo, names: names}}
}

// Test renders the test of a process, next to the function that makes its manager. That of a
// controller that no main starts is, where the tests next to it are Ginkgo's, a spec in a package
// of its own, which needs no etcd. Hosts are those of services that the process was seen to ask.
func (p *Project) Test(process *Process, hosts ...string) (*Test, error) {
	w := p.writer(process, process.wiring == nil && usesGinkgo(process.dir), map[string]string{
		"sigs.k8s.io/controller-runtime": "ctrl", modulePath + "/sim": ""})
	w.hosts = hosts
	short := process.Name
	t := &Test{Name: "TestSimulated" + short}
	dir, pkg := process.dir, process.pkg.Name
	if w.ginkgo {
		dir, pkg = filepath.Join(dir, "simulation"), "simulation"
		t.Suite, t.Name = filepath.Join(dir, "suite_test.go"), "TestSimulations"
		w.names[modulePath+"/sim/simginkgo"] = ""
		w.names["github.com/onsi/ginkgo/v2"] = "."
	} else {
		w.names["testing"] = ""
	}
	t.File = filepath.Join(dir, strings.ToLower(short)+"_sim_test.go")
	var err error
	if w.ginkgo {
		if t.SuiteSource, err = w.suite(); err != nil {
			return nil, err
		}
		t.SuiteSource = Marked(t.SuiteSource)
	}
	w.guesses = append(append(w.guesses, process.notes...), p.guessed...)
	body := w.body(dir, strings.ToLower(short))
	scenario := w.free(short, t.File)
	source := fmt.Sprintf("package %s\n\n%s\n%s%s\n%s\nfunc %s(w *sim.World) {\n%s}\n",
		pkg, w.block(), w.comments(), w.test(t.Name, short, scenario), w.about(scenario), scenario, body)
	formatted, err := format.Source([]byte(source))
	if err != nil {
		return nil, fmt.Errorf("%w in:\n%s", err, source)
	}
	t.Source, t.Guesses, t.Empty = Marked(formatted), w.guesses, w.empty
	return t, nil
}

// about is the comment of a scenario.
func (w *writer) about(scenario string) string {
	if of := w.process.wiring; of != nil {
		return fmt.Sprintf("// %s is the operator, set up as at %s, and what users do.", scenario,
			line(w.project.Root, of.pkg, of.made))
	}
	return fmt.Sprintf("// %s is what surrounds the operator, and what users do.", scenario)
}

// test is the function, or the spec, that runs the scenario.
func (w *writer) test(name, short, scenario string) string {
	if w.ginkgo {
		return fmt.Sprintf(
			"var _ = It(\"settles with a %s\", func() {\n%ssimginkgo.Check(%s, sim.KeepGoing())\n})\n",
			short, w.environment(), scenario)
	}
	return fmt.Sprintf("func %s(t *testing.T) {\n%ssim.Check(t, %s, sim.KeepGoing())\n}\n",
		name, w.environment(), scenario)
}

// free is a name for the scenario that nothing else has in the package of the test, apart from the
// file of the test itself.
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
			!w.ginkgo && w.process.pkg.Types.Scope().Lookup(name) != nil || declaredBeside(file, name)
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
	s := w.project.writer(w.process, true, map[string]string{"testing": "",
		"github.com/onsi/ginkgo/v2": ".", "github.com/onsi/gomega": ".", modulePath + "/sim/simginkgo": ""})
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
`, s.block(), scheme)))
}

// usesGinkgo reports whether the tests in a directory are Ginkgo's.
func usesGinkgo(dir string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
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
	before, options := w.options()
	if !w.ginkgo {
		b.WriteString(before)
	}
	var install []string
	if p.Definitions != "" {
		install = append(install, fmt.Sprintf("%q", up(p.Definitions)))
	}
	if p.Webhooks != "" && len(p.hooked) > 0 && w.process.wiring != nil {
		install = append(install, fmt.Sprintf("%q", up(p.Webhooks)))
	}
	if len(install) > 0 {
		fmt.Fprintf(&b, "w.Install(%s)\n", strings.Join(install, ", "))
	}
	if slices.ContainsFunc(w.process.Controllers, func(c Controller) bool {
		return slices.ContainsFunc(c.children, runsPods)
	}) {
		workload, kubelet := w.use(modulePath+"/models/workload", ""), w.use(modulePath+"/models/kubelet", "")
		fmt.Fprintf(&b, "w.Builtin(append(%s.New(), %s.New()...)...)\n", workload, kubelet)
	}
	for _, host := range w.hosts {
		w.guess("what %s answers is not known; auto.REST keeps what is sent, and gives an id to what is posted", host)
		fmt.Fprintf(&b, "w.External(%q, %s.REST())\n", host, w.use(modulePath+"/sim/auto", ""))
	}
	setup := ""
	if of := w.process.wiring; of != nil {
		setup = w.main(of.given())
	} else {
		setup = (&filler{w.imports, w.remarks}).setup(w.process.Controllers[0], process)
	}
	fmt.Fprintf(&b, "w.Start(%q, %s, sim.Options(%s)%s)\n", process, setup, options, w.rights(up))
	w.users(&b, process, up)
	return b.String()
}

// runsPods reports whether a package has kinds of which a cluster makes Pods.
func runsPods(in string) bool { return in == "k8s.io/api/apps/v1" || in == "k8s.io/api/batch/v1" }

func (w *writer) schemeName() string {
	if w.ginkgo {
		return "schemeOfMain()"
	}
	return "scheme"
}

// scheme makes the scheme as main does.
func (w *writer) scheme() string {
	const machinery = "k8s.io/apimachinery/pkg/"
	schemes := []function{{"k8s.io/client-go/kubernetes/scheme", "AddToScheme"}}
	kinds := []string{"the built-in kinds"}
	for _, c := range w.project.Controllers {
		shares := w.ginkgo && c.Dir == w.process.dir || // the suite's scheme
			slices.ContainsFunc(w.process.Controllers, func(o Controller) bool { return o.fullName == c.fullName })
		if !shares || c.kindPath == "" {
			continue
		}
		if !slices.Contains(kinds, c.Kind) {
			kinds = append(kinds, c.Kind)
		}
		add := function{c.kindPath, "AddToScheme"}
		if !strings.HasPrefix(c.kindPath, "k8s.io/api/") && !slices.Contains(schemes, add) {
			schemes = append(schemes, add)
		}
	}
	w.guess("the scheme of the manager was not seen, so the test's has %s", sentence(kinds))
	var b strings.Builder
	fmt.Fprintf(&b, "scheme := %s.NewScheme()\n", w.use(machinery+"runtime", ""))
	for _, add := range schemes {
		call := w.qualified(add.path, schemeAlias(add.path), add.name)
		fmt.Fprintf(&b, "%s.Must(%s(scheme))\n", w.use(machinery+"util/runtime", "utilruntime"), call)
	}
	return b.String()
}

// sentence is a list as a sentence has it.
func sentence(all []string) string {
	last := len(all) - 1
	if last == 0 {
		return all[0]
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
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
