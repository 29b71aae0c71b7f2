package story

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/wavetank/wavetank/internal/atomicfile"
)

// Result is the state of a campaign, or of one shard of it. It is written as JSON while the
// campaign runs, so that an interrupted campaign can continue and shards can be merged.
type Result struct {
	Format   int    `json:"format"`
	Test     string `json:"test"`
	Package  string `json:"package"`
	Seed     uint64 `json:"seed"` // base seed
	Strategy string `json:"strategy"`
	Planned  int    `json:"planned"` // runs of the whole campaign; 0 for as many as time allows
	Shard    int    `json:"shard"`
	Shards   int    `json:"shards"`
	// Next is the number of the next run; Complete is set when none is left.
	Next     int  `json:"next"`
	Complete bool `json:"complete"`
	// Explored is set for a campaign of sim.Explore, whose findings fail no test by themselves.
	Explored bool `json:"explored,omitempty"`
	// Exact is set for a campaign in exact mode. It is another campaign than the same without.
	Exact bool `json:"exact,omitempty"`

	Runs       int           `json:"runs"`
	Elapsed    time.Duration `json:"elapsed"` // real time, nanoseconds; of all shards together after a merge
	Steps      int           `json:"steps"`
	Reconciles int           `json:"reconciles"`
	Requests   int           `json:"requests"`
	Virtual    time.Duration `json:"virtual"` // virtual time, nanoseconds
	Doubled    int           `json:"doubled"` // runs that were made twice and compared
	Orders     int           `json:"orders"`  // in which events came, without those that do not depend on one another

	Faults    []FaultTotal  `json:"faults,omitempty"`
	Sometimes []ProbeTotal  `json:"sometimes,omitempty"`
	Objects   []ObjectTotal `json:"objects,omitempty"`
	Sites     []SiteTotal   `json:"sites,omitempty"`
	// Calls are the writes in the source of the program's reconcilers.
	Calls []SourceCall `json:"calls,omitempty"`
	// Rights are those with which the operator is deployed; nil if no process has them.
	Rights     *Rights         `json:"rights,omitempty"`
	Strategies []StrategyTotal `json:"strategies,omitempty"`
	Findings   []Finding       `json:"findings,omitempty"`
	Drifted    []Drift         `json:"drifted,omitempty"`
	Outdated   []Outdated      `json:"outdated,omitempty"`
	// Divergences are the differences of doubled runs that are no failure, by cause.
	Divergences []Divergence      `json:"divergences,omitempty"`
	Versions    map[string]string `json:"versions,omitempty"`
	// Build identifies the test binary, as by its SHA-256; empty if it is not known.
	Build string `json:"build,omitempty"`
	// Growth is the number of different orders of events after a number of runs. It is not merged.
	Growth []Growth `json:"growth,omitempty"`
	// Slowest are the slowest runs, the slowest first.
	Slowest []SlowRun `json:"slowest,omitempty"`
}

// Growth is the number of different orders of events after a number of runs.
type Growth struct {
	Runs   int `json:"runs"`
	Orders int `json:"orders"`
}

// SlowRun is one of the slowest runs.
type SlowRun struct {
	Run      int           `json:"run"`
	Strategy string        `json:"strategy"`
	Steps    int           `json:"steps"`
	Elapsed  time.Duration `json:"elapsed"` // real time, nanoseconds
}

// slowest is how many of the slowest runs are kept.
const slowest = 5

// Slow puts a run among the slowest if it is one of them.
func (r *Result) Slow(s SlowRun) {
	at := sort.Search(len(r.Slowest), func(i int) bool { return r.Slowest[i].Elapsed < s.Elapsed })
	if at < slowest {
		r.Slowest = slices.Insert(r.Slowest, at, s)
		r.Slowest = r.Slowest[:min(len(r.Slowest), slowest)]
	}
}

// FaultTotal counts what became of a declared fault, over the runs of a campaign.
type FaultTotal struct {
	Fault string `json:"fault"`
	// Opportunities counts the points of the runs at which the fault could have been injected: a
	// request that it may fail, an event that it may delay. What is outside its scope is none.
	Opportunities int `json:"opportunities"`
	// Injected counts the opportunities at which choices did inject it.
	Injected int `json:"injected"`
	// Observed counts the injections whose effect was observed before the run ended: a request got
	// the injected answer, a reconcile began with the stale cache, the next incarnation reconciled
	// after a crash. However many requests one injection fails, it counts once; so Observed is at
	// most Injected.
	Observed int `json:"observed"`
	// Classes are the same by class of requests and watch events.
	Classes []ClassTotal `json:"classes,omitempty"`
}

// ClassTotal counts the injections of a fault at requests of one class: those with the same verb
// and kind.
type ClassTotal struct {
	Verb          string `json:"verb,omitempty"` // or the type of a watch event
	Kind          string `json:"kind"`           // or the host of a request to the outside
	Opportunities int    `json:"opportunities"`
	Injected      int    `json:"injected"`
}

// String is the class in words.
func (c ClassTotal) String() string { return strings.TrimSpace(c.Verb + " " + c.Kind) }

