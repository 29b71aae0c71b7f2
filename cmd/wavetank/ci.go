package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
)

func ciCommand() *cobra.Command {
	o := options{keepGoing: true, breadth: breadth}
	cmd := &cobra.Command{
		Use:   "ci [packages]",
		Short: "Do what a CI job wants: replay kept stories, search, and leave pages, stories and a summary",
		Long: "Does what wavetank run --keep-going does, which replays the stories under testdata/sim first.\n" +
			"Without --runs and --for a scenario makes the runs that its test asks for, 100 by default, in at most\n" +
			"60 s of CPU time. Then it leaves in --report, whatever was found:\n\n" +
			"  index.html     pages of the campaigns, and a timeline of each run\n" +
			"  stories/       the shortest story of each cause; put one under testdata/sim to keep it\n" +
			"  junit.xml      a suite for each package\n" +
			"  summary.md     Markdown, with a sequence diagram of each run\n\n" +
			"In a job of GitHub Actions it also prints annotations and adds to the job's summary. The exit code is\n" +
			"that of wavetank run.",
		Example: "  wavetank ci ./... --for 2m\n  wavetank ci ./internal/controller --for 1h --seed random",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if err := errors.Join(ignoreDefault(cmd, "report", o.report), forget(o.report)); err != nil {
				return err
			}
			broke := o.run(cmd.Context(), orHere(args), cmd.OutOrStdout(), cmd.ErrOrStderr())
			if broke != nil && !errors.Is(broke, errBroke) && !errors.Is(broke, errInterrupted) {
				return broke
			}
			if err := o.leave(cmd); err != nil {
				return err
			}
			return broke
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.report, "report", "wavetank-report", "directory for what is left")
	return cmd
}

// forget removes the stories that an earlier job has kept, and nothing that is no story: --report
// may name a directory with files of the user's.
func forget(report string) error {
	paths, err := story.List(filepath.Join(report, storiesDir))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if _, bad := story.Read(path); bad != nil {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// leave writes what the campaigns come to in the forms that CI systems show.
func (o *options) leave(cmd *cobra.Command) error {
	results, err := mergeDir(selection{newest: true}, o.report)
	if err != nil {
		return err
	}
	if _, err := keep(results, o.report); err != nil {
		return err
	}
	if _, err := reports.WriteIndex(o.report, reports.Front{Title: "Wavetank", Parts: warnings(o.report)}); err != nil {
		return err
	}
	suites, err := reports.JUnit(results)
	if err != nil {
		return err
	}
	text, err := o.markdown(results)
	if err != nil {
		return err
	}
	for name, data := range map[string]string{"junit.xml": string(suites), "summary.md": text} {
		if err := atomicfile.Write(filepath.Join(o.report, name), []byte(story.Printable(data))); err != nil {
			return err
		}
	}
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	if err := appendTo(os.Getenv("GITHUB_STEP_SUMMARY"), story.Printable(text)); err != nil {
		return err
	}
	return writePrintable(cmd.OutOrStdout(), reports.Annotations(modulePath(cmd, results), results))
}

// markdown is the summary: a table of the campaigns, what was warned of, and each run that was
// kept.
func (o *options) markdown(results []*story.Result) (string, error) {
	var b strings.Builder
	b.WriteString("## Wavetank\n\n| test | runs | found |\n| --- | ---: | --- |\n")
	for _, r := range results {
		causes := len(story.Causes(r.Findings))
		found := fmt.Sprintf("**%d causes**", causes)
		switch causes {
		case 0:
			found = "nothing"
		case 1:
			found = "**1 cause**"
		}
		fmt.Fprintf(&b, "| %s %s | %d | %s |\n", r.Package, r.Test, r.Runs, found)
	}
	b.WriteString("\n```\n")
	summary(&b, results)
	b.WriteString("```\n\n")
	if lines, err := os.ReadFile(filepath.Join(o.report, warningsFile)); err == nil {
		fmt.Fprintf(&b, "Warnings:\n\n```\n%s```\n\n", lines)
	}
	_, err := eachRun(o.report, func(r reports.Run) error {
		b.WriteString(reports.Markdown(r) + "\n")
		return nil
	})
	return b.String(), err
}

// appendTo adds to a file that another program has made; "" for none.
func appendTo(path, text string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}
