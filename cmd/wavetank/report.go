package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
)

// formats are what a report can be, in the order of the help text.
var formats = []string{"html", "text", "markdown", "json", "junit", "annotations"}

func reportCommand() *cobra.Command {
	format, beside, merged, issue := "html", "", "", ""
	cmd := &cobra.Command{
		Use:   "report directory …",
		Short: "Show what campaigns left behind: pages, or text, Markdown, JSON, JUnit, CI annotations",
		Long: "Reads the results and runs below a directory that campaigns wrote to (-sim.report, SIM_REPORT,\n" +
			"wavetank run --report).\n\n" +
			"  html         a page of each campaign, a timeline of each run, and an index; prints the index's path\n" +
			"  text         the runs, for a terminal\n" +
			"  markdown     the runs, for pull requests, each with a sequence diagram\n" +
			"  json         the merged results\n" +
			"  junit        a suite for each package\n" +
			"  annotations  for the log of a GitHub workflow\n\n" +
			"The last three formats show the campaign of each test that was written to last.\n\n" +
			"With --issue it prints a story as a report for a project that does not know Wavetank, in Markdown:\n" +
			"what happens, why it matters, the versions, the story, and how to see it with and without Wavetank.\n\n" +
			"With --merge it adds up the results of shards, wherever they ran, and writes the merged results and\n" +
			"the shortest story of each cause. The exit code is 1 if something was found, if a complete campaign\n" +
			"never reached a Sometimes, or if an object that must succeed never did.",
		Example: "  wavetank report reports/out/campaign\n  wavetank report results --format junit > junit.xml\n" +
			"  wavetank report faulty.run.json --beside fixed.run.json\n" +
			"  wavetank report --merge merged shard-0 shard-1 shard-2\n" +
			"  wavetank report --issue testdata/sim/TestPromises/8c429f76.txtar",
		Args: func(_ *cobra.Command, args []string) error {
			if (issue == "") == (len(args) == 0) {
				return errors.New("name a directory, or a story with --issue")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if issue != "" {
				s, err := story.Read(issue)
				if err != nil {
					return err
				}
				return writePrintable(cmd.OutOrStdout(), reports.Issue(s))
			}
			if merged != "" {
				return merge(cmd.OutOrStdout(), args, merged)
			}
			if len(args) > 1 {
				return fmt.Errorf("report shows one directory, and %d are given; --merge DIRECTORY adds them up",
					len(args))
			}
			if beside != "" {
				return compare(cmd.OutOrStdout(), args[0], beside)
			}
			return render(cmd, args[0], format)
		},
	}
	cmd.Flags().StringVar(&format, "format", format, "one of "+strings.Join(formats, ", "))
	cmd.Flags().StringVar(&issue, "issue", "", "print this story as a report for another project")
	cmd.Flags().StringVar(&merged, "merge", "", "add up the results, and write them into this directory")
	cmd.Flags().StringVar(&beside, "beside", "",
		"show the run in the first file next to the run in this one, on one page")
	return cmd
}

// compare writes a page on which two runs stand side by side.
func compare(out io.Writer, first, second string) error {
	a, err := reports.ReadRun(first)
	if err != nil {
		return err
	}
	b, err := reports.ReadRun(second)
	if err != nil {
		return err
	}
	page, err := reports.SideBySide(*a, *b)
	if err != nil {
		return err
	}
	path := strings.TrimSuffix(first, reports.RunSuffix) + reports.BesideSuffix
	if err := reports.WritePage(path, page); err != nil {
		return err
	}
	fmt.Fprintln(out, relative(path))
	return nil
}

func render(cmd *cobra.Command, dir, format string) error {
	out := cmd.OutOrStdout()
	switch format {
	case "html":
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is not a directory that campaigns wrote to; "+
				"write --format text or markdown for one run", dir)
		}
		index, err := reports.WriteIndex(dir, reports.Front{Title: "Wavetank", Parts: warnings(dir)})
		if err != nil {
			return err
		}
		fmt.Fprintln(out, relative(index))
		return nil
	case "text", "markdown":
		found, err := eachRun(dir, func(r reports.Run) error {
			if format == "markdown" {
				return writePrintable(out, reports.Markdown(r)+"\n")
			}
			f, ok := out.(*os.File)
			return reports.WriteText(out, r, ok && term.IsTerminal(int(f.Fd())))
		})
		if err == nil && !found {
			err = fmt.Errorf("no run (*%s) lies below %s; campaigns with -sim.report write one "+
				"when they find something", reports.RunSuffix, dir)
		}
		return err
	}
	if strings.HasSuffix(dir, reports.RunSuffix) {
		return fmt.Errorf("%s is one run, which has --format text and markdown only; "+
			"the results of its campaign have %s, too: wavetank report %s --format %s",
			dir, format, filepath.Dir(dir), format)
	}
	results, err := mergeDir(selection{newest: true}, dir)
	if err != nil {
		return err
	}
	switch format {
	case "json":
		data, err := json.MarshalIndent(results, "", "  ")
		if err != nil {
			return err
		}
		return writePrintable(out, string(data)+"\n")
	case "junit":
		data, err := reports.JUnit(results)
		if err != nil {
			return err
		}
		return writePrintable(out, string(data))
	case "annotations":
		return writePrintable(out, reports.Annotations(modulePath(cmd, results), results))
	}
	return fmt.Errorf("--format %q is unknown; write one of %s", format, strings.Join(formats, ", "))
}

// warnings is what wavetank run warned of, for the page; nil for none.
func warnings(dir string) []template.HTML {
	text, err := os.ReadFile(filepath.Join(dir, warningsFile))
	if err != nil {
		return nil
	}
	var b strings.Builder
	b.WriteString("<h2>Warnings</h2>\n<ul>\n")
	for line := range strings.Lines(story.Printable(string(text))) {
		fmt.Fprintf(&b, "<li>%s</li>\n", template.HTMLEscapeString(strings.TrimSpace(line)))
	}
	b.WriteString("</ul>\n")
	return []template.HTML{template.HTML(b.String())}
}

// writePrintable writes a text without escape codes. In JSON it means the same.
func writePrintable(out io.Writer, text string) error {
	_, err := io.WriteString(out, story.Printable(text))
	return err
}

// modulePath is the path of the module that the command is run in.
func modulePath(cmd *cobra.Command, results []*story.Result) string {
	path, err := output(cmd, "go", "list", "-m")
	if err != nil || strings.Contains(path, "\n") {
		return results[0].Package
	}
	return path
}

// eachRun reads every run below a directory, in order, and reports whether there is one.
func eachRun(dir string, f func(reports.Run) error) (found bool, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, reports.RunSuffix) {
			return err
		}
		r, err := reports.ReadRun(path)
		if err != nil {
			return err
		}
		found = true
		return f(*r)
	})
	return found, err
}
