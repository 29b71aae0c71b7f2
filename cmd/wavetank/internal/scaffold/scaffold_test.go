package scaffold_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/scaffold"
)

// project is a project of few lines, with more files in it.
func project(t *testing.T, more map[string]string) string {
	t.Helper()
	t.Setenv("GOWORK", "off")
	archive, err := txtar.ParseFile("testdata/libraries.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range more {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		path := filepath.Join(dir, f.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, f.Data, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const manifest = `domain: com
layout:
- go.kubebuilder.io/v4
multigroup: true
projectName: backup
repo: example.com/backup
resources:
- controller: true
  domain: com
  group: example
  kind: Backup
  path: example.com/backup/api/v1
  version: v1
  webhooks:
    conversion: true
- controller: true
  domain: com
  group: example
  kind: Restore
  path: example.com/backup/api/v1
  version: v1
- controller: true
  group: mail
  kind: Letter
  path: k8s.io/api/core/v1
  version: v1
  webhooks:
    validation: true
version: "3"
`

// The manager, the controllers and their arguments are made as main makes them.
const program = `package main

import (
	"flag"
	"net/http"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"

	examplev1 "example.com/backup/api/v1"
	"example.com/backup/internal/mail"
)

const region = "here"

func unknown() string { return os.Args[0] }

func main() {
	var url, changed string
	var elect bool
	workers := flag.Int("workers", 3, "")
	flag.StringVar(&url, "url", "https://mail.example", "")
	flag.BoolVar(&elect, "leader-elect", true, "")
	flag.Parse()
	changed = unknown()
	scheme := runtime.NewScheme()
	_ = examplev1.AddToScheme(scheme)
	timeout := 10 * time.Second
	mgr, _ := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme: scheme,
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {
			Transform: func(o any) (any, error) { return o, nil }}}},
		Client:                  client.Options{FieldOwner: unknown()},
		Controller:              config.Controller{MaxConcurrentReconciles: *workers},
		LeaderElection:          elect,
		LeaderElectionID:        "backup",
		GracefulShutdownTimeout: &timeout,
		PprofBindAddress:        ":6060",
	})
	letters := mail.NewLetters(mgr.GetClient(), mail.Config{URL: url, Region: region, HTTP: &http.Client{
		Transport: &http.Transport{}}})
	_ = letters.SetupWithManager(ctrl.SetupSignalHandler(), mgr, *workers, changed)
	_ = mgr.Start(ctrl.SetupSignalHandler())
}
`

const mail = `package mail

