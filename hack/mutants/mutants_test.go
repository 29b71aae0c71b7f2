package mutants

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	all  = flag.Bool("mutants.all", false, "try all mutants, not only the quick one")
	only = flag.String("mutants.only", "", "operator/mistake: try mutants of the operator whose mistake contains this")
	runs = flag.String("mutants.runs", "100", "runs of each set of properties")
)

func examples(t *testing.T, operator string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("../../examples", operator))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Each mutant is seen by the sets of properties that the table says, and by no other.
func TestMutants(t *testing.T) {
	copies := map[string]string{} // of modules, so that what no mutant changes is compiled once
	base := t.TempDir()
	for _, m := range Mutants {
		if !selected(m) {
			continue
		}
		t.Run(m.Operator+"/"+m.Mistake, func(t *testing.T) {
			args := overlay(t, m, nil)
			if m.Module != "" {
				if copies[m.Module] == "" {
					copies[m.Module] = copied(t, m, filepath.Join(base, "module"))
				}
				args = replaced(t, m, copies[m.Module])
			}
			seen := judged(t, m, args)
			t.Logf("seen by: %s", seen)
			if a, b := names(seen), names(m.Seen); a != b {
				t.Errorf("the mutant is seen by %q, the table says %q", a, b)
			}
		})
	}
}

// selected reports whether the flags select a mutant.
func selected(m Mutant) bool {
	if *only == "" {
		return *all || m.Quick
	}
	operator, mistake, _ := strings.Cut(*only, "/")
	return *all || m.Operator == operator && strings.Contains(m.Mistake, mistake)
}

// The edits of all mutants fit the operators as they are, and what comes of them is Go.
func TestEditsFit(t *testing.T) {
	for _, m := range Mutants {
		dir := examples(t, m.Operator)
		if m.Module != "" {
			dir = released(t, m)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.File, mutated(t, m, dir), 0); err != nil {
			t.Errorf("%s, %s: %v", m.Operator, m.Mistake, err)
		}
	}
	for _, m := range InControllers {
		if _, err := parser.ParseFile(token.NewFileSet(), m.File, mutated(t, m, controllers), 0); err != nil {
			t.Errorf("%s, %s: %v", m.Operator, m.Mistake, err)
		}
	}
}

// names are the sets without their runs.
func names(seen string) string { return regexp.MustCompile(` \(run \d+\)`).ReplaceAllString(seen, "") }

// mutated is the file with its edits.
func mutated(t *testing.T, m Mutant, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, m.File))
	if err != nil {
		t.Fatal(err)
	}
	source := string(data)
	for _, e := range m.Edits {
		if n := strings.Count(source, e.Old); n != 1 {
			t.Fatalf("%s has %q %d times, not once", m.File, e.Old, n)
		}
		source = strings.Replace(source, e.Old, e.New, 1)
	}
	return source
}

// overlay are arguments of the go command with which a file of the operator's own module is the
// mutant's, and there are other files besides.
func overlay(t *testing.T, m Mutant, more map[string]string) []string {
	t.Helper()
	if m.Module != "" {
		return nil
	}
	return overlayIn(t, m, examples(t, m.Operator), more)
}

// overlayIn does so for a file below a directory.
func overlayIn(t *testing.T, m Mutant, dir string, more map[string]string) []string {
	t.Helper()
	tmp := t.TempDir()
	file, list := filepath.Join(tmp, "mutant.go"), filepath.Join(tmp, "overlay.json")
	write(t, file, mutated(t, m, dir))
	replace := map[string]string{filepath.Join(dir, m.File): file}
	for name, path := range more {
		replace[filepath.Join(dir, name)] = path
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	write(t, list, string(data))
	return []string{"-overlay", list}
}

// released is where the module cache has the module of a mutant.
func released(t *testing.T, m Mutant) string {
	t.Helper()
	var module struct{ Dir string }
	out := command(t, examples(t, m.Operator), "go", "mod", "download", "-json", m.Module)
	if err := json.Unmarshal([]byte(out), &module); err != nil {
		t.Fatal(err)
	}
	return module.Dir
}

// copied copies the module of a mutant out of the module cache, whose files no overlay may replace.
func copied(t *testing.T, m Mutant, to string) string {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(released(t, m))); err != nil {
		t.Fatal(err)
	}
	return to
}

// replaced are arguments of the go command with which the mutant's module is the copy.
func replaced(t *testing.T, m Mutant, dir string) []string {
	t.Helper()
	file, tmp := filepath.Join(dir, m.File), t.TempDir()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	source := mutated(t, m, dir)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, file, source)
	t.Cleanup(func() { write(t, file, string(before)) })
	mod := filepath.Join(tmp, "go.mod")
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(examples(t, m.Operator), name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(tmp, name), string(data))
	}
	command(t, tmp, "go", "mod", "edit", "-replace", m.Module+"="+dir, mod)
	return []string{"-modfile", mod}
}

var broken = regexp.MustCompile(`run (\d+) breaks "`)

// judged builds the operator's tests with the mutant and says which sets see it.
func judged(t *testing.T, m Mutant, args []string) string {
	t.Helper()
	bin, dir := filepath.Join(t.TempDir(), "mutant.test"), examples(t, m.Operator)
	command(t, dir, "go", append(append([]string{"test", "-c", "-o", bin}, args...), m.Package)...)
	test := exec.Command(bin, "-test.run", "^TestEachProperty$", "-test.v", "-test.timeout", "0",
		"-sim.runs", *runs, "-sim.for", "0", "-sim.shrink", "0")
	test.Dir = filepath.Join(dir, m.Package)
	out, err := test.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var set string
	var seen []string
	tried := 0
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "=== RUN   TestEachProperty/"); ok {
			set = strings.ReplaceAll(name, "_", " ")
			tried++
		}
		if found := broken.FindStringSubmatch(line); found != nil {
			t.Log(strings.TrimSpace(line))
			seen = append(seen, fmt.Sprintf("%s (run %s)", set, found[1]))
		}
	}
	if tried == 0 || err != nil && len(seen) == 0 {
		t.Fatalf("the test of the mutant did not judge it: %v\n%s", err, out)
	}
	return strings.Join(seen, ", ")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if strings.Contains(filepath.ToSlash(dir), "/examples/") {
		cmd.Env = append(os.Environ(), "GOWORK=off") // they are no modules of the workspace
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, complaints.String())
	}
	return string(out)
}
