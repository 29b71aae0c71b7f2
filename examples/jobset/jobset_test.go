package jobset

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	api "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers"

	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
)

// start does what main does once the certificates are ready.
func start(mgr ctrl.Manager) error {
	if err := controllers.SetupJobSetIndexes(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := controllers.SetupPodIndexes(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := reconciler(mgr, controllers.NewJobSetReconciler, "jobset").SetupWithManager(mgr); err != nil {
		return err
	}
	if err := reconciler(mgr, controllers.NewPodReconciler, "pod").SetupWithManager(mgr); err != nil {
		return err
	}
	return setupWebhooks(mgr)
}

// reconciler makes a reconciler with the recorder of Events that its version wants.
func reconciler[Recorder, Reconciler any](mgr ctrl.Manager,
	make func(client.Client, *runtime.Scheme, Recorder) Reconciler, name string) Reconciler {
	recorder, ok := mgr.GetEventRecorder(name).(Recorder)
	if !ok {
		recorder = any(mgr.GetEventRecorderFor(name)).(Recorder)
	}
	return make(mgr.GetClient(), mgr.GetScheme(), recorder)
}

// operator returns what puts the operator into a world that runs Jobs and Pods.
func operator(t *testing.T, plans kubelet.Option) func(*sim.World) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := exec.Command("sh", "-c", "GOWORK=off go list -m -f {{.Dir}} sigs.k8s.io/jobset").Output()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(strings.TrimSpace(string(dir)), "config", "components")
	return func(w *sim.World) {
		w.Install(filepath.Join(config, "crd", "bases"))
		installWebhooks(w, filepath.Join(config, "webhook", "manifests.yaml"))
		w.Builtin(workload.New()...)
		w.Builtin(kubelet.New(plans)...)
		w.Start("jobset", start, sim.Options(ctrl.Options{Scheme: scheme}))
	}
}
