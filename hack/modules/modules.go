// Modules measures what Wavetank does to the go.mod of an operator: which modules are added to a
// project laid out by kubebuilder, and which are lifted to a newer version. It writes
// docs/modules.md, and fails if a module is lifted that the project has anyway.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

var compile bool

// pairs are the versions of controller-runtime and k8s.io that the project may have.
var pairs = [][2]string{{"v0.23.3", "v0.35.0"}, {"v0.24.1", "v0.36.0"}, {"v0.25.0", "v0.37.0"}}

const head = `# What Wavetank does to your go.mod

This page is written by "make modules"; do not edit it. A project laid out by kubebuilder, with Ginkgo 2.27.2 and
Gomega 1.38.2, gets a test that imports sim, its faults and properties, and two models of built-in controllers. "go mod
tidy" then adds modules to go.mod, and lifts others to newer versions.

| controller-runtime | k8s.io | modules before | added | lifted |
| --- | --- | ---: | --- | --- |
`

// main.go and a test as kubebuilder writes them, by what they import.
const (
	program = `package main

import (
	_ "k8s.io/api/apps/v1"
	_ "k8s.io/apimachinery/pkg/runtime"
	_ "k8s.io/client-go/kubernetes/scheme"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	_ "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/log/zap"
	_ "sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	_ "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	_ "sigs.k8s.io/controller-runtime/pkg/webhook"
)

func main() {}
`
	suite = `package main

import (
	_ "github.com/onsi/ginkgo/v2"
	_ "github.com/onsi/gomega"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
)
`
	simulation = `package main

import (
	_ "github.com/wavetank/wavetank/models/kubelet"
	_ "github.com/wavetank/wavetank/models/workload"
	_ "github.com/wavetank/wavetank/sim"
	_ "github.com/wavetank/wavetank/sim/fault"
	_ "github.com/wavetank/wavetank/sim/property"
)
`
)

func main() {
	log.SetFlags(0)
	flag.BoolVar(&compile, "compile", false, "compile each project, which takes minutes where nothing is cached")
	flag.Parse()
	root, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(head)
	lifted := 0
	for _, p := range pairs {
		before, after := project(root, p)
		var more, newer []string
		for path, v := range after {
			switch old, had := before[path]; {
			case path == "github.com/wavetank/wavetank":
			case !had:
				more = append(more, path+" "+v)
			case old != v:
				newer = append(newer, fmt.Sprintf("%s %s → %s", path, old, v))
			}
		}
		lifted += len(newer)
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s |\n", p[0], p[1], len(before), list(more), list(newer))
	}
	if err := os.WriteFile("docs/modules.md", []byte(b.String()), 0o666); err != nil {
		log.Fatal(err)
	}
	if lifted > 0 {
		log.Fatalf("%d modules are lifted: see docs/modules.md", lifted)
	}
}

func list(modules []string) string {
	if len(modules) == 0 {
		return "none"
	}
	slices.Sort(modules)
	return strings.Join(modules, "<br>")
}

// project makes the project and returns the modules that its go.mod requires, without and with
// Wavetank.
func project(root string, pair [2]string) (before, after map[string]string) {
	dir, err := os.MkdirTemp("", "modules")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	write(dir, "main.go", program)
	write(dir, "suite_test.go", suite)
	write(dir, "go.mod", fmt.Sprintf("module example.com/site\n\ngo 1.26.0\n\nrequire (\n"+
		"\tsigs.k8s.io/controller-runtime %s\n\tk8s.io/api %s\n\tk8s.io/apimachinery %[2]s\n\tk8s.io/client-go %[2]s\n"+
		"\tgithub.com/onsi/ginkgo/v2 v2.27.2\n\tgithub.com/onsi/gomega v1.38.2\n)\n", pair[0], pair[1]))
	run(dir, "mod", "tidy")
	before = required(dir)
	write(dir, "simulation_test.go", simulation)
	run(dir, "mod", "edit", "-require=github.com/wavetank/wavetank@v0.0.0",
		"-replace=github.com/wavetank/wavetank="+root)
	run(dir, "mod", "tidy")
	if compile {
		run(dir, "vet", "./...")
	}
	return before, required(dir)
}

func write(dir, name, text string) {
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		log.Fatal(err)
	}
}

func run(dir string, args ...string) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		log.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func required(dir string) map[string]string {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		log.Fatal(err)
	}
	f, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		log.Fatal(err)
	}
	out := map[string]string{}
	for _, r := range f.Require {
		out[r.Mod.Path] = r.Mod.Version
	}
	return out
}
