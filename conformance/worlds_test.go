//go:build conformance

package conformance

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/wavetank/wavetank/sim"
)

const (
	manyKinds  = 20
	reconciled = 50  // objects that a world gets when it is there
	simulated  = 200 // runs of a round
)

// mirror makes a ConfigMap for each object of the first kind.
type mirror struct{ client.Client }

func (m mirror) SetupWithManager(mgr ctrl.Manager) error {
	skip := true // one process starts many managers
	return ctrl.NewControllerManagedBy(mgr).Named("mirror").For(thing("")).
		WithOptions(controller.Options{SkipNameValidation: &skip}).Complete(m)
}

func (m mirror) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	u := thing(req.Name)
	if err := m.Get(ctx, req.NamespacedName, u); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: req.Name}}
	return ctrl.Result{}, client.IgnoreAlreadyExists(m.Create(ctx, cm))
}

// thing is an object of the first kind.
func thing(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "beside.example.com", Version: "v1", Kind: "Thing0"})
	u.SetNamespace("default")
	u.SetName(name)
	return u
}

// manyDefinitions are the definitions of a world.
func manyDefinitions() (out []*apiextensionsv1.CustomResourceDefinition) {
	preserve := true
	for i := range manyKinds {
		plural := fmt.Sprintf("thing%ds", i)
		out = append(out, &apiextensionsv1.CustomResourceDefinition{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
			ObjectMeta: metav1.ObjectMeta{Name: plural + ".beside.example.com"},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "beside.example.com", Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural,
					Singular: fmt.Sprintf("thing%d", i), Kind: fmt.Sprintf("Thing%d", i),
					ListKind: fmt.Sprintf("Thing%dList", i)},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
						Type: "object", XPreserveUnknownFields: &preserve}}}},
			}})
	}
	return out
}

// worlds measures a fresh world, and what one more object costs in it, in envtest and in
// simulation. Both run the same reconciler, and both wait for what it makes.
func worlds(t *testing.T, b *strings.Builder) {
	var fresh, more, freshSim, moreSim []time.Duration
	for range 3 {
		f, m := inEnvtest(t)
		fresh, more = append(fresh, f), append(more, m)
		f, m = inSimulation(t)
		freshSim, moreSim = append(freshSim, f), append(moreSim, m)
	}
	const row = "| fresh world with %d definitions, a started manager and one object reconciled " +
		"| %s | %s | %s |\n"
	fmt.Fprintf(b, "\nThe same reconciler, which makes a ConfigMap for each object, in microseconds:\n\n"+
		"| | envtest | simulation | envtest to simulation |\n| --- | ---: | ---: | ---: |\n"+
		row+
		"| one more object, until its ConfigMap exists | %s | %s | %s |\n", manyKinds,
		micro(median(fresh)), micro(median(freshSim)), ratio(median(fresh), median(freshSim)),
		micro(median(more)), micro(median(moreSim)), ratio(median(more), median(moreSim)))
}

func inEnvtest(t *testing.T) (fresh, more time.Duration) {
	began := time.Now()
	env, err := controlPlane(manyDefinitions())
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = env.Stop() }()
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := (mirror{mgr.GetClient()}).SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one := func(i int) {
		name := fmt.Sprintf("o%d", i)
		if err := c.Create(ctx, thing(name)); err != nil {
			t.Fatal(err)
		}
		made := func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, &corev1.ConfigMap{})
			return err == nil, client.IgnoreNotFound(err)
		}
		if err := wait.PollUntilContextTimeout(ctx, time.Millisecond, time.Minute, true, made); err != nil {
			t.Fatal(err)
		}
	}
	one(0)
	fresh = time.Since(began)
	began = time.Now()
	for i := range reconciled {
		one(i + 1)
	}
	return fresh, time.Since(began) / reconciled
}

func inSimulation(t *testing.T) (fresh, more time.Duration) {
	all := make([]any, 0, manyKinds)
	for _, k := range manyDefinitions() {
		all = append(all, k)
	}
	run := func(objects int) time.Duration {
		began := time.Now()
		r := sim.Explore(t, func(w *sim.World) {
			w.Install(all...)
			w.Start("mirror", func(mgr ctrl.Manager) error {
				return (mirror{mgr.GetClient()}).SetupWithManager(mgr)
			})
			for i := range objects {
				w.Apply(thing(fmt.Sprintf("o%d", i)))
				w.Settle()
			}
		}, sim.Runs(simulated), sim.For(0), sim.Verify(0), sim.Seed(1), sim.Strategy("random"))
		if r.Failure != nil || r.Runs != simulated {
			t.Fatalf("%d runs, %v", r.Runs, r.Failure)
		}
		return time.Since(began) / simulated
	}
	fresh = run(1)
	return fresh, (run(1+reconciled) - fresh) / reconciled
}
