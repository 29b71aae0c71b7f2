package reports

import (
	"encoding/xml"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/story"
)

// This file is what machines that build and test read: JUnit's XML, and annotations in GitHub's log syntax. What is
// wanted as JSON is there already: results and runs are kept so.

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

// JUnit is campaigns as JUnit XML: a suite for each package, a case for each campaign, a failure with the shortest story
// of every cause that was found, or with what the campaign did not reach. What sim.Explore found is no failure, as its test
// may ask for just that; it is among the case's properties.
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
		c := junitCase{Name: r.Test, Class: r.Package, Time: fmt.Sprintf("%.3f", r.Elapsed.Seconds()), Failure: failure(r)}
		for _, p := range [][2]string{{"runs", fmt.Sprint(r.Runs)}, {"seed", fmt.Sprint(r.Seed)}, {"strategy", r.Strategy}, {"steps", fmt.Sprint(r.Steps)}} {
			c.Properties = append(c.Properties, junitProperty{p[0], p[1]})
		}
		if r.Explored {
			for _, f := range r.Findings {
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

func failure(r *story.Result) *junitFailure {
	if r.Explored {
		return nil
	}
	if len(r.Findings) == 0 {
		missed := unreached(r)
		if len(missed) == 0 {
			return nil
		}
		return &junitFailure{Message: fmt.Sprintf("%d things that the scenario says it explores were not reached", len(missed)), Type: "sometimes", Text: strings.Join(missed, "\n")}
	}
	first := r.Findings[0]
	var text strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&text, "%d runs: %s\n%s\n", f.Count, f.Cause, f.Story)
	}
	message := first.Cause
	if n := len(r.Findings); n > 1 {
		message = fmt.Sprintf("%d causes, the first: %s", n, first.Cause)
	}
	return &junitFailure{Message: message, Type: first.Kind, Text: text.String()}
}

// unreached are the sentences of a complete campaign that were true in no run.
func unreached(r *story.Result) (missed []string) {
	for _, p := range r.Sometimes {
		if r.Complete && p.Reached == 0 {
			missed = append(missed, fmt.Sprintf("%s: sometimes %q was not reached in %d runs", p.Site, p.Sentence, r.Runs))
		}
	}
	return missed
}

// Annotations are campaigns in the log syntax of GitHub's workflows: an error at the property that broke for each cause,
// a warning for each thing that was not reached, and of what sim.Explore found a notice. module is the path that package paths begin with; what is left of them
// is the directory in the repository.
func Annotations(module string, results []*story.Result) string {
	var b strings.Builder
	for _, r := range results {
		dir := strings.TrimPrefix(strings.TrimPrefix(r.Package, module), "/")
		note := func(level, site, title, text string) {
			file, line, _ := strings.Cut(site, ":")
			where := ""
			if line != "" {
				where = fmt.Sprintf("file=%s,line=%s,", property(path.Join(dir, file)), property(line))
			}
			fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", level, where, property(title), message(text))
		}
		for _, f := range r.Findings {
			s, err := story.Decode([]byte(f.Story))
			if err != nil {
				s = &story.Story{Message: f.Cause}
			}
			level := "error"
			if r.Explored {
				level = "notice"
			}
			note(level, s.Site, f.Cause, fmt.Sprintf("%s\n%s\nreplay: %s", s.Message, strings.Join(excerpt(s.History), "\n"), s.Replay))
		}
		for _, d := range r.Drifted {
			fmt.Fprintf(&b, "::warning file=%s,title=%s::%s\n", property(path.Join(dir, d.File)), property("a kept story whose faults are no longer injected"),
				message(fmt.Sprintf("%s: it holds, but may test nothing any more: the code no longer asks for %s", d.Broke, strings.Join(d.Lost, ", "))))
		}
		for _, d := range r.Divergences {
			note("warning", "", "two runs of one choice sequence differ", r.Test+": "+d.Sentence())
		}
		for _, p := range r.Sometimes {
			if r.Complete && p.Reached == 0 {
				note("warning", p.Site, "not reached", fmt.Sprintf("sometimes %q was not reached in %d runs", p.Sentence, r.Runs))
			}
		}
	}
	return b.String()
}

// GitHub shows no more than a few kilobytes of an annotation, and the replay command stands at its end.
const (
	headLines = 6 // that are kept of a story that is too long
	mostLines = 40
)

// excerpt leaves out the middle of a long story.
func excerpt(lines []string) []string {
	more := len(lines) - mostLines
	if more <= 0 {
		return lines
	}
	return slices.Concat(lines[:headLines], []string{fmt.Sprintf("… %d lines left out; the story has them all …", more)}, lines[headLines+more:])
}

// message and property escape what the log syntax gives a meaning to.
func message(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(s))
}
