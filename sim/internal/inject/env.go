// Package inject lies between the faults of package sim/fault and the world of a run. A fault asks
// its [Env] about the world. The world asks the [Set] of its faults, and the set asks those that
// implement the hook in question.
package inject

import (
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Env is the world as a fault sees it. Its methods must be called on the scheduling goroutine.
type Env interface {
	// Now is the virtual time since the start of the run.
	Now() time.Duration
	// Ended reports whether faults have ended for now, because the world recovers.
	Ended() bool
	// Rarely asks the choice source which of n alternatives is taken. Alternative 0 is that nothing
	// is injected; the others have odds of one in so many.
	Rarely(label story.Label, n, odds int) int
	// Note records an event at the present step.
	Note(e history.Event)
	// History is the record of the run.
	History() *history.History
	// Server is the API server of the world's own cluster.
	Server() *apiserver.Server
	// Write lets a writer of that name send a request, which takes effect at once.
	Write(who string, r apiserver.Request) *apiserver.Response
	// Park hands an action to the scheduler, and Drop withdraws it.
	Park(a *sched.Action)
	Drop(a *sched.Action) bool
	// Disturb says that goroutines may run that no step has woken.
	Disturb()
	// Controllers are those of all living processes.
	Controllers() []process.Controller
	// Started reports whether the world has a process of this name.
	Started(process string) bool
	// Window is how far back the history goes; 0 means to the start.
	Window() time.Duration
}
