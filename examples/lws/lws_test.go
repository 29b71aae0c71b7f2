package lws

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	api "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/lws/pkg/controllers"
	"sigs.k8s.io/lws/pkg/webhooks"

	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
)

// start does what main does once the certificates are ready, without gang scheduling, for
// LeaderWorkerSets.
func start(mgr ctrl.Manager) error {
	if err := controllers.SetupIndexes(mgr.GetFieldIndexer()); err != nil {
		return err
	}
	recorder := mgr.GetEventRecorder("leaderworkerset")
	if err := controllers.NewLeaderWorkerSetReconciler(mgr.GetClient(), mgr.GetScheme(),
		recorder).SetupWithManager(mgr); err != nil {
		return err
	}
	if err := controllers.NewPodReconciler(mgr.GetClient(), mgr.GetScheme(), recorder,
		nil).SetupWithManager(mgr); err != nil {
		return err
	}
	if err := webhooks.SetupLeaderWorkerSetWebhook(mgr); err != nil {
		return err
	}
	return webhooks.NewPodWebhook(nil).Setup(mgr)
}

// operator returns what puts the operator into a world that runs StatefulSets and Pods.
func operator(t *testing.T) func(*sim.World) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := exec.Command("sh", "-c", "GOWORK=off go list -m -f {{.Dir}} sigs.k8s.io/lws").Output()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(strings.TrimSpace(string(dir)), "config")
	return func(w *sim.World) {
		w.Install(filepath.Join(config, "crd", "bases"), filepath.Join(config, "webhook", "manifests.yaml"))
		w.Builtin(workload.New()...)
		w.Builtin(kubelet.New()...)
		w.Start("lws", start, sim.Options(ctrl.Options{Scheme: scheme}))
	}
}
