package kro

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	internalapi "github.com/kubernetes-sigs/kro/api/internal.kro.run/v1alpha1"
	api "github.com/kubernetes-sigs/kro/api/v1alpha1"
	kroclient "github.com/kubernetes-sigs/kro/pkg/client"
	"github.com/kubernetes-sigs/kro/pkg/controller/graphrevision"
	"github.com/kubernetes-sigs/kro/pkg/controller/resourcegraphdefinition"
	"github.com/kubernetes-sigs/kro/pkg/dynamiccontroller"
	"github.com/kubernetes-sigs/kro/pkg/graph"
	"github.com/kubernetes-sigs/kro/pkg/graph/revisions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/yaml"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// definition makes the type App, which is a ConfigMap and a Service that is named in it.
const definition = `
apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: app}
spec:
  schema:
    apiVersion: v1alpha1
    kind: App
    spec: {image: string}
  resources:
  - id: service
    template:
      apiVersion: v1
      kind: Service
      metadata: {name: "${schema.metadata.name}"}
      spec: {ports: [{port: 80}], selector: {app: "${schema.metadata.name}"}}
  - id: config
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${schema.metadata.name}"}
      data: {image: "${schema.spec.image}", service: "${service.metadata.name}"}
`

// setup does what kro's main does with the defaults of its flags. Only the client is made from the
// manager's configuration.
func setup(mgr ctrl.Manager) error {
	clients, err := kroclient.NewSet(kroclient.Config{RestConfig: mgr.GetConfig(), QPS: 100, Burst: 150})
	if err != nil {
		return err
	}
	dynamic := dynamiccontroller.NewDynamicController(mgr.GetLogger(), dynamiccontroller.Config{
		Workers: 1, ResyncPeriod: 10 * time.Hour, QueueMaxRetries: 20, MinRetryDelay: 200 * time.Millisecond,
		MaxRetryDelay: 1000 * time.Second,
		RateLimit:     10, BurstLimit: 100,
	}, clients.Metadata(), clients.RESTMapper())
	builder, err := graph.NewBuilder(clients.RESTConfig(), clients.HTTPClient())
	if err != nil {
		return err
	}
	registry, limits := revisions.NewRegistry(), graph.RGDConfig{MaxCollectionSize: 1000,
		MaxCollectionDimensionSize: 10}
	definitions := resourcegraphdefinition.NewResourceGraphDefinitionReconciler(clients, dynamic, builder, registry,
		resourcegraphdefinition.Config{
			InstanceRequeueInterval: 3 * time.Second, ProgressRequeueDelay: 3 * time.Second, MaxConcurrentReconciles: 1,
			MaxGraphRevisions: 5, RGDConfig: limits,
		})
	if err := definitions.SetupWithManager(mgr); err != nil {
		return err
	}
	if err := graphrevision.NewGraphRevisionReconciler(builder, registry, 1, limits).SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Add(dynamic)
}

// operator returns what puts kro into a world in which there is the type App. What all worlds share
// is made here, once.
func operator(t *testing.T) func(*sim.World, ...fault.Fault) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme,
		api.AddToScheme, internalapi.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := exec.Command("sh", "-c", "GOWORK=off go list -m -f {{.Dir}} github.com/kubernetes-sigs/kro").Output()
	if err != nil {
		t.Fatal(err)
	}
	definitions := filepath.Join(strings.TrimSpace(string(dir)), "helm", "crds")
	return func(w *sim.World, faults ...fault.Fault) {
		w.Install(definitions)
		// kro has a cache whose janitor cannot be ended; the process always ends first.
		w.Start("kro", setup, sim.Options(ctrl.Options{Scheme: scheme}),
			sim.IgnoreGoroutines("github.com/hashicorp/golang-lru/v2/expirable.NewLRU"))
		w.Inject(faults...)
		w.Apply(object(definition))
		w.Settle()
	}
}

// Whatever happens on the way, an App has what it consists of in the end, as it is wanted last.
func TestAppsAreMade(t *testing.T) {
	start := operator(t)
	sim.Check(t, func(w *sim.World) {
		start(w, fault.StaleCache(30*time.Second), fault.MissedStates(30*time.Second), fault.DroppedWatch(),
			fault.Relist(), fault.Crash("kro"),
			fault.Unreachable(time.Minute), fault.Conflict())
		w.Eventually("the App has its parts", func(h *history.History) error {
			for _, kind := range []string{"Service", "ConfigMap"} {
				if _, ok := h.Object("", kind, "default", "one"); !ok {
					return fmt.Errorf("there is no %s", kind)
				}
			}
			var config struct{ Data map[string]string }
			if o, _ := h.Object("", "ConfigMap", "default", "one"); o.Into(&config) != nil ||
				config.Data["image"] != "second" {
				return fmt.Errorf("its ConfigMap says %v", config.Data)
			}
			return nil
		})
		w.Apply(app("first"))
		w.Sleep(time.Second)
		w.Apply(app("second"))
		w.Settle()
	})
}

// An App that is deleted before kro has put its finalizer on it comes back: that write is a
// server-side apply without the uid, and creates what is not there. No fault is needed, only a
// moment. go test -v shows the story; kro's own tests would rather say sim.Check, and fail.
func TestADeletedAppComesBack(t *testing.T) {
	start := operator(t)
	r := sim.Explore(t, func(w *sim.World) {
		start(w)
		w.Eventually("the App is gone", func(h *history.History) error {
			if _, ok := h.Object("kro.run", "App", "default", "one"); ok {
				return fmt.Errorf("it was deleted, and it is there")
			}
			return nil
		})
		w.Apply(app("first"))
		w.Remove(app("first"))
		w.Settle()
	})
	if r.Failure == nil || r.Failure.Property != "the App is gone" {
		t.Fatalf("%d runs found %+v", r.Runs, r.Failure)
	}
	t.Log(r.Failure.Text())
}

func app(image string) *unstructured.Unstructured {
	return object(fmt.Sprintf("{apiVersion: kro.run/v1alpha1, kind: App, metadata: {namespace: default, name: one}, "+
		"spec: {image: %s}}", image))
}

func object(text string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), u); err != nil {
		panic(err)
	}
	return u
}
