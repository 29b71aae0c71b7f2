// This file exists for what may wake the operator between a promotion and the moment at which its
// cache knows of it. A filter on events stops one of them, its own status write; each
// workload here has another one.

package promotion

import (
	"time"

	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/sim"
)

// soon is how long after an application's event the next thing happens: the pass that the event
// causes is under way, or has just ended.
const soon = 20 * time.Millisecond

// Edited lets somebody edit the pipeline, harmlessly, while it is being promoted.
var Edited = workload(quietly, askAttemptedOnce, func(s *World) {
	s.Runs("dev", "v2")
	s.Sleep(soon)
	edited := Pipeline("dev", "staging")
	edited.Spec.Promotion.Strategy.PullRequest.BaseBranch = "release"
	s.Apply(edited)
	s.Sleep(dwell)
})

// ClusterEvent lets the other cluster's object change, as it does with each of its heartbeats.
var ClusterEvent = workload(func(w *sim.World, v promotion.Variant) *World {
	s := Begin(w, v, "dev", "prod")
	s.remotely("prod.example")
	w.Sleep(dwell)
	return s
}, askAttemptedOnce, func(s *World) {
	s.Runs("dev", "v2")
	s.Sleep(soon)
	s.clusterIsReady("connected, and still so")
	s.Sleep(dwell)
})

// Leftover lets a target be missing at first. An operator that comes back for it, with back-off,
// has a timer pending when the target appears: the classic queue keeps it, the priority queue lets
// the target's event use it up.
func Leftover(priority bool) Workload {
	return workload(func(w *sim.World, v promotion.Variant) *World {
		s := BeginWith(w, v, func(o *ctrl.Options) { o.Controller.UsePriorityQueue = ptr.To(priority) }, "dev",
			"staging")
		s.openWithoutStaging()
		s.Runs("dev", "v1")
		w.Sleep(75 * time.Second)
		return s
	}, askAttemptedOnce, func(s *World) {
		s.Apply(App("staging"))
		s.Sleep(dwell)
	})
}

// Overlap has two replicas, of which one leads.
var Overlap = workload(func(w *sim.World, v promotion.Variant) *World {
	s := BeginWith(w, v, func(o *ctrl.Options) {
		o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, Operator, "default"
	}, "dev", "staging")
	s.Replica("second", v, 1)
	return s
}, askTakesEffectOnce, func(s *World) {
	s.Open()
	s.Runs("staging", "v1")
	s.Sleep(time.Minute)
	s.Runs("dev", "v1")
	s.Sleep(time.Second)
	movesOn(s)
	s.Settle() // or a process that is still starting would be stopped there
})
