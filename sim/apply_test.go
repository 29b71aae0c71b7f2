// This file exists to hold World.Apply to the rules of kubectl apply, on the client's side and on
// the server's.

package sim_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// classes sets the class of a ConfigMap when it is created, and refuses every later change of it.
func classes(mgr ctrl.Manager) error {
	decoder := admission.NewDecoder(mgr.GetScheme())
	stamps(mgr, func(_ context.Context, _ admission.Request, cm *corev1.ConfigMap) error {
		if cm.Data["class"] == "" {
			cm.Data["class"] = "standard"
		}
		return nil
	})
	mgr.GetWebhookServer().Register("/keep", &webhook.Admission{Handler: admission.HandlerFunc(
		func(_ context.Context, req admission.Request) admission.Response {
			var was, is corev1.ConfigMap
			if err := decoder.DecodeRaw(req.OldObject, &was); err != nil {
				return admission.Errored(http.StatusBadRequest, err)
			}
			if err := decoder.Decode(req, &is); err != nil {
				return admission.Errored(http.StatusBadRequest, err)
			}
			if was.Data["class"] != is.Data["class"] {
				return admission.Denied("the class is immutable")
			}
			return admission.Allowed("")
		})})
	return nil
}

// An operator that defaults on CREATE only, and refuses changes, is met by kubectl apply every day.
func TestApplyKeepsWhatCreateDefaulted(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		hooks := hooked(admissionregv1.Fail)
		mutates := hooks[0].(*admissionregv1.MutatingWebhookConfiguration).Webhooks[0].Rules
		mutates[0].Operations = []admissionregv1.OperationType{"CREATE"}
		validates := hooks[1].(*admissionregv1.ValidatingWebhookConfiguration).Webhooks[0].Rules
		validates[0].Operations = []admissionregv1.OperationType{"UPDATE"}
		w.Apply(hooks...)
		w.Start("op", classes)
		w.Settle()
		w.Apply(simtest.ConfigMap("a", "size", "1"))
		w.Apply(simtest.ConfigMap("a", "size", "2"))
		expectData(w, t, "map[class:standard size:2]")
	}, sim.Runs(3), sim.Verify(1))
}

func expectData(w *sim.World, t *testing.T, want string) {
	t.Helper()
	var cm corev1.ConfigMap
	err := w.Client().Get(w.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &cm)
	if got := fmt.Sprint(cm.Data); err != nil || got != want {
		t.Errorf("ConfigMap a has %s (%v); %s was expected", got, err, want)
	}
}

// patch is a write of another client, as a merge patch.
func patch(w *sim.World, t *testing.T, c client.Client, obj client.Object, data string) {
	t.Helper()
	if err := c.Patch(w.Context(), obj, client.RawPatch(types.MergePatchType, []byte(data))); err != nil {
		t.Fatal(err)
	}
}

// writes are the user's writes of a kind so far, as verbs.
func writes(w *sim.World, kind string) (verbs []string) {
	for _, e := range w.History().Events {
		if e.Kind == history.Request && e.Process == "user" && e.Ref.Kind == kind && e.Verb != "get" {
			verbs = append(verbs, e.Verb)
		}
	}
	return verbs
}

func TestApplyMergesAsKubectlDoes(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Apply(simtest.ConfigMap("a", "x", "1", "y", "1"))
		patch(w, t, w.Client(), simtest.ConfigMap("a"), `{"data":{"z":"of another"}}`)
		w.Apply(simtest.ConfigMap("a", "x", "2"))
		expectData(w, t, "map[x:2 z:of another]")

		n := len(writes(w, "ConfigMap"))
		w.Apply(simtest.ConfigMap("a", "x", "2"))
		if extra := writes(w, "ConfigMap")[n:]; len(extra) > 0 {
			t.Errorf("an object that has all this was written: %v", extra)
		}

		w.Remove(simtest.ConfigMap("a"))
		if err := w.Client().Create(w.Context(), simtest.ConfigMap("a", "x", "3", "y", "3")); err != nil {
			t.Fatal(err)
		}
		w.Apply(simtest.ConfigMap("a", "y", "4"))
		expectData(w, t, "map[x:3 y:4]")
		if got, want := fmt.Sprint(writes(w, "ConfigMap")), "[create patch patch delete create patch]"; got != want {
			t.Errorf("the user's writes were %s, want %s", got, want)
		}
	}, sim.Runs(2), sim.Verify(1))
}

