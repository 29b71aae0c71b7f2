package falco

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	artifactv1alpha1 "github.com/falcosecurity/falco-operator/api/artifact/v1alpha1"
	instancev1alpha1 "github.com/falcosecurity/falco-operator/api/instance/v1alpha1"
	"github.com/falcosecurity/falco-operator/controllers/instance/component"
	"github.com/falcosecurity/falco-operator/controllers/instance/falco"
	"github.com/falcosecurity/falco-operator/controllers/instance/reference/configmap"
	"github.com/falcosecurity/falco-operator/controllers/instance/reference/secret"
	"github.com/falcosecurity/falco-operator/internal/pkg/index"
	"github.com/falcosecurity/falco-operator/internal/pkg/instance"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim"
)

// start does what main of cmd/instance does with the defaults of its flags, in a cluster that has
// native sidecars.
func start(mgr ctrl.Manager) error {
	for _, i := range index.All {
		err := mgr.GetFieldIndexer().IndexField(context.Background(), i.Object, i.Field, i.ExtractValueFn)
		if err != nil {
			return err
		}
	}
	labels := instance.NewLabelFilter(nil)
	for _, r := range []interface{ SetupWithManager(ctrl.Manager) error }{
		falco.NewReconciler(mgr.GetClient(), mgr.GetScheme(), mgr.GetEventRecorder("falco-controller"), true,
			falco.WithLabelFilter(labels)),
		component.NewReconciler(mgr.GetClient(), mgr.GetScheme(), mgr.GetEventRecorder("component-controller"),
			component.WithLabelFilter(labels)),
		configmap.NewConfigMapReconciler(mgr.GetClient(), mgr.GetScheme()),
		secret.NewSecretReconciler(mgr.GetClient(), mgr.GetScheme()),
	} {
		if err := r.SetupWithManager(mgr); err != nil {
			return err
		}
	}
	return nil
}

// operator returns what puts the operator into a world.
func operator(t *testing.T) func(*sim.World) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, instancev1alpha1.AddToScheme,
		artifactv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	list := "GOWORK=off go list -m -f {{.Dir}} github.com/falcosecurity/falco-operator"
	dir, err := exec.Command("sh", "-c", list).Output()
	if err != nil {
		t.Fatal(err)
	}
	definitions := filepath.Join(strings.TrimSpace(string(dir)), "chart", "falco-operator", "crds")
	return func(w *sim.World) {
		w.Install(definitions)
		w.Start("falco-operator", start, sim.Options(ctrl.Options{Scheme: scheme}))
	}
}
