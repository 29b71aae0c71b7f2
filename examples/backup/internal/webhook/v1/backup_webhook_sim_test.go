package v1

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"

	v1 "example.com/backup/api/v1"
)

// Kubebuilder's manifests are installed as they are: the world calls the webhook server of the
// manager that registers the path.
func TestABackupKeepsItsBucket(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	sim.Check(t, func(w *sim.World) {
		w.Install("../../../config/crd/bases", "../../../config/webhook")
		// and the controllers' setup functions
		w.Start("backup", SetupBackupWebhookWithManager, sim.Options(ctrl.Options{Scheme: scheme}))
		w.Inject(fault.Crash("backup"), fault.WebhookDown(time.Minute))
		w.Always("a backup keeps its bucket", func(h *history.History) error {
			var b v1.Backup
			if o, ok := h.Object("example.com", "Backup", "default", "a"); ok &&
				(o.Into(&b) != nil || b.Spec.Bucket != "here") {
				return errors.New("it has moved to " + b.Spec.Bucket)
			}
			return nil
		})
		refused := false
		w.Sometimes("a move is refused", func(*history.History) bool { return refused })
		b := &v1.Backup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"},
			Spec: v1.BackupSpec{Bucket: "here"}}
		w.Apply(b)
		w.Settle()
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			return
		}
		b.Spec.Bucket = "there"
		err := w.Client().Update(w.Context(), b) // refused, or not answered at all
		refused = err != nil && strings.Contains(err.Error(), "does not move")
	})
}
