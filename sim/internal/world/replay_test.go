package world

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/go-logr/logr"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// stamper copies a ConfigMap's data into its annotations, writes an Event about it and now and then
// fails.
type stamper struct {
	client.Client
	mgr   ctrl.Manager
	queue bool
}

func (s *stamper) SetupWithManager(mgr ctrl.Manager) error {
	s.mgr = mgr
	return ctrl.NewControllerManagedBy(mgr).Named("stamper").For(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 2, UsePriorityQueue: &s.queue}).Complete(s)
}

func (s *stamper) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var all corev1.ConfigMapList
	var cm corev1.ConfigMap
	if err := s.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if err := s.List(ctx, &all, client.InNamespace(req.Namespace)); err != nil {
		return reconcile.Result{}, err
	}
	if cm.Annotations["stamp"] == cm.Data["k"] {
		return reconcile.Result{}, nil
	}
	patch := client.MergeFromWithOptions(cm.DeepCopy(), client.MergeFromWithOptimisticLock{})
	metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "stamp", cm.Data["k"])
	metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "of", fmt.Sprint(len(all.Items)))
	s.mgr.GetEventRecorder("stamper").Eventf(&cm, nil, corev1.EventTypeNormal, "Stamped", "Stamp", "stamped with %s",
		cm.Data["k"])
	return reconcile.Result{}, s.Patch(ctx, &cm, patch)
}

func stamps(leaders int, priority bool) func(*World) {
	return func(w *World) {
		for i := range max(leaders, 1) {
			w.Start(fmt.Sprintf("stamper-%d", i), func(mgr ctrl.Manager) error {
				return (&stamper{Client: mgr.GetClient(), queue: priority}).SetupWithManager(mgr)
			}, ProcessOptions{Manager: ctrl.Options{LeaderElection: leaders > 0, LeaderElectionID: "stamper",
				LeaderElectionNamespace: "default"}})
		}
		w.Inject(fault.StaleCache(1e9), fault.Crash("stamper-0"), fault.RacingRequeue())
		for i := range 3 {
			w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("c%d", i)},
				Data: map[string]string{"k": "1"}})
		}
		w.Settle()
		w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"},
			Data: map[string]string{"k": "2"}})
		w.Settle()
	}
}

// everything is two replicas and a loner, with varied options, under every fault that a world
// without an outside has. The loner takes the SIGTERM: controller-runtime 0.25.2 has a data race
// where a leader's lease runs out just as the grace period of its shutdown does
// (engageStopProcedure reads gracefulShutdownTimeout, OnStoppedLeading writes it), and -race finds
// it.
//
// The client that reads its own writes is left out: under -race, which shuffles wake-ups, its wait
// for the cache may end a step sooner or later.
func everything(w *World) {
	plain := client.Options{Cache: &client.CacheOptions{}}
	w.Start("loner", func(mgr ctrl.Manager) error {
		return (&stamper{Client: mgr.GetClient(), queue: true}).SetupWithManager(mgr)
	}, ProcessOptions{Manager: ctrl.Options{Client: plain}, Vary: true})
	for i := range 2 {
		w.Start(fmt.Sprintf("stamper-%d", i), func(mgr ctrl.Manager) error {
			return (&stamper{Client: mgr.GetClient(), queue: true}).SetupWithManager(mgr)
		}, ProcessOptions{Manager: ctrl.Options{LeaderElection: true, LeaderElectionID: "stamper",
			LeaderElectionNamespace: "default", Client: plain}, Vary: true})
	}
	w.Inject(fault.StaleCache(10*time.Second), fault.MissedStates(10*time.Second), fault.DroppedWatch(), fault.Relist(),
		fault.Expired(), fault.StaleServer(time.Minute), fault.StaleServer(2*time.Second),
		fault.Crash("stamper-0"), fault.Restart("loner"), fault.Pause("stamper-0", time.Minute),
		fault.Pause("stamper-1", time.Minute), fault.LeaderOverlap(), fault.RacingRequeue(), fault.LostReply(),
		fault.Conflict(), fault.ServerError(), fault.Unreachable(time.Minute), fault.Rejected("no"),
		fault.Forbidden(time.Minute), fault.SlowNamespace(time.Minute))
	for i := range 2 {
		w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("c%d", i)},
			Data: map[string]string{"k": "1"}})
	}
	w.Settle()
	w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"},
		Data: map[string]string{"k": "2"}})
	w.Settle()
}

