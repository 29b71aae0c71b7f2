package story

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func shard(i, n int) *Result {
	return &Result{
		Format: Format, Test: "TestX", Seed: 7, Strategy: "portfolio",
		Planned: 100 * n, Shard: i, Shards: n, Complete: true,
		Runs: 100, Steps: 1000 + i, Orders: i,
		Faults: []FaultTotal{{Fault: "Crash(a)", Opportunities: 10, Injected: i,
			Classes: []ClassTotal{{Verb: "create", Kind: "Pod", Opportunities: 10, Injected: i}}}},
		Sometimes:  []ProbeTotal{{Sentence: "it happens", Reached: i % 2}},
		Strategies: []StrategyTotal{{Name: "sweep", Runs: 30, Finds: i % 2}, {Name: "random", Runs: 70}},
		Findings: []Finding{{
			Cause: fmt.Sprintf("cause %d", i%3), Property: "p", Count: 1, First: 1000 - i, Strategy: "sweep",
			Story: fmt.Sprintf("story %d", i), Steps: 50 - i%7,
		}},
	}
}

func TestMergeAddsUpAndJoinsCauses(t *testing.T) {
	var shards []*Result
	for i := range 9 {
		shards = append(shards, shard(i, 9))
	}
	m, err := Merge(shards)
	if err != nil {
		t.Fatal(err)
	}
	if m.Runs != 900 || m.Steps != 9036 || m.Orders != 8 || !m.Complete {
		t.Errorf("merged to %+v", m)
	}
	if len(m.Findings) != 3 || m.Findings[0].Count != 3 {
		t.Errorf("the causes are %+v", m.Findings)
	}
	if got := m.Findings[0]; got.First != 994 || got.Story != "story 6" || got.Steps != 44 {
		t.Errorf("the first cause is %+v", got)
	}
	if d := cmp.Diff(FaultTotal{Fault: "Crash(a)", Opportunities: 90, Injected: 36,
		Classes: []ClassTotal{{Verb: "create", Kind: "Pod", Opportunities: 90, Injected: 36}}}, m.Faults[0]); d != "" {
		t.Error(d)
	}
	if m, _ := Merge(shards[:8]); m.Complete {
		t.Error("a campaign with a shard missing counts as complete")
	}
}

func TestMergeRefusesWhatDoesNotBelongTogether(t *testing.T) {
	other := shard(1, 2)
	other.Seed = 8
	for _, c := range []struct {
		shards []*Result
		want   string
	}{
		{nil, "nothing to merge"},
		{[]*Result{shard(0, 2), other}, "not of the same campaign"},
		{[]*Result{shard(0, 2), shard(0, 2)}, "is there twice"},
	} {
		if _, err := Merge(c.shards); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestAResultSurvivesItsFile(t *testing.T) {
	dir := t.TempDir()
	want := shard(3, 9)
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := ReadResult(filepath.Join(dir, want.FileName()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	bad := filepath.Join(dir, "bad.json")
	for content, want := range map[string]string{
		"": "is not a campaign's result", "{}": "is not a campaign's result",
		`{"format": 1, "test": "x"}`: "make the campaign again",
	} {
		if err := os.WriteFile(bad, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadResult(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q was read: %v", content, err)
		}
	}
}

func TestResultsOfOtherTestsLieElsewhere(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range []Result{
		{Package: "example.com/a", Test: "TestX"}, {Package: "example.com/b", Test: "TestX"},
		{Test: "TestX/a_b"}, {Test: "TestX/a/b"}, {Test: "TestX/a b"},
		{Test: strings.Repeat("long ", 100)}, {Test: strings.Repeat("long ", 100) + "and"},
		{Test: "TestX", Shard: 1, Shards: 2},
	} {
		name := r.FileName()
		if seen[name] || len(name) > 250 || strings.ContainsAny(name, "/ ") {
			t.Errorf("the result of %s %s would be called %q", r.Package, r.Test, name)
		}
		seen[name] = true
	}
}

// What wavetank report --merge does with a thousand shards: read a file of each, one in eight with
// a story, and merge.
func BenchmarkMerge1000(b *testing.B) {
	dir := b.TempDir()
	long := example()
	long.History = slices.Repeat(long.History, 20)
	for i := range 1000 {
		r := shard(i, 1000)
		r.Findings[0].Story = string(long.Encode())
		if i%8 > 0 {
			r.Findings = nil
		}
		if err := r.Write(dir); err != nil {
			b.Fatal(err)
		}
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) != 1000 {
		b.Fatal(len(paths), err)
	}
	for b.Loop() {
		var shards []*Result
		for _, path := range paths {
			r, err := ReadResult(path)
			if err != nil {
				b.Fatal(err)
			}
			shards = append(shards, r)
		}
		if _, err := Merge(shards); err != nil {
			b.Fatal(err)
		}
	}
}

// Divergences are added up by cause, and the first run is described, whichever shard made it.
func TestMergeAddsUpDivergences(t *testing.T) {
	var shards []*Result
	for i := range 3 {
		r := shard(i, 3)
		r.Divergences = []Divergence{{
			Cause: "a map range", Runs: 2, First: 10 - i, What: fmt.Sprint("shard ", i), Pairs: 10, Differed: i,
		}}
		if i == 1 {
			r.Divergences = append(r.Divergences, Divergence{Cause: "a text", Text: true, Runs: 1})
		}
		shards = append(shards, r)
	}
	m, err := Merge(shards)
	want := []Divergence{
		{Cause: "a map range", Runs: 6, First: 8, What: "shard 2", Pairs: 30, Differed: 3},
		{Cause: "a text", Text: true, Runs: 1},
	}
	if d := cmp.Diff(want, m.Divergences); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	if m.Replays() || !(&Result{Divergences: want[1:]}).Replays() {
		t.Error("only texts may differ in a campaign whose runs replay")
	}
}

// Two properties with one sentence are two, in a campaign and when its shards are merged.
func TestProbesOfOneSentenceAreToldApart(t *testing.T) {
	here := ProbeTotal{Sentence: "it happens", Site: "a.go:1"}
	there := ProbeTotal{Sentence: "it happens", Site: "a.go:2"}
	one := &Result{Test: "T", Shards: 2, Sometimes: []ProbeTotal{{here.Sentence, here.Site, 2}, there}}
	two := &Result{Test: "T", Shards: 2, Shard: 1, Sometimes: []ProbeTotal{there, {here.Sentence, here.Site, 1}}}
	m, err := Merge([]*Result{one, two})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Sometimes) != 2 || m.Sometimes[0].Reached != 3 || m.Sometimes[1].Reached != 0 {
		t.Errorf("merged: %+v", m.Sometimes)
	}
}
