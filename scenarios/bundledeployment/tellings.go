// This file exists for what happens: each telling is a scenario that asks one question of a variant in its setting.

package bundledeployment

import (
	"cmp"
	"fmt"
	"time"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Telling is a scenario waiting for a setting and for faults.
type Telling func(s Setting, faults ...fault.Fault) func(*sim.World)

// The sentences under which the properties are declared.
const (
	settles      = "there is one attempt for each period of back-off"
	backoffGrows = "the back-off counts one failure for each attempt"
	actionable   = "the status names the root cause"
	quiet        = "the status is not written while nothing is new"
	noOverlap    = "no attempt meets what is left of the one before"
	noOrphans    = "nothing is left of what is no longer wanted"
	keepsOld     = "what was installed outlives a failing upgrade"
	bounded      = "no more than ten release records are kept"
	recovers     = "it is installed soon after the cause is gone"
	prompt       = "a healthy deployment does not wait for failing ones"
	oneOwner     = "an object that two want belongs to one"
	noWedge      = "a crash wedges nothing"
	installed    = "every deployment is installed in the end"
	oneHand      = "a deployment is in one worker's hands"
	watchedOnce  = "a kind is watched once"
	stillWatched = "what is installed is watched"
	fenced       = "of two processes only one goes on with what was begun"
	handsOff     = "a deployment of another provisioner is left alone"
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
	return func(t Setting, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			bd := Deployment(app, "app", "apps", true)
			if t.Held > 0 {
				bd.Spec.Config = config("namespace: apps\nheld: true\nrefused: " + cause + "\n")
			}
			s.Apply(bd)
			s.Mark()
			s.watch(longEnough)
		}
	}
}

// FailsWatched is Fails in a process that watches the kinds of the bundle already, because it has installed another one.
func FailsWatched(sentences ...string) Telling {
	return func(t Setting, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			s.Apply(Deployment("other", "app", "others", false))
			w.Settle()
			w.Inject(faults...)
			s.asks(sentences...)
			s.Apply(Deployment(app, "app", "apps", true))
			s.Mark()
			s.watch(longEnough)
		}
	}
}

// FailsVarying is Fails with a refusal that names something else each time, as one does that holds a time or a uid.
func FailsVarying(sentences ...string) Telling {
	return func(t Setting, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			bd := Deployment(app, "app", "apps", true)
			bd.Spec.Config = config("namespace: apps\nvaries: true\nrefused: " + cause + "\n")
			s.Apply(bd)
			s.Mark()
			s.watch(longEnough)
		}
	}
}

// FailsToUpgrade installs a bundle, and then wants one with a second namespace and something that is refused.
func FailsToUpgrade(sentences ...string) Telling { return failsToUpgrade(briefly, sentences) }

// FailsToUpgradeForLong is FailsToUpgrade, watched for as long as a failing install.
func FailsToUpgradeForLong(sentences ...string) Telling { return failsToUpgrade(longEnough, sentences) }

func failsToUpgrade(watched time.Duration, sentences []string) Telling {
	return func(t Setting, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			s.Apply(Deployment(app, "app", "apps", false))
			w.Settle()
			w.Inject(faults...)
			s.asks(sentences...)
			s.Apply(Deployment(app, "wide", "apps", true))
			s.Mark()
			s.watch(watched)
		}
	}
}

// Abandoned installs a bundle, wants another one with a second namespace that is refused, and then the first one again.
func Abandoned(t Setting, faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, t)
		s.Apply(Deployment(app, "app", "apps", false))
		w.Settle()
		w.Inject(faults...)
		w.Eventually(noOrphans, s.NoOrphans(app, 2))
		w.Eventually(installed, s.Installed(app))
		s.Apply(Deployment(app, "wide", "apps", true))
		w.Sleep(sim.Draw(w, "until the first one is wanted again", shortly))
		s.Apply(Deployment(app, "app", "apps", false))
		w.Sleep(20 * time.Minute)
		w.Settle()
	}
}

// Mend is how the cause of a failure is removed.
type Mend string

