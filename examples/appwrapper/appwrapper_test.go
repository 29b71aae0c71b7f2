package appwrapper

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	awv1beta2 "github.com/project-codeflare/appwrapper/api/v1beta2"
	"github.com/project-codeflare/appwrapper/pkg/config"
	"github.com/project-codeflare/appwrapper/pkg/controller"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
)

// start does what main does with webhooksEnabled: false and autopilot.monitorNodes: false.
func start(mgr ctrl.Manager) error {
	c := config.NewAppWrapperConfig()
	c.Autopilot.MonitorNodes = false
	return controller.SetupControllers(mgr, c)
}

// operator returns what puts the operator into a world that runs Jobs and Pods.
func operator(t *testing.T, plans kubelet.Option) func(*sim.World) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, awv1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	list := "GOWORK=off go list -m -f {{.Dir}} github.com/project-codeflare/appwrapper"
	dir, err := exec.Command("sh", "-c", list).Output()
	if err != nil {
		t.Fatal(err)
	}
	definitions := filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases")
	return func(w *sim.World) {
		w.Install(definitions)
		w.Builtin(workload.New()...)
		w.Builtin(kubelet.New(plans)...)
		w.Start("appwrapper", start, sim.Options(ctrl.Options{Scheme: scheme}))
	}
}
