package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/scaffold"
)

func initCommand() *cobra.Command {
	norun := false
	cmd := &cobra.Command{
		Use:   "init [directory]",
		Short: "Write a first test of what main starts, run it, and report what was guessed",
		Long: "Reads the module in the directory: PROJECT, types with SetupWithManager, how main makes the manager\n" +
			"and sets up controllers with it, definitions (config/crd/bases), webhooks (config/webhook), samples\n" +
			"(config/samples) and the environment of config/manager or of a chart. Writes a test for each manager\n" +
			"next to the function that makes it, with all controllers that it starts. A controller that no main\n" +
			"starts has a test of its own; if the tests next to it are Ginkgo's, that is a spec in a package of\n" +
			"its own, simulation, which needs no etcd. What it had to guess is printed. A test that it has written\n" +
			"before is renewed unless it has been edited; no other file is replaced.\n\n" +
			"Then the tests are built and run, and what they say is explained.",
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
	if err := isModule(dir, "wavetank init "); err != nil {
		return err
	}
	project, err := scaffold.Read(dir)
	if err != nil {
		return errors.Join(err, otherModules(dir, "wavetank init "))
	}
	for _, n := range project.Notes {
		fmt.Fprintf(out, "note: %s\n", n)
	}
	var specs []*spec
	for _, process := range project.Processes {
		s, err := newSpec(project, process)
		if err != nil {
			return err
		}
		specs = append(specs, s)
	}
	suite := slices.ContainsFunc(specs, func(s *spec) bool { return s.Suite != "" })
	if err := require(cmd, dir, suite); err != nil { // before anything is written
		return err
	}
	for _, s := range specs {
		if err := s.write(out); err != nil {
			return err
		}
	}
	if err := removeOutdated(out, dir, specs); err != nil {
		return err
	}
	if err := goCommand(cmd.Context(), dir, "mod", "tidy"); err != nil {
		if getTests(cmd, dir, specs) != nil {
			return fmt.Errorf("the tests are written, and they stay. go mod tidy failed, so they cannot be built: "+
				"correct go.mod, and run wavetank init again: %w", err)
		}
		fmt.Fprintf(out, "note: go mod tidy failed, so go get -t has added what the tests import: %v\n", err)
	}
	if !run {
		return nil
	}
	return tryAll(cmd, specs)
}

// spec is the test of a process, and what init may do with its file.
type spec struct {
	*scaffold.Test
	project *scaffold.Project
	process *scaffold.Process
	hosts   []string // for which the test has a guess
	edited  bool     // a person has written or edited the file
}

func newSpec(p *scaffold.Project, process *scaffold.Process) (*spec, error) {
	s := &spec{project: p, process: process}
	if err := s.render(); err != nil {
		return nil, err
	}
	was, err := os.ReadFile(s.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, err
	case !scaffold.Unedited(was):
		s.edited = true
		return s, nil
	}
	s.hosts = scaffold.Hosts(was)
	return s, s.render()
}

func (s *spec) render() (err error) {
	s.Test, err = s.project.Test(s.process, s.hosts...)
	return err
}

// write writes a test, and the suite that it belongs to, unless a person has edited them.
func (s *spec) write(out io.Writer) error {
	if s.Suite != "" {
		was, err := os.ReadFile(s.Suite)
		if err == nil && !scaffold.Unedited(was) {
			fmt.Fprintf(out, "%s has been edited, and stays as it is\n", relative(s.Suite))
		} else if err := writeFile(s.Suite, s.SuiteSource); err != nil {
			return err
		}
	}
	if s.edited {
		fmt.Fprintf(out, "%s has been edited, and stays as it is; remove it to have it written again\n",
			relative(s.File))
		return nil
	}
	did := "written"
	if was, err := os.ReadFile(s.File); err == nil {
		if did = "renewed"; bytes.Equal(was, s.Source) {
			did = "is up to date"
		}
	}
	if err := writeFile(s.File, s.Source); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s\n", relative(s.File), did)
	s.printGuesses(out)
	return nil
}

// removeOutdated removes the tests below a directory that an earlier wavetank init has written at
// another place and that no person has edited: those of specs take their place.
func removeOutdated(out io.Writer, dir string, specs []*spec) error {
	var current []string
	for _, s := range specs {
		current = append(current, s.File, s.Suite)
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && scaffold.IsElsewhere(path, d.Name()):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go") || !d.Type().IsRegular() || slices.Contains(current, path):
			return nil
		}
		was, err := os.ReadFile(path)
		if err != nil || !scaffold.Unedited(was) {
			return err
		}
		fmt.Fprintf(out, "%s: removed, as another test has taken its place\n", relative(path))
		return os.Remove(path)
	})
}

// printGuesses prints the guesses of a test that were not printed before.
func (s *spec) printGuesses(out io.Writer, known ...string) {
	for _, g := range s.Guesses {
		if !slices.Contains(known, g) {
			fmt.Fprintf(out, "  guess: %s\n", g)
		}
	}
}

func writeFile(path string, data []byte) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666))
}

// isModule says what to do where a directory is not the root of a module; command is what the path
// of a module is put behind.
func isModule(dir, command string) error {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return nil
	}
	if others := otherModules(dir, command); others != nil {
		return fmt.Errorf("%s has no go.mod; %w", dir, others)
	}
	for up := filepath.Dir(dir); up != filepath.Dir(up); up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			return fmt.Errorf("%s has no go.mod; it is in the module %s: run %s%[2]s", dir, relative(up), command)
		}
	}
	return fmt.Errorf("%s has no go.mod, and no directory above or below it has one; run wavetank in the root of the "+
		"operator's module", dir)
}

// maxModules is how many modules are named where there are several.
const maxModules = 10

// otherModules says which modules lie below a directory; nil if there are none.
func otherModules(dir, command string) error {
	var found []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") ||
			slices.Contains([]string{"vendor", "testdata", "node_modules"}, d.Name())):
			return fs.SkipDir
		case d.Name() == "go.mod" && filepath.Dir(path) != dir:
			found = append(found, command+relative(filepath.Dir(path)))
		}
		return nil
	})
	if len(found) == 0 {
		return nil
	}
	more := ""
	if n := len(found) - maxModules; n > 0 {
		found, more = found[:maxModules], fmt.Sprintf(", or one of %d others", n)
	}
	return fmt.Errorf("there are other modules below it, name the operator's: %s%s", strings.Join(found, ", or "), more)
}
