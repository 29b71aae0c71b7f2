package mutants

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
)

// benchPage is what docs/mutants.md is made from.
type benchPage struct {
	halves    [2][]Bench
	campaigns []campaign
}

// of are the campaigns of a strategy on a mutant.
func (p *benchPage) of(strategy, mutant string) (out []campaign) {
	for _, c := range p.campaigns {
		if c.strategy == strategy && c.mutant == mutant {
			out = append(out, c)
		}
	}
	return out
}

func (p *benchPage) text() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("# What the search finds of thirty mistakes that no strategy was tuned for\n")
	say("This page is written by `make bench-mutants SEEDS=%d CAP=%d STRATEGIES=%s`; do not edit it. Thirty "+
		"mistakes are planted in the released operators of `examples/`, one at a time. Then `TestPromises` of the "+
		"operator looks for a violation. The operators without a mistake pass it.\n", *benchSeeds, *benchCap,
		*benchStrategies)
	say("- measured at commit `%s` with %s on %s/%s, one CPU of %s, %s", *benchCommit, runtime.Version(), runtime.GOOS,
		runtime.GOARCH, machine(), today())
	say("- base seeds 1 to %d for each strategy and mutant, at most %d runs each", *benchSeeds, *benchCap)
	say("- a cell is the median number of runs to the first find (least–most); ∞ is more than the cap, " +
		"k/n says that only k of n seeds found it, – that none did; seconds are of CPU time, to the first find")
	say("- strategies may be tuned with the first half only: the mutants are sorted by the FNV-1a hash of their " +
		"names and taken by turns (`hack/mutants/bench.go`)\n")
	for i, title := range []string{"For tuning", "For the report"} {
		if len(p.halves[i]) > 0 {
			say("## %s\n", title)
			p.summary(say, p.halves[i])
			p.table(say, p.halves[i])
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

type sayer = func(string, ...any)

func (p *benchPage) table(say sayer, half []Bench) {
	head, line := "| mutant | operator | mistake | breaks |", "|---|---|---|---|"
	for _, s := range strings.Fields(*benchStrategies) {
		head += fmt.Sprintf(" %s | s |", s)
		line += "---|---|"
	}
	say("%s\n%s", head, line)
	for _, m := range half {
		row := fmt.Sprintf("| %s | %s | %s | %s |", m.Name, m.Operator, m.Mistake, p.broken(m.Name))
		for _, s := range strings.Fields(*benchStrategies) {
			runs, seconds := figures(p.of(s, m.Name))
			row += fmt.Sprintf(" %s | %s |", spreadOf(runs, "%.0f"), spreadOf(seconds, "%.1f"))
		}
		say("%s", row)
	}
	say("")
}

// broken are the properties that the mutant violates first.
func (p *benchPage) broken(mutant string) string {
	var out []string
	for _, c := range p.campaigns {
		if c.mutant == mutant && c.property != "" && !slices.Contains(out, c.property) {
			out = append(out, c.property)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func (p *benchPage) summary(say sayer, half []Bench) {
	say("| strategy | found by all seeds | by some | by none | median of medians | seconds, all campaigns |")
	say("|---|---|---|---|---|---|")
	for _, s := range strings.Fields(*benchStrategies) {
		var all, some, none int
		var medians []float64
		var took float64
		for _, m := range half {
			campaigns := p.of(s, m.Name)
			runs, _ := figures(campaigns)
			for _, c := range campaigns {
				took += c.all
			}
			medians = append(medians, median(runs))
			switch missed := slices.Index(runs, math.Inf(1)); {
			case missed < 0:
				all++
			case missed == 0:
				none++
			default:
				some++
			}
		}
		slices.Sort(medians)
		say("| %s | %d | %d | %d | %s | %.0f |", s, all, some, none, figure(median(medians), "%.0f"), took)
	}
	say("")
}

// figures are the runs and the seconds of campaigns, sorted.
func figures(campaigns []campaign) (runs, seconds []float64) {
	for _, c := range campaigns {
		runs, seconds = append(runs, c.runs), append(seconds, c.seconds)
	}
	slices.Sort(runs)
	slices.Sort(seconds)
	return runs, seconds
}

// median is that of sorted values.
func median(values []float64) float64 { return values[(len(values)-1)/2] }

func figure(v float64, format string) string {
	if math.IsInf(v, 1) {
		return "∞"
	}
	return fmt.Sprintf(format, v)
}

// spreadOf is the median of sorted values, with the least and the most.
func spreadOf(values []float64, format string) string {
	found := slices.IndexFunc(values, func(v float64) bool { return math.IsInf(v, 1) })
	switch {
	case found == 0:
		return "–"
	case len(values) == 1:
		return figure(values[0], format)
	}
	out := fmt.Sprintf("%s (%s–%s)", figure(median(values), format), figure(values[0], format),
		figure(values[len(values)-1], format))
	if found > 0 {
		out += fmt.Sprintf(" %d/%d", found, len(values))
	}
	return out
}