import (
	"context"
	"net/http"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type Config struct {
	URL, Region string
	HTTP        *http.Client
}

type LetterReconciler struct {
	client client.Client
	config Config
}

func NewLetters(c client.Client, config Config) *LetterReconciler { return &LetterReconciler{c, config} }

func (r *LetterReconciler) Reconcile(context.Context, ctrl.Request) (ctrl.Result, error) {
	_ = os.Getenv("MAIL_FROM")
	return ctrl.Result{}, nil
}

func (r *LetterReconciler) SetupWithManager(_ context.Context, mgr ctrl.Manager, workers int, name string) error {
	return ctrl.NewControllerManagedBy(mgr).Named(name).For(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).Complete(r)
}
`

func TestTests(t *testing.T) {
	dir := project(t, map[string]string{"PROJECT": manifest, "cmd/main.go": program, "internal/mail/mail.go": mail,
		"config/samples/v0.yaml":     "apiVersion: example.com/v0\nkind: Backup\nmetadata:\n  name: a\n",
		"config/samples/v1.yaml":     "apiVersion: example.com/v1\nkind: Backup\nmetadata:\n  name: a\n",
		"config/samples/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n",
		"config/manager/manager.yaml": "kind: Deployment\nspec:\n  template:\n    spec:\n" +
			"      containers:\n      - env:\n" +
			"        - {name: MAIL_FROM, value: me}\n        - {name: UNREAD, value: x}\n"})
	p, err := scaffold.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(p.Notes, "\n")
	for _, process := range p.Processes {
		test, err := p.Test(process, "mail.example")
		if err != nil {
			t.Fatal(err)
		}
		said += "\n" + strings.Join(strings.Fields(string(test.Source)), " ")
	}
	for _, want := range []string{
		"PROJECT has a controller of Restore, and no exported type",
		"PROJECT has a conversion webhook for Backup. Conversion webhooks are not modelled",
		"PROJECT has a webhook for Letter, and there is no config/webhook",
		`auto.Scenario(w, auto.Samples("../../config/samples/secret.yaml", "../../config/samples/v1.yaml"))`,
		`auto.Scenario(w, auto.Samples("../config/samples/secret.yaml"), ` +
			`auto.Objects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "sample"}}))`,
		"// Guess: no file below config/samples has a ConfigMap, so users make an empty one.",
		`w.External("mail.example", auto.REST())`,
		"// Guess: what mail.example answers is not known",
		`t.Setenv("MAIL_FROM", "me") sim.Check(`,
		"w.Builtin(append(workload.New(), kubelet.New()...)...)",
		`func(mgr ctrl.Manager) error { var changed string workers := new(3) url := "https://mail.example" ` +
			`changed = unknown() letters := mail.NewLetters(mgr.GetClient(), ` +
			`mail.Config{URL: url, Region: region, HTTP: sim.HTTPClient(mgr)}) ` +
			`_ = letters.SetupWithManager(context.Background(), mgr, *workers, changed) return nil }`,
		`workers := new(3) elect := true scheme := runtime.NewScheme() _ = examplev1.AddToScheme(scheme) ` +
			`timeout := 10 * time.Second w.Install("../config/crd/bases")`,
		"Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: { " +
			"Transform: func(o any) (any, error) { return o, nil }}}}",
		"Client: client.Options{FieldOwner: unknown()}, " +
			"Controller: config.Controller{MaxConcurrentReconciles: *workers}, GracefulShutdownTimeout: &timeout, " +
			`LeaderElection: elect, LeaderElectionID: "backup", LeaderElectionNamespace: "default", }))`,
		"// Guess: no manager was seen to start BackupReconciler, so it is alone in its process.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %s:\n%s", want, said)
		}
	}
	if strings.Contains(said, "UNREAD") || strings.Contains(said, "6060") {
		t.Errorf("it says too much:\n%s", said)
	}
}

// Samples are those that the kustomization names, and those that do not say that they fail. What is
// left out is named.
func TestSamplesThatAreLeftOut(t *testing.T) {
	const sample = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n"
	files := map[string]string{"config/samples/a.yaml": sample, "config/samples/b-fail.yaml": sample,
		"config/samples/failover.yaml": sample}
	read := func(want string, notes ...string) {
		t.Helper()
		p, err := scaffold.Read(project(t, files))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range p.Samples {
			got = append(got, filepath.Base(s.File))
		}
		said := strings.Join(p.Notes, "\n")
		if strings.Join(got, " ") != want || strings.Count(said, "is left out") != len(notes) {
			t.Errorf("the samples are %q, want %q:\n%s", got, want, said)
		}
		for _, note := range notes {
			if !strings.Contains(said, note) {
				t.Errorf("it does not say %q:\n%s", note, said)
			}
		}
	}
	read("a.yaml failover.yaml", "config/samples/b-fail.yaml is left out, because it fails by its name")
	files["config/samples/kustomization.yaml"] = "resources:\n- b-fail.yaml\n"
	read("b-fail.yaml", "config/samples/a.yaml is left out, because the kustomization.yaml next to it",
		"config/samples/failover.yaml is left out")
	files["config/samples/kustomization.yaml"] = "resources: []\n"
	read("a.yaml failover.yaml", "config/samples/b-fail.yaml is left out")
	files["config/samples/kustomization.yaml"] = "resources: [a.yaml, gone.yaml]\n"
	read("a.yaml", "config/samples/b-fail.yaml is left out", "config/samples/failover.yaml is left out",
		"config/samples/kustomization.yaml names gone.yaml, which is left out: there is no such file")
	files["config/samples/kustomization.yaml"] = "resources: 7\n"
	read("a.yaml failover.yaml", "config/samples/b-fail.yaml is left out")
}

// An object of a kind without namespaces gets none.
func TestClusterScopedKinds(t *testing.T) {
	for marker, want := range map[string]string{
		"// +genclient:nonNamespaced\n\n// A Node.": `corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "sample"}}`,
		"// A Node.": `corev1.Node{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "sample"}}`,
	} {
		dir := project(t, map[string]string{
			"bin/api/core/v1/node.go": "package v1\n\n// +genclient:nonNamespaced\ntype Other struct {\n}\n\n" +
				marker + "\ntype Node struct{}\n",
			"internal/node/node.go": strings.ReplaceAll(strings.ReplaceAll(mail, "ConfigMap", "Node"), "package mail",
				"package node")})
		p, err := scaffold.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, process := range p.Processes {
			test, err := p.Test(process)
			if err != nil {
				t.Fatal(err)
			}
			said += string(test.Source)
		}
		if !strings.Contains(said, want) {
			t.Errorf("with %q it has no %s:\n%s", marker, want, said)
		}
	}
}

// A project is read without a compiler, so code that does not compile, and code of another platform
// or another module, is no obstacle.
func TestNothingIsCompiled(t *testing.T) {
	const runtimeImport = "\"sigs.k8s.io/controller-runtime\"\n"
	dir := project(t, map[string]string{"cmd/main.go": program, "internal/mail/mail.go": mail,
		"internal/broken/broken.go":      "package broken\n\nvar a int = \"\"\n",
		"internal/controller/typo.go":    "package controller\n\nfunc typo() { undefined.Call() }\n",
		"internal/controller/other.go":   "//go:build plan9\n\npackage controller\n\ntype BackupReconciler int\n",
		"hack/tools.go":                  "//go:build tools\n\npackage tools\n\nimport _ " + runtimeImport,
		"hack/gen/main.go":               "//go:build ignore\n\npackage main\n\nimport (" + runtimeImport,
		"testdata/mail/mail.go":          mail,
		"vendor2/go.mod":                 "module example.com/elsewhere\n",
		"vendor2/mail/mail.go":           mail,
		"internal/mail/testdata/mail.go": mail,
	})
	t.Setenv("GOFLAGS", "-toolexec=false") // every compilation fails
	p, err := scaffold.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, process := range p.Processes {
		test, err := p.Test(process)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, process.Name)
		if process.Name == "Letter" && !strings.Contains(string(test.Source), "examplev1.AddToScheme(scheme)") {
			t.Errorf("the scheme of main is not seen:\n%s", test.Source)
		}
	}
	if got := strings.Join(names, " "); got != "Letter Backup" {
		t.Errorf("the controllers are %q", got)
	}
}

// Without its imports a project cannot be read, and it says which are missing.
func TestMissingImports(t *testing.T) {
	dir := project(t, nil)
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	without := strings.ReplaceAll(string(mod), "sigs.k8s.io/controller-runtime", "example.com/another")
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(without), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = scaffold.Read(dir)
	if err == nil || !strings.Contains(err.Error(), "imports are not found; go mod tidy may add them:\n") ||
		!strings.Contains(err.Error(), "sigs.k8s.io/controller-runtime") {
		t.Errorf("%v", err)
	}
}

// A file that cannot be parsed is named, with the line.
func TestMainThatDoesNotParse(t *testing.T) {
	dir := project(t, map[string]string{"cmd/main.go": strings.Replace(program, "flag.Parse()", "flag.Parse(", 1)})
	_, err := scaffold.Read(dir)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "cmd/main.go")+":3") ||
		!strings.Contains(err.Error(), "go build ./... must pass") {
		t.Errorf("%v", err)
	}
}

// What cannot be read is named, with what to do.
func TestBadManifest(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "PROJECT"), []byte("resources: 7\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := scaffold.Read(dir)
	if err == nil || !strings.Contains(err.Error(), "PROJECT cannot be read") ||
		!strings.Contains(err.Error(), "move it away") {
		t.Errorf("%v", err)
	}
}
