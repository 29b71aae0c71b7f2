// This file holds what happens: each workload is a beginning, and what Flux, people and time do
// from there on, while faults are injected.

package promotion

import (
	"time"

	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

const (
	// dwell is how long a workload watches where it must not ask the world to settle, because one
	// of its variants never does.
	dwell = 3 * time.Minute
	// soon is how long after an application's event the next thing happens: the pass that the event
	// causes is under way, or has just ended.
	soon = 20 * time.Millisecond
)

// opening is how a workload begins.
type opening func(*sim.World, promotion.Variant) *World

// scenario opens a world, declares properties, lets faults be injected from there on, and lets
// something happen.
func scenario(open opening, happens func(*World), v promotion.Variant, properties []string,
	faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := open(w, v)
		w.Inject(faults...)
		s.declare(properties...)
		happens(s)
	}
}

// of is that as a workload of cases.
func of(open opening, happens func(*World)) *matrix.Workload[promotion.Variant] {
	return &matrix.Workload[promotion.Variant]{New: func(v promotion.Variant, properties []string,
		faults ...fault.Fault) func(*sim.World) {
		return scenario(open, happens, v, properties, faults...)
	}}
}

// between opens with the operator alone; nothing is applied yet.
func between(environments ...string) opening { return tuned(func(*ctrl.Options) {}, environments...) }

// tuned is between for an operator whose main sets more options.
func tuned(tune func(*ctrl.Options), environments ...string) opening {
	return func(w *sim.World, v promotion.Variant) *World { return begin(w, v, tune, environments...) }
}

// quietly opens with everything at v1 before the operator has anything to do, so that what follows
// is the only reason to run.
func quietly(w *sim.World, v promotion.Variant) *World {
	s := between("dev", "staging")(w, v)
	s.Apply(worlds.Namespace("shop"))
	for _, env := range s.Environments {
		s.Apply(worlds.Namespace(env), App(env))
		s.Runs(env, "v1")
	}
	s.Apply(Pipeline(s.Environments...))
	w.Sleep(dwell)
	return s
}

// remotely opens with everything at v1, and prod in another cluster.
func remotely(w *sim.World, v promotion.Variant) *World {
	s := between("dev", "prod")(w, v)
	s.remotely()
	w.Sleep(dwell)
	return s
}

func (w *World) remotely() {
	w.Apply(worlds.Namespace("shop"), gitopsCluster(), kubeconfig("prod.example"), worlds.Namespace("dev"), App("dev"))
	w.clusterIsReady("connected")
	w.Elsewhere("prod.example", "prod").Apply(App("prod"))
	w.Runs("dev", "v1")
	w.Runs("prod", "v1")
	w.Apply(Away(Pipeline("dev", "prod"), "prod"))
}

// notifying opens with a pipeline that promotes by Events.
func notifying(w *sim.World, v promotion.Variant) *World {
	s := between("dev", "staging")(w, v)
	p := Pipeline("dev", "staging")
	p.Spec.Promotion.Strategy = v1alpha1.Strategy{Notification: &v1alpha1.NotificationStrategy{}}
	s.Apply(worlds.Namespace("shop"), worlds.Namespace("dev"), worlds.Namespace("staging"), App("dev"),
		App("staging"), p)
	w.Sleep(dwell)
	return s
}

// replicated opens with two replicas, of which one leads.
func replicated(w *sim.World, v promotion.Variant) *World {
	s := tuned(func(o *ctrl.Options) {
		o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, Operator, "default"
	}, "dev", "staging")(w, v)
	s.Replica("second", v, 1)
	return s
}

// leftover opens with a target that is missing at first. An operator that comes back for it, with
// back-off, has a timer pending when the target appears: the classic queue keeps it, the priority
// queue lets the target's event use it up.
func leftover(priority bool) opening {
	return func(w *sim.World, v promotion.Variant) *World {
		s := tuned(func(o *ctrl.Options) { o.Controller.UsePriorityQueue = ptr.To(priority) }, "dev", "staging")(w, v)
		s.openWithoutStaging()
		s.Runs("dev", "v1")
		w.Sleep(75 * time.Second)
		return s
	}
}

// openWithoutStaging is Open, but the application of staging is missing.
func (w *World) openWithoutStaging() {
	w.Apply(worlds.Namespace("shop"), worlds.Namespace("dev"), worlds.Namespace("staging"), App("dev"),
		Pipeline("dev", "staging"))
}

