package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/story"
)

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list [packages]",
		Short:   "List the scenarios and the kept stories of packages",
		Example: "  wavetank list ./...",
		RunE: func(cmd *cobra.Command, args []string) error {
			packages, err := testPackages(cmd.Context(), orHere(args))
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			for _, p := range packages {
				fmt.Fprintln(out, p.Path)
				found, err := p.scenarios()
				if err != nil {
					return err
				}
				for _, s := range found {
					test := s.Test
					if test == "" {
						test = "(a suite's)"
					}
					fmt.Fprintf(out, "  %-40s %-16s %s\n", test, s.Call, s.Site)
				}
				tests, err := p.tests()
				if err != nil {
					return err
				}
				paths, err := p.stories()
				if err != nil {
					return err
				}
				for _, path := range paths {
					s, err := story.Read(path)
					if err != nil {
						return err
					}
					orphan := ""
					kept, ok := strings.CutPrefix(filepath.ToSlash(path), filepath.ToSlash(p.Dir)+"/testdata/sim/")
					where, _, _ := strings.Cut(kept, "/") // the test in whose directory it lies plays it, too
					if name := testIn(s.Replay); ok && name != "" && !slices.Contains(tests, name) && !slices.Contains(tests, where) {
						orphan = fmt.Sprintf(" (nothing plays it: no %s is built here)", name)
					}
					fmt.Fprintf(out, "  story %s: %s%s\n", relative(path), s.Headline(), orphan)
				}
			}
			return nil
		},
	}
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
