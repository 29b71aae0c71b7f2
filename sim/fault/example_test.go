package fault_test

import (
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// The world of a scenario: sim.Check(t, func(w *sim.World) { … }), and the operator's own setup
// function.
var (
	world *sim.World
	setup func(ctrl.Manager) error
)

func ExampleStaleCache() {
	// A reconcile that trusts its cache does again what it has just done.
	world.Inject(fault.StaleCache(30*time.Second), fault.StaleCache(5*time.Minute, fault.OfKind("Pod")))
}

func ExampleMissedStates() {
	// A predicate that waits for a transition never sees it.
	world.Inject(fault.MissedStates(10 * time.Second))
}

func ExampleDroppedWatch() {
	// The answer to a write comes before the event, because the watch has to be opened again first.
	world.Inject(fault.DroppedWatch(fault.In("operator")))
}

func ExampleRelist() {
	// An object that was deleted and made again arrives as an update with another UID; a DeleteFunc
	// is never called.
	world.Inject(fault.Relist())
}

func ExampleExpired() {
	world.Inject(fault.Expired(fault.OfKind("ConfigMap")))
}

func ExampleStaleServer() {
	// After a restart, an operator with the older sort of informer sees what was before its own
	// last write.
	world.Start("operator", setup, sim.ListThenWatch())
	world.Inject(fault.StaleServer(time.Minute), fault.Restart("operator"))
}

func ExampleCrash() {
	// Between an effect and the record of it.
	world.Inject(fault.Crash("operator"))
}

func ExampleRestart() {
	// As a rollout does: work in hand is cut short by a context that is done.
	world.Inject(fault.Restart("operator"))
}

func ExamplePause() {
	// A leader that freezes before a write sends it when another one leads.
	for _, name := range []string{"one", "two"} {
		world.Start(name, setup, sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "operator"}))
	}
	world.Inject(fault.Pause("one", 2*time.Minute))
}

func ExampleLeaderOverlap() {
	for _, name := range []string{"one", "two"} {
		world.Start(name, setup, sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "operator"}))
	}
	world.Inject(fault.LeaderOverlap())
}

func ExampleRacingRequeue() {
	world.Inject(fault.RacingRequeue(fault.Named("default/a")))
}

func ExampleLostReply() {
	// Create, time-out, create again: with generateName there are two now.
	world.Inject(fault.LostReply(fault.OnVerb("create")))
}

func ExampleConflict() {
	world.Inject(fault.Conflict(fault.OfKind("ConfigMap")))
}

func ExampleServerError() {
	world.Inject(fault.ServerError())
}

func ExampleUnreachable() {
	world.Inject(fault.Unreachable(time.Minute, fault.In("operator")))
}

func ExampleRejected() {
	// An operator that retries at once what can never work.
	world.Inject(fault.Rejected("spec.replicas must not exceed the quota", fault.OfKind("Deployment"),
		fault.OnVerb("update")))
}

func ExampleForbidden() {
	world.Inject(fault.Forbidden(10*time.Minute, fault.In("operator"), fault.OfKind("Secret")))
}

func ExampleWebhookDown() {
	// The webhook is called as its ValidatingWebhookConfiguration or MutatingWebhookConfiguration
	// names it.
	world.Inject(fault.WebhookDown(5*time.Minute, fault.Named("policy.example.com")))
}

func ExampleSlowNamespace() {
	world.Inject(fault.SlowNamespace(90*time.Second, fault.Named("shop")))
}

func ExampleFailedPod() {
	world.Builtin(append(workload.New(), kubelet.New()...)...)
	world.Inject(fault.FailedPod())
}

func ExampleNodeDown() {
	world.Builtin(kubelet.New(kubelet.Nodes("node-1", "node-2"), kubelet.Lifecycle(nil))...)
	world.Inject(fault.NodeDown(20*time.Minute, fault.Named("node-1")))
}

func ExampleSlowEffect() {
	world.Inject(fault.SlowEffect(10 * time.Minute))
}

func ExampleHostDown() {
	world.Inject(fault.HostDown(10*time.Minute, fault.In("operator")))
}

func ExampleFailedEffect() {
	world.Inject(fault.FailedEffect())
}

func ExampleDoubledEffect() {
	world.Inject(fault.DoubledEffect(fault.OnVerb("POST")))
}

func ExampleAtOnce() {
	// The next incarnation starts before the events of the last one have arrived.
	world.Inject(fault.Crash("operator", fault.AtOnce()))
}

func ExampleHardLimit() {
	// Without HardLimit an event may be delayed beyond a wait of the operator for its own write.
	world.Inject(fault.StaleCache(30*time.Second, fault.HardLimit()))
}
