// This file exists for programs that send protobuf, as every client of built-in types does by
// default.

package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// mirroring copies ConfigMaps to another cluster, by the rest.Config that the documentation of
// World.Cluster has and the scheme that a manager has by default, and deletes the copy of what has
// gone.
func mirroring(mgr ctrl.Manager) error {
	away, err := cluster.New(&rest.Config{Host: "http://prod.example", Transport: sim.HTTPClient(mgr).Transport})
	if err != nil {
		return err
	}
	if err := mgr.Add(away); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).Named("mirror").For(&corev1.ConfigMap{}).Complete(
		reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
			copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: req.Name}}
			var cm corev1.ConfigMap
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); client.IgnoreNotFound(err) != nil {
				return ctrl.Result{}, err
			} else if err != nil {
				err := away.GetClient().Delete(ctx, copied, client.PropagationPolicy("Background"))
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			_, err := controllerutil.CreateOrUpdate(ctx, away.GetClient(), copied, func() error {
				copied.Data = cm.Data
				return nil
			})
			return ctrl.Result{}, err
		}))
}

func TestAClusterTakesProtobuf(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		prod := w.Cluster("prod.example")
		copied := func() string {
			var cm corev1.ConfigMap
			err := prod.Client().Get(w.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &cm)
			return fmt.Sprint(cm.Data, client.IgnoreNotFound(err) == nil, err == nil)
		}
		w.Start("op", mirroring)
		want := ""
		w.Eventually("the copy is as the original", func(*history.History) error {
			if got := copied(); got != want {
				return fmt.Errorf("the copy is %s, want %s", got, want)
			}
			return nil
		})
		w.Inject(fault.Conflict())
		for _, step := range []struct {
			do   func()
			want string
		}{
			{func() { w.Apply(simtest.ConfigMap("a", "k", "1")) }, "map[k:1] true true"},
			{func() { w.Apply(simtest.ConfigMap("a", "k", "2")) }, "map[k:2] true true"},
			{func() { w.Remove(simtest.ConfigMap("a")) }, "map[] true false"},
		} {
			want = step.want
			step.do()
			w.Settle()
		}
		for _, e := range w.History().Events { // or no property could read it
			if e.Ref.Cluster != "" && len(e.Sent) > 0 && !json.Valid(e.Sent) {
				t.Errorf("the history keeps a body that is not JSON: %s %s: %q", e.Verb, e.Ref, e.Sent)
			}
		}
	}, sim.Runs(20), sim.Verify(5))
}

// The world's own cluster takes it, too, from a program that asks for it.
func TestTheWorldTakesProtobuf(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Run("op", func(ctx context.Context, cfg *rest.Config) error {
			cfg = rest.CopyConfig(cfg)
			cfg.ContentConfig = rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf}
			api, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				return err
			}
			maps := api.CoreV1().ConfigMaps("default")
			if _, err := maps.Create(ctx, simtest.ConfigMap("a", "k", "v"), metav1.CreateOptions{}); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		})
		w.Settle()
		expectData(w, t, "map[k:v]")
	}, sim.Runs(3), sim.Verify(1))
}
