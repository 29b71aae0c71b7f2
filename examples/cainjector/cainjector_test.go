package cainjector

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cmapi "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
)

// start does what main does, with --enable-apiservices-injectable=false.
func start(mgr ctrl.Manager) error {
	mgr.GetConfig().UserAgent = "cert-manager-cainjector/v1.21.2" // of which cainjector makes its field manager
	return cainjector.RegisterAllInjectors(context.Background(), mgr, cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName:   true,
			cainjector.ValidatingWebhookConfigurationName: true,
			cainjector.CustomResourceDefinitionName:       true,
		},
	})
}

// operator returns what puts cainjector into a world.
func operator(t *testing.T) func(*sim.World) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, cmapi.AddToScheme,
		apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	list := "GOWORK=off go list -m -f {{.Dir}} github.com/cert-manager/cert-manager"
	dir, err := exec.Command("sh", "-c", list).Output()
	if err != nil {
		t.Fatal(err)
	}
	definitions := filepath.Join(strings.TrimSpace(string(dir)), "deploy", "crds", "cert-manager.io_certificates.yaml")
	return func(w *sim.World) {
		w.Install(definitions)
		w.Start("cainjector", start, sim.Options(ctrl.Options{Scheme: scheme, Client: client.Options{
			// Why cainjector reads Secrets without a cache is explained in setup.go.
			Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}},
		}}))
	}
}
