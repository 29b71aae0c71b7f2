package sim_test

import (
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim"
)

// The world of a scenario: sim.Check(t, func(w *sim.World) { … }), and the operator's own setup function.
var (
	world *sim.World
	setup func(ctrl.Manager) error
)

func ExampleStaleCache() {
	// A reconcile that trusts its cache does again what it has just done.
	world.Inject(sim.StaleCache(30*time.Second), sim.StaleCache(5*time.Minute, sim.OfKind("Pod")))
}

func ExampleMissedStates() {
	// A predicate that waits for a transition never sees it.
	world.Inject(sim.MissedStates(10 * time.Second))
}

func ExampleDroppedWatch() {
	// The answer to a write comes before the event, because the watch has to be opened again first.
	world.Inject(sim.DroppedWatch(sim.In("operator")))
}

func ExampleRelist() {
	// An object that was deleted and made again arrives as an update with another UID; a DeleteFunc is never called.
	world.Inject(sim.Relist())
}

func ExampleExpired() {
	world.Inject(sim.Expired(sim.OfKind("ConfigMap")))
}

func ExampleStaleServer() {
	// After a restart, an operator with the older sort of informer sees what was before its own last write.
	world.Start("operator", setup, sim.ListThenWatch())
	world.Inject(sim.StaleServer(time.Minute), sim.Restart("operator"))
}

func ExampleCrash() {
	// Between an effect and the record of it.
	world.Inject(sim.Crash("operator"))
}

func ExampleRestart() {
	// As a rollout does: work in hand is cut short by a context that is done.
	world.Inject(sim.Restart("operator"))
}

func ExamplePause() {
	// A leader that freezes before a write sends it when another one leads.
	for _, name := range []string{"one", "two"} {
		world.Start(name, setup, sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "operator"}))
	}
	world.Inject(sim.Pause("one", 2*time.Minute))
}

func ExampleLeaderOverlap() {
	for _, name := range []string{"one", "two"} {
		world.Start(name, setup, sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "operator"}))
	}
	world.Inject(sim.LeaderOverlap())
}

func ExampleRacingRequeue() {
	world.Inject(sim.RacingRequeue(sim.Named("default/a")))
}

func ExampleLostReply() {
	// Create, time-out, create again: with generateName there are two now.
	world.Inject(sim.LostReply(sim.OnVerb("create")))
}

func ExampleConflict() {
	world.Inject(sim.Conflict(sim.OfKind("ConfigMap")))
}

func ExampleServerError() {
	world.Inject(sim.ServerError())
}

func ExampleUnreachable() {
	world.Inject(sim.Unreachable(time.Minute, sim.In("operator")))
}

func ExampleRejected() {
	// An operator that retries at once what can never work.
	world.Inject(sim.Rejected("spec.replicas must not exceed the quota", sim.OfKind("Deployment"), sim.OnVerb("update")))
}

func ExampleForbidden() {
	world.Inject(sim.Forbidden(10*time.Minute, sim.In("operator"), sim.OfKind("Secret")))
}

func ExampleWebhookDown() {
	// The webhook is called as its ValidatingWebhookConfiguration or MutatingWebhookConfiguration names it.
	world.Inject(sim.WebhookDown(5*time.Minute, sim.Named("policy.example.com")))
}

func ExampleSlowNamespace() {
	world.Inject(sim.SlowNamespace(90*time.Second, sim.Named("shop")))
}

func ExampleSlowEffect() {
	world.Inject(sim.SlowEffect(10 * time.Minute))
}

func ExampleFailedEffect() {
	world.Inject(sim.FailedEffect())
}

func ExampleDoubledEffect() {
	world.Inject(sim.DoubledEffect(sim.OnVerb("POST")))
}

func ExampleVary() {
	world.Start("operator", setup, sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "operator"}), sim.Vary())
}

func ExampleListThenWatch() {
	world.Start("operator", setup, sim.ListThenWatch())
}
