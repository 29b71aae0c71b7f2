package world

import (
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// faults are the declared faults of a world, and whether they may be injected now.
type faults struct {
	*core
	declared   inject.Set
	recovering bool // faults have ended for now
	healed     bool // faults have ended until Inject declares more
}

// Inject declares faults. Those from before EndFaults stay ended.
func (f *faults) Inject(faults ...fault.Fault) {
	f.panicIfOver()
	if f.healed {
		f.declared.Retire()
		f.healed = false
	}
	for _, given := range faults {
		began := given.(inject.Declaration).Begin(environment{f.sched, f})
		if err := began.Check(); err != nil {
			f.misuse("fault %s %v", began, err)
		}
		class, rest := began.Declared()
		began.Arm(f.choices.Choose(story.Label{Kind: story.Arm, Of: class, What: rest}, 3))
		f.declared.Add(began)
	}
}

// environment is the world as its faults see it. It implements inject.Env.
type environment struct {
	*sched.Scheduler
	*faults
}

func (e environment) Ended() bool { return e.faults.ended() }

func (e environment) Rarely(label story.Label, n, odds int) int {
	return e.faults.choices.Rarely(label, n, odds)
}

func (e environment) Note(event history.Event)  { e.faults.note(event) }
func (e environment) History() *history.History { return e.faults.history }
func (e environment) Server() *apiserver.Server { return e.faults.wire.Server() }

func (e environment) Write(who string, r apiserver.Request) *apiserver.Response {
	return e.faults.wire.Write(who, r)
}

func (e environment) Controllers() []process.Controller { return e.faults.procs.Controllers() }
func (e environment) Started(process string) bool       { return e.faults.procs.Find(process) != nil }
func (e environment) Window() time.Duration             { return e.faults.settings.Window }

// endFaults takes back what lasts of the faults that were injected.
func (f *faults) endFaults() {
	f.declared.End()
	f.sched.Hurry()
	if f.declared.Armed() {
		f.note(history.Event{Kind: history.Heal})
	}
}

// EndFaults ends all faults that were declared. Scheduling stays as it is.
func (f *faults) EndFaults() {
	f.panicIfInStep("w.EndFaults")
	f.healed = true
	f.endFaults()
}

// ended reports whether no fault may be injected now.
func (f *faults) ended() bool { return f.recovering || f.healed }

// DeclaresFaults reports whether the scenario has declared a fault.
func (f *faults) DeclaresFaults() bool { return len(f.declared.Counts()) > 0 }
