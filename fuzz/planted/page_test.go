// This file writes what was measured as docs/search.md, so that the page says what the numbers say
// and nothing else.

package planted

import (
	_ "embed" // the texts of the page
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"
)

// quantile is the value below which a share q of the values lies; values need not be sorted.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(values))
	return s[min(int(math.Ceil(q*float64(len(s))))-1, len(s)-1)]
}

// cell is median (least–most) of the runs to the first find; campaigns that found nothing count as
// longer than the cap.
func cell(finds []find) string {
	var runs []float64
	found := 0
	for _, f := range finds {
		if f.found {
			found++
			runs = append(runs, float64(f.runs))
		} else {
			runs = append(runs, math.Inf(1))
		}
	}
	show := func(v float64) string {
		if math.IsInf(v, 1) {
			return "∞"
		}
		return fmt.Sprintf("%.0f", v)
	}
	switch {
	case found == 0:
		return "–"
	case len(runs) == 1:
		return show(runs[0])
	}
	out := fmt.Sprintf("%s (%s–%s)", show(quantile(runs, .5)), show(slices.Min(runs)), show(slices.Max(runs)))
	if found < len(runs) {
		out += fmt.Sprintf(" %d/%d", found, len(runs))
	}
	return out
}

// seconds is median (least–most) of the CPU time of those campaigns that found something.
func seconds(finds []find) string {
	var took []float64
	for _, f := range finds {
		if f.found {
			took = append(took, f.took.Seconds())
		}
	}
	if took == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", quantile(took, .5), slices.Min(took), slices.Max(took))
}

func (m *measured) page() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("# What the search finds, and how soon\n")
	say("This page is written by `make bench-search SEEDS=%d CAP=%d`; do not edit it. It measures every strategy "+
		"but `storm`, which is for long runs, on the %d planted bugs of `fuzz/planted`.\n",
		*searchSeeds, *searchCap, len(m.bugs))
	say("- measured at commit `%s` with %s on %s/%s, one CPU of %s, %s, in %v; seconds are of CPU time", *searchCommit,
		runtime.Version(), runtime.GOOS, runtime.GOARCH, machine(),
		time.Now().UTC().Format(time.DateOnly), m.elapsed.Round(time.Second))
	say("- base seeds 1 to %d for each strategy and bug, at most %d runs each; `sweep` and `exhaustive` (bound 1) "+
		"know no chance in their first pass, so one seed", *searchSeeds, *searchCap)
	say("- a cell is the median number of runs to the first find (least–most); ∞ is more than the cap, " +
		"k/n says that only k of n seeds found it, – that none did")
	say("- mistakes in released operators, which no strategy was made for: [mutants.md](mutants.md)\n")
	say("%s", terms)
	m.targets(say)
	m.matrix(say)
	m.summary(say)
	m.depths(say)
	m.shrinking(say)
	say("%s%s", removed, strings.TrimSuffix(weaknesses, "\n"))
	return b.String()
}

// terms explains the words of the page, weaknesses the meaning of its numbers, and removed the
// value of the strategies that are gone. Read weaknesses again when a strategy changes.
var (
	//go:embed testdata/search-terms.md
	terms string
	//go:embed testdata/search-weaknesses.md
	weaknesses string
	//go:embed testdata/search-removed.md
	removed string
)

type sayer = func(string, ...any)

func (m *measured) matrix(say sayer) {
	say("## Runs to the first find\n")
	head, line := "| bug | depth | needs |", "|---|---|---|"
	for _, s := range searched {
		head += " " + s.name + " |"
		line += "---|"
	}
	say("%s s |\n%s---|", head, line)
	for _, b := range m.bugs {
		row := fmt.Sprintf("| %s | %d | %s |", b.Name, b.Depth, b.Needs)
		for _, s := range searched {
			row += " " + cell(m.of(s.name, b.Name)) + " |"
		}
		say("%s %s |", row, seconds(m.of("portfolio", b.Name)))
	}
	say("\nThe last column is the portfolio's seconds to the first find, in the same way.\n")
}

func (m *measured) summary(say sayer) {
	say("## By strategy\n")
	say("| strategy | bugs found by all seeds | by some | by none | median of medians | worst median | seconds to a " +
		"find | seconds, all campaigns | runs a second | not found by all seeds " +
		"|\n|---|---|---|---|---|---|---|---|---|---|")
	for _, s := range searched {
		var all, some, none, runs int
		var took time.Duration
		var medians []float64
		var missed []string
		var each []find
		for _, b := range m.bugs {
			var needed []float64
			found := 0
			finds := m.of(s.name, b.Name)
			for _, f := range finds {
				runs += f.runs
				took += f.took
				if f.found {
					found++
					needed = append(needed, float64(f.runs))
				} else {
					needed = append(needed, math.Inf(1))
				}
			}
			medians, each = append(medians, quantile(needed, .5)), append(each, finds...)
			switch found {
			case len(finds):
				all++
			case 0:
				none++
				missed = append(missed, b.Name)
			default:
				some++
				missed = append(missed, b.Name)
			}
		}
		say("| %s | %d | %d | %d | %s | %s | %s | %.0f | %.0f | %s |", s.name, all, some, none,
			short(quantile(medians, .5)), short(slices.Max(medians)), seconds(each), took.Seconds(),
			float64(runs)/took.Seconds(), strings.Join(missed, ", "))
	}
	say("\nWho found it when the portfolio did: %s.\n", m.finders())
}