// AddClasses adds the counts of some classes to those of others.
func AddClasses(to, more []ClassTotal) []ClassTotal {
	for _, n := range more {
		t := at(&to, func(t ClassTotal) bool { return t.Verb == n.Verb && t.Kind == n.Kind },
			ClassTotal{Verb: n.Verb, Kind: n.Kind})
		t.Opportunities += n.Opportunities
		t.Injected += n.Injected
	}
	return to
}

// AddFaults adds the counts of some faults to those of others.
func AddFaults(to, more []FaultTotal) []FaultTotal {
	for _, f := range more {
		t := at(&to, func(t FaultTotal) bool { return t.Fault == f.Fault }, FaultTotal{Fault: f.Fault})
		t.Opportunities += f.Opportunities
		t.Injected += f.Injected
		t.Observed += f.Observed
		t.Classes = AddClasses(t.Classes, f.Classes)
	}
	return to
}

// ProbeTotal says in how many runs a Sometimes was true.
type ProbeTotal struct {
	Sentence string `json:"sentence"`
	Site     string `json:"site"`
	Reached  int    `json:"reached"` // runs in which it was
}

// AddProbes adds the counts of some probes to those of others.
func AddProbes(to, more []ProbeTotal) []ProbeTotal {
	for _, p := range more {
		same := func(t ProbeTotal) bool { return t.Sentence == p.Sentence && t.Site == p.Site }
		at(&to, same, ProbeTotal{Sentence: p.Sentence, Site: p.Site}).Reached += p.Reached
	}
	return to
}

// StrategyTotal says how many runs a strategy made and how many of them broke a property.
type StrategyTotal struct {
	Name  string `json:"name"`
	Runs  int    `json:"runs"`
	Finds int    `json:"finds"`
}

// Finding is one cause of failures: a property, and the line of the program that decided. Where no
// line is known, it is a property and the faults in the shrunk story.
type Finding struct {
	Cause    string `json:"cause"`
	Kind     string `json:"kind"`
	Property string `json:"property"`
	Count    int    `json:"count"` // runs with this cause
	First    int    `json:"first"` // number of the first of them
	Strategy string `json:"strategy"`
	// Story is the text of its shortest story's file.
	Story string `json:"story"`
	Steps int    `json:"steps"` // length of that story
}

// Drift is a stored story that passes although not all of its faults were injected, because the
// code no longer sends what they were injected at.
type Drift struct {
	File     string   `json:"file"`     // as seen from the test's package
	Violated string   `json:"violated"` // the property that it violated
	Lost     []string `json:"lost"`     // the choices that the run did not ask for
	// Near are choices that the run did ask for, of the same faults at other writes, as a story
	// file has them.
	Near []string `json:"near,omitempty"`
}

// Passes is how an outdated story's run ends if it violates nothing.
const Passes = "passes"

// Outdated is a stored story with a statement that no longer holds: its replay neither violates the
// property that it names, nor passes while the scenario declares that property.
type Outdated struct {
	File     string `json:"file"`     // as seen from the test's package
	Violated string `json:"violated"` // the property that it violated
	// Statement is what changed: "property", "declared" (its place) or "scenario".
	Statement string `json:"statement"`
	Change    string `json:"change"` // in words
	// Renamed is the sentence of the property that is declared where the file says.
	Renamed string `json:"renamed,omitempty"`
	Now     string `json:"now"` // how its run ends
}

// Sentence states what changed and what to do.
func (o Outdated) Sentence() string {
	todo := "renew it (wavetank stories renew), or remove it (wavetank stories remove)"
	if o.Now == Passes && o.Renamed == "" {
		todo = "remove it (wavetank stories remove)"
	}
	return fmt.Sprintf("%s (%s) is outdated: %s, and its run %s; %s", o.File, o.Violated, o.Change, o.Now, todo)
}

// ReadResult reads a result file.
func ReadResult(path string) (*Result, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s is not a campaign's result: %w", path, err)
	}
	if r.Test == "" {
		return nil, fmt.Errorf("%s is not a campaign's result", path)
	}
	if r.Format != Format {
		return nil, fmt.Errorf("%s is a result of format %d and this version of wavetank reads format %d; "+
			"make the campaign again", path, r.Format, Format)
	}
	return r, nil
}

