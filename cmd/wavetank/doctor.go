package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"
)

// The versions that Wavetank was tested with, at least.
const (
	leastGo      = "go1.26"
	leastRuntime = "v0.23.3"
	leastClient  = "v0.35.0"
	newestMinor  = "v0.25" // of controller-runtime
	newestClient = "v0.37"
)

// finding is the result of one check.
type finding struct {
	what string // was checked
	fine bool
	note string // what it is, or what is missing and how to get it
}

func doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor [packages]",
		Short: "Say what is missing for simulated tests of this module, and how to get it",
		RunE: func(cmd *cobra.Command, args []string) error {
			findings := examine(cmd, orHere(args))
			return printFindings(cmd.OutOrStdout(), findings)
		},
	}
}

func printFindings(out io.Writer, findings []finding) error {
	missing := 0
	for _, f := range findings {
		mark := "ok     "
		if !f.fine {
			mark = "MISSING"
			missing++
		}
		fmt.Fprintf(out, "%s  %-20s %s\n", mark, f.what, f.note)
	}
	if missing > 0 {
		return fmt.Errorf("%d of %d things are missing", missing, len(findings))
	}
	return nil
}

func examine(cmd *cobra.Command, patterns []string) []finding {
	var out []finding
	version, err := output(cmd, "go", "env", "GOVERSION")
	if err != nil {
		return []finding{{"go", false, "the go command is not on the path: see https://go.dev/doc/install"}}
	}
	note := fmt.Sprintf("%s (%s or newer is needed, for testing/synctest; \"go get go@latest\" updates a module)",
		version, leastGo)
	out = append(out, finding{"go", semver.Compare(asSemver(version), asSemver(leastGo)) >= 0, note})
	if err := outsideOfModules(cmd); err != nil {
		return append(out, finding{"module", false, err.Error()})
	}
	for _, m := range []struct{ path, least, newest string }{
		{ours, "", ""},
		{"sigs.k8s.io/controller-runtime", leastRuntime, newestMinor},
		{"k8s.io/client-go", leastClient, newestClient},
	} {
		out = append(out, module(cmd, m.path, m.least, m.newest))
	}
	out = append(out, apiServer(cmd))
	out = append(out, environment(cmd)...)
	out = append(out, scenarios(cmd, patterns)...)
	cgo, _ := output(cmd, "go", "env", "CGO_ENABLED")
	cc, _ := output(cmd, "go", "env", "CC")
	compiler := "for go test -race"
	if words := strings.Fields(cc); cgo != "1" || len(words) == 0 || !installed(words[0]) {
		compiler = "none, which only go test -race needs: install gcc, or set CGO_ENABLED=1"
	}
	if strings.Contains(strings.Join(patterns, " "), "...") {
		note := "wavetank vet " + strings.Join(patterns, " ") + " looks for what no seed can decide"
		out = append(out, finding{"hazards", true, note})
	}
	return append(out, finding{"C compiler", true, compiler})
}

