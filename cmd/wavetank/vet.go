package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/wavetank/wavetank/cmd/wavetank/hazard"
)

func vetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "vet [packages]",
		Short: "Find code in reconcilers whose order or outcome no seed can decide",
		Long: "Checks reconcilers and what they call in their own package. It reports writes inside a range over a\n" +
			"map, lists that are made in one and not sorted, goroutines, math/rand/v2, and selects over several\n" +
			"channels. In all code it reports lists of API types that are made in a range over a map and not\n" +
			"sorted. A run of such code may differ from its replay.\n\n" +
			"Outside of package main it also reports http.Transport{} and net.Dialer{}, because such a client\n" +
			"reaches the real network. The exit code is 1 if anything is reported.",
		Example: "  wavetank vet ./internal/controller/...",
		RunE: func(cmd *cobra.Command, args []string) error {
			return vet(cmd, orHere(args))
		},
	}
}

func vet(cmd *cobra.Command, patterns []string) error {
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Context: cmd.Context()}, patterns...)
	if err != nil {
		return err
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return fmt.Errorf("%s does not build: %w", p.PkgPath, e)
		}
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{hazard.Analyzer}, loaded, nil)
	if err != nil {
		return err
	}
	found := false
	for _, a := range graph.Roots {
		if a.Err != nil {
			return errors.Join(errors.New(a.Package.PkgPath), a.Err)
		}
		for _, d := range a.Diagnostics {
			found = true
			at := a.Package.Fset.Position(d.Pos)
			fmt.Fprintf(cmd.OutOrStdout(), "%s:%d: %s\n", relative(at.Filename), at.Line, d.Message)
		}
	}
	if found {
		return errBroke
	}
	return nil
}