// movesOn has dev report a new revision once, in a world that is otherwise at rest.
func movesOn(s *World) {
	s.Runs("dev", "v2")
	s.Sleep(dwell)
}

// comesInABurst is what Flux really does around a rollout: it writes the application's status
// several times.
func comesInABurst(s *World) {
	s.Struggles("dev", "v2")
	for range 3 {
		s.Runs("dev", "v2")
		s.Sleep(5 * time.Millisecond)
		s.Struggles("dev", "v2")
	}
	movesOn(s)
}

// isEdited has somebody edit the pipeline, harmlessly, while it is being promoted.
func isEdited(s *World) {
	s.Runs("dev", "v2")
	s.Sleep(soon)
	edited := Pipeline("dev", "staging")
	edited.Spec.Promotion.Strategy.PullRequest.BaseBranch = "release"
	s.Apply(edited)
	s.Sleep(dwell)
}

// clusterBeats has the other cluster's object change, as it does with each of its heartbeats.
func clusterBeats(s *World) {
	s.Runs("dev", "v2")
	s.Sleep(soon)
	s.clusterIsReady("connected, and still so")
	s.Sleep(dwell)
}

func stagingAppears(s *World) {
	s.Apply(App("staging"))
	s.Sleep(dwell)
}

func leadersOverlap(s *World) {
	s.Open()
	s.Runs("staging", "v1")
	s.Sleep(time.Minute)
	s.Runs("dev", "v1")
	s.Sleep(time.Second)
	movesOn(s)
	s.Settle() // or a process that is still starting would be stopped there
}

// struggles is a burst, after which the status must come to say what is the case. A variant that
// ignores its own status writes may compare what it sees with a stale copy of its status, find no
// difference, write nothing, and never be woken again: this is not in the thread, the runs found
// it.
func struggles(s *World) {
	for range 3 {
		s.Struggles("dev", "v2")
		s.Runs("dev", "v2")
	}
	s.Settle()
}

func rollsOut(s *World) {
	s.Open()
	s.Runs("dev", "v1")
	s.Settle()
	s.delivers(2) // staging, then prod
}

// delivers has people merge what is open, so many times.
func (w *World) delivers(times int) {
	for range times {
		w.Deliver()
		w.Settle()
	}
}

// rollsOutForAWhile is rollsOut where the world need not settle.
func rollsOutForAWhile(s *World) {
	s.Open()
	s.Runs("dev", "v1")
	for range 2 {
		s.Sleep(dwell)
		s.Deliver()
	}
	s.Sleep(dwell)
}

// comesBack rolls dev back to what it ran before.
func comesBack(s *World) {
	s.Open()
	s.Runs("dev", "v1")
	s.Settle()
	s.Deliver()
	for _, revision := range []string{"v2", "v1", "v2"} {
		s.Runs("dev", revision)
		s.Settle()
		s.Deliver()
	}
	s.Settle()
}

func appearsLate(s *World) {
	s.openWithoutStaging()
	s.Sleep(time.Minute)
	s.Apply(App("staging"))
	s.Settle()
}

// hastens has dev ready with a revision while staging is missing.
func hastens(s *World) {
	s.openWithoutStaging()
	s.Runs("dev", "v1")
	s.Sleep(time.Minute)
	s.Apply(App("staging"))
	s.Settle()
}

// waits lets a pipeline wait: for a target, for dev to become ready, for people or for the forge.
func waits(s *World) {
	s.openWithoutStaging()
	s.Sleep(dwell)
	s.Apply(App("staging"))
	s.Runs("staging", "v1")
	s.Struggles("dev", "v2")
	s.Sleep(dwell)
	movesOn(s)
	s.Settle()
}

// longAbsent is how long nobody creates a target.
const longAbsent = 30 * time.Minute

// isAbsent has a target that nobody creates: what the thread reports.
func isAbsent(s *World) {
	s.Apply(worlds.Namespace("shop"), worlds.Namespace("dev"), Pipeline("dev"))
	s.Sleep(longAbsent)
	s.Settle()
}