// Lists of built-in types are merged by their keys: what an operator has added to a Deployment
// stays.
func TestApplyMergesListsOfBuiltinTypes(t *testing.T) {
	deployment := func(images ...string) *appsv1.Deployment {
		labels := map[string]string{"app": "a"}
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		d.Spec.Template.Labels = labels
		for _, image := range images {
			name, _, _ := strings.Cut(image, ":")
			pod := &d.Spec.Template.Spec
			pod.Containers = append(pod.Containers, corev1.Container{Name: name, Image: image})
		}
		return d
	}
	simtest.Holds(t, func(w *sim.World) {
		w.Apply(deployment("web:1", "old:1"))
		d := deployment()
		patch(w, t, w.Client(), d, `{"spec":{"replicas":3,"template":{"spec":{"containers":[
			{"name":"web","image":"web:1"},{"name":"old","image":"old:1"},{"name":"sidecar","image":"sidecar:1"}]}}}}`)
		w.Apply(deployment("web:2"))
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(d), d); err != nil {
			t.Fatal(err)
		}
		var images []string
		for _, c := range d.Spec.Template.Spec.Containers {
			images = append(images, c.Image)
		}
		slices.Sort(images)
		if got := fmt.Sprint(images, *d.Spec.Replicas); got != "[sidecar:1 web:2] 3" {
			t.Errorf("the Deployment has %s", got)
		}
	}, sim.Runs(2), sim.Verify(1))
}

// Of custom resources lists are replaced; nil in an unstructured object removes a field, and one in
// a struct does not.
func TestApplyReplacesListsOfCustomResources(t *testing.T) {
	basket := func(spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "shop.example/v1", "kind": "Basket",
			"metadata": map[string]any{"name": "a"}, "spec": spec}}
	}
	file := basketsFile(t, "scope: Cluster", "{type: object, x-kubernetes-preserve-unknown-fields: true}")
	simtest.Holds(t, func(w *sim.World) {
		w.Install(file)
		w.Apply(basket(map[string]any{"fruit": []any{"apple", "pear"}, "size": int64(1)}))
		patch(w, t, w.Client(), basket(nil), `{"spec":{"fruit":["apple","pear","plum"],"seal":"red","ribbon":"blue"}}`)
		w.Apply(basket(map[string]any{"fruit": []any{"apple"}, "ribbon": nil}))
		live := basket(nil)
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(live), live); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(live.Object["spec"]); got != "map[fruit:[apple] seal:red]" {
			t.Errorf("the basket has %s", got)
		}
	}, sim.Runs(2), sim.Verify(1))
}

// The server's side: what the manager named before and names no more goes, and what others own is
// taken by force.
func TestApplyServerSideTakesFieldsOver(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		c := w.Cluster("prod.example")
		for _, in := range []interface {
			ApplyServerSide(...client.Object)
			Client() client.Client
		}{w, c} {
			in.ApplyServerSide(simtest.ConfigMap("a", "x", "1", "y", "1"))
			patch(w, t, in.Client(), simtest.ConfigMap("a"), `{"data":{"x":"of another","z":"of another"}}`)
			in.ApplyServerSide(simtest.ConfigMap("a", "x", "2"))
			cm := simtest.ConfigMap("a")
			if err := in.Client().Get(w.Context(), client.ObjectKeyFromObject(cm), cm); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(cm.Data); got != "map[x:2 z:of another]" {
				t.Errorf("ConfigMap a has %s", got)
			}
			if f := cm.ManagedFields[0]; f.Manager != "kubectl" || f.Operation != metav1.ManagedFieldsOperationApply {
				t.Errorf("its first owner is %s by %s", f.Manager, f.Operation)
			}
		}
	}, sim.Runs(2), sim.Verify(1))
}

