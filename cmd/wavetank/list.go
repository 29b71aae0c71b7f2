package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/sim/story"
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
				paths, err := p.stories()
				if err != nil {
					return err
				}
				for _, path := range paths {
					s, err := story.Read(path)
					if err != nil {
						return err
					}
					fmt.Fprintf(out, "  story %s: %s\n", relative(path), s.Headline())
				}
			}
			return nil
		},
	}
}

// orHere is the package patterns, or all packages below the working directory.
func orHere(args []string) []string {
	if len(args) == 0 {
		return []string{"./..."}
	}
	return args
}
