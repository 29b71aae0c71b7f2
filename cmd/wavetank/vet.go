package main

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/hazard"
)

func vetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "vet [packages]",
		Short: "Find code in reconcilers whose order or outcome no seed can decide",
		Long: "Checks reconcilers and what they call in their own package. It reports writes inside a range over a\n" +
			"map, lists that are made in one and not sorted, goroutines, math/rand/v2, and selects over several\n" +
			"channels. In all code it reports lists of API types that are made in a range over a map and not\n" +
			"sorted. A run of such code may differ from its replay.\n\n" +
			"It names package variables that setup functions and reconcilers write, in the whole module. They\n" +
			"outlive a crash in a run, because all processes of a run share the test binary.\n\n" +
			"Outside of package main it also reports http.Transport{} and net.Dialer{}, because such a client\n" +
			"reaches the real network. The exit code is 1 if anything is reported.",
		Example: "  wavetank vet ./internal/controller/...",
		RunE: func(cmd *cobra.Command, args []string) error {
			return vet(cmd, orHere(args))
		},
	}
}

func vet(cmd *cobra.Command, patterns []string) error {
	loaded, asked, err := loadModule(cmd.Context(), patterns)
	if err != nil {
		return err
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{hazard.Analyzer}, asked, nil)
	if err != nil {
		return err
	}
	found := false
	report := func(at token.Position, message string) {
		found = true
		fmt.Fprintln(cmd.OutOrStdout(), located(at, message))
	}
	for _, a := range graph.Roots {
		if a.Err != nil {
			return errors.Join(errors.New(a.Package.PkgPath), a.Err)
		}
		for _, d := range a.Diagnostics {
			report(a.Package.Fset.Position(d.Pos), d.Message)
		}
	}
	for _, o := range hazard.WrittenVariables(loaded) {
		report(o.At, o.Message())
	}
	if found {
		return errBroke
	}
	return nil
}

// located is a message with the place that it is about.
func located(at token.Position, message string) string {
	return fmt.Sprintf("%s:%d: %s", relative(at.Filename), at.Line, message)
}

// engine are the parts of Wavetank that test binaries contain. They are not the operator's code,
// even where both are in one workspace.
var engine = regexp.MustCompile("^github.com/wavetank/wavetank/(sim|models|history|story|internal)(/|$)")

// loadModule loads packages, and the code of the main modules that they and their tests are built
// from. Asked are those that were named.
func loadModule(ctx context.Context, patterns []string) (loaded, asked []*packages.Package, err error) {
	all, err := goList(ctx, append([]string{"-deps", "-test"}, patterns...)...)
	if err != nil {
		return nil, nil, err
	}
	named := map[string]bool{}
	var paths []string
	for _, p := range all {
		madeForTest := p.ForTest != "" || strings.HasSuffix(p.ImportPath, ".test")
		if p.Module.Main && !madeForTest && !engine.MatchString(p.ImportPath) {
			paths = append(paths, p.ImportPath)
			named[p.ImportPath] = !p.DepOnly
		}
	}
	if len(paths) == 0 {
		return nil, nil, fmt.Errorf("no package among %s is of this module", strings.Join(patterns, " "))
	}
	if loaded, err = packages.Load(&packages.Config{Mode: packages.LoadSyntax, Context: ctx}, paths...); err != nil {
		return nil, nil, err
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, nil, fmt.Errorf("%s does not build: %w", p.PkgPath, e)
		}
		if named[p.PkgPath] {
			asked = append(asked, p)
		}
	}
	return loaded, asked, nil
}

// outliving begins to look for package variables that outlive a crash, and returns what waits for
// the result: a line for each. Code that cannot be looked at gives none, as wavetank vet says why.
func outliving(ctx context.Context, patterns []string) func() []string {
	lines := make(chan []string, 1)
	go func() {
		var out []string
		loaded, _, err := loadModule(ctx, patterns)
		if err == nil {
			for _, o := range hazard.WrittenVariables(loaded) {
				out = append(out, located(o.At, o.Message()))
			}
		}
		lines <- out
	}()
	return func() []string { return <-lines }
}
