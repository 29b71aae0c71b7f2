package main

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/internal/story"
)

// list writes the scenarios and the stored stories of packages.
func list(cmd *cobra.Command, args []string) error {
	packages, err := testPackages(cmd.Context(), orHere(args))
	if err != nil {
		return err
	}
	for _, p := range packages {
		if err := p.list(cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	return nil
}

func (t testPackage) list(out io.Writer) error {
	fmt.Fprintln(out, t.Path)
	found, err := t.scenarios()
	if err != nil {
		return err
	}
	for _, s := range found {
		test := s.Test
		if test == "" {
			test = "(of a suite or a helper)"
		}
		fmt.Fprintf(out, "  %-40s %-16s %s\n", test, s.Call, s.Site)
	}
	tests, err := t.tests()
	if err != nil {
		return err
	}
	paths, err := t.stories()
	if err != nil {
		return err
	}
	for _, path := range paths {
		s, err := story.Read(path)
		if err != nil {
			return err
		}
		orphan := ""
		if name := t.missingTest(path, s, tests); name != "" {
			orphan = fmt.Sprintf(" (nothing replays it: no %s is built here)", name)
		}
		line := fmt.Sprintf("  story %s: %s%s\n", relative(path), s.Headline(), orphan)
		if err := writePrintable(out, line); err != nil {
			return err
		}
	}
	return nil
}

// missingTest is the test that would replay a stored story, if neither it nor the test in whose
// directory the story lies exists; otherwise "".
func (t testPackage) missingTest(path string, s *story.Story, tests []string) string {
	kept, ok := strings.CutPrefix(filepath.ToSlash(path), filepath.ToSlash(t.Dir)+"/testdata/sim/")
	owner, _, _ := strings.Cut(kept, "/")
	name := testIn(s.Replay)
	if !ok || slices.Contains(tests, name) || slices.Contains(tests, owner) {
		return ""
	}
	return name
}

var runs = regexp.MustCompile(`-run '\^([^$/]+)\$`)

// testIn is the test function that a replay command runs, "" if it names none.
func testIn(command string) string {
	if m := runs.FindStringSubmatch(command); m != nil {
		return m[1]
	}
	return ""
}

// orHere is the package patterns, or all packages below the working directory.
func orHere(args []string) []string {
	if len(args) == 0 {
		return []string{"./..."}
	}
	return args
}
