package auto_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
)

// counting writes into a widget's status how many objects its selector selects.
type counting struct {
	client.Client
	list client.ObjectList
	key  string // of the annotation with the selector
}

func (r *counting) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(ctx, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	s, err := labels.Parse(w.Annotations[r.key])
	if err != nil || w.Annotations[r.key] == "" {
		return ctrl.Result{}, err
	}
	list := r.list.DeepCopyObject().(client.ObjectList)
	if err := r.List(ctx, list, client.MatchingLabelsSelector{Selector: s}); err != nil {
		return ctrl.Result{}, err
	}
	n := 0
	switch list := list.(type) {
	case *corev1.NodeList:
		n = len(list.Items)
	case *corev1.NamespaceList:
		n = len(list.Items)
	case *corev1.SecretList:
		n = len(list.Items)
	}
	if w.Status.Starts == n {
		return ctrl.Result{}, nil
	}
	w.Status.Starts = n
	return ctrl.Result{}, r.Status().Update(ctx, &w)
}

func (r *counting) all(ctx context.Context, _ client.Object) (out []reconcile.Request) {
	var list WidgetList
	if r.List(ctx, &list) != nil {
		return nil
	}
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// Users create what a selector asks for, if a program watches its kind.
func TestUsersMakeWhatIsSelected(t *testing.T) {
	for name, c := range map[string]struct {
		of   client.Object
		list client.ObjectList
		key  string
		want bool
	}{
		"Node":                      {&corev1.Node{}, &corev1.NodeList{}, "nodeSelector", true},
		"Namespace":                 {&corev1.Namespace{}, &corev1.NamespaceList{}, "selector", true},
		"Secret":                    {&corev1.Secret{}, &corev1.SecretList{}, "labelSelector", true},
		"selector of another kind":  {&corev1.Secret{}, &corev1.SecretList{}, "nodeSelector", false},
		"annotation is no selector": {&corev1.Secret{}, &corev1.SecretList{}, "pool", false},
	} {
		t.Run(name, func(t *testing.T) {
			selected := false
			r := sim.Explore(t, func(w *sim.World) {
				w.Install("testdata/widgets.yaml")
				w.Start("widgets", func(mgr ctrl.Manager) error {
					r := &counting{mgr.GetClient(), c.list, c.key}
					return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).
						Watches(c.of, handler.EnqueueRequestsFromMapFunc(r.all)).Complete(r)
				}, sim.Options(ctrl.Options{Scheme: scheme}))
				auto.Scenario(w, auto.Objects(&Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a",
					Annotations: map[string]string{c.key: "pool=blue"}}, Spec: WidgetSpec{Size: 1}}))
				for i := range w.History().Events {
					for _, c := range w.History().Events[i].Changes {
						selected = selected || strings.Contains(string(c.Object), `"pool":"blue"`)
					}
				}
			}, sim.Runs(10), sim.For(0), sim.Shrink(0))
			if err := r.Err(); err != nil {
				t.Error(err)
			}
			if selected != c.want {
				t.Errorf("selected: %v", selected)
			}
		})
	}
}

// drawsOf are what users did in a run, a line each.
func drawsOf(h *history.History) string {
	var b strings.Builder
	for _, d := range h.Draws() {
		b.WriteString(d.Label + ": " + d.Value + "\n")
	}
	return b.String()
}

// What a program looks for is there before its own objects in some runs, and in each run in which
// users do not wait.
func TestPrerequisitesAreThereFromTheStart(t *testing.T) {
	before, after, hurried := 0, 0, 0
	r := sim.Explore(t, func(w *sim.World) {
		w.Install("testdata/widgets.yaml")
		w.Start("widgets", func(mgr ctrl.Manager) error {
			r := &wanting{mgr.GetClient()}
			return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(r)
		}, sim.Options(ctrl.Options{Scheme: scheme}))
		auto.Scenario(w, auto.Actions(3))
		draws := drawsOf(w.History())
		widget, secret := strings.Index(draws, "create Widget"), strings.Index(draws, "create Secret")
		switch {
		case secret < 0:
			hurried++
		case secret < widget:
			before++
		default:
			after++
		}
	}, sim.Runs(30), sim.For(0), sim.Shrink(0), sim.Verify(0))
	if r.Failure != nil {
		t.Error(r.Err())
	}
	if before < 10 || after < 3 || hurried > 0 {
		t.Errorf("the Secret was there before in %d runs, after in %d, never in %d", before, after, hurried)
	}
}

// wanting fails until a Secret is there.
type wanting struct{ client.Client }

func (r *wanting) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(ctx, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, r.Get(ctx, client.ObjectKey{Namespace: "elsewhere", Name: "wanted"}, &corev1.Secret{})
}

// A sample of a kind that has a definition is left out if auto.Kinds names other kinds.
func TestSamplesOfOtherKindsAreLeftOut(t *testing.T) {
	sim.Explore(t, func(w *sim.World) {
		start(w, "")
		meta := metav1.ObjectMeta{Namespace: "default", Name: "sample"}
		auto.Scenario(w, auto.Kinds(&corev1.ConfigMap{}), auto.Objects(
			&Widget{ObjectMeta: meta, Spec: WidgetSpec{Size: 1}},
			&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"a": "b"}}), auto.Actions(0))
		made := map[string]int{}
		for _, e := range w.History().Events {
			for _, c := range e.Changes {
				if c.Type == "ADDED" && c.Ref.Name == "sample" {
					made[c.Ref.Kind]++
				}
			}
		}
		if made["Widget"] != 0 || made["ConfigMap"] != 1 {
			t.Errorf("users have created %v", made)
		}
	}, sim.Runs(1), sim.For(0))
}
