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

// Inject declares faults. Those from before EndFaults stay ended.
func (w *World) Inject(faults ...fault.Fault) {
	w.panicIfOver()
	if w.healed {
		w.faults.Retire()
		w.healed = false
	}
	for _, declared := range faults {
		f := declared.(inject.Declaration).Begin(environment{w.sched, w})
		if err := f.Check(); err != nil {
			w.misuse("fault %s %v", f, err)
		}
		class, rest := f.Declared()
		f.Arm(w.choices.Choose(story.Label{Kind: story.Arm, Of: class, What: rest}, 3))
		w.faults.Add(f)
	}
}

// environment is the world as its faults see it. It implements inject.Env.
type environment struct {
	*sched.Scheduler
	w *World
}

// Ended implements inject.Env.
func (e environment) Ended() bool { return e.w.faultsEnded() }

// Rarely implements inject.Env.
func (e environment) Rarely(label story.Label, n, odds int) int {
	return e.w.choices.Rarely(label, n, odds)
}

// Note implements inject.Env.
func (e environment) Note(event history.Event) { e.w.note(event) }

// History implements inject.Env.
func (e environment) History() *history.History { return e.w.history }

// Server implements inject.Env.
func (e environment) Server() *apiserver.Server { return e.w.wire.Server() }

// Write implements inject.Env.
func (e environment) Write(who string, r apiserver.Request) *apiserver.Response {
	return e.w.wire.Write(who, r)
}

// Controllers implements inject.Env.
func (e environment) Controllers() []process.Controller { return e.w.procs.Controllers() }

// Started implements inject.Env.
func (e environment) Started(process string) bool { return e.w.procs.Find(process) != nil }

// Window implements inject.Env.
func (e environment) Window() time.Duration { return e.w.settings.Window }
