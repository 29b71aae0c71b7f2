package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/internal/story"
)

// replayer replays stories. It builds the tests of a package once for all of its stories.
type replayer struct {
	cmd    *cobra.Command
	extra  []string          // flags of each test
	tmp    string            // for what is needed on the way
	builds map[string]*built // by package and flags
}

// built is a test binary, and the directory of its package.
type built struct {
	path, dir string
	err       error // it does not build
}

func newReplayer(cmd *cobra.Command, extra []string) (*replayer, error) {
	tmp, err := os.MkdirTemp("", "wavetank")
	return &replayer{cmd: cmd, extra: extra, tmp: tmp, builds: map[string]*built{}}, err
}

func (r *replayer) close() { os.RemoveAll(r.tmp) }

// replay replays a story and returns what its test says of it, by lines. The output of the test
// goes to out. If out is nil, it is shown only if the story was not replayed.
func (r *replayer) replay(path string, out io.Writer) ([]string, error) {
	args, err := replayArgs(path, r.extra)
	if err != nil {
		return nil, err
	}
	if at := slices.Index(args, overlaid); at >= 0 {
		made, err := overlay(filepath.Join(r.tmp, "overlay"))
		if err != nil {
			return nil, err
		}
		args[at] = "-overlay=" + made
	}
	binary, err := r.build(path, args)
	if err != nil {
		return nil, fmt.Errorf("%s was not replayed: %w", path, err)
	}
	ctx := r.cmd.Context()
	test := exec.CommandContext(ctx, binary.path, ofBinary(args)...)
	test.Dir = binary.dir
	var silent bytes.Buffer
	test.Stdout, test.Stderr = &silent, &silent
	if out != nil {
		fmt.Fprintf(out, "go %s\n", shellquote.Join(args...))
		test.Stdout, test.Stderr = out, r.cmd.ErrOrStderr()
	}
	replayed := filepath.Join(r.tmp, "replayed")
	if err := os.RemoveAll(replayed); err != nil {
		return nil, err
	}
	test.Env = append(os.Environ(), "WAVETANK_REPLAYED="+replayed, "TMPDIR="+r.tmp)
	if out == nil {
		test.Env = append(test.Env, "SIM_DRIFT=warn") // the lines say it
	}
	err = runInGroup(ctx, test)
	text, _ := os.ReadFile(replayed)
	said := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	switch {
	case ctx.Err() != nil:
		return nil, errInterrupted
	case err == nil && len(text) > 0, slices.ContainsFunc(said, isOutcome):
		return said, nil
	}
	if err != nil {
		fmt.Fprint(r.cmd.ErrOrStderr(), story.Printable(silent.String()))
		return nil, fmt.Errorf("%s was not replayed: go test: %w", path, err)
	}
	return nil, fmt.Errorf("%s was not replayed: %w", path, errNoTest)
}

// isOutcome reports whether a line is the outcome of a story. A test may fail after it, for example
// because the campaign of a sim.Explore has found nothing.
func isOutcome(line string) bool {
	return line == "broke" || strings.HasSuffix(line, "estimated") || strings.HasSuffix(line, "confirmed")
}

// build makes the test binary of a story's package, unless an earlier story has needed it.
func (r *replayer) build(path string, args []string) (*built, error) {
	b := testBinary{dir: directory(path, args[1]), pkg: args[1]}
	for _, arg := range args {
		if isBuildFlag(arg) {
			b.flags = append(b.flags, arg)
		}
	}
	key := fmt.Sprintf("%q", append([]string{b.dir, b.pkg}, b.flags...))
	if made := r.builds[key]; made != nil {
		return made, made.err
	}
	b.path = filepath.Join(r.tmp, fmt.Sprintf("%d.test", len(r.builds)))
	made := &built{path: b.path}
	r.builds[key] = made
	list := exec.CommandContext(r.cmd.Context(), "go", "list", "-e", "-f", "{{.Dir}}", b.pkg)
	list.Dir = b.dir
	dir, err := list.Output()
	if made.dir = strings.TrimSpace(string(dir)); err != nil {
		made.err = fmt.Errorf("go list %s: %w", b.pkg, err)
	} else if made.err = compile(r.cmd.Context(), r.cmd.ErrOrStderr(), b); made.err == nil {
		if _, err := os.Stat(made.path); err != nil {
			made.err = errNoTest // go test builds nothing for a package without tests
		}
	}
	return made, made.err
}

func isBuildFlag(arg string) bool {
	return arg == "-race" || strings.HasPrefix(arg, "-tags=") || strings.HasPrefix(arg, "-overlay=")
}

// ofBinary are the arguments of go test as its test binary takes them.
func ofBinary(args []string) (out []string) {
	for _, arg := range args[2:] {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case isBuildFlag(arg):
		case slices.Contains([]string{"-run", "-count", "-v", "-timeout"}, name):
			out = append(out, "-test."+arg[1:])
		default:
			out = append(out, arg)
		}
	}
	return out
}
