package scaffold_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/scaffold"
)

// rules is a controller that shares rules with others. They are kept in a map.
const rules = `package rules

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type Rules struct{ byName map[string]string }

func New() *Rules { return &Rules{byName: map[string]string{}} }

func (r *Rules) Add(name, rule string) { r.byName[name] = rule }

type RuleReconciler struct {
	client.Client
	Rules *Rules
}

func (r *RuleReconciler) Reconcile(context.Context, ctrl.Request) (ctrl.Result, error) {
	return ctrl.Result{}, nil
}

func (r *RuleReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&appsv1.Deployment{}).Complete(r)
}
`

// wiringOf is the test of the only process of a project, on one line.
func wiringOf(t *testing.T, files map[string]string) (source, notes string) {
	t.Helper()
	files["internal/rules/rules.go"] = rules
	p, err := scaffold.Read(project(t, files))
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range p.Processes {
		test, err := p.Test(process)
		if err != nil {
			t.Fatal(err)
		}
		source += strings.Join(strings.Fields(string(test.Source)), " ") + "\n"
	}
	return source, strings.Join(p.Notes, "\n")
}

const beforeMain = `package main

import (
	"context"
	"errors"
	"flag"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/backup/internal/controller"
	"example.com/backup/internal/rules"
)

var (
	_ = os.Exit
	_ = context.Background
	_ = errors.New
	_ = flag.Parse
)

`

// Everything that main starts is one process, with what main shares. What main reads from outside
// is read in the test, and where main ends, the setup function returns the error.
func TestOneProcess(t *testing.T) {
	for name, of := range map[string]struct{ main, want string }{
		"a shared pointer": {`
func main() {
	var prefix, address string
	flag.StringVar(&prefix, "prefix", "p-", "")
	flag.StringVar(&address, "address", ":8080", "")
	flag.Parse()
	shared := rules.New()
	region := os.Getenv("REGION")
	if region == "" {
		region = "here"
	}
	shared.Add(prefix, region)
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{PprofBindAddress: address})
	if err != nil {
		os.Exit(1)
	}
	if err = (&rules.RuleReconciler{Client: mgr.GetClient(), Rules: shared}).SetupWithManager(mgr); err != nil {
		println("no rules")
		os.Exit(1)
	}
	err = (&controller.BackupReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
	if err != nil {
		panic(err)
	}
	shared.Add("last", region)
	defer shared.Add("never", region)
	_ = mgr.Start(ctrl.SetupSignalHandler())
}`, `func(mgr ctrl.Manager) error { prefix := "p-" shared := rules.New() region := os.Getenv("REGION") ` +
			`if region == "" { region = "here" } shared.Add(prefix, region) var err error ` +
			`if err = (&rules.RuleReconciler{Client: mgr.GetClient(), Rules: shared}).SetupWithManager(mgr); ` +
			`err != nil { return err } ` +
			`err = (&controller.BackupReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr) ` +
			`if err != nil { return err } shared.Add("last", region) return nil }`},
		"a flag of a type of its own": {`
type list []string

func (l *list) String() string     { return "" }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func main() {
	var excluded list
	flag.Var(&excluded, "excluded", "may be repeated")
	flag.Parse()
	shared := rules.New()
	for _, name := range excluded {
		shared.Add(name, "")
	}
	mgr, _ := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
	_ = (&rules.RuleReconciler{Client: mgr.GetClient(), Rules: shared}).SetupWithManager(mgr)
	_ = (&controller.BackupReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
	_ = mgr.Start(ctrl.SetupSignalHandler())
}`, `func(mgr ctrl.Manager) error { var excluded list shared := rules.New() for _, name := range excluded { ` +
			`shared.Add(name, "") }`},
		"functions of main": {`
var workers int

func main() { run(options()) }

func options() *ctrl.Options { return &ctrl.Options{} }

func flags(fs *flag.FlagSet) { fs.IntVar(&workers, "workers", 3, "") }

func run(o *ctrl.Options) {
	flags(flag.CommandLine)
	ctx := ctrl.SetupSignalHandler()
	m, err := newManager(*o)
	if err != nil || workers == 0 {
		os.Exit(1)
	}
	setup(ctx, m, rules.New())
	if err := m.Start(ctx); err != nil {
		os.Exit(1)
	}
}

func newManager(o ctrl.Options) (ctrl.Manager, error) { return ctrl.NewManager(ctrl.GetConfigOrDie(), o) }

func setup(ctx context.Context, m ctrl.Manager, shared *rules.Rules) {
	for _, each := range []interface{ SetupWithManager(ctrl.Manager) error }{
		&rules.RuleReconciler{Rules: shared}, &controller.BackupReconciler{},
	} {
		if err := each.SetupWithManager(m); err != nil {
			os.Exit(1)
		}
	}
}`, `func(m ctrl.Manager) error { flags(flag.NewFlagSet("operator", flag.ContinueOnError)) ` +
			`setup(context.Background(), m, rules.New()) return nil }`},
	} {
		source, notes := wiringOf(t, map[string]string{"cmd/main.go": beforeMain + of.main})
		if !strings.Contains(source, of.want) || strings.Count(source, "func TestSimulated") != 1 ||
			!strings.Contains(source, "func TestSimulatedBackup(t") {
			t.Errorf("%s: it does not have\n%s\n%s\n%s", name, of.want, source, notes)
		}
	}
}

