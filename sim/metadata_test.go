package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// marker labels each ConfigMap with the resource version of the Secret of its name, of which it
// watches the metadata alone.
type marker struct{ client.Client }

func (m marker) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := m.Get(ctx, req.NamespacedName, secret); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	cm := &corev1.ConfigMap{}
	if err := m.Get(ctx, req.NamespacedName, cm); err != nil || cm.Labels["of"] == secret.ResourceVersion {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	cm.Labels = map[string]string{"of": secret.ResourceVersion}
	return reconcile.Result{}, m.Update(ctx, cm)
}

// Informers of metadata filter their events in a goroutine of their own, which stays for ever if it
// holds one when its watch is stopped: so it must hold none when a process ends.
func TestMetadataIsWatched(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Start("marker", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("marker").For(&corev1.ConfigMap{}).
				Watches(&corev1.Secret{}, &handler.EnqueueRequestForObject{},
					builder.OnlyMetadata).Complete(marker{mgr.GetClient()})
		})
		w.Inject(fault.StaleCache(10*time.Second), fault.DroppedWatch(), fault.MissedStates(10*time.Second),
			fault.Relist(), fault.Expired(), fault.StaleServer(time.Minute),
			fault.Crash("marker"), fault.Restart("marker"), fault.Pause("marker",
				10*time.Second), fault.LostReply(), fault.ServerError(), fault.Unreachable(time.Minute))
		w.Eventually("every ConfigMap has its label", func(h *history.History) error {
			for _, name := range []string{"a", "b"} {
				secret, _ := h.Object("", "Secret", "default", name)
				cm, _ := h.Object("", "ConfigMap", "default", name)
				var o corev1.ConfigMap
				if err := cm.Into(&o); err != nil || o.Labels["of"] != fmt.Sprint(secret.Revision) {
					return fmt.Errorf("%s has %v, and its Secret %d: %v", name, o.Labels, secret.Revision, err)
				}
			}
			return nil
		})
		for i := range 3 {
			for _, name := range []string{"a", "b"} {
				w.Apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
					Labels: map[string]string{"n": fmt.Sprint(i)}}})
				w.Apply(simtest.ConfigMap(name))
			}
			w.Sleep(2 * time.Second)
		}
		w.Settle()
	}, sim.Runs(300), sim.For(0))
}