// The mends.
const (
	Environment Mend = "environment" // what was missing comes to be there
	Values      Mend = "values"      // the deployment does not want it any more
	Content     Mend = "content"     // the deployment wants another bundle, which does not want it
)

// Recovered removes the cause after a while. To a mended deployment the dossier allows a second, besides what has to be waited for.
func Recovered(by Mend) Telling {
	return func(t Setting, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			w.Inject(faults...)
			s.Apply(Deployment(app, "app", "apps", true))
			w.Sleep(sim.Draw(w, "until the cause is removed", delays))
			within := s.Terminates + time.Second + looks(t.Variant)
			switch by {
			case Environment:
				within = longestSleep + s.Terminates
				s.Apply(Namespace(cause))
			case Values:
				s.Apply(Deployment(app, "app", "apps", false))
			case Content:
				within += unpacks
				s.Apply(Deployment(app, "wide", "apps", false))
			}
			s.Mark()
			w.Always(recovers, s.Recovers(app, within, cleanUpWait+2*labour))
			w.Sleep(within + 2*time.Minute)
			w.Settle()
		}
	}
}

// Disowned gives a failing deployment to another provisioner for a while. Whoever has it in hand at that moment may finish.
func Disowned(t Setting, faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, t)
		w.Inject(faults...)
		w.Eventually(installed, s.Installed(app))
		s.Apply(Deployment(app, "app", "apps", true))
		w.Sleep(2 * time.Second)
		theirs := Deployment(app, "app", "apps", true)
		theirs.Spec.ProvisionerClassName = "core-rukpak-io-plain"
		s.Apply(theirs)
		w.Sleep(labour + cleanUpWait)
		s.Mark()
		mine := false
		w.Always(handsOff, func(h *history.History) error {
			if mine {
				return nil
			}
			return s.HandsOff(app)(h)
		})
		w.Sleep(10 * time.Minute)
		mine = true
		s.Apply(Deployment(app, "app", "apps", false))
		w.Settle()
	}
}

// Several installs deployments of the same kinds at once, and then one more.
func Several(sentences ...string) Telling {
	return func(t Setting, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			t.Workers = 3
			s := Begin(w, t)
			w.Inject(faults...)
			for _, sentence := range sentences {
				w.Always(sentence, map[string]func(*history.History) error{
					oneHand: s.OneHand("one", "two", "three"), watchedOnce: s.WatchedOnce}[sentence])
			}
			w.Eventually(stillWatched, s.StillWatched)
			for _, name := range []string{"one", "two"} {
				s.Apply(Deployment(name, "app", name, false))
			}
			interrupt(w)
			s.Apply(Deployment("three", "app", "three", false))
			interrupt(w)
		}
	}
}

// looks is how long a variant may sleep before it looks whether a clean-up is done. V1 and V2 never sleep then: they hold on.
func looks(v bundledeployment.Variant) time.Duration {
	if v == bundledeployment.V4 {
		return 5 * time.Second
	}
	return 0
}

const (
	// cleanUpWait is how long V1 and V2 wait for what they undo.
	cleanUpWait = 30 * time.Second
	// unpacks is how long a bundle takes to be unpacked, at most.
	unpacks = 2 * time.Second
	// promptly is how soon a worker must begin with a healthy deployment while there are more workers than failing ones.
	promptly = time.Second
	// labour is what the requests of one hand-out of a failing deployment may take: 4.2 s was the most that was seen while
	// requests were slow. Where there are as many failing ones as workers, a healthy one may wait for that much of each in turn.
	labour = 5 * time.Second
)

// Crowd lets some deployments fail, at once or one after the other, and then a healthy one come. Namespaces take 28 s to go, so that
// whoever waits for them is seen to wait.
func Crowd(w *sim.World, t Setting, failing int, staggered bool, faults ...fault.Fault) *Story {
	t.Terminates = max(t.Terminates, 28*time.Second)
	s := Begin(w, t)
	w.Inject(faults...)
	for i := range failing {
		s.Apply(Deployment(fmt.Sprintf("failing-%d", i+1), "app", fmt.Sprintf("failing-%d", i+1), true))
		if staggered {
			w.Sleep(3 * time.Second)
		}
	}
	w.Sleep(900 * time.Millisecond)
	s.Apply(Deployment(app, "app", "apps", false))
	return s
}