// isAbsentThere has such a target in another cluster, which is known from the start.
func isAbsentThere(s *World) {
	s.Apply(worlds.Namespace("shop"), gitopsCluster(), kubeconfig("prod.example"), worlds.Namespace("dev"), App("dev"))
	s.clusterIsReady("connected")
	s.Elsewhere("prod.example", "prod")
	s.Runs("dev", "v1")
	s.Apply(Away(Pipeline("dev", "prod"), "prod"))
	s.Sleep(longAbsent)
	s.Settle()
}

// becomesKnown has an environment in a cluster that is made known only after the pipeline, and
// whose cache is not in sync when it is first asked.
func becomesKnown(s *World) {
	s.Elsewhere("prod.example", "prod").Apply(App("prod"))
	s.Runs("prod", "v1")
	s.Apply(worlds.Namespace("shop"), worlds.Namespace("dev"), App("dev"), Away(Pipeline("dev", "prod"), "prod"))
	s.Runs("dev", "v1")
	s.Sleep(time.Minute)
	s.Apply(gitopsCluster())
	s.clusterIsReady("connected")
	s.Sleep(time.Minute)
	s.Apply(kubeconfig("prod.example"))
	s.Settle()
}

// clusterMoves has a cluster go to another host: its Secret changes, and nothing else shows of it.
func clusterMoves(s *World) {
	s.remotely()
	s.Settle()
	s.Elsewhere("new.example", "prod").Apply(App("prod"))
	s.Runs("prod", "v1")
	s.Apply(kubeconfig("new.example"))
	s.Runs("prod", "v2")
	s.Settle()
}

// farAway takes revisions to another cluster and back again.
func farAway(s *World) {
	s.remotely()
	s.Settle()
	for _, revision := range []string{"v2", "v1"} {
		s.Runs("dev", revision)
		s.clusterIsReady("still connected while dev runs " + revision)
		s.Settle()
		s.delivers(1)
	}
}

// second is the namespace of an environment's second target.
func second(env string) string { return env + "-2" }

// doubled gives every environment of a pipeline a second target, in the cluster that is named, or
// in the operator's own.
func doubled(p *v1alpha1.Pipeline, cluster *v1alpha1.CrossNamespaceClusterReference) *v1alpha1.Pipeline {
	for i := range p.Spec.Environments {
		e := &p.Spec.Environments[i]
		e.Targets = append(e.Targets, v1alpha1.Target{Namespace: second(e.Name), ClusterRef: cluster})
	}
	return p
}

// hastensWithSecond has both targets of dev ready with a revision while the second one of staging
// is missing.
func hastensWithSecond(s *World) {
	s.Apply(worlds.Namespace("shop"), worlds.Namespace("dev"), worlds.Namespace("staging"),
		worlds.Namespace(second("dev")), worlds.Namespace(second("staging")))
	s.Apply(App("dev"), App(second("dev")), App("staging"), doubled(Pipeline("dev", "staging"), nil))
	s.Runs("dev", "v1")
	s.Runs(second("dev"), "v1")
	s.Sleep(time.Minute)
	s.Apply(App(second("staging")))
	s.Settle()
}

// hastensThere has dev ready with a revision while the cluster of prod is not known, then cannot be
// reached, then has nothing in it.
func hastensThere(s *World) {
	there := s.Elsewhere("prod.example", "prod")
	s.Apply(worlds.Namespace("shop"), worlds.Namespace("dev"), App("dev"), Away(Pipeline("dev", "prod"), "prod"))
	s.Runs("dev", "v1")
	for _, known := range []func(){
		func() { s.Apply(gitopsCluster()) },
		func() { s.clusterIsReady("connected") },
		func() { s.Apply(kubeconfig("prod.example")) },
		func() { there.Apply(App("prod")) },
	} {
		s.Sleep(20 * time.Second)
		known()
	}
	s.Settle()
}

// backAndForth is a rollout through three environments, with a burst, a rollback while a pull
// request is open, and a revision that comes and goes faster than anyone may notice.
func backAndForth(s *World) {
	s.Open()
	for _, env := range s.Environments {
		s.Runs(env, "v1")
	}
	s.Settle()
	s.Struggles("dev", "v1")
	struggles(s)
	s.delivers(1) // staging follows, prod is next
	s.Runs("dev", "v1")
	s.Settle()
	s.Runs("dev", "v3")
	s.Sleep(time.Second)
	s.Runs("dev", "v1")
	s.delivers(1)
}
