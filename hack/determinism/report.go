package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"slices"
	"strings"
)

// outcome is what the process of a batch leaves: see sim/internal/determinism/doubled_test.go.
type outcome struct {
	batch
	setting
	Load        string         `json:"load"` // of the machine when the process began, over a minute
	Runs        int            `json:"runs"`
	Doubled     int            `json:"doubled"`
	Differ      int            `json:"differ"` // of the doubled runs
	Steps       int            `json:"steps"`
	CPU         string         `json:"cpu"`
	Faults      map[string]int `json:"faults"`
	Digests     []string       `json:"digests,omitempty"` // of each run
	Digest      string         `json:"digest"`            // of all of them
	Differences []string       `json:"differences,omitempty"`
	// Compared is the number of runs that were compared with the first process of the group, and
	// Unlike of those that differ.
	Compared int `json:"compared,omitempty"`
	Unlike   int `json:"unlike,omitempty"`
}

// keep completes the outcome of a process and stores it under its final name.
func keep(b batch, from, to, load string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var o outcome
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	o.batch, o.setting, o.Load = b, settings[b.Setting], load
	if data, err = json.Marshal(o); err != nil {
		return err
	}
	if err := os.WriteFile(from, data, 0o644); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// report writes docs/determinism.json and docs/determinism.md from the batches that have been made.
func report(all []batch, dir, commit string) error {
	var made []outcome
	for _, b := range all {
		data, err := os.ReadFile(b.file(dir))
		if err != nil {
			return err
		}
		var o outcome
		if err := json.Unmarshal(data, &o); err != nil {
			return fmt.Errorf("%s: %w", b.file(dir), err)
		}
		if err := o.single(); err != nil {
			return fmt.Errorf("%s: %w", b.file(dir), err)
		}
		made = append(made, o)
	}
	compare(made)
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"commit\": %q, \"go\": %q, \"processes\": [\n", commit, runtime.Version())
	for i := range made {
		made[i].Digests = nil
		line, err := json.Marshal(made[i])
		if err != nil {
			return err
		}
		b.Write(line)
		if i < len(made)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]}\n")
	if err := os.WriteFile("docs/determinism.json", b.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile("docs/determinism.md", []byte(page(made, commit)), 0o644)
}

// repeats is how many further runs a campaign makes of a pair that differs.
const repeats = 10

// single leaves one digest for each run. A campaign makes two runs before the others. Behind a
// doubled run that differs may be its repetitions, which are as many as the digests that are over.
func (o *outcome) single() error {
	if o.Doubled == 0 {
		return nil
	}
	rest, one := o.Digests[2:], slices.Clone(o.Digests[:2])
	over := len(rest) - 2*o.Doubled
	for range o.Doubled {
		if len(rest) < 2 {
			break
		}
		first, second := rest[0], rest[1]
		rest, one = rest[2:], append(one, first)
		if first != second && over >= repeats {
			over, rest = over-repeats, rest[repeats:]
		}
	}
	if over != 0 || len(rest) != 0 {
		return fmt.Errorf("%d digests do not belong to any run", len(rest))
	}
	o.Digests = one
	return nil
}

// compare counts the runs that differ from those of the first process of the group.
func compare(made []outcome) {
	type group struct {
		program string
		n       int
	}
	first := map[group][]string{}
	for _, o := range made {
		if o.Setting == 0 {
			first[group{o.Program, o.Group}] = o.Digests
		}
	}
	for i := range made {
		o := &made[i]
		sum := fnv.New64a()
		for k, d := range o.Digests {
			sum.Write([]byte(d))
			if o.Setting == 0 {
				continue
			}
			o.Compared++
			if of := first[group{o.Program, o.Group}]; k >= len(of) || d != of[k] {
				o.Unlike++
			}
		}
		o.Digest = fmt.Sprintf("%016x", sum.Sum64())
	}
}

// counts are those of one line of the page.
type counts struct {
	doubled, differ, unlike, steps int
	compared                       [len(columns)]int
}

// columns are the settings that are compared with the first one.
var columns = [...]int{1, 2, 3, 4}

func (c *counts) add(o outcome) {
	c.doubled += o.Doubled
	c.differ += o.Differ
	c.unlike += o.Unlike
	c.steps += o.Steps
	if i := slices.Index(columns[:], o.Setting); i >= 0 {
		c.compared[i] += o.Compared
	}
}

func (c *counts) line(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %d |", name, c.doubled)
	sum := 0
	for _, n := range c.compared {
		fmt.Fprintf(&b, " %d |", n)
		sum += n
	}
	fmt.Fprintf(&b, " %d | %d | %d | %d |\n", sum, c.steps, c.differ, c.unlike)
	return b.String()
}

const head = `# Runs compared, on record

Each program of the package [determinism](../sim/internal/determinism) made the runs of each seed in several processes.
The digest of each run was compared with the digest of the same run in the first process. A digest covers every event:
requests, replies, bodies, objects, outcomes and times.

The first process was unpinned and had GOMAXPROCS=8. It also made each run *twice*, the second time from its
choices. The two runs and the choices that they asked for were compared event by event. The other processes:

- *one CPU*: pinned to one CPU, GOMAXPROCS=1
- *busy*: next to two busy loops, GOMAXPROCS=1
- *busy, one CPU*: next to two busy loops, pinned to one CPU, GOMAXPROCS=8
- *race*: under the race detector, GOMAXPROCS=8

*Processes* counts the runs of these other processes. *Differ* counts the runs that differ when made twice, and *differ
from another* those that differ from the first process. [determinism.json](determinism.json) has the outcome of each
process and the load of the machine at its start. The record was made at %s with %s on %s/%s
by %d processes. ` + "`make determinism`" + ` makes a larger record, and continues if it was stopped.

| program | twice | one CPU | busy | busy, one CPU | race | processes | steps | differ | differ from another |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`

const explanation = `
## What differs

Goroutines of a process run in a fixed order as long as the process has a CPU. Go's runtime lets another goroutine
run first if the system takes the CPU away for more than 10 ms. The race detector shuffles goroutines on purpose.
Both change a run only if the goroutines race. Exact mode (wavetank run --exact) removes this chance from the
runtime. A run that differs may teach the search other things, so later runs of its process may have other choices.

| program | setting | seed | load | differ | differ from another |
|---|---|---:|---:|---:|---:|
`

func page(made []outcome, commit string) string {
	by := map[string]*counts{}
	all := &counts{}
	var programs []string
	for _, o := range made {
		if by[o.Program] == nil {
			by[o.Program] = &counts{}
			programs = append(programs, o.Program)
		}
		by[o.Program].add(o)
		all.add(o)
	}
	slices.Sort(programs)
	var b strings.Builder
	fmt.Fprintf(&b, head, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, len(made))
	for _, p := range programs {
		b.WriteString(by[p].line(p))
	}
	b.WriteString(all.line("**all**"))
	if all.differ+all.unlike == 0 {
		return b.String()
	}
	b.WriteString(explanation)
	for _, o := range made {
		if o.Differ+o.Unlike > 0 {
			fmt.Fprintf(&b, "| %s | %s | %d | %s | %d | %d |\n",
				o.Program, o.Name, o.Group, o.Load, o.Differ, o.Unlike)
		}
	}
	return b.String()
}