// A controller that uses another version of its kind than PROJECT names is a controller of it.
func TestProjectNamesAnotherVersion(t *testing.T) {
	_, notes := wiringOf(
		t,
		map[string]string{"cmd/main.go": beforeMain + "func main() {}\n", "PROJECT": "resources:\n" +
			"- {kind: Deployment, controller: true, path: k8s.io/api/apps/v1beta1, version: v1beta1}\n"},
	)
	if strings.Contains(notes, "PROJECT has a controller of Deployment") {
		t.Errorf("it says that there is none:\n%s", notes)
	}
}

// What cannot be repeated is named, with its line and what to write.
func TestUnusualMains(t *testing.T) {
	const begin = `
func main() {
	mgr, _ := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
	_ = (&controller.BackupReconciler{}).SetupWithManager(mgr)
`
	for main, want := range map[string]string{
		"\tgo late(mgr)\n\t_ = mgr.Start(context.Background())\n}\n": "" +
			"cmd/main.go:26 is left out: it starts a goroutine",
		"\t_ = mgr.Start(context.Background())\n\tlate(mgr)\n}\n": "" +
			"cmd/main.go:27 is left out: it uses the manager after",
		"\tstart(mgr)\n}\n\nfunc start(mgr ctrl.Manager) { late(mgr); _ = mgr.Start(context.Background()) }\n": "" +
			"cmd/main.go:26 is left out: the function that it calls starts the manager; move what sets up",
	} {
		late := "\nfunc late(mgr ctrl.Manager) { _ = (&rules.RuleReconciler{}).SetupWithManager(mgr) }\n"
		source, _ := wiringOf(t, map[string]string{"cmd/main.go": beforeMain + begin + main + late})
		for _, want := range []string{"// Guess: " + want, "SetupWithManager(mgr) return nil }",
			"Guess: no manager was seen to start RuleReconciler, so it is alone in its process",
			"Guess: Rules of RuleReconciler is left nil, because no main was seen that sets it: write its value"} {
			if !strings.Contains(source, want) {
				t.Errorf("it does not say %q:\n%s", want, source)
			}
		}
	}
}

