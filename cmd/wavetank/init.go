package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/cmd/wavetank/scaffold"
	"github.com/wavetank/wavetank/story"
)

func initCommand() *cobra.Command {
	norun := false
	cmd := &cobra.Command{
		Use:   "init [directory]",
		Short: "Write a first test for each controller of this module, run it, and say what it did",
		Long: "Reads the module in the directory: PROJECT, types with SetupWithManager, how main fills them in\n" +
			"and makes the manager, the schemes that main adds, definitions (config/crd/bases), webhooks\n" +
			"(config/webhook), samples (config/samples) and the environment of config/manager. Writes a test\n" +
			"for each controller beside it; where the tests there are Ginkgo's, a spec in a package of its own,\n" +
			"simulation, which needs no etcd. What it had to guess is printed. No file is replaced.\n\n" +
			"Then each test is run, and what it says is explained.",
		Example: "  wavetank init\n  wavetank init ../operator --no-run",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(strings.Join(args, "")) // of none, or of one
			if err != nil {
				return err
			}
			return initialise(cmd, dir, !norun)
		},
	}
	cmd.Flags().BoolVar(&norun, "no-run", false, "only write the tests")
	return cmd
}

func initialise(cmd *cobra.Command, dir string, run bool) error {
	out := cmd.OutOrStdout()
	if err := isModule(dir); err != nil {
		return err
	}
	project, err := scaffold.Read(dir)
	if err != nil {
		return errors.Join(err, otherModules(dir))
	}
	for _, n := range project.Notes {
		fmt.Fprintf(out, "note: %s\n", n)
	}
	var tests []*scaffold.Test
	isNew := map[string]bool{}
	for _, c := range project.Controllers {
		t, err := project.Test(c)
		if err != nil {
			return err
		}
		if isNew[t.File], err = writeTest(out, t); err != nil {
			return err
		}
		tests = append(tests, t)
	}
	if err := require(cmd, dir, tests); err != nil {
		return err
	}
	if !run {
		return nil
	}
	broke := false
	for i, t := range tests {
		again := func(hosts []string) (*scaffold.Test, error) { return project.Test(project.Controllers[i], hosts...) }
		if !isNew[t.File] {
			again = nil
		}
		failed, err := tryTest(cmd.Context(), out, t, again)
		if err != nil {
			return err
		}
		broke = broke || failed
	}
	if broke {
		return errBroke
	}
	return nil
}

// isModule says what to do where a directory is not the root of a module.
func isModule(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return nil
	}
	if others := otherModules(dir); others != nil {
		return fmt.Errorf("%s has no go.mod; %w", dir, others)
	}
	for up := filepath.Dir(dir); up != filepath.Dir(up); up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			return fmt.Errorf("%s has no go.mod; it is in the module %s: run wavetank init %[2]s", dir, relative(up))
		}
	}
	return fmt.Errorf("%s has no go.mod, and no directory above or below it has one; run wavetank init in the root of "+
		"the operator's module", dir)
}

// otherModules says which modules lie below a directory; nil if there are none.
func otherModules(dir string) error {
	var found []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") ||
			slices.Contains([]string{"vendor", "testdata", "node_modules"}, d.Name())):
			return fs.SkipDir
		case d.Name() == "go.mod" && filepath.Dir(path) != dir:
			found = append(found, "wavetank init "+relative(filepath.Dir(path)))
		}
		return nil
	})
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("there are other modules below it, name the operator's: %s", strings.Join(found, ", or "))
}

// writeTest writes a test, and the suite that it belongs to, unless they are there.
func writeTest(out io.Writer, t *scaffold.Test) (isNew bool, err error) {
	if t.Suite != "" {
		if err := writeNew(t.Suite, t.SuiteSource); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, err
		}
	}
	switch err := writeNew(t.File, t.Source); {
	case errors.Is(err, fs.ErrExist):
		fmt.Fprintf(out, "%s is there already, and stays as it is\n", relative(t.File))
		return false, nil
	case err != nil:
		return false, err
	}
	fmt.Fprintf(out, "%s: written\n", relative(t.File))
	printGuesses(out, t)
	return true, nil
}

func printGuesses(out io.Writer, t *scaffold.Test) {
	for _, g := range t.Guesses {
		fmt.Fprintf(out, "  guess: %s\n", g)
	}
}

