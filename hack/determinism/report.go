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

// outcome is what the process of a batch leaves: see determinism/doubled_test.go.
type outcome struct {
	batch
	Load        string         `json:"load"` // of the machine when the process began, over a minute
	Made        int            `json:"made"` // pairs
	Differ      int            `json:"differ"`
	Steps       int            `json:"steps"`
	CPU         string         `json:"cpu"`
	Faults      map[string]int `json:"faults"`
	Digests     []string       `json:"digests,omitempty"` // of each run
	Digest      string         `json:"digest"`            // of all of them
	Differences []string       `json:"differences,omitempty"`
	// Unlike is the number of runs that differ from those of the batch that is repeated.
	Unlike int `json:"unlike,omitempty"`
}

// keep completes the outcome of a process and stores it under its final name.
func keep(b batch, from, to, load string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var left struct {
		outcome
		Pairs int `json:"pairs"`
	}
	if err := json.Unmarshal(data, &left); err != nil {
		return err
	}
	o := left.outcome
	o.batch, o.Load, o.Made = b, load, left.Pairs
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
		if os.IsNotExist(err) {
			continue
		} else if err != nil {
			return err
		}
		var o outcome
		if err := json.Unmarshal(data, &o); err != nil {
			return fmt.Errorf("%s: %w", b.file(dir), err)
		}
		made = append(made, o)
	}
	if err := recount(made); err != nil {
		return err
	}
	compare(made)
	for i := range made {
		made[i].Digests = nil
	}
	raw := struct {
		Commit  string    `json:"commit"`
		Go      string    `json:"go"`
		Batches []outcome `json:"batches"`
	}{commit, runtime.Version(), made}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"commit\": %q, \"go\": %q, \"batches\": [\n", raw.Commit, raw.Go)
	for i, o := range made {
		line, err := json.Marshal(o)
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
	return os.WriteFile("docs/determinism.md", []byte(page(made, commit, len(all))), 0o644)
}

// repeats is how many further runs a campaign makes of a pair that differs.
const repeats = 10

// recount counts the pairs that differ by their digests, and leaves one digest for each pair. A
// campaign makes two runs before the pairs. Behind a pair that differs may be its repetitions,
// which are as many as the digests that are over.
func recount(made []outcome) error {
	for i := range made {
		o := &made[i]
		rest := o.Digests[2:]
		over := len(rest) - 2*o.Made
		one := slices.Clone(o.Digests[:2])
		o.Differ = 0
		for range o.Made {
			first, second := rest[0], rest[1]
			rest, one = rest[2:], append(one, first)
			if first == second {
				continue
			}
			o.Differ++
			if over >= repeats {
				over, rest = over-repeats, rest[repeats:]
			}
		}
		if over != 0 || len(rest) != 0 {
			return fmt.Errorf("%s %s %d: %d digests do not belong to any pair", o.Machine, o.Program, o.N, len(rest))
		}
		o.Digests = one
	}
	return nil
}

// compare counts the runs that differ from those of the batch that is repeated.
func compare(made []outcome) {
	for i := range made {
		o := &made[i]
		sum := fnv.New64a()
		for _, d := range o.Digests {
			sum.Write([]byte(d))
		}
		o.Digest = fmt.Sprintf("%016x", sum.Sum64())
		if o.Repeats < 0 {
			continue
		}
		for _, first := range made {
			if first.Program != o.Program || first.Machine != o.Machine || first.N != o.Repeats {
				continue
			}
			for k := range max(len(o.Digests), len(first.Digests)) {
				if k >= len(o.Digests) || k >= len(first.Digests) || o.Digests[k] != first.Digests[k] {
					o.Unlike++
				}
			}
		}
	}
}

// counts are those of one line of the page.
type counts struct{ quiet, busy, one, two, process, build, race, differ, unlike, steps int }

func (c *counts) add(o outcome) {
	c.differ += o.Differ
	c.unlike += o.Unlike
	c.steps += o.Steps
	switch {
	case o.Build == "race":
		c.race += o.Made
		return
	case o.Machine == "quiet":
		c.quiet += o.Made
	default:
		c.busy += o.Made
	}
	if len(o.CPUs) == 1 {
		c.one += o.Made
	} else {
		c.two += o.Made
	}
	switch {
	case o.Repeats < 0:
	case o.Build == "plain":
		c.process += o.Made
	default:
		c.build += o.Made
	}
}

const head = `# Doubled runs on record

Each program of the package [determinism](../determinism) made its runs twice, and the two were compared event by
event: requests, replies, bodies, objects, outcomes and times. *Quiet* runs were made while the machine did nothing
else, *busy* ones by eight processes at once on two CPUs. Processes were pinned to *one CPU* or to *two*. *Process*
and *build* count the runs that were compared with those of another process, and of another build (without inlining).
Runs under the race detector are in addition. [determinism.json](determinism.json) has the outcome of each process.

Made at %s with %s on %s/%s: %d of %d processes. ` + "`make determinism`" + ` makes it again, and continues if it was
stopped.

| program | quiet | busy | one CPU | two CPUs | process | build | race | steps | differ | differ from another |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`

const explanation = `
## What differs

Goroutines of a process run in a fixed order as long as the process has a CPU. Where the system
takes it away for more than 10 ms, Go's runtime lets another goroutine go first. That changes a run
only if the goroutines race. Such a pair is a warning, and exact mode (wavetank run --exact) takes
this chance out of the runtime. Two races were seen:

- CachesOfItsOwn: a manager starts all runnables of a program at once. GetInformer waits until the
  informer has synced if its cache has started, and not if that comes later. Since this record was
  made, such runnables start one at a time.
- SeveralClusters: a source of another cluster's cache asks whether its handler has heard the first
  objects: right after it has added the handler, and then every 100 ms. Which of the two goroutines
  goes first decides whether the controller starts 100 ms sooner.

A run that differs may teach the search other things, so that later runs of its process have other
choices. That is how several runs of one process differ from those of another.

| program | machine | seed | build | CPUs | load | differ | differ from another |
|---|---|---:|---|---|---:|---:|---:|
`

func page(made []outcome, commit string, planned int) string {
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
	fmt.Fprintf(&b, head, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, len(made), planned)
	line := func(name string, c *counts) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, n := range []int{
			c.quiet, c.busy, c.one, c.two, c.process, c.build, c.race, c.steps, c.differ, c.unlike,
		} {
			fmt.Fprintf(&b, " %d |", n)
		}
		b.WriteByte('\n')
	}
	for _, p := range programs {
		line(p, by[p])
	}
	line("**all**", all)
	if all.differ+all.unlike == 0 {
		return b.String()
	}
	b.WriteString(explanation)
	for _, o := range made {
		if o.Differ+o.Unlike > 0 {
			fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s | %d | %d |\n",
				o.Program, o.Machine, o.Seed, o.Build, o.CPUs, o.Load, o.Differ, o.Unlike)
		}
	}
	return b.String()
}