// The function that makes the manager need not be in main. Its test stands next to it, and gets
// what main gives it, as far as main does not keep that for itself.
func TestWiringOutsideOfMain(t *testing.T) {
	source, notes := wiringOf(t, map[string]string{
		"cmd/operator/main.go": `package main

import (
	"os"

	"example.com/backup/internal/operator"
)

func secret() string { return os.Args[0] }

func main() {
	o := operator.NewOptions()
	o.Region = "there"
	o.Run(operator.Default, secret())
}
`,
		"internal/operator/operator.go": `package operator

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/backup/internal/controller"
	"example.com/backup/internal/rules"
)

type Options struct{ Region string }

const Default = "default"

func NewOptions() *Options { return &Options{} }

func (o *Options) Run(class, password string) error {
	mgr, err := ctrl.NewManager(nil, ctrl.Options{})
	if err != nil {
		return err
	}
	shared := rules.New()
	shared.Add(class, o.Region)
	shared.Add("password", password)
	if err := (&controller.BackupReconciler{}).SetupWithManager(mgr); err != nil {
		return err
	}
	if err := (&rules.RuleReconciler{Rules: shared}).SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}
`})
	for _, want := range []string{"package operator import",
		`o := NewOptions() o.Region = "there" class := Default shared := rules.New() ` +
			`shared.Add(class, o.Region) var password string shared.Add("password", password)`,
		"return (&rules.RuleReconciler{Rules: shared}).SetupWithManager(mgr) }",
		"// Guess: password is left empty, because cmd/operator/main.go:14 sets it from secret of package main: " +
			"write its value.",
	} {
		if !strings.Contains(source, want) {
			t.Errorf("it does not have %s:\n%s\n%s", want, source, notes)
		}
	}
}

