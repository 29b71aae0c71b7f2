package clusterapi

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/api/core/v1beta2/index"
	"sigs.k8s.io/cluster-api/controllers"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/internal/setup"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/yaml"

	"github.com/wavetank/wavetank/sim"
)

// start does what main does with the defaults of its flags, for the controllers of machines.
func start(mgr ctrl.Manager) error {
	ctx := context.Background()
	if err := index.AddDefaultIndexes(ctx, mgr); err != nil {
		return err
	}
	secrets, err := setup.CreateSecretCachingClient(mgr)
	if err != nil {
		return err
	}
	clusters, err := clustercache.SetupWithManager(ctx, mgr, clustercache.Options{
		SecretClient: secrets,
		Cache:        setup.ClusterCacheCacheOptions(),
		Client:       setup.ClusterCacheClientOptions("cluster-api-controller-manager", 20, 30),
	}, controller.Options{MaxConcurrentReconciles: 100})
	if err != nil {
		return err
	}
	if err := (&controllers.MachineReconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), ClusterCache: clusters,
		RemoteConditionsGracePeriod: 5 * time.Minute,
	}).SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: 100}); err != nil {
		return err
	}
	if err := (&controllers.MachineSetReconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), ClusterCache: clusters,
		PreflightChecks: sets.New(clusterv1.MachineSetPreflightCheckAll),
	}).SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: 50}); err != nil {
		return err
	}
	if err := (&controllers.MachineDeploymentReconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(),
	}).SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: 50}); err != nil {
		return err
	}
	return (&controllers.MachineHealthCheckReconciler{
		Client: mgr.GetClient(), ClusterCache: clusters,
	}).SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: 50})
}

// operator returns what puts Cluster API into a world in which there is a Cluster. No provider of
// infrastructure works there, so Machines wait for their infrastructure.
func operator(t *testing.T) func(*sim.World) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme,
		clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := exec.Command("sh", "-c", "GOWORK=off go list -m -f {{.Dir}} sigs.k8s.io/cluster-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	definitions := filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases")
	return func(w *sim.World) {
		w.Install(definitions, definition("infrastructure", "SimMachine"),
			definition("infrastructure", "SimMachineTemplate"), definition("bootstrap", "SimConfig"),
			definition("bootstrap", "SimConfigTemplate"))
		// It has caches whose janitors cannot be ended; the process always ends first.
		w.Start("capi", start, sim.Options(ctrl.Options{
			Scheme: scheme, Cache: setup.ManagerCacheOptions("", 10*time.Minute), Client: setup.ManagerClientOptions(),
		}), sim.IgnoreGoroutines("sigs.k8s.io/cluster-api/internal/util/ssa.NewCache",
			"sigs.k8s.io/cluster-api/util/cache.New[...]"))
		w.Apply(
			object("cluster.x-k8s.io", "Cluster", "a", `spec: {controlPlaneEndpoint: {host: a.example, port: 6443}}`),
			template("small"), template("large"),
			object("bootstrap.cluster.x-k8s.io", "SimConfigTemplate", "a", `spec: {template: {spec: {}}}`))
	}
}

// definition defines a kind of a provider. The label tells which contract it keeps.
func definition(group, kind string) *apiextensionsv1.CustomResourceDefinition {
	plural, keep := strings.ToLower(kind)+"s", true
	any := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group + ".cluster.x-k8s.io",
			Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta2"}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group + ".cluster.x-k8s.io", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural,
				Singular: strings.ToLower(kind)},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1beta2", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type:       "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": any, "status": any},
				}}}},
		},
	}
}

// template makes infrastructure machines of a size.
func template(size string) *unstructured.Unstructured {
	return object("infrastructure.cluster.x-k8s.io", "SimMachineTemplate", size,
		`spec: {template: {spec: {size: `+size+`}}}`)
}

func object(group, kind, name, rest string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(rest), &u.Object); err != nil {
		panic(err)
	}
	u.SetAPIVersion(group + "/v1beta2")
	u.SetKind(kind)
	u.SetNamespace(corev1.NamespaceDefault)
	u.SetName(name)
	return u
}
