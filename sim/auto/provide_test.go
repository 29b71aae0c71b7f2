package auto_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
)

// waiting makes a ConfigMap for each widget once an object is there that users have to make.
type waiting struct {
	client.Client
	reader client.Reader
	of     client.Object
}

func (r *waiting) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(ctx, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	of := r.of.DeepCopyObject().(client.Object)
	if err := r.reader.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: "wanted"}, of); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err) // its watch event begins the reconcile again
	}
	text := "there"
	switch of := of.(type) {
	case *corev1.Secret:
		text = string(of.Data["password"])
	case *corev1.ConfigMap:
		text = of.Data["password"]
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name + "-config"}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, cm, func() error {
		cm.Data = map[string]string{"password": text}
		return ctrl.SetControllerReference(&w, cm, r.Scheme())
	})
	return ctrl.Result{}, err
}

// all are the widgets, which wait for the same object.
func (r *waiting) all(ctx context.Context, o client.Object) (out []reconcile.Request) {
	var list WidgetList
	if o.GetName() != "wanted" || r.List(ctx, &list) != nil {
		return nil
	}
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// Users make an object that an operator has looked for and not found, and the operator continues.
func TestUsersMakeWhatIsLookedFor(t *testing.T) {
	for name, c := range map[string]struct {
		of           client.Object
		live, unseen bool
	}{
		"Secret in the cache":        {of: &corev1.Secret{}},
		"Secret at the server":       {of: &corev1.Secret{}, live: true},
		"ConfigMap":                  {of: &corev1.ConfigMap{}},
		"kind with a definition":     {of: &Widget{}},
		"Secret that nobody watches": {of: &corev1.Secret{}, unseen: true},
	} {
		t.Run(name, func(t *testing.T) {
			made := map[string]bool{}
			r := sim.Explore(t, func(w *sim.World) {
				w.Install("testdata/widgets.yaml")
				w.Start("widgets", func(mgr ctrl.Manager) error {
					r := &waiting{mgr.GetClient(), mgr.GetClient(), c.of}
					if c.live {
						r.reader = mgr.GetAPIReader()
					}
					b := ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Owns(&corev1.ConfigMap{})
					if !c.unseen {
						b = b.Watches(c.of, handler.EnqueueRequestsFromMapFunc(r.all))
					}
					return b.Complete(r)
				}, sim.Options(ctrl.Options{Scheme: scheme}))
				auto.Scenario(w)
				for i := range w.History().Events {
					for _, c := range w.History().Events[i].Changes {
						var cm corev1.ConfigMap
						if strings.HasSuffix(c.Ref.Name, "-config") && json.Unmarshal(c.Object, &cm) == nil {
							made[cm.Data["password"]] = true
						}
					}
				}
			}, sim.Runs(40), sim.For(0))
			if c.unseen {
				f := r.Failure
				expected := []string{auto.NoWritesAtRest, auto.SameEndState, auto.SameInAnyOrder}
				if f == nil || !slices.Contains(expected, f.Property) {
					t.Errorf("the operator is not notified of the Secret, and that is not found: %+v", f)
				}
				return
			}
			if err := r.Err(); err != nil {
				t.Error(err)
			}
			if delete(made, ""); len(made) == 0 {
				t.Error("the operator never came to what it waits for")
			}
		})
	}
}