// outsideOfModules reports where a module is if this directory is in none; nil if it is in one.
func outsideOfModules(cmd *cobra.Command) error {
	mod, err := output(cmd, "go", "env", "GOMOD")
	work, _ := output(cmd, "go", "env", "GOWORK")
	if err != nil || mod != "" && mod != os.DevNull || work != "" && work != "off" {
		return nil
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	return isModule(here, "cd ")
}

// whyNone says why no scenario was found, and what to do. What the go command says comes after our
// own line.
func whyNone(message string) string {
	first, said, _ := strings.Cut(message, "\n")
	for _, c := range []struct{ said, todo string }{
		{"no required module provides", "go.mod lacks a module that the code imports, and -mod=readonly keeps " +
			"go from adding it: go get it, or go mod tidy"},
		{"updates to go.mod needed", "go.mod is incomplete, and -mod=readonly keeps it so: go mod tidy"},
		{"missing go.sum entry", "go.sum is incomplete: go mod tidy"},
		{"inconsistent vendoring", "vendor/ is older than go.mod: go mod vendor"},
	} {
		if strings.Contains(said, c.said) {
			return c.todo
		}
	}
	if said != "" {
		return firstLine(said)
	}
	return first + "; wavetank init writes a first one for each controller"
}

// hiddenPackage is what the go command says of an import that it refuses, with the package and what
// stands before internal/.
var hiddenPackage = regexp.MustCompile(`use of internal package ((\S+?)/internal(?:/\S*)?) not allowed`)

// scenarios says which packages have scenarios, and where a module of tests of its own would have
// to lie. To stay fast, it asks the go command about no package without such a test.
func scenarios(cmd *cobra.Command, patterns []string) []finding {
	all, err := goList(cmd.Context(), append([]string{"-e"}, patterns...)...)
	var testing []string
	for _, p := range all {
		if slices.ContainsFunc(slices.Concat(p.TestImports, p.XTestImports), func(path string) bool {
			return path == simPackage || strings.HasPrefix(path, simPackage+"/")
		}) {
			testing = append(testing, p.ImportPath)
		}
	}
	if err == nil && len(testing) == 0 {
		err = noScenario(patterns)
	}
	if err == nil {
		_, err = goList(cmd.Context(), append([]string{"-test"}, testing...)...)
	}
	var out []finding
	switch hidden := hiddenPackage.FindStringSubmatch(fmt.Sprint(err)); {
	case hidden != nil:
		out = append(out, finding{"internal packages", false, fmt.Sprintf("%s may be imported by modules whose path "+
			"lies below %s only: write \"module %s/simulation\" into go.mod; its directory may be anywhere",
			hidden[1], hidden[2], hidden[2])})
	case err != nil:
		out = append(out, finding{"scenarios", false, whyNone(err.Error())})
	case len(testing) == 1:
		out = append(out, finding{"scenarios", true, "the tests of " + testing[0] + " import sim"})
	default:
		note := fmt.Sprintf("%d packages have tests that import sim", len(testing))
		out = append(out, finding{"scenarios", true, note})
	}
	return append(out, internalPackages(all)...)
}

// internalPackages says where a module of tests of its own would have to lie, if this one has
// controllers below internal/.
func internalPackages(all []listed) []finding {
	for _, p := range all {
		before, _, below := strings.Cut(p.ImportPath, "/internal/")
		if below && strings.Contains(p.ImportPath, "controller") {
			note := fmt.Sprintf("tests of this module may import %s; so may those of another one with a path below "+
				"%s, such as %s/simulation", p.ImportPath, before, before)
			return []finding{{"internal packages", true, note}}
		}
	}
	return nil
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// module says which version of a module the build uses.
func module(cmd *cobra.Command, path, least, newest string) finding {
	get := "go get " + path + "@latest"
	data, err := output(cmd, "go", "list", "-m", "-json", path)
	var m struct {
		Version string
		Main    bool
		Replace *struct{ Path, Version string }
	}
	if err != nil || json.Unmarshal([]byte(data), &m) != nil {
		return finding{path, false, "this module does not require it: " + get}
	}
	if m.Main {
		return finding{path, true, "the module itself"}
	}
	version, note := m.Version, m.Version
	if r := m.Replace; r != nil && path != ours {
		by := r.Path
		if by == path {
			by = "a replace line"
		}
		version, note = r.Version, fmt.Sprintf("%s (by %s; go.mod requires %s)", r.Version, by, m.Version)
		if version == "" {
			return finding{path, true, fmt.Sprintf("%s is replaced by the directory %s, whose version is not known: "+
				"if a test fails in it, take the replace line out", m.Version, r.Path)}
		}
	}
	switch {
	case least != "" && semver.Compare(version, least) < 0:
		todo := get
		if m.Replace != nil {
			todo = "correct the replace line"
		}
		return finding{path, false, fmt.Sprintf("%s is older than %s: %s; or put the tests into a module of their own",
			note, least, todo)}
	case least != "" && semver.Compare(semver.MajorMinor(version), newest) > 0:
		return finding{path, true, fmt.Sprintf("%s is newer than %s, the newest that was tried", note, newest)}
	}
	return finding{path, true, note}
}

// environment lists what affects versions in addition to go.mod.
func environment(cmd *cobra.Command) (out []finding) {
	if workspace, _ := output(cmd, "go", "env", "GOWORK"); workspace != "" && workspace != "off" {
		note := workspace + " decides about versions; GOWORK=off uses those of go.mod alone"
		out = append(out, finding{"workspace", true, note})
	}
	mod, _ := output(cmd, "go", "env", "GOMOD")
	flags, _ := output(cmd, "go", "env", "GOFLAGS")
	vendored := filepath.Join(filepath.Dir(mod), "vendor", "modules.txt")
	if _, err := os.Stat(vendored); err == nil && !strings.Contains(flags, "-mod=") {
		if data, _ := os.ReadFile(vendored); !strings.Contains(string(data), simPackage+"\n") {
			out = append(out, finding{"vendored tree", false, "vendor/ lacks " + simPackage +
				": go get " + ours + "@latest, write a test that imports it, then go mod vendor"})
		}
	}
	return out
}

// apiServer says which API server the world has.
func apiServer(cmd *cobra.Command) finding {
	note := "modelled on that of Kubernetes 1.37"
	version, err := output(cmd, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/api")
	if minor := semver.MajorMinor(version); err == nil && minor != "" && minor != "v0.37" {
		note += fmt.Sprintf(", with validation and defaults of your k8s.io/api %s; models/apiserver/FIDELITY.md "+
			"lists what differs from a server of that version", version)
	}
	return finding{"API server", true, note}
}

func output(cmd *cobra.Command, name string, args ...string) (string, error) {
	data, err := exec.CommandContext(cmd.Context(), name, args...).Output()
	return strings.TrimSpace(string(data)), err
}

// asSemver is a Go version as a semantic one.
func asSemver(v string) string {
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "go"), " ")
	return "v" + v
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
