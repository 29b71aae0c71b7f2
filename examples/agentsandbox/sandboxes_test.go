package agentsandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/agent-sandbox/controllers"
	extensionsv1beta1 "sigs.k8s.io/agent-sandbox/extensions/api/v1beta1"
	extensions "sigs.k8s.io/agent-sandbox/extensions/controllers"
	"sigs.k8s.io/agent-sandbox/extensions/controllers/queue"
	asmetrics "sigs.k8s.io/agent-sandbox/internal/metrics"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/sim"
)

// start does what main does with --extensions --enable-webhook=false and otherwise the defaults of
// its flags, in each version from 0.5.3 to 0.5.6.
func start(mgr ctrl.Manager) error {
	instrumenter := asmetrics.NewNoOp()
	sandboxes := &controllers.SandboxReconciler{
		Client: mgr.GetClient(), Scheme: mgr.GetScheme(), Tracer: instrumenter, ClusterDomain: "cluster.local",
	}
	set(sandboxes, "Recorder", mgr.GetEventRecorder("sandbox-controller"))
	if err := sandboxes.SetupWithManager(mgr, 100); err != nil {
		return err
	}
	claims := &extensions.SandboxClaimReconciler{
		Client: mgr.GetClient(), Scheme: mgr.GetScheme(),
		WarmSandboxQueue: queue.NewSimpleSandboxQueue(), Recorder: mgr.GetEventRecorder("sandboxclaim-controller"),
		Tracer: instrumenter,
	}
	set(claims, "APIReader", mgr.GetAPIReader())
	if err := claims.SetupWithManager(mgr, 50); err != nil {
		return err
	}
	if err := (&extensions.SandboxTemplateReconciler{
		Client: mgr.GetClient(), Scheme: mgr.GetScheme(), Recorder: mgr.GetEventRecorder("sandboxtemplate-controller"),
		Tracer: instrumenter,
	}).SetupWithManager(mgr, 1); err != nil {
		return err
	}
	pools := &extensions.SandboxWarmPoolReconciler{
		Client: mgr.GetClient(), Scheme: mgr.GetScheme(), MaxBatchSize: 300, EnableWarmPoolEviction: true,
	}
	set(pools, "Recorder", mgr.GetEventRecorder("sandboxwarmpool-controller"))
	set(pools, "ReadinessGracePeriod", 5*time.Minute)
	set(pools, "UnschedulableRecheckInterval", time.Minute)
	return pools.SetupWithManager(mgr, 1)
}

// set sets a field that not every version has.
func set(reconciler any, field string, value any) {
	if f := reflect.ValueOf(reconciler).Elem().FieldByName(field); f.IsValid() {
		f.Set(reflect.ValueOf(value))
	}
}

// operator returns what puts agent-sandbox into a world with a kubelet.
func operator(t *testing.T) func(*sim.World) {
	scheme := controllers.Scheme
	for _, add := range []func() error{
		func() error { return apiextensionsv1.AddToScheme(scheme) },
		func() error { return extensionsv1beta1.AddToScheme(scheme) },
	} {
		if err := add(); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := exec.Command("sh", "-c", "GOWORK=off go list -m -f {{.Dir}} sigs.k8s.io/agent-sandbox").Output()
	if err != nil {
		t.Fatal(err)
	}
	definitions := unconverted(t, filepath.Join(strings.TrimSpace(string(dir)), "k8s", "crds"))
	return func(w *sim.World) {
		w.Install(definitions...)
		w.Builtin(kubelet.New()...)
		w.Start("agent-sandbox", start, sim.Options(ctrl.Options{Scheme: scheme, Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&corev1.Pod{}: {Transform: controllers.PodCacheTransform},
			},
		}}))
	}
}

// unconverted reads definitions for --enable-webhook=false, which wants them without conversion.
func unconverted(t *testing.T, dir string) (all []any) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		data, err := os.ReadFile(f)
		if err == nil {
			err = yaml.Unmarshal(data, crd)
		}
		if err != nil {
			t.Fatal(f, err)
		}
		crd.Spec.Conversion = nil
		all = append(all, crd)
	}
	return all
}
