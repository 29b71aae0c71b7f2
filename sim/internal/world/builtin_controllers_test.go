package world_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/namespace"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// stamper is a built-in controller that stamps every ConfigMap some time after its creation, and
// asks for a ConfigMap called "wanted" until it exists.
type stamper struct {
	cluster actor.Cluster
	wait    time.Duration
	asked   int
}

func (s *stamper) Name() string { return "stamper" }

func (s *stamper) Begin(c actor.Cluster) {
	s.cluster = c
	c.Again(0, "wanted", s.look)
}

func (s *stamper) look() {
	s.asked++
	if !actor.Get(s.cluster, actor.Path("", "v1", "default", "configmaps", "wanted"), &struct{}{}) {
		s.cluster.Again(time.Minute, "wanted", s.look)
	}
}

func (s *stamper) Observe(ch apiserver.Change) {
	if ch.Kind != "ConfigMap" || ch.Type != "ADDED" {
		return
	}
	path := actor.Path("", "v1", ch.Namespace, "configmaps", ch.Name)
	s.cluster.After(s.wait, "stamp "+ch.Name, func() {
		patch := map[string]any{"data": map[string]string{"stamp": s.cluster.Clock().Format(time.RFC3339)}}
		if err := actor.Do(s.cluster, http.MethodPatch, path, patch, nil); err != nil {
			panic(err)
		}
	})
}

func TestSecondDeletionOfANamespace(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		sim.Check(t, func(w *sim.World) {
			if refuse {
				w.Builtin(namespace.New(namespace.RefuseSecondDelete()))
			}
			shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
			w.Apply(shop)
			w.Remove(shop)
			if err := w.Client().Delete(w.Context(), shop); apierrors.IsConflict(err) != refuse || err != nil &&
				!refuse {
				panic(fmt.Sprintf("refused %v, and the second deletion is answered with %v", refuse, err))
			}
			w.Settle()
		}, sim.Runs(2))
	}
}

func TestBuiltinControllersStep(t *testing.T) {
	report := sim.Explore(t, func(w *sim.World) {
		s := &stamper{wait: time.Hour}
		w.Builtin(&stamper{wait: time.Second}) // replaced by the next one, of the same name
		w.Builtin(s)
		w.Start("counter", simtest.Counter{}.Setup)
		w.Inject(fault.StaleCache(time.Minute))
		w.Apply(simtest.ConfigMap("a"), simtest.ConfigMap("b"))
		w.Settle()
		stamped := 0
		for _, e := range w.History().Events {
			if e.Process == "stamper" && e.Write() {
				stamped++
				if e.At < time.Hour {
					t.Errorf("stamped at %v, before its time; healing must not take a step's own delay away", e.At)
				}
			}
		}
		if stamped != 2 {
			t.Errorf("%d ConfigMaps were stamped when the world had settled, want 2", stamped)
		}
		if s.asked < 2 {
			t.Errorf("the world settled after %d attempts; one must have come since the last write", s.asked)
		}
	}, sim.Runs(30), sim.Verify(10))
	if report.Failure != nil || report.Runs != 30 {
		t.Errorf("%d runs: %+v", report.Runs, report.Failure)
	}
}

func TestRestlessBuiltinControllerIsNamed(t *testing.T) {
	report := sim.Explore(t, func(w *sim.World) {
		w.Builtin(&restlessActor{})
		w.Settle()
	}, sim.Runs(1), sim.MaxSteps(500), sim.Shrink(0))
	if f := report.Failure; f == nil || !strings.Contains(f.Message, "tick by the restless") {
		t.Errorf("want a verdict that names the step, got %+v", report.Failure)
	}
}

type restlessActor struct{ cluster actor.Cluster }

func (r *restlessActor) Name() string             { return "restless" }
func (r *restlessActor) Observe(apiserver.Change) {}
func (r *restlessActor) Begin(c actor.Cluster)    { r.cluster = c; r.tick() }
func (r *restlessActor) tick()                    { r.cluster.After(time.Second, "tick", r.tick) }