// writeNew writes a file that does not exist.
func writeNew(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// require adds the modules that the tests import to go.mod, unless they are there.
func require(cmd *cobra.Command, dir string, tests []*scaffold.Test) error {
	modules := []string{ours}
	if slices.ContainsFunc(tests, func(t *scaffold.Test) bool { return t.Suite != "" }) {
		modules = append(modules, simPackage+"/simginkgo")
	}
	for _, m := range modules {
		if inDir(cmd.Context(), dir, "go", "list", "-m", m) == nil {
			continue
		}
		if err := inDir(cmd.Context(), dir, "go", "get", m+"@"+released()); err != nil {
			return fmt.Errorf("%s is not in go.mod, and go get %[1]s@%s failed: %w", m, released(), err)
		}
	}
	if err := inDir(cmd.Context(), dir, "go", "mod", "tidy"); err != nil {
		return fmt.Errorf("go mod tidy: %w", err)
	}
	return nil
}

// released is the version of the command, for the modules beside it.
func released() string {
	if v, _, _ := strings.Cut(version(), ","); strings.HasPrefix(v, "v") && !strings.Contains(v, "+") {
		return v
	}
	return "latest"
}

func inDir(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(text))
	}
	return nil
}

// advice is what to add to a test when its output says something. $1 and $2 are parts of that.
var advice = []struct {
	said *regexp.Regexp
	todo string
}{
	{regexp.MustCompile(`([A-Za-z.]+) "([^"]+)" not found`),
		`if a user or an installer makes $1 "$2", w.Apply it before w.Settle`},
	{regexp.MustCompile(`no kind is registered for the type ([\w.]+)`), `add $1 to the scheme, as main does`},
	{regexp.MustCompile(`no matches for kind "(\w+)"`), `w.Install the definition of $1`},
	{regexp.MustCompile(`lookup ([\w.-]+)`),
		`declare the host with w.External("$1", handler), and give the operator sim.HTTPClient(mgr)`},
	{regexp.MustCompile(`does not model conversion webhooks`),
		"install a copy of the definition without spec.conversion, and apply objects of the stored version"},
	{regexp.MustCompile(`has no host "([\w.-]+)`),
		`declare the host with w.External("$1", handler); docs/scenarios.md has one`},
	{regexp.MustCompile(`invalid memory address or nil pointer`),
		`fill in the fields of the reconciler that are empty`},
}

// tryTest runs a test, shows what it says, and adds what would help. Where a service outside the
// cluster is asked that the world does not have, the test is written again with a guess at it.
func tryTest(ctx context.Context, out io.Writer, t *scaffold.Test,
	again func(hosts []string) (*scaffold.Test, error)) (failed bool, err error) {
	fmt.Fprintf(out, "\ngo test ./%s -run '^%s$' -v\n", filepath.ToSlash(relative(filepath.Dir(t.File))), t.Name)
	var text string
	for hosts := []string(nil); ; {
		if text, failed, err = runTest(ctx, t); err != nil {
			return false, err
		}
		more := unknownHosts(text)
		more = slices.DeleteFunc(more, func(host string) bool { return slices.Contains(hosts, host) })
		if again == nil || len(more) == 0 {
			break
		}
		hosts = append(hosts, more...)
		if t, err = again(hosts); err != nil {
			return false, err
		}
		if err := os.WriteFile(t.File, t.Source, 0o666); err != nil {
			return false, err
		}
		fmt.Fprintf(out, "  it asks %s: %s is written again\n", strings.Join(more, ", "), relative(t.File))
		printGuesses(out, t)
	}
	for line := range strings.Lines(story.Printable(text)) {
		if !strings.HasPrefix(line, "=== ") && strings.TrimSpace(line) != "" {
			fmt.Fprint(out, "  ", line)
		}
	}
	for _, todo := range advise(text) {
		fmt.Fprintf(out, "  to do: %s\n", todo)
	}
	return failed, nil
}

func runTest(ctx context.Context, t *scaffold.Test) (text string, failed bool, err error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "^"+t.Name+"$", ".")
	cmd.Dir, cmd.Env = filepath.Dir(t.File), append(os.Environ(), "GINKGO_NO_COLOR=TRUE")
	data, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return "", false, err
	}
	return string(data), err != nil, nil
}

var unknownHost = regexp.MustCompile(`the world has no host "([\w.:-]+)"`)

// unknownHosts are the services outside the cluster that a test asked and its world does not have.
func unknownHosts(text string) (hosts []string) {
	for _, m := range unknownHost.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(hosts, m[1]) {
			hosts = append(hosts, m[1])
		}
	}
	return hosts
}

// advise is what would help a test that says this, each once.
func advise(text string) (out []string) {
	for _, a := range advice {
		for _, m := range a.said.FindAllStringSubmatchIndex(text, -1) {
			todo := string(a.said.ExpandString(nil, a.todo, text, m))
			if !slices.Contains(out, todo) && len(out) < 5 {
				out = append(out, todo)
			}
		}
	}
	return out
}
