// Package simulation has the suite of what is simulated. It needs no etcd and no kube-apiserver.
package simulation

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/cmd/wavetank/testdata/scaffold/internal/controller"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/simginkgo"
)

func TestSimulations(t *testing.T) {
	RegisterFailHandler(Fail)
	simginkgo.Use(t)
	RunSpecs(t, "Simulations")
}

var _ = Describe("A greeter", func() {
	It("greets whoever comes", func() {
		simginkgo.Check(func(w *sim.World) {
			w.Start("greeter", func(mgr ctrl.Manager) error {
				return (&controller.GreeterReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
			})
			w.Inject(fault.Conflict())
			w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "visitor"}})
			w.Settle()
		})
	})
})