// Every world empties namespaces that are being deleted, as a cluster does, after five seconds at
// the earliest.
func TestNamespacesFinish(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
		held := simtest.ConfigMap("held")
		held.Namespace, held.Finalizers = "shop", []string{"wavetank.example/hold"}
		w.Without("no stuck finalizer") // it is the test's own
		w.Apply(ns, held)
		w.Remove(ns)
		w.Settle()
		if o, ok := w.History().Object("", "Namespace", "", "shop"); !ok ||
			!strings.Contains(string(o.JSON), "NamespaceFinalizersRemaining") {
			t.Errorf("a namespace with a held object is still there, and says so; found %s", o.JSON)
		}
		free := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		if err := w.Client().Patch(w.Context(), held, free); err != nil {
			t.Error(err)
		}
		w.Settle()
		if _, ok := w.History().Object("", "Namespace", "", "shop"); ok {
			t.Error("the namespace is still there although nothing holds it")
		}
	}, sim.Runs(20), sim.Verify(2))
}

// Every world collects the dependents of an owner that was deleted, as a cluster does.
func TestDependentsGoWithTheirOwner(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		owner, dependent := simtest.ConfigMap("owner"), simtest.ConfigMap("dependent")
		w.Apply(owner)
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(owner), owner); err != nil {
			t.Error(err)
		}
		dependent.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name,
			UID: owner.UID}}
		w.Apply(dependent, simtest.ConfigMap("stranger"))
		w.Settle()
		w.Remove(owner)
		w.Settle()
		left := w.History().Objects("", "ConfigMap")
		if len(left) != 1 || left[0].Ref.Name != "stranger" {
			t.Errorf("left are %v, want the stranger alone", left)
		}
	}, sim.Runs(20), sim.Verify(2))
}

// A Deployment becomes available in a world with workloads and a kubelet, in any order of steps.
// Its runs replay.
func TestDeploymentBecomesAvailable(t *testing.T) {
	report := simtest.Holds(t, func(w *sim.World) {
		w.Builtin(workload.New()...)
		w.Builtin(kubelet.New()...)
		labels := map[string]string{"app": "web"}
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
		d.Spec.Replicas, d.Spec.Selector = new(int32(3)), &metav1.LabelSelector{MatchLabels: labels}
		d.Spec.Template.Labels = labels
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: "web:1"}}
		w.Eventually("the deployment is available", func(h *history.History) error {
			var got appsv1.Deployment
			if o, ok := h.Object("apps", "Deployment", "default", "web"); !ok || o.Into(&got) != nil ||
				got.Status.AvailableReplicas != 3 {
				return fmt.Errorf("%+v", got.Status)
			}
			return nil
		})
		w.Apply(d)
		w.Settle()
	}, sim.Runs(20), sim.Verify(2))
	t.Logf("%d runs, %d steps", report.Runs, report.Steps)
}

// A claim that is not in use is deleted despite its protection.
func TestUnusedClaimsAreDeleted(t *testing.T) {
	report := sim.Explore(t, func(w *sim.World) {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: simtest.ConfigMap("data").ObjectMeta,
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}}
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
		w.Apply(claim)
		var got corev1.PersistentVolumeClaim
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(claim), &got); err != nil ||
			!slices.Contains(got.Finalizers, "kubernetes.io/pvc-protection") {
			t.Errorf("the claim has the finalizers %v (%v)", got.Finalizers, err)
		}
		w.Remove(claim)
		w.Settle()
		if n := len(w.History().Objects("", "PersistentVolumeClaim")); n > 0 {
			t.Error("the claim is still there")
		}
	}, sim.Runs(5))
	if err := report.Err(); err != nil {
		t.Error(err)
	}
}

// A model of the outside may wait for the end of the run's context.
func TestContextEndsWithTheRun(t *testing.T) {
	if err := sim.Explore(t, func(w *sim.World) {
		ctx := w.Context()
		go func() { <-ctx.Done() }()
		w.Settle()
	}, sim.Runs(3)).Err(); err != nil {
		t.Error(err)
	}
}
