package world_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

// stamp is a version of an operator that writes its name into each ConfigMap, and then, in a
// request of its own, that it has done so.
func stamp(version string) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("stamp").For(&corev1.ConfigMap{}).Complete(reconcile.Func(
			func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				var cm corev1.ConfigMap
				err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm)
				if err != nil || cm.Namespace != "default" {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				for _, key := range []string{"version", "done"} {
					if cm.Annotations[key] == version {
						continue
					}
					metav1.SetMetaDataAnnotation(&cm.ObjectMeta, key, version)
					if err := mgr.GetClient().Update(ctx, &cm); err != nil {
						return reconcile.Result{}, err
					}
				}
				return reconcile.Result{}, nil
			}))
	}
}

// stamped returns what the ConfigMap's annotation has.
func stamped(h *history.History, key string) string {
	cm, _ := history.Get[corev1.ConfigMap](h, "default", "a")
	return cm.Annotations[key]
}

// Replicas are upgraded one after the other and back. Old and new run together, and the lease is
// handed over.
func TestReplicasAreUpgraded(t *testing.T) {
	elected := sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "stamp",
		LeaderElectionNamespace: "default"})
	sim.Check(t, func(w *sim.World) {
		latest := "v1"
		w.Eventually("the latest version has the last word", func(h *history.History) error {
			if got := stamped(h, "done"); got != latest {
				return fmt.Errorf("it is stamped by %q, not %s", got, latest)
			}
			return nil
		})
		w.Sometimes("the old version works while a replica of the new one runs", func(h *history.History) bool {
			began := 0
			for i := range h.Events {
				switch e := &h.Events[i]; {
				case e.Kind == history.Upgrade && e.Process == "one":
					began = e.Incarnation + 1
				case began > 0 && e.Kind == history.Upgrade:
					return false
				case began > 0 && e.Kind == history.Dequeue && e.Process == "two":
					return true
				}
			}
			return false
		})
		w.Start("one", stamp("v1"), elected)
		w.Start("two", stamp("v1"), elected)
		w.Inject(fault.Crash("one"), fault.Restart("two"))
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
		for _, latest = range []string{"v2", "v1"} {
			w.Upgrade("one", stamp(latest))
			w.Sleep(time.Minute)
			w.Upgrade("two", stamp(latest))
			w.Settle()
		}
	}, sim.Runs(20))
}

// The moment of an upgrade is a choice. A story keeps it, and its lines say that there was one.
func TestAStoryHasTheMomentOfAnUpgrade(t *testing.T) {
	torn := func(w *sim.World) {
		w.Start("op", stamp("v1"))
		w.Always("v2 finds what v1 has finished", func(h *history.History) error {
			if last := h.Events[len(h.Events)-1]; last.Kind == history.Start && last.Incarnation == 2 &&
				stamped(h, "version") != stamped(h, "done") {
				return errors.New("v1 has not finished")
			}
			return nil
		})
		w.Sleep(time.Second)
		w.Upgrade("op", stamp("v2"))
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}
	dir := t.TempDir()
	f := simtest.Violates(t, "v2 finds what v1 has finished", torn, sim.Runs(200), sim.Stories(dir))
	simtest.Contains(t, f.Text(), "op/1             is upgraded: its next incarnation runs the version of w.Upgrade #1",
		"The last upgrade was at 00:01.", "delay: the upgrade of op")
	story, err := os.ReadFile(f.File)
	if err != nil {
		t.Fatal(err)
	}
	simtest.Contains(t, string(story), " upgrade op #1\n")
	again := sim.Explore(t, torn, sim.Replay(f.File)).Failure
	if again == nil || again.Step != f.Step || again.Message != f.Message {
		t.Errorf("the replay ends with %+v, and the run ended with %q at step %d", again, f.Message, f.Step)
	}
}

