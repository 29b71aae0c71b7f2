package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/scaffold"
	"github.com/wavetank/wavetank/internal/story"
)

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

// trial is a test with the specs that it runs: one, or those of a suite.
type trial struct {
	dir, name string
	specs     []*spec
}

// trials are the tests of specs, each once.
func trials(specs []*spec) (out []*trial) {
	for _, s := range specs {
		dir := filepath.Dir(s.File)
		i := slices.IndexFunc(out, func(t *trial) bool { return t.dir == dir && t.name == s.Name })
		if i < 0 {
			i = len(out)
			out = append(out, &trial{dir: dir, name: s.Name})
		}
		out[i].specs = append(out[i].specs, s)
	}
	return out
}

// trier builds and runs tests.
type trier struct {
	cmd      *cobra.Command
	tmp      string
	binaries map[string]string // by directory
	builds   int
}

// tryAll runs the tests of specs, shows what they say, and adds what would help.
func tryAll(cmd *cobra.Command, specs []*spec) error {
	tmp, err := os.MkdirTemp("", "wavetank")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	r := &trier{cmd: cmd, tmp: tmp, binaries: map[string]string{}}
	var bad []error
	broke := false
	for _, t := range trials(specs) {
		failed, err := r.try(t)
		if cmd.Context().Err() != nil {
			fmt.Fprintln(cmd.OutOrStdout(),
				"interrupted: the tests that are written stay; wavetank init continues with them")
			return errInterrupted
		}
		bad = append(bad, err)
		broke = broke || failed
	}
	if err := errors.Join(bad...); err != nil {
		return err
	}
	if broke {
		return errBroke
	}
	return nil
}

// try runs a test. If it asks a service outside the cluster that its world does not have, the test
// is written again with a guess at the service.
func (t *trier) try(test *trial) (failed bool, err error) {
	out := t.cmd.OutOrStdout()
	fmt.Fprintf(out, "\ngo test ./%s -run '^%s$' -v %s\n", filepath.ToSlash(relative(test.dir)), test.name, forBreadth)
	var text string
	for again := true; again; {
		if text, failed, err = t.run(test); err != nil {
			return false, err
		}
		again = false
		for _, s := range test.specs {
			hosts := slices.DeleteFunc(unknownHosts(text), func(h string) bool { return slices.Contains(s.hosts, h) })
			if s.edited || len(hosts) == 0 {
				continue
			}
			s.hosts = append(s.hosts, hosts...)
			known := s.Guesses
			if err := errors.Join(s.render(), writeFile(s.File, s.Source)); err != nil {
				return false, err
			}
			fmt.Fprintf(out, "  it asks %s: %s is written again\n", strings.Join(hosts, ", "), relative(s.File))
			s.printGuesses(out, known...)
			again = true
		}
		if again {
			delete(t.binaries, test.dir)
		}
	}
	for line := range strings.Lines(story.Printable(text)) {
		if !strings.HasPrefix(line, "=== ") && strings.TrimSpace(line) != "" {
			fmt.Fprint(out, "  ", line)
		}
	}
	for _, s := range test.specs {
		for _, why := range blamed(text, test.dir, s.Empty) {
			fmt.Fprintf(out, "  this says nothing about the operator: %s. Write its value into %s\n", why,
				relative(s.File))
		}
		for _, line := range valuesBlamed(text, s.Test) {
			fmt.Fprintf(out, "  %s\n", line)
		}
	}
	for _, todo := range advise(text) {
		fmt.Fprintf(out, "  to do: %s\n", todo)
	}
	return failed, nil
}

// run runs a test once, after its package is built.
func (t *trier) run(test *trial) (text string, failed bool, err error) {
	ctx := t.cmd.Context()
	binary := t.binaries[test.dir]
	if binary == "" {
		binary = filepath.Join(t.tmp, fmt.Sprintf("%d.test", t.builds))
		t.builds++
		root := test.specs[0].project.Root
		pkg, err := filepath.Rel(root, test.dir)
		if err != nil {
			return "", false, err
		}
		b := testBinary{dir: root, pkg: "./" + filepath.ToSlash(pkg), path: binary}
		if err := compile(ctx, t.cmd.ErrOrStderr(), b); err != nil {
			return "", false, err
		}
		t.binaries[test.dir] = binary
	}
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.timeout=10m", "-test.run=^"+test.name+"$", forBreadth)
	cmd.Dir, cmd.Env = test.dir, append(os.Environ(), "GINKGO_NO_COLOR=TRUE")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = runInGroup(ctx, cmd)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return "", false, err
	}
	return said.String(), err != nil, nil
}

// forBreadth gives the first run of a test the time for 100 runs: later, go test makes fewer.
var forBreadth = fmt.Sprintf("-sim.for=%.0fs", breadth.Seconds())

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

var nilAt = regexp.MustCompile(`([\w./-]+\.go):(\d+)`)

// blamed are the reasons for a test that dereferences nil, if a line that it names reads something
// that the test leaves empty.
func blamed(text, dir string, empty []scaffold.Empty) (why []string) {
	if len(empty) == 0 || !strings.Contains(text, "nil pointer dereference") && !strings.Contains(text, "nil map") {
		return nil
	}
	for _, m := range nilAt.FindAllStringSubmatch(text, -1) {
		line := sourceLine(dir, m[1], m[2])
		for _, e := range empty {
			if named, err := regexp.MatchString(`(?i)\b`+regexp.QuoteMeta(e.Name)+`\b`, line); err == nil && named &&
				!slices.Contains(why, e.Why) {
				why = append(why, e.Why)
			}
		}
	}
	return why
}

var setupFailed = regexp.MustCompile(`the setup function of process "[^"]*" failed(?: in incarnation \d+)?: (.*)`)

// valuesBlamed says that the values which the test has are to blame, if the operator's setup
// refuses them: flags have their defaults, and variables are guesses.
func valuesBlamed(text string, t *scaffold.Test) (lines []string) {
	m := setupFailed.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	lines = []string{fmt.Sprintf("this says nothing about the operator: its setup fails with the values that the test "+
		"has (%s). Flags have their defaults there. Write the values with which it is deployed into %s", m[1],
		relative(t.File))}
	for _, g := range t.Guesses {
		lines = append(lines, "the guess may be to blame: "+g)
	}
	return lines
}

// sourceLine is a line of a file that a test in a directory has named; "" if there is none.
func sourceLine(dir, file, number string) string {
	n, _ := strconv.Atoi(number)
	for at := dir; ; at = filepath.Dir(at) {
		path := file
		if !filepath.IsAbs(file) {
			path = filepath.Join(at, file)
		}
		data, err := os.ReadFile(path)
		if lines := strings.Split(string(data), "\n"); err == nil && n > 0 && n <= len(lines) {
			return lines[n-1]
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
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
