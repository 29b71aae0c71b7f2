// This file holds the workloads of the cases: what users do, and when faults begin and end.

package bundledeployment

import (
	"cmp"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

const (
	// briefly is how long a failing upgrade is watched if variants never sleep in it and keep more
	// and more records.
	briefly = 12 * time.Second
	// longEnough is how long a failing deployment is watched: until its sleeps have their maximum,
	// and for five of these.
	longEnough = 7 * maxSleep
	// lag is how long an injected delay may last, and maxRestart how long the kubelet may wait
	// after the last crash.
	lag, maxRestart = time.Minute, 5 * time.Minute
	// cleanUpWait is how long V1 and V2 wait for what they undo.
	cleanUpWait = 30 * time.Second
	// unpacks is how long a bundle takes to be unpacked, at most.
	unpacks = 2 * time.Second
	// promptly is how soon a worker must begin with a healthy deployment while there are more
	// workers than failing ones.
	promptly = time.Second
	// slowRequests is how long the requests of one reconcile of a failing deployment may take. The
	// maximum that was observed is 4.2 s. If there are as many failing deployments as workers, a
	// healthy one may wait that long for each of them.
	slowRequests = 5 * time.Second
)

// delays are times at which a user may act while a deployment fails. Those of shortly are within an
// attempt, within a clean-up, or between two of them.
var (
	delays = rapid.SampledFrom([]time.Duration{
		0, 10 * time.Millisecond, time.Second, 10 * time.Second, 100 * time.Second, 2000 * time.Second})
	shortly = rapid.SampledFrom([]time.Duration{
		20 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second})
)

// scenario is a workload in a world.
func scenario(s Setting, happen func(*World), properties []string, faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		world := Begin(w, s)
		world.faults, world.properties = faults, properties
		happen(world)
	}
}

// inject injects the faults of the case, from here on, and declares properties of app.
func (w *World) inject(properties ...string) {
	w.Inject(w.faults...)
	w.declare(properties...)
}

// watch lets time pass. After longEnough a deployment should have settled.
func (w *World) watch(d time.Duration) {
	w.Sleep(d)
	w.over = d == longEnough
}

// failsWith injects the faults of the case, and has app want something that the server refuses.
func (w *World) failsWith(image string) {
	w.inject(w.properties...)
	w.refuse(app, image, "apps")
	w.mark()
}

// fails is the report of the thread: a bundle with a namespace, and an object that the server
// refuses.
func fails(w *World) {
	w.failsWith("app")
	w.watch(longEnough)
}

// failsUnderFaults is fails with faults that end after some time. The phase is short if each
// restart of the operator leads to attempts and so to more faults.
func failsUnderFaults(phase time.Duration) func(*World) {
	return func(w *World) {
		w.failsWith("app")
		w.faulty = true
		w.Sleep(phase)
		w.EndFaults()
		w.Sleep(maxRestart)
		w.faulty, w.measured = false, w.History().Now()
		w.watch(longEnough)
	}
}

// failsWatched is fails in a process that already watches the kinds of the bundle, because it has
// installed another bundle.
func failsWatched(w *World) {
	w.accept("other", "app", "others")
	w.Settle()
	fails(w)
}

// failsToUpgrade installs a bundle, and then wants one with a second namespace and an object that
// is refused.
func failsToUpgrade(watched time.Duration) func(*World) {
	return func(w *World) {
		w.accept(app, "app", "apps")
		w.Settle()
		w.failsWith("wide")
		w.watch(watched)
	}
}

// abandoned installs a bundle, wants another one with a second namespace that is refused, and then
// the first one again.
func abandoned(w *World) {
	w.accept(app, "app", "apps")
	w.Settle()
	w.inject(noOrphans, installed)
	w.refuse(app, "wide", "apps")
	w.Sleep(sim.Draw(w.World, "until the first one is wanted again", shortly))
	w.accept(app, "app", "apps")
	w.Sleep(20 * time.Minute)
	w.Settle()
}

// mended removes the cause of a failure after some time. A mended deployment may take one second,
// plus the time that it has to wait: V4 looks every five seconds whether a clean-up has ended, and
// V1 and V2 wait in their workers.
func mended(mend func(*World), more func(*World) time.Duration) func(*World) {
	return func(w *World) {
		w.inject()
		w.refuse(app, "app", "apps")
		w.Sleep(sim.Draw(w.World, "until the cause is removed", delays))
		mend(w)
		within := w.cleanUp + more(w)
		w.mark()
		w.always(recovers, func() error { return w.recovers(within, cleanUpWait+2*slowRequests) })
		w.Sleep(within + 2*time.Minute)
		w.Settle()
	}
}

var (
	// environmentMended creates the namespace that was missing.
	environmentMended = mended(func(w *World) { w.Apply(worlds.Namespace(cause)) },
		func(*World) time.Duration { return maxSleep })
	// deploymentMended edits the deployment, which does not need the namespace any more.
	deploymentMended = mended(func(w *World) { w.accept(app, "app", "apps") }, (*World).looks)
	// contentMended gives the deployment another bundle, which does not need the namespace.
	contentMended = mended(func(w *World) { w.accept(app, "wide", "apps") },
		func(w *World) time.Duration { return unpacks + w.looks() })
)

