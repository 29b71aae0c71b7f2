package reports

import (
	"encoding/xml"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
)

// This file renders results for CI systems: JUnit XML, and annotations in GitHub's log syntax.
// Results and runs are stored as JSON already.

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name       string          `xml:"name,attr"`
	Class      string          `xml:"classname,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Failure    *junitFailure   `xml:"failure,omitempty"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit renders campaigns as JUnit XML: a suite for each package, a case for each campaign. A
// failure has the shortest story of every cause that was found, or what the campaign did not reach.
// A violation that sim.Explore found is no failure, because its test may look for it. It is a
// escapeProperty of the case.
func JUnit(results []*story.Result) ([]byte, error) {
	var out junitSuites
	places := map[string]int{}
	seconds := map[string]float64{}
	for _, r := range results {
		i, ok := places[r.Package]
		if !ok {
			i = len(out.Suites)
			places[r.Package] = i
			out.Suites = append(out.Suites, junitSuite{Name: r.Package})
		}
		s := &out.Suites[i]
		c := junitCase{Name: r.Test, Class: r.Package, Time: fmt.Sprintf("%.3f", r.Elapsed.Seconds()),
			Failure: failureOf(r)}
		c.Properties = []junitProperty{
			{"runs", fmt.Sprint(r.Runs)}, {"seed", fmt.Sprint(r.Seed)},
			{"strategy", r.Strategy}, {"steps", fmt.Sprint(r.Steps)},
		}
		if r.Explored {
			for _, f := range story.Causes(r.Findings) {
				c.Properties = append(c.Properties, junitProperty{"found", f.Cause})
			}
		}
		s.Cases = append(s.Cases, c)
		seconds[r.Package] += r.Elapsed.Seconds()
		s.Tests, out.Tests, s.Time = s.Tests+1, out.Tests+1, fmt.Sprintf("%.3f", seconds[r.Package])
		if c.Failure != nil {
			s.Failures, out.Failures = s.Failures+1, out.Failures+1
		}
	}
	data, err := xml.MarshalIndent(out, "", "  ")
	return append([]byte(xml.Header), append(data, '\n')...), err
}

func failureOf(r *story.Result) *junitFailure {
	if r.Explored {
		return nil
	}
	if len(r.Findings) == 0 {
		if failed := r.HollowSentences(true); len(failed) > 0 {
			return &junitFailure{Message: failed[0], Type: "objects", Text: strings.Join(failed, "\n")}
		}
		missed := unreached(r)
		if len(missed) == 0 {
			return nil
		}
		message := fmt.Sprintf("%d properties of the kind sometimes were not reached", len(missed))
		return &junitFailure{Message: message, Type: "sometimes", Text: strings.Join(missed, "\n")}
	}
	causes := story.Causes(r.Findings)
	first := causes[0]
	var text strings.Builder
	for _, f := range causes {
		fmt.Fprintf(&text, "%d runs: %s\n", f.Count, f.Cause)
		if s, err := story.Decode([]byte(f.Story)); err == nil {
			fmt.Fprintf(&text, "%s\n\n", inShort(s))
		}
	}
	message := first.Cause
	if n := len(causes); n > 1 {
		message = fmt.Sprintf("%d causes, the first: %s", n, first.Cause)
	}
	return &junitFailure{Message: message, Type: first.Kind, Text: text.String()}
}

// inShort is a story as a log shows it: what was observed, the lines that led to it, and the replay
// command.
func inShort(s *story.Story) string {
	lines := slices.Concat(s.Excerpt(story.MaxLines), s.Delays())
	lines = slices.Concat([]string{s.Message}, s.Paragraph(), lines)
	return fmt.Sprintf("%s\nreplay: %s", strings.Join(lines, "\n"), s.Replay)
}

// unreached are the sometimes properties of a complete campaign that were true in no run.
func unreached(r *story.Result) (missed []string) {
	for _, p := range r.Sometimes {
		if r.Complete && p.Reached == 0 {
			missed = append(missed,
				fmt.Sprintf("%s: sometimes %q was not reached in %d runs", p.Site, p.Sentence, r.Runs))
		}
	}
	return missed
}

// Annotations renders campaigns in the log syntax of GitHub's workflows. There is an error for each
// cause, at the property that was violated, a notice for each cause that sim.Explore found, and a
// warning for each sometimes property that was not reached. An object that must succeed and never
// did is an error. The rest of a package's path after module is its directory in the repository.
func Annotations(module string, results []*story.Result) string {
	var b strings.Builder
	for _, r := range results {
		dir := strings.TrimPrefix(strings.TrimPrefix(r.Package, module), "/")
		note := func(level, site, title, text string) {
			file, line, _ := strings.Cut(site, ":")
			where := ""
			if line != "" {
				where = fmt.Sprintf("file=%s,line=%s,", escapeProperty(path.Join(dir, file)), escapeProperty(line))
			}
			fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", level, where, escapeProperty(title), escapeMessage(text))
		}
		for _, f := range story.Causes(r.Findings) {
			s, err := story.Decode([]byte(f.Story))
			if err != nil {
				s = &story.Story{Message: f.Cause}
			}
			level := "error"
			if r.Explored {
				level = "notice"
			}
			note(level, s.Site, f.Cause, inShort(s)) // GitHub shows only a few kilobytes
		}
		for _, sentence := range r.HollowSentences(true) {
			note("error", "", "an object never succeeds", r.Test+": "+sentence)
		}
		for _, d := range r.Drifted {
			text := fmt.Sprintf("%s: the story passes, but may test nothing: the code no longer sends %s",
				d.Violated, strings.Join(d.Lost, ", "))
			fmt.Fprintf(&b, "::warning file=%s,title=%s::%s\n", escapeProperty(path.Join(dir, d.File)),
				escapeProperty("a stored story whose faults are no longer injected"), escapeMessage(text))
		}
		for _, d := range r.Outdated {
			fmt.Fprintf(&b, "::warning file=%s,title=%s::%s\n", escapeProperty(path.Join(dir, d.File)),
				escapeProperty("a stored story is outdated"), escapeMessage(d.Sentence()))
		}
		for _, d := range r.Divergences {
			note("warning", "", "two runs of one choice sequence differ", r.Test+": "+d.Sentence())
		}
		for _, p := range r.Sometimes {
			if r.Complete && p.Reached == 0 {
				text := fmt.Sprintf("sometimes %q was not reached in %d runs", p.Sentence, r.Runs)
				note("warning", p.Site, "not reached", text)
			}
		}
	}
	return b.String()
}

// escapeMessage and property escape the characters that have a meaning in the log syntax.
func escapeMessage(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeMessage(s))
}
