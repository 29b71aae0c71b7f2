package controller

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"

	v1 "example.com/backup/api/v1"
)

var scheme = runtime.NewScheme()

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1.AddToScheme(scheme))
}

// The README shows what follows.

func TestOneClaim(t *testing.T) { sim.Check(t, oneClaim) }

func oneClaim(w *sim.World) {
	w.Install("../../config/crd/bases")
	w.Start("backup", func(mgr ctrl.Manager) error { // called again after each crash
		return (&BackupReconciler{Client: mgr.GetClient(), Generated: generated}).SetupWithManager(mgr)
	}, sim.Options(ctrl.Options{Scheme: scheme}))
	w.Inject(fault.StaleCache(30*time.Second), fault.Crash("backup"), fault.LostReply())
	w.Always("a backup has at most one claim", func(h *history.History) error {
		if claims := history.List[corev1.PersistentVolumeClaim](h); len(claims) > 1 {
			return fmt.Errorf("there are %d claims", len(claims))
		}
		return nil
	})
	w.Always("no controller overwrites a change that it has not observed", property.NoLostUpdate())
	w.Eventually("the backup names its claim", func(h *history.History) error {
		if b, _ := history.Get[v1.Backup](h, "default", "a"); b.Status.PVC == "" {
			return errors.New("status.pvc is empty")
		}
		return nil
	})
	w.Apply(&v1.Backup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
	w.Settle()
}