func (w *World) looks() time.Duration {
	if w.setting.Variant == bundledeployment.V4 {
		return time.Second + 5*time.Second
	}
	return time.Second
}

// disowned gives a failing deployment to another provisioner for some time. A reconcile under way
// at that moment may finish.
func disowned(w *World) {
	w.inject(installed)
	w.refuse(app, "app", "apps")
	w.Sleep(2 * time.Second)
	theirs := Deployment(app, "app", "apps", refused)
	theirs.Spec.ProvisionerClassName = "core-rukpak-io-plain"
	w.Apply(theirs)
	w.Sleep(slowRequests + cleanUpWait)
	w.mark()
	mine := false
	w.always(handsOff, func() error {
		if mine {
			return nil
		}
		return w.handsOff()
	})
	w.Sleep(10 * time.Minute)
	mine = true
	w.accept(app, "app", "apps")
	w.Settle()
}

// several installs deployments of the same kinds at once, and then one more.
func several(w *World) {
	w.inject(oneAtATime, watchedOnce, stillWatched)
	w.accept("one", "app", "one")
	w.accept("two", "app", "two")
	w.workThenSettle()
	w.accept("three", "app", "three")
	w.workThenSettle()
}

// idles lets the operator list everything before something happens. The work queue gives a low
// priority to what the first list contains.
func idles(happen func(*World)) func(*World) {
	return func(w *World) {
		w.Settle()
		happen(w)
	}
}

// listed has the operator start where deployments fail already. The healthy one is in its first
// list, as they are.
func listed(failing int, each time.Duration) func(*World) {
	return func(w *World) {
		w.inject()
		for i := range failing {
			name := fmt.Sprintf("failing-%d", i+1)
			w.refuse(name, "app", name)
		}
		w.Sleep(900 * time.Millisecond)
		w.Stop(Operator)
		w.accept(app, "app", "apps")
		w.prompt(failing, each)
	}
}

// crowd lets some deployments fail, at once or one after the other, and then a healthy one come.
func (w *World) crowd(failing int, staggered bool) {
	w.inject()
	for i := range failing {
		name := fmt.Sprintf("failing-%d", i+1)
		w.refuse(name, "app", name)
		if staggered {
			w.Sleep(3 * time.Second)
		}
	}
	w.Sleep(900 * time.Millisecond)
	w.accept(app, "app", "apps")
}

// starved limits how long the healthy key of a crowd waits for a worker (S0-F1): one second, plus
// the time for which each key may hold a worker, for each turn that the workers need until they
// have begun with all keys.
func starved(failing int, each time.Duration) func(*World) {
	return func(w *World) {
		w.crowd(failing, false)
		w.prompt(failing, each)
	}
}

func (w *World) prompt(failing int, each time.Duration) {
	workers := cmp.Or(w.setting.Workers, bundledeployment.DefaultWorkers(w.setting.Variant))
	turns := (failing + workers) / workers // (failing+1)/workers, rounded up
	healthy := history.Key{Controller: "controller.bundledeployment." + bundledeployment.ProvisionerID, Name: app}
	w.Always(prompt, property.NoStarvation(promptly+time.Duration(turns)*each, healthy))
	w.Sleep(2 * time.Minute)
}

// shared lets two deployments want one namespace, or with the image "kinds" one
// CustomResourceDefinition. The first one may be refused.
func shared(image, namespace, values string) func(*World) {
	return func(w *World) {
		w.inject()
		w.Apply(Deployment(app, image, "apps", values))
		w.Sleep(time.Minute)
		w.accept(second, image, namespace)
		w.Sleep(time.Minute)
		w.declare(oneOwner)
		w.Sleep(time.Minute)
	}
}

// workThenSettle lets the operator work, during which it may crash, and then settles.
func (w *World) workThenSettle() {
	w.Sleep(20 * time.Second)
	w.Settle()
}

// interrupted installs, upgrades and repairs a correct bundle. The operator may crash at any point.
func interrupted(w *World) {
	w.inject(installed)
	w.accept(app, "app", "apps")
	w.workThenSettle()
	w.accept(app, "wide", "apps")
	w.workThenSettle()
	w.Remove(worlds.Namespace("apps-more"))
	w.workThenSettle()
}

// interruptedFailing installs and upgrades to bundles that are refused at first. The operator may
// crash at any point of the attempts, and of the uninstalls and rollbacks that undo them.
func interruptedFailing(w *World) {
	w.inject(installed)
	for _, image := range []string{"app", "wide"} {
		w.refuse(app, image, "apps")
		w.Sleep(1500 * time.Millisecond)
		w.accept(app, image, "apps")
		w.workThenSettle()
	}
}

// twoLeaders has two replicas of the operator install, upgrade and repair a bundle; the server may
// refuse it at first.
func twoLeaders(refusedFirst bool) func(*World) {
	return func(w *World) {
		w.inject(fenced)
		for _, image := range []string{"app", "wide"} {
			if refusedFirst {
				w.refuse(app, image, "apps")
				w.Sleep(sim.Draw(w.World, "until the cause is removed", shortly))
			}
			w.accept(app, image, "apps")
			w.Sleep(20 * time.Second)
		}
		w.Remove(worlds.Namespace("apps-more"))
		w.Sleep(20 * time.Minute)
	}
}