// twice runs every seed twice, once from the seed and once from its choices, and compares step by
// step.
func twice(t *testing.T, scenario func(*World), seeds int, window time.Duration) []result.FaultCount {
	t.Helper()
	s := run.Settings{MaxSteps: 50000, Window: window}
	defer process.Enter(s.Log, process.Outside{})()
	runner, counts := Runner(scenario), []result.FaultCount(nil)
	differ, events := 0, 0
	for i := range seeds {
		first := runner(t, choice.NewRandom(choice.Mix(7, i)), s)
		if first.Ending.Failed() {
			t.Fatalf("seed %d: %s", i, first.Ending.Sentence())
		}
		second := runner(t, choice.Play(first.Choices), s)
		for i, f := range first.Faults { // all runs declare the same
			if i == len(counts) {
				counts = append(counts, result.FaultCount{Fault: f.Fault})
			}
			counts[i].Injected += f.Injected
			counts[i].Observed += f.Observed
		}
		events += first.History.Len()
		if at, what := history.Difference(first.History, second.History); at >= 0 {
			differ++
			if differ == 1 {
				t.Errorf("seed %d: %s", i, what)
			}
		} else if at := choice.Difference(first.Log, second.Log); at >= 0 {
			t.Errorf("seed %d: the two runs ask different questions, from question %d of %d and %d on", i, at,
				len(first.Log), len(second.Log))
		}
	}
	t.Logf("%d seeds twice, %d events: %d differ", seeds, events, differ)
	if differ > 0 {
		t.Errorf("%d of %d seeds differ", differ, seeds)
	}
	return counts
}

func TestEverySeedReplaysUnderEveryFault(t *testing.T) {
	counts := twice(t, everything, 40, 0)
	t.Log(counts)
	for _, c := range counts {
		if c.Injected == 0 && c.Fault != "SlowNamespace(1m0s)" { // there is no namespace to end
			t.Errorf("%s was never injected", c.Fault)
		}
		if c.Observed > c.Injected {
			t.Errorf("%s was observed %d times, and injected %d times", c.Fault, c.Observed, c.Injected)
		}
	}
}

func TestEverySeedReplays(t *testing.T) {
	for _, c := range []struct {
		name     string
		leaders  int
		priority bool
		seeds    int
	}{
		{"priority queue", 0, true, 300}, {"classic queue", 0, false, 300},
		{"two leader-electing replicas", 2, true, 60},
	} {
		t.Run(c.name, func(t *testing.T) { twice(t, stamps(c.leaders, c.priority), c.seeds, 0) })
	}
}

// The goroutines of dead processes end before the run does, and the run still repeats.
func TestEverySeedReplaysWithAWindow(t *testing.T) {
	twice(t, everything, 20, time.Minute)
}

// long is half an hour in which something is changed every two minutes.
func long(faults ...fault.Fault) func(*World) {
	return func(w *World) {
		w.Start("stamper", func(mgr ctrl.Manager) error {
			stamp := func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				var cm corev1.ConfigMap
				if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil ||
					cm.Annotations["stamp"] == cm.Data["k"] {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				patch := client.MergeFrom(cm.DeepCopy())
				metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "stamp", cm.Data["k"])
				return reconcile.Result{}, mgr.GetClient().Patch(ctx, &cm, patch)
			}
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(stamp))
		}, ProcessOptions{})
		w.Inject(faults...)
		for i := range 15 {
			w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default",
				Name: fmt.Sprintf("c%d", i%3)}, Data: map[string]string{"k": fmt.Sprint(i)}})
			w.Sleep(2 * time.Minute)
		}
		w.Settle()
	}
}

// With a window a run makes the same choices and goes the same way, and only remembers less of it.
// Times may differ by the jitter of client-go: who owns which field is worked out earlier, and
// apimachinery throws for that (managedfields' NewProbabilisticSkipNonAppliedManager).
func TestAWindowLeavesTheChoicesAlone(t *testing.T) {
	defer process.Enter(logr.Discard(), process.Outside{})()
	scenario := long(fault.StaleCache(10*time.Second), fault.MissedStates(10*time.Second), fault.RacingRequeue(),
		fault.LostReply(), fault.Conflict())
	runner, all, windowed := Runner(scenario), run.Settings{MaxSteps: 50000}, run.Settings{MaxSteps: 50000,
		Window: 2 * time.Minute}
	for i := range 3 {
		seed := choice.Mix(3, i)
		whole, part := runner(t, choice.NewRandom(seed), all), runner(t, choice.NewRandom(seed), windowed)
		a, b := whole.History, part.History
		if whole.Ending.Failed() || part.Ending.Failed() {
			t.Fatal(whole.Ending, part.Ending)
		}
		if a.Len() != b.Len() || a.Count(history.Dequeue) != b.Count(history.Dequeue) {
			t.Errorf("seed %d: %d events, and with a window %d", i, a.Len(), b.Len())
		}
		if len(b.Events) > b.Len()/2 {
			t.Errorf("seed %d: %d of %d events are kept", i, len(b.Events), b.Len())
		}
		if fmt.Sprint(whole.Choices) != fmt.Sprint(part.Choices) {
			t.Errorf("seed %d: the choices are %v, and with a window %v", i, whole.Choices, part.Choices)
		}
		if !reflect.DeepEqual(whole.Sites, part.Sites) || !reflect.DeepEqual(whole.Objects, part.Objects) {
			t.Errorf("seed %d: %+v and %+v are counted, and with a window %+v and %+v", i, whole.Sites, whole.Objects,
				part.Sites, part.Objects)
		}
	}
}