// appliedTwice applies a ConfigMap to an operator that does this, and once more.
func appliedTwice(serverSide bool, do simtest.Do, faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		w.Start("p", simtest.Reconciles(do))
		w.Inject(faults...)
		cm := simtest.Source("a", "level", "High")
		if serverSide {
			w.ApplyServerSide(cm)
		} else {
			w.Apply(cm)
		}
		w.ApplyAgain()
	}
}

// lowers writes a field that the user applies, in its own way.
func lowers(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
	if level := strings.ToLower(cm.Data["level"]); level != cm.Data["level"] {
		cm.Data["level"] = level
		return reconcile.Result{}, c.Update(ctx, cm)
	}
	return reconcile.Result{}, nil
}

// An operator and its user write one field. Each apply of the same object sets it back, which one
// apply alone does not show.
func TestApplyAgainFindsWhatIsUndone(t *testing.T) {
	for _, serverSide := range []bool{false, true} {
		f := simtest.Violates(t, "apply is stable", appliedTwice(serverSide, lowers), sim.Runs(40), sim.For(0),
			sim.Verify(0), sim.Shrink(0))
		simtest.Contains(t, f.Message, "the user applied the same objects once more at ",
			"by user patch ConfigMap default/a",
			`.data.level is "High", before "high"`, "the last write of it before was p/1 update ConfigMap default/a")
	}
}

// Operators that write other fields than the user, or write at each reconcile, are stable, under
// faults, too. Faults end before the objects are applied again.
func TestApplyAgainAllowsOtherWrites(t *testing.T) {
	set := func(ctx context.Context, c client.Client, cm *corev1.ConfigMap, key, value string) error {
		if cm.Data[key] == value {
			return nil
		}
		cm.Data[key] = value
		return c.Update(ctx, cm)
	}
	for name, do := range map[string]simtest.Do{
		"a field of its own": func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result,
			error) {
			return reconcile.Result{}, set(ctx, c, cm, "seen", cm.Data["level"])
		},
		"no change": func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
			return reconcile.Result{}, c.Update(ctx, cm)
		},
	} {
		for _, serverSide := range []bool{false, true} {
			t.Log(name, serverSide)
			simtest.Holds(t, appliedTwice(serverSide, do, fault.Crash("p"), fault.LostReply(),
				fault.StaleCache(time.Minute)), sim.Runs(40), sim.For(0), sim.Verify(0), sim.Shrink(0))
		}
	}
}

// An object that is gone is not applied again, whether the user or another client has deleted it.
// An edit since the last apply stays.
func TestApplyAgainLeavesOutWhatWasEditedOrIsGone(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Apply(simtest.ConfigMap("edited", "k", "applied"), simtest.ConfigMap("kept", "k", "applied"),
			simtest.ConfigMap("removed"), simtest.ConfigMap("gone"))
		w.Settle()
		w.Remove(simtest.ConfigMap("removed"))
		err := errors.Join(w.Client().Update(w.Context(), simtest.ConfigMap("edited", "k", "by hand")),
			w.Client().Delete(w.Context(), simtest.ConfigMap("gone")))
		if err != nil {
			t.Error(err)
		}
		w.ApplyAgain()
		for name, want := range map[string]string{"kept": "applied", "edited": "by hand", "removed": "", "gone": ""} {
			if d, is := simtest.Data(w.History(), name); is != (want != "") || d["k"] != want {
				t.Errorf("%s is there: %v, with %v", name, is, d)
			}
		}
		if n := w.History().Count(history.Again); n != 1 {
			t.Errorf("applied again %d times", n)
		}
	}, sim.Runs(1))
}