// The undisturbed run is that of the values that were drawn before it was asked for, so CrashSafe
// compares with a run without the upgrade.
func TestUpAndDownLeavesNoTrace(t *testing.T) {
	for _, c := range []struct {
		second func(ctrl.Manager) error
		broken string
	}{{stamp("v2"), ""}, {leavesATrace, "an upgrade and the way back leave no trace"}} {
		scenario := func(w *sim.World) {
			w.Start("op", stamp("v1"))
			w.Inject(fault.Crash("op"))
			w.Eventually("an upgrade and the way back leave no trace", property.CrashSafe(w.Undisturbed()))
			w.Apply(simtest.ConfigMap("a"))
			if sim.Draw(w, "upgraded", rapid.Bool()) {
				w.Upgrade("op", c.second)
				w.Sleep(10 * time.Minute)
				w.Upgrade("op", stamp("v1"))
			}
			w.Settle()
		}
		if c.broken == "" {
			simtest.Holds(t, scenario, sim.Runs(20))
		} else {
			simtest.Violates(t, c.broken, scenario, sim.Runs(20))
		}
	}
}

// leavesATrace is a version that creates an object of its own.
func leavesATrace(mgr ctrl.Manager) error {
	return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		return client.IgnoreAlreadyExists(mgr.GetClient().Create(ctx, simtest.ConfigMap("trace")))
	}))
}

// An upgrade that is due later than the next one is not made after it.
func TestUpgradesKeepTheirOrder(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Start("op", stamp("v1"))
		w.Eventually("the latest version has the last word", func(h *history.History) error {
			if got := stamped(h, "done"); got != "v3" {
				return fmt.Errorf("it is stamped by %q", got)
			}
			return nil
		})
		w.Upgrade("op", stamp("v2"))
		w.Upgrade("op", stamp("v3"))
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}, sim.Runs(30))
}

// The new version of a process that has failed starts at once, as a Pod of its own.
func TestAnUpgradeWaitsForNoBackOff(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			return mgr.Add(manager.RunnableFunc(func(context.Context) error { return errors.New("it is broken") }))
		})
		w.Sleep(3 * time.Minute)
		w.Apply(simtest.ConfigMap("a"))
		w.Upgrade("op", stamp("v2"))
		w.Sleep(12 * time.Second)
		if got := stamped(w.History(), "done"); got != "v2" {
			t.Errorf("the stamp is %q 12 s after the upgrade", got)
		}
	}, sim.Runs(5))
}

// definition is that of a kind with two versions.
const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobs.shop.example}
spec:
  group: shop.example
  names: {kind: Job, plural: jobs}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
`

// New definitions are applied before an upgrade. A version that objects are stored in stays.
func TestDefinitionsOfAnUpgrade(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "crd.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stored := strings.NewReplacer("v1, served: true, storage: true", "v1, served: true, storage: false",
		"v2, served: true, storage: false", "v2, served: true, storage: true").Replace(definition)
	simtest.Holds(t, func(w *sim.World) {
		w.Install(file(definition))
		w.Start("op", stamp("v1"))
		w.ApplyFiles(file(stored))
		w.Upgrade("op", stamp("v2"))
		w.Settle()
		crd := &unstructured.Unstructured{}
		crd.SetAPIVersion("apiextensions.k8s.io/v1")
		crd.SetKind("CustomResourceDefinition")
		err := w.Client().Get(w.Context(), client.ObjectKey{Name: "jobs.shop.example"}, crd)
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		if err != nil || len(versions) != 2 {
			t.Fatalf("versions %v: %v", versions, err)
		}
		if err := unstructured.SetNestedSlice(crd.Object, versions[1:], "spec", "versions"); err != nil {
			t.Fatal(err)
		}
		err = w.Client().Update(w.Context(), crd)
		if err == nil || !strings.Contains(err.Error(), `status.storedVersions[0]: Invalid value: "v1": missing from`) {
			t.Errorf("v1 goes with %v", err)
		}
	}, sim.Runs(1))
}
