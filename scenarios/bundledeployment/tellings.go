// This file exists for what happens: each telling is a scenario that asks one question of a variant in its setting.

package bundledeployment

import (
	"cmp"
	"fmt"
	"time"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/history"
)

// Telling is a scenario waiting for a setting and for faults.
type Telling func(s Setting, faults ...sim.Fault) func(*sim.World)

// The sentences under which the properties are declared.
const (
	settles      = "there is one attempt for each period of back-off"
	backoffGrows = "the back-off counts one failure for each attempt"
	actionable   = "the status names the root cause"
	quiet        = "the status is not written while nothing is new"
	noOverlap    = "no attempt meets what is left of the one before"
	keepsOld     = "what was installed outlives a failing upgrade"
	bounded      = "no more than ten release records are kept"
	recovers     = "it is installed soon after the cause is gone"
	prompt       = "a healthy deployment does not wait for failing ones"
	oneOwner     = "an object that two want belongs to one"
	noWedge      = "a crash wedges nothing"
	installed    = "every deployment is installed in the end"
)

// app is the deployment that most tellings are about.
const app = "app"

// briefly is how long a failing upgrade is watched, whose variants never sleep and keep ever more records.
const briefly = 12 * time.Second

// longEnough is how long a failing deployment is watched: until its sleeps are as long as they get, and for five of those.
const longEnough = 7 * longestSleep

// asks declares the properties of a failing deployment, by their sentences.
func (s *Story) asks(sentences ...string) {
	for _, sentence := range sentences {
		s.Always(sentence, map[string]func(*history.History) error{
			settles: s.Settles(app), backoffGrows: s.BackoffGrows(app), actionable: s.Actionable(app), quiet: s.Quiet(app),
			noOverlap: s.NoOverlap(app), keepsOld: s.KeepsOld(app), bounded: s.BoundedRecords(app), noWedge: s.NoWedge(app),
		}[sentence])
	}
}

// Fails is the story of the thread: a bundle with a namespace, and something that the server refuses.
func Fails(sentences ...string) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			s.Apply(Deployment(app, "app", "apps", true))
			s.Mark()
			w.Sleep(longEnough)
		}
	}
}

// FailsWatched is Fails in a process that watches the kinds of the bundle already, because it has installed another one.
func FailsWatched(sentences ...string) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			s.Apply(Deployment("other", "app", "others", false))
			w.Settle()
			w.Inject(faults...)
			s.asks(sentences...)
			s.Apply(Deployment(app, "app", "apps", true))
			s.Mark()
			w.Sleep(longEnough)
		}
	}
}

// FailsVarying is Fails with a refusal that names something else each time, as one does that holds a time or a uid.
func FailsVarying(sentences ...string) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			bd := Deployment(app, "app", "apps", true)
			bd.Spec.Config = config("namespace: apps\nvaries: true\nrefused: " + cause + "\n")
			s.Apply(bd)
			s.Mark()
			w.Sleep(longEnough)
		}
	}
}

// FailsToUpgrade installs a bundle, and then wants one with a second namespace and something that is refused.
func FailsToUpgrade(sentences ...string) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			s.Apply(Deployment(app, "app", "apps", false))
			w.Settle()
			w.Inject(faults...)
			s.asks(sentences...)
			s.Apply(Deployment(app, "wide", "apps", true))
			s.Mark()
			w.Sleep(briefly)
		}
	}
}

// Recovered removes the cause after a while, in the environment or from the deployment. The dossier allows a second for a
// mended deployment, besides what has to be waited for; here the hand-out that is under way and the next one have theirs.
func Recovered(bySpec bool) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			w.Inject(faults...)
			s.Apply(Deployment(app, "app", "apps", true))
			w.Sleep(sim.Draw(w, "until the cause is removed", delays))
			within := longestSleep + s.Terminates + time.Second
			if bySpec {
				within = s.Terminates + time.Second + 2*labour + waits(t.Variant)
				s.Apply(Deployment(app, "app", "apps", false))
			} else {
				s.Apply(Namespace(cause))
			}
			s.Mark()
			w.Always(recovers, s.Recovers(app, within))
			w.Sleep(within + time.Minute)
			w.Settle()
		}
	}
}

// waits is how long a variant may be busy with a clean-up, or sleep before it looks whether it is done.
func waits(v bundledeployment.Variant) time.Duration {
	switch v {
	case bundledeployment.V1, bundledeployment.V2:
		return 30 * time.Second
	case bundledeployment.V4:
		return 5 * time.Second
	}
	return 0
}

const (
	// promptly is how soon a worker must begin with a healthy deployment while there are more workers than failing ones.
	promptly = time.Second
	// labour is what the requests of one hand-out of a failing deployment may take: 4.2 s was the most that was seen while
	// requests were slow. Where there are as many failing ones as workers, a healthy one may wait for that much of each in turn.
	labour = 5 * time.Second
)

// Starved lets some deployments fail, and asks how long a healthy one has to wait: no longer than a second, and for what
// each may hold a worker, as many times as it takes all workers to begin with everything. Namespaces take 28 s to go, so
// that whoever waits for them is seen to wait.
func Starved(failing int, staggered bool, each time.Duration) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			t.Terminates = max(t.Terminates, 28*time.Second)
			s := Begin(w, t)
			w.Inject(faults...)
			for i := range failing {
				s.Apply(Deployment(fmt.Sprintf("failing-%d", i+1), "app", fmt.Sprintf("failing-%d", i+1), true))
				if staggered {
					w.Sleep(3 * time.Second)
				}
			}
			workers := cmp.Or(t.Workers, bundledeployment.DefaultWorkers(t.Variant))
			turns := (failing + workers) / workers // (failing+1)/workers, rounded up
			w.Always(prompt, s.Prompt(app, promptly+time.Duration(turns)*each))
			w.Sleep(900 * time.Millisecond)
			s.Apply(Deployment(app, "app", "apps", false))
			w.Sleep(2 * time.Minute)
		}
	}
}

// Shared lets two deployments want one namespace.
func Shared(firstFails bool) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			w.Inject(faults...)
			s.Apply(Deployment(app, "app", "apps", firstFails))
			w.Sleep(time.Minute)
			s.Apply(Deployment("twin", "app", "apps", false))
			w.Sleep(time.Minute)
			s.Always(oneOwner, s.OneOwner(app, "twin"))
			w.Sleep(time.Minute)
		}
	}
}

// interrupt lets the operator do what it has to, in the course of which it may die, and then find its peace.
func interrupt(w *sim.World) {
	w.Sleep(20 * time.Second)
	w.Settle()
}

// Interrupted kills the operator somewhere on its way through install, upgrade and repair of a bundle to which nothing is
// wrong.
func Interrupted(t Setting, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, t)
		w.Inject(faults...)
		w.Eventually(installed, s.Installed(app))
		s.Apply(Deployment(app, "app", "apps", false))
		interrupt(w)
		s.Apply(Deployment(app, "wide", "apps", false))
		interrupt(w)
		s.Remove(Namespace("apps-more"))
		interrupt(w)
	}
}

// InterruptedFailing kills the operator somewhere on its way through a bundle that is refused at first, when it is to be
// installed and when it is to be upgraded: through the attempts, and the uninstalls and rollbacks that undo them.
func InterruptedFailing(t Setting, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, t)
		w.Inject(faults...)
		w.Eventually(installed, s.Installed(app))
		for _, image := range []string{"app", "wide"} {
			s.Apply(Deployment(app, image, "apps", true))
			w.Sleep(1500 * time.Millisecond)
			s.Apply(Deployment(app, image, "apps", false))
			interrupt(w)
		}
	}
}
