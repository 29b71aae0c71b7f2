// Package run is the seam between a campaign and the runs that it makes. A campaign knows a
// [Runner], and nothing of the world in which a run takes place.
package run

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/result"
)

// Runner makes one run of a scenario. The choice source answers its choices.
type Runner func(t *testing.T, o choice.Source, s Settings) *Result

// Settings are what a run is given besides its choices.
type Settings struct {
	// Window bounds the record that is kept, in virtual time; 0 keeps all of it.
	Window time.Duration
	// MaxSteps is after how many steps a run that does not settle is given up.
	MaxSteps int
	// Pass has the run continue after a violation of a property. It is not judged by that property
	// again.
	Pass bool
	// Ignored are properties by which the run is not judged.
	Ignored []string
	// Callers has the run note from where requests are made.
	Callers bool
	// Reads has reconciles note what they read from caches.
	Reads bool
	// Fresh, when set, brings a cache up to date at a step.
	Fresh *Fresh
	// First is the record of the first run of a doubled one. A run with a window compares itself
	// with it before it forgets; nil for other runs.
	First *history.History
	// Log is where programs log. The zero value discards it.
	Log logr.Logger
	// Leaves reports whether a panic is how the test's framework leaves a test that it has marked;
	// nil if none does.
	Leaves func(panicked any) bool
	// Record, when set, gets the order of the run.
	Record *Script
	// Real, when set, has the run take place at a real API server, in real time.
	Real *Real
	// Hosting, when set, has the run end when it starts a program.
	Hosting *Hosting
	// Monitor shows the run to a watchdog; nil if there is none.
	Monitor *Monitor
}

// Hosting is a program that a run starts. It is to run in this process and outside the run.
type Hosting struct {
	Process string
	// Main is the program; nil if the run did not come so far.
	Main          func(ctx context.Context, cfg *rest.Config) error
	Account       string // that the program runs as, as "namespace/name"; "" for an administrator
	ListThenWatch bool
	InSetup       func(error) bool // reports whether an error of the program is that of its setup function
}

// Fresh asks a run to deliver what a cache has not received, just before a step.
type Fresh struct {
	Step      int    // before which the pending watch events are delivered, in steps of their own
	Process   string // with its incarnation, as "pipelines/2"
	Kind      string
	Reached   bool // the run has reached the step
	Delivered int  // events
}

// Result is one run.
type Result struct {
	Ending     result.Ending
	Passed     []result.Ending // violations after which it continued
	History    *history.History
	Log        []choice.Answer
	Choices    choice.Sequence
	Steps      int
	Reconciles int
	Requests   int
	Virtual    time.Duration
	Faults     []result.FaultCount
	Sometimes  []result.Probe
	Properties []Property // that were declared, default properties included
	Outcomes   []Outcomes
	Objects    []Object
	Sites      []result.SiteCount
	Required   bool // each of the objects must succeed in some run of the campaign
	Refused    []Refused
	Waits      []Waits
	Unmodelled []Unmodelled
	Ignored    []Ignored
	Unobserved []string // controllers that were not observed
	Left       []string // goroutines that a run left behind, and not each time: see bubble.LeftBehind
	Strayed    bool     // something connected to the real network, perhaps not in the run
	Processes  int      // that were started
	// Rights are those of processes with the rights of their deployments; nil if there is none.
	Rights *story.Rights
	// Course is how a run at a real API server went; nil for a run in a simulated cluster.
	Course  *Course
	Callers map[int][]uintptr // of requests, by event
	ByTimer map[int]bool      // by event: nothing but time had passed before the request was sent
}

// Property is the declaration of a property.
type Property struct {
	Kind     result.Kind
	Sentence string
	Site     string // file:line
}

// Monitor shows a watchdog how the runs of a campaign get on. The watchdog stands outside their
// bubbles.
type Monitor struct {
	// Beats counts signs of progress of the run under way.
	Beats atomic.Uint64
	// UnderWay reports whether a run is being made at all. Between runs a campaign may take as long
	// as it likes, to draw one of half a gigabyte for example.
	UnderWay atomic.Bool
	// Latest is the run under way, as far as it has come.
	Latest atomic.Pointer[InProgress]
}

// InProgress is a run that has begun.
type InProgress struct {
	Choices *choice.Recorder
	History *history.History
	Dials   uint64 // process.Dials when it began
}

// Stopped is a panic from outside the run, for example of rapid, that a choice source carries
// through a run. The runner raises the value again when the run is over.
type Stopped struct{ Value any }

// User is the name of the actor that stands for the scenario.
const User = "user"