// FileName is the name of the result's file: the test's name without characters that file systems
// refuse, and a number that differs between packages.
func (r *Result) FileName() string {
	name := fmt.Sprintf("%s.%08x", PathPart(r.Test), number(r.Package+" "+r.Test))
	if r.Exact {
		name += ".exact"
	}
	if r.Shards > 1 {
		name += fmt.Sprintf(".shard-%d-of-%d", r.Shard, r.Shards)
	}
	return name + ".json"
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9_.~-]+`)

// longestName keeps file names below the 255 bytes that file systems accept.
const longestName = 150

// PathPart turns any text, such as the name of a Ginkgo spec, into one part of a path. It replaces
// characters that do not belong there. A text that is too long is cut and gets a number.
func PathPart(text string) string {
	part := strings.ReplaceAll(unfit.ReplaceAllString(text, "_"), "..", "_")
	if len(part) > longestName {
		part = fmt.Sprintf("%s_%08x", part[:longestName], number(part))
	}
	return part
}

func number(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}

// Write stores the result in a directory, all of it or nothing.
func (r *Result) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	r.Format = Format
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, r.FileName()), append(data, '\n'))
}

// Merge adds up the shards of one campaign, with the shortest story of each cause. The merged
// result is complete only if every shard is there and complete.
func Merge(shards []*Result) (*Result, error) {
	if len(shards) == 0 {
		return nil, errors.New("there is nothing to merge")
	}
	first := shards[0]
	m := &Result{Format: Format, Test: first.Test, Package: first.Package, Seed: first.Seed, Strategy: first.Strategy,
		Planned: first.Planned, Shards: 1, Explored: first.Explored, Exact: first.Exact, Versions: first.Versions}
	have := map[int]bool{}
	complete := 0
	for _, r := range shards {
		if !r.SameCampaign(first) {
			return nil, fmt.Errorf("%s is not of the same campaign as %s", r.identity(), first.identity())
		}
		if have[r.Shard] {
			return nil, fmt.Errorf("shard %d/%d of %s is there twice", r.Shard, r.Shards, r.Test)
		}
		have[r.Shard] = true
		if r.Complete {
			complete++
		}
		m.add(r)
	}
	m.Complete = complete == first.Shards
	m.sort()
	return m, nil
}

// identity names a shard with the settings of its campaign.
func (r *Result) identity() string {
	return fmt.Sprintf("shard %d/%d of %s (seed %d, %s, %d runs)", r.Shard, r.Shards, r.Test, r.Seed, r.Strategy,
		r.Planned)
}

// SameCampaign reports whether two results are shards of one campaign, judged by their settings.
func (r *Result) SameCampaign(o *Result) bool {
	return r.Package == o.Package && r.Test == o.Test && r.Seed == o.Seed && r.Strategy == o.Strategy &&
		r.Planned == o.Planned && r.Shards == o.Shards && r.Exact == o.Exact
}

func (r *Result) add(o *Result) {
	r.Runs += o.Runs
	r.Elapsed += o.Elapsed
	r.Steps += o.Steps
	r.Reconciles += o.Reconciles
	r.Requests += o.Requests
	r.Virtual += o.Virtual
	r.Doubled += o.Doubled
	r.Orders = max(r.Orders, o.Orders) // a lower bound, because orders are not stored
	r.Faults, r.Sometimes = AddFaults(r.Faults, o.Faults), AddProbes(r.Sometimes, o.Sometimes)
	r.Objects, r.Sites = AddObjects(r.Objects, o.Objects), AddSites(r.Sites, o.Sites)
	r.Calls = AddCalls(r.Calls, o.Calls)
	r.Rights = r.Rights.And(o.Rights)
	for _, s := range o.Strategies {
		same := func(t StrategyTotal) bool { return t.Name == s.Name }
		t := at(&r.Strategies, same, StrategyTotal{Name: s.Name})
		t.Runs, t.Finds = t.Runs+s.Runs, t.Finds+s.Finds
	}
	for _, f := range o.Findings {
		r.Found(f)
	}
	for _, d := range o.Drifted { // each shard replays every story
		*at(&r.Drifted, func(t Drift) bool { return t.File == d.File }, d) = d
	}
	for _, d := range o.Outdated {
		*at(&r.Outdated, func(t Outdated) bool { return t.File == d.File }, d) = d
	}
	for _, d := range o.Divergences {
		r.Diverged(d)
	}
	for _, s := range o.Slowest {
		r.Slow(s)
	}
}

// Found adds a finding to those with its cause.
func (r *Result) Found(f Finding) {
	same := func(t Finding) bool { return t.Cause == f.Cause }
	t := at(&r.Findings, same, Finding{Cause: f.Cause, Kind: f.Kind, Property: f.Property, First: -1})
	t.Count += f.Count
	if t.First < 0 || f.First < t.First {
		t.First, t.Strategy = f.First, f.Strategy
	}
	if t.Story == "" || f.Story != "" && (f.Steps < t.Steps || f.Steps == t.Steps && f.Story < t.Story) {
		t.Story, t.Steps = f.Story, f.Steps
	}
}

func (r *Result) sort() {
	sort.Slice(r.Strategies, func(i, j int) bool { return r.Strategies[i].Name < r.Strategies[j].Name })
	sort.Slice(r.Divergences, func(i, j int) bool { return r.Divergences[i].Cause < r.Divergences[j].Cause })
	sort.Slice(r.Findings, func(i, j int) bool { return r.Findings[i].Cause < r.Findings[j].Cause })
}

// at finds an element, and adds it if there is none.
func at[T any](list *[]T, is func(T) bool, fresh T) *T {
	for i := range *list {
		if is((*list)[i]) {
			return &(*list)[i]
		}
	}
	*list = append(*list, fresh)
	return &(*list)[len(*list)-1]
}
