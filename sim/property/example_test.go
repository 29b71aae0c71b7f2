package property_test

import (
	"encoding/json"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

// w is the world of a scenario: sim.Check(t, func(w *sim.World) { … }).
var w *sim.World

func ExampleNew() {
	w.Always("no program deletes a volume twice", property.New(func() func(*history.History, *history.Event) error {
		deleted := map[history.Ref]bool{} // in this run
		return func(_ *history.History, e *history.Event) error {
			if e.Kind != history.Request || e.Verb != "delete" || e.Ref.Kind != "PersistentVolume" {
				return nil
			}
			if deleted[e.Ref] {
				return fmt.Errorf("%s deletes %s again at %s", e.Actor(), e.Ref, history.Clock(e.At))
			}
			deleted[e.Ref] = true
			return nil
		}
	}))
}

func ExampleSettles() {
	// Nothing in this scenario waits for longer than a minute.
	w.Always("nothing changes a minute after the last disturbance", property.Settles(time.Minute))
}

func ExampleIdempotentAtRest() {
	w.Always("a settled world stays as it is", property.IdempotentAtRest())
	w.Settle()
	w.Stop("operator") // its next incarnation reconciles everything once more
	w.Settle()
}

func ExampleApplyIsStable() {
	w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
	w.ApplyAgain() // instead of w.Settle; the default property judges it
}

func ExampleNoHotLoop() {
	w.Without(property.DefaultNoHotLoop) // stricter than the default property
	w.Always("no key is reconciled in a loop", property.NoHotLoop(20, 10*time.Second))
}

func ExampleBackoffSettled() {
	// An attempt is an installation, which takes up to a minute to clean up when it fails.
	installs := func(e *history.Event) bool { return e.Verb == "create" && e.Ref.Kind == "Deployment" }
	w.Always("one attempt per back-off period", property.BackoffSettled("bundles", time.Minute, installs))
}

func ExampleAttemptsBounded() {
	// Each POST to the payment service is an attempt, and at least a minute must pass between two.
	w.Always("refused payments are not repeated sooner", property.AttemptsBounded(property.Attempts{
		Of: func(e *history.Event) string {
			if e.Kind == history.Request && e.Host == "pay.example" && e.Verb == "POST" {
				return e.Path
			}
			return ""
		},
		Period: func([]property.Attempt) time.Duration { return time.Minute },
		Lag:    30 * time.Second,
		Ended:  func() history.Time { return 0 },
	}))
}

func ExampleAttemptsSettle() {
	installs := func(e *history.Event) string {
		if e.Kind == history.Request && e.Verb == "create" && e.Ref.Kind == "Deployment" {
			return e.Ref.Name
		}
		return ""
	}
	doubles := func(all []property.Attempt) time.Duration { return min(time.Second<<len(all), 5*time.Minute) }
	var ended history.Time
	w.Always("one installation per back-off period", property.AttemptsSettle(property.Attempts{
		Of: installs, Period: doubles, Longest: 5 * time.Minute, Lag: 30 * time.Second,
		Ended: func() history.Time { return ended },
	}))
	w.Sleep(10 * time.Minute) // faults are injected
	w.EndFaults()
	ended = w.History().Now()
	w.Sleep(time.Hour)
}

func ExampleNoFutileRequeue() {
	// The controller "drift" repairs what others change, every ten minutes and by design.
	w.Always("no requeue is futile", property.NoFutileRequeue(20, "drift"))
	w.Settle()
	w.Sleep(2 * time.Hour) // time for 20 requeues
}

func ExampleNoStarvation() {
	w.Always("one slow object does not hold up the others", property.NoStarvation(5*time.Second))
}

func ExampleNoPanic() {
	w.Always("no reconcile panics", property.NoPanic()) // the default property does so, too
}

func ExampleCacheUntouched() {
	w.Always("the cache is not modified", property.CacheUntouched()) // the default property does so, too
}

func ExampleActionableStatus() {
	bundle := history.Ref{Kind: "Bundle", Name: "shop"}
	w.Eventually("the status says what is wrong", property.ActionableStatus(bundle, "RC-17", 0.95, time.Minute))
	// The scenario makes the world fail with a message that contains RC-17.
	w.Settle()
	w.Sleep(time.Hour)
	w.Settle()
}

func ExampleAtMostOnce() {
	w.Always("no payment is made twice", property.AtMostOnce("payment"))
}

func ExampleExactlyOnce() {
	w.Eventually("each payment is made once", property.ExactlyOnce("payment", "alice", "bob"))
}

func ExampleNoStuckFinalizer() {
	w.Eventually("what is deleted goes away",
		property.NoStuckFinalizer(30*time.Second, history.Ref{Group: "example.com"}))
}

func ExampleNamespaceFinishes() {
	w.Eventually("namespaces finish", property.NamespaceFinishes(time.Minute))
}

func ExampleNoOrphans() {
	w.Eventually("nothing outlives its owner", property.NoOrphans(30*time.Second))
}

func ExampleDeletionOrder() {
	w.Always("rights go last",
		property.DeletionOrder(history.Ref{Kind: "Deployment"}, history.Ref{Kind: "RoleBinding"}))
}

func ExampleDeletesWhatItRead() {
	w.Always("each deleted object was read before", property.DeletesWhatItRead(history.Ref{Kind: "Secret"}))
}

func ExampleBoundedRecords() {
	release := func(o history.Object) string {
		var secret struct {
			Metadata struct{ Labels map[string]string }
		}
		if json.Unmarshal(o.JSON, &secret) != nil || secret.Metadata.Labels["owner"] != "helm" {
			return "" // not a record
		}
		return "release " + secret.Metadata.Labels["name"]
	}
	w.Always("old releases are pruned", property.BoundedRecords(history.Ref{Kind: "Secret"}, 10, release))
}

func ExampleCreatedEachPeriod() {
	suspended := func(h *history.History) bool {
		var nightly batchv1.CronJob // or the object that holds your schedule
		o, exists := h.Object("batch", "CronJob", "default", "nightly")
		return !exists || o.Into(&nightly) != nil || ptr.Deref(nightly.Spec.Suspend, false)
	}
	w.Always("a backup each hour",
		property.CreatedEachPeriod(history.Ref{Kind: "Job"}, time.Hour, 5*time.Minute, suspended))
}

func ExampleCreatedExactly() {
	w.Eventually("three backups in all", property.CreatedExactly(history.Ref{Kind: "Job"}, 3))
}

func ExampleNoLostUpdate() {
	w.Always("no controller overwrites a change that it has not observed",
		property.NoLostUpdate(history.Ref{Kind: "ConfigMap"}))
}

func ExampleNoLostField() {
	w.Always("labels of others stay", property.NoLostField())
}

func ExampleNoDroppedField() {
	w.Always("the old version keeps fields of the new one", property.NoDroppedField(history.Ref{Group: "example.com"}))
}

func ExampleObservedGeneration() {
	w.Eventually("the status is about this generation",
		property.ObservedGeneration(history.Ref{Group: "example.com"}))
}

func ExampleStatusNamesWhatExists() {
	w.Eventually("the status names what exists", property.StatusNamesWhatExists())
}

func ExampleCrashSafe() {
	w.Inject(fault.Crash("operator"))
	w.Eventually("a crash leaves no trace", property.CrashSafe(w.Undisturbed()))
}