func short(v float64) string {
	if math.IsInf(v, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.0f", v)
}

func (m *measured) finders() string {
	by := map[string]int{}
	for _, f := range m.finds {
		if f.strategy == "portfolio" && f.found {
			by[f.by]++
		}
	}
	var out []string
	for name, n := range by {
		out = append(out, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// depths says what the searches without chance prove about the depths in the table.
func (m *measured) depths(say sayer) {
	say("## Depth, checked\n")
	say("`exhaustive` makes every run with at most so many disturbances. Where it ends without a find, " +
		"so many cannot break the property, within what the scenario declares.\n")
	say("| bug | depth | bound | every run with so many disturbances |\n|---|---|---|---|")
	for _, p := range m.proofs {
		say("| %s | %d | %d | %s |", p.bug.Name, p.bug.Depth, p.bound, p.what)
	}
	say("\nThe bugs that are not listed have depth 1, and a run without a disturbance is made first.\n")
}

func (m *measured) shrinking(say sayer) {
	say("## Shrinking\n")
	say("Over the %d finds of the portfolio. A disturbance is a choice that is not the default and neither switches "+
		"a fault on nor draws a value.\n", len(m.shrunk))
	say("| | median before | p95 before | median after | p95 after |\n|---|---|---|---|---|")
	row := func(name string, get func(shrunk) [2]float64) {
		var before, after []float64
		for _, s := range m.shrunk {
			v := get(s)
			before, after = append(before, v[0]), append(after, v[1])
		}
		say("| %s | %.4g | %.4g | %.4g | %.4g |", name, quantile(before, .5), quantile(before, .95),
			quantile(after, .5), quantile(after, .95))
	}
	row("choices", func(s shrunk) [2]float64 { return s.choices })
	row("disturbances", func(s shrunk) [2]float64 { return s.disturbances })
	row("faults injected", func(s shrunk) [2]float64 { return s.faults })
	row("steps of the engine", func(s shrunk) [2]float64 { return s.steps })
	row("lines of the story", func(s shrunk) [2]float64 { return s.lines })
	row("virtual seconds to the break", func(s shrunk) [2]float64 { return s.sec })
	var took, runs []float64
	for _, s := range m.shrunk {
		took, runs = append(took, s.took.Seconds()), append(runs, float64(s.runs))
	}
	say("\nShrinking takes %.0f runs and %.2f s at the median, %.0f runs and %.2f s at the 95th percentile.\n",
		quantile(runs, .5), quantile(took, .5), quantile(runs, .95), quantile(took, .95))
}

// targets holds the numbers against what was asked for.
func (m *measured) targets(say sayer) {
	say("## Targets\n")
	worst, slowest := 0.0, ""
	for _, b := range m.bugs {
		var runs []float64
		for _, f := range m.of("portfolio", b.Name) {
			n := float64(f.runs)
			if !f.found {
				n = math.Inf(1)
			}
			runs = append(runs, n)
		}
		if med := quantile(runs, .5); med > worst {
			worst, slowest = med, b.Name
		}
	}
	say("- the portfolio finds each bug in a median of at most 60 runs: the worst median is %s (%s)", short(worst),
		slowest)
	var late []string
	one := 0
	for _, b := range m.bugs {
		if b.Depth != 1 {
			continue
		}
		one++
		for _, f := range m.of("sweep", b.Name) {
			if !f.found || f.by != "sweep" && f.by != "undisturbed" {
				late = append(late, b.Name)
			}
		}
	}
	if late == nil {
		say("- sweep finds every one of the %d bugs of depth 1 in its first pass", one)
	} else {
		say("- sweep finds %d of the %d bugs of depth 1 in its first pass; not in it: %s", one-len(late), one,
			strings.Join(late, ", "))
	}
	var lines, faults []float64
	for _, s := range m.shrunk {
		lines, faults = append(lines, s.lines[1]), append(faults, s.faults[1])
	}
	say("- at most 12 lines of the story and 2 faults at the median, after shrinking: %.0f lines and %.0f faults\n",
		quantile(lines, .5), quantile(faults, .5))
}