// The environment is that of the manager's Pod, as far as manifests tell.
func TestEnvironment(t *testing.T) {
	source, _ := wiringOf(t, map[string]string{
		"internal/env/env.go": "package env\n\nvar _ = []string{\"POD_NAMESPACE\", \"POD_NAME\", \"REGION\", " +
			"\"WATCH_NAMESPACE\", \"ZONE\", \"COLOUR\", \"PASSWORD\", \"UNKNOWN\"}\n",
		"config/default/kustomization.yaml": "namespace: backup-system\nnamePrefix: backup-\nresources: [../manager]\n",
		"config/manager/kustomization.yaml": "resources: [manager.yaml]\n" +
			"configMapGenerator:\n- name: places\n  literals: [region=here]\n",
		"config/manager/manager.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: manager}
spec:
  template:
    spec:
      containers:
      - name: manager
        envFrom:
        - configMapRef: {name: all}
        env:
        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: REGION, valueFrom: {configMapKeyRef: {name: places, key: region}}}
        - {name: ZONE, valueFrom: {configMapKeyRef: {name: places, key: zone}}}
        - {name: PASSWORD, valueFrom: {secretKeyRef: {name: login, key: password}}}
        - {name: UNREAD, value: x}
        - {name: WATCH_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: all}
data: {COLOUR: red, UNREAD: y}
`})
	for _, want := range []string{
		`t.Setenv("COLOUR", "red") t.Setenv("POD_NAMESPACE", "backup-system") ` +
			`t.Setenv("POD_NAME", "backup-manager-0") t.Setenv("REGION", "here") ` +
			`t.Setenv("WATCH_NAMESPACE", "default") sim.Check(`,
		"// Guess: POD_NAMESPACE is backup-system, because config/default takes it from metadata",
		"// Guess: ZONE is not set, because no file has zone of ConfigMap backup-places-btgf68d4mg, from which config/",
		"// Guess: PASSWORD is not set, because config/default takes it from what is not known: set it",
	} {
		if !strings.Contains(source, want) {
			t.Errorf("it does not have %s:\n%s", want, source)
		}
	}
}

// Flags have the values that the Deployment gives them, after the patches of config/default. Leader
// election stays off, because one replica runs.
func TestFlagsOfTheDeployment(t *testing.T) {
	main := `package main

import (
	"flag"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/backup/internal/controller"
	"example.com/backup/internal/rules"
)

type list []string

func (l *list) String() string     { return "" }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func main() {
	var zone, region string
	var strict, elect, off bool
	var every time.Duration
	var skip list
	flag.StringVar(&zone, "zone", "none", "")
	flag.StringVar(&region, "region", "none", "")
	flag.BoolVar(&strict, "strict", false, "")
	flag.BoolVar(&off, "off", true, "")
	flag.BoolVar(&elect, "leader-elect", false, "")
	flag.DurationVar(&every, "every", time.Hour, "")
	flag.Var(&skip, "skip", "")
	count := flag.Int("count", 1, "")
	level := flag.Int("level", 1, "")
	flag.Parse()
	shared := rules.New()
	shared.Add(zone, region)
	shared.Add(fmt.Sprint(every, skip, *count, *level, strict, off), "")
	mgr, _ := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: elect, LeaderElectionID: "a"})
	_ = (&rules.RuleReconciler{Client: mgr.GetClient(), Rules: shared}).SetupWithManager(mgr)
	_ = (&controller.BackupReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
	_ = mgr.Start(ctrl.SetupSignalHandler())
}
`
	manager := `apiVersion: apps/v1
kind: Deployment
metadata: {name: controller-manager, namespace: system}
spec:
  template:
    spec:
      containers:
      - name: proxy
        args: [--region=proxy]
      - name: manager
        command: [/manager, --leader-elect]
        args: [--zone=$(ZONE), --region, here, --strict, --off=false, --every=90s, -count=7, --skip=a,
          --level=$(LEVEL)]
        env: [{name: ZONE, value: north}]
`
	kustomization := "namespace: backup-system\nnamePrefix: backup-\nresources: [../manager]\npatches:\n" +
		"- {path: manager_metrics_patch.yaml, target: {kind: Deployment}}\n"
	patch := "- {op: replace, path: /spec/template/spec/containers/1/env/0/value, value: south}\n" +
		"- {op: add, path: /spec/template/spec/containers/1/args/-, value: --count=8}\n"
	for _, c := range []struct {
		files map[string]string
		want  []string
	}{
		{nil, []string{`zone := "north" region := "here" strict := true off := false every = 90 * time.Second `,
			`count := new(7) level := new(1) `,
			"// Guess: --skip=a of the Deployment could not be read as the flag's type"}},
		{map[string]string{"config/manager/kustomization.yaml": "resources: [manager.yaml]",
			"config/default/kustomization.yaml": kustomization, "config/default/manager_metrics_patch.yaml": patch},
			[]string{`zone := "south" region := "here" `, `count := new(8) level := new(1) `}},
		{map[string]string{"config/manager/kustomization.yaml": "resources: [manager.yaml, https://example.com/x.yaml]",
			"config/default/kustomization.yaml": kustomization, "config/default/manager_metrics_patch.yaml": patch},
			[]string{`zone := "north" region := "here" `, `count := new(7) level := new(1) `}},
	} {
		files := map[string]string{"cmd/main.go": main, "config/manager/manager.yaml": manager}
		maps.Copy(files, c.files)
		source, _ := wiringOf(t, files)
		for _, want := range c.want {
			if !strings.Contains(source, want) || strings.Contains(source, "LeaderElection") {
				t.Errorf("it does not have %s:\n%s", want, source)
			}
		}
	}
}

// The options come from a file that only the program knows how to read, and the controller watches
// its kind without For. What a benchmark starts is not what ships.
func TestOptionsOfAFile(t *testing.T) {
	const started = `
	_ = (&jobs.JobReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
	_ = mgr.Start(ctrl.SetupSignalHandler())
}
`
	source, _ := wiringOf(t, map[string]string{"internal/jobs/jobs.go": `package jobs

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

type JobReconciler struct{ client.Client }

func (r *JobReconciler) Reconcile(context.Context, ctrl.Request) (ctrl.Result, error) {
	return ctrl.Result{}, nil
}

func (r *JobReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("jobs").
		Watches(&appsv1.Deployment{}, &handler.EnqueueRequestForObject{}).Complete(r)
}
`, "cmd/main.go": `package main

import (
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/backup/internal/jobs"
)

var known = runtime.NewScheme()

func read() ctrl.Options { return ctrl.Options{Scheme: known} }

func main() {
	options := read()
	mgr, _ := ctrl.NewManager(ctrl.GetConfigOrDie(), options)
` + started, "test/load/main.go": `package main

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/backup/internal/jobs"
)

func main() {
	mgr, _ := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
` + started})
	for _, want := range []string{
		"// Guess: the scheme of the manager was not seen, so the test's is the only one of its package, known.",
		"sim.Options(ctrl.Options{Scheme: known})", "no file below config/samples has a Deployment",
	} {
		if !strings.Contains(source, want) {
			t.Errorf("it does not have %s:\n%s", want, source)
		}
	}
	if n := strings.Count(source, "jobs.JobReconciler{"); n != 1 {
		t.Errorf("%d tests start the controller:\n%s", n, source)
	}
}
