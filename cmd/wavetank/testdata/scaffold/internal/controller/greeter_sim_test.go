package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// greeting is what the tests have in common.
func greeting(w *sim.World) {
	w.Start("greeter", func(mgr ctrl.Manager) error {
		return (&GreeterReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
	})
	w.Inject(fault.Conflict())
	w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "visitor"}})
	w.Settle()
}

// TestGreeter stands beside the suite with envtest, and runs without it.
func TestGreeter(t *testing.T) { simulate(t) }

func simulate(t *testing.T) { sim.Check(t, greeting) }
