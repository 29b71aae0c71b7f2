package controller

import (
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"

	v1 "example.com/backup/api/v1"
)

// The README shows what follows.

func TestOneClaim(t *testing.T) { sim.Check(t, oneClaim(generated)) }

func oneClaim(generated bool) func(*sim.World) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return func(w *sim.World) {
		w.Install("../../config/crd/bases")
		w.Start("backup", func(mgr ctrl.Manager) error { // what main does; called afresh after each crash
			return (&BackupReconciler{Client: mgr.GetClient(), Generated: generated}).SetupWithManager(mgr)
		}, sim.Options(ctrl.Options{Scheme: scheme}))
		w.Inject(fault.StaleCache(30*time.Second), fault.Crash("backup"), fault.LostReply())
		w.Always("a backup has one claim at most", func(h *history.History) error {
			if n := len(h.Objects("", "PersistentVolumeClaim")); n > 1 {
				return fmt.Errorf("there are %d claims", n)
			}
			return nil
		})
		w.Always("nobody overwrites what he has not seen", property.NoLostUpdate())
		w.Eventually("the backup knows its claim", func(h *history.History) error {
			var b v1.Backup
			if o, ok := h.Object("example.com", "Backup", "default", "a"); !ok || o.Into(&b) != nil ||
				b.Status.PVC == "" {
				return errors.New("its status names none")
			}
			return nil
		})
		w.Apply(&v1.Backup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
		w.Settle()
	}
}