// Starved asks how long the healthy one of a crowd has to wait: no longer than a second, and for what each may hold a worker, as
// many times as it takes all workers to begin with everything.
func Starved(failing int, each time.Duration) Telling {
	return func(t Setting, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Crowd(w, t, failing, false, faults...)
			workers := cmp.Or(t.Workers, bundledeployment.DefaultWorkers(t.Variant))
			turns := (failing + workers) / workers // (failing+1)/workers, rounded up
			w.Always(prompt, s.Prompt(app, promptly+time.Duration(turns)*each))
			w.Sleep(2 * time.Minute)
		}
	}
}

// Shared lets two deployments want one namespace, or with the image "kinds" one CustomResourceDefinition.
func Shared(image string, firstFails bool) Telling {
	return func(t Setting, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			w.Inject(faults...)
			twins := "apps"
			if image == "kinds" {
				twins = "twins"
			}
			s.Apply(Deployment(app, image, "apps", firstFails))
			w.Sleep(time.Minute)
			s.Apply(Deployment("twin", image, twins, false))
			w.Sleep(time.Minute)
			s.Always(oneOwner, s.OneOwner(app, "twin"))
			w.Sleep(time.Minute)
		}
	}
}

// TakesOver has V3 install a bundle and fail to upgrade it. Then the operator starts again, as another variant.
func TakesOver(t Setting, faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		after := t.Variant
		t.Variant = bundledeployment.V3
		s := Begin(w, t)
		s.Apply(Deployment(app, "app", "apps", false))
		w.Settle()
		s.Apply(Deployment(app, "wide", "apps", true))
		w.Sleep(briefly)
		s.startsAgain(after, faults)
	}
}

// StartsAgain lets the operator install a bundle under faults, and then start again.
func StartsAgain(t Setting, faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, t)
		w.Inject(faults...)
		s.Apply(Deployment(app, "app", "apps", false))
		interrupt(w)
		s.startsAgain(t.Variant, nil)
	}
}

// startsAgain asks of the next life of the operator that it leaves alone what is installed.
func (s *Story) startsAgain(as bundledeployment.Variant, faults []fault.Fault) {
	s.asks(keepsOld)
	s.Mark()
	s.Inject(faults...)
	s.Setting.Variant = as
	s.Stop(Operator)
	s.Sleep(5 * time.Minute)
}

// interrupt lets the operator do what it has to, in the course of which it may die, and then find its peace.
func interrupt(w *sim.World) {
	w.Sleep(20 * time.Second)
	w.Settle()
}

// Interrupted kills the operator somewhere on its way through install, upgrade and repair of a bundle to which nothing is
// wrong.
func Interrupted(t Setting, faults ...fault.Fault) func(*sim.World) {
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

// TwoLeaders has two replicas of the operator install, upgrade and repair a bundle; the server refuses it at first, if it is refused.
func TwoLeaders(refused bool) Telling {
	return func(t Setting, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			t.Replicas = 2
			s := Begin(w, t)
			w.Inject(faults...)
			w.Always(fenced, s.Fenced)
			for _, image := range []string{"app", "wide"} {
				if refused {
					s.Apply(Deployment(app, image, "apps", true))
					w.Sleep(sim.Draw(w, "until the cause is removed", shortly))
				}
				s.Apply(Deployment(app, image, "apps", false))
				w.Sleep(20 * time.Second)
			}
			s.Remove(Namespace("apps-more"))
			w.Sleep(20 * time.Minute)
		}
	}
}

// InterruptedFailing kills the operator somewhere on its way through a bundle that is refused at first, when it is to be
// installed and when it is to be upgraded: through the attempts, and the uninstalls and rollbacks that undo them.
func InterruptedFailing(t Setting, faults ...fault.Fault) func(*sim.World) {
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
