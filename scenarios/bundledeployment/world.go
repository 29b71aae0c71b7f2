// This file makes the world of a run: the operator, whose watches are counted, and its deployments.

package bundledeployment

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/namespace"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Operator is the name of the process that runs the operator, and Second that of another replica.
const (
	Operator = "rukpak"
	Second   = "rukpak-2"
)

// app is the deployment that most cases are about, second one that wants the same.
const app, second = "app", "second"

// cause is the token of the root cause: a namespace that does not exist, and that an object of a
// bundle needs. Creating it removes the cause.
const cause = "rc-17"

// Setting is how one world differs from another.
type Setting struct {
	// Variant of the operator.
	Variant bundledeployment.Variant
	// Workers, if not as many as the variant has.
	Workers int
	// Terminates is how long an empty namespace takes to go: 5 s at the least, as in a real
	// cluster. Slower is how much longer faults may make that.
	Terminates, Slower time.Duration
	// Replicas of the operator, with leader election, if more than one.
	Replicas int
	// Unelected are replicas without leader election: all of them lead, all the time.
	Unelected bool
	// Values are more values for the chart of a failing bundle.
	Values string
	// Held is how long another controller's finalizer in a namespace takes to go, see held.
	Held time.Duration
	// Classic takes the work queue that controller-runtime had before the priority queue.
	Classic bool
	// ReadYourWrites gives the operator a client that waits until the cache has seen what it wrote.
	ReadYourWrites bool
	// OldServer refuses to delete a namespace that terminates already, as API servers once did.
	OldServer bool
	// Setup replaces the operator's SetupWithManager if it is not nil.
	Setup func(*bundledeployment.Reconciler, ctrl.Manager) error
}

// World is a world with the operator in it.
type World struct {
	*sim.World
	*Record
	setting    Setting
	faults     []fault.Fault
	properties []string
	watches    *watches // of the operator's latest incarnation
}

// Begin installs the kinds and starts the operator; it applies no deployment yet.
func Begin(w *sim.World, s Setting) *World {
	w.Install("../../controllers/bundledeployment/crds")
	var options []namespace.Option
	if s.OldServer {
		options = append(options, namespace.RefuseSecondDelete())
	}
	w.Builtin(&responder{name: "unpacker", after: time.Second, respond: unpack},
		worlds.Slow(namespace.New(options...), "wait ", s.Terminates))
	if s.Held > 0 {
		w.Builtin(&responder{name: "holder", after: s.Held, respond: release})
	}
	world := &World{World: w, Record: newRecord(s.Terminates + s.Slower + s.Held), setting: s, watches: &watches{}}
	w.Apply(worlds.Namespace(bundledeployment.DefaultNamespace))
	world.replica(Operator)
	if s.Replicas > 1 {
		world.replica(Second)
	}
	return world
}

// replica starts the operator under a name.
func (w *World) replica(name string) {
	w.Start(name, func(mgr ctrl.Manager) error {
		w.watches = &watches{Cache: mgr.GetCache(), begun: map[string]int{}}
		mgr = watchedManager{mgr, w.watches}
		r := &bundledeployment.Reconciler{
			Client: mgr.GetClient(), Store: charts, Variant: w.setting.Variant, Workers: w.setting.Workers,
		}
		if w.setting.Setup != nil {
			return w.setting.Setup(r, mgr)
		}
		return r.SetupWithManager(mgr)
	}, sim.Options(w.setting.options()))
}

func (s Setting) options() ctrl.Options {
	o := bundledeployment.ManagerOptions(ctrl.Options{Scheme: scheme})
	o.Controller.UsePriorityQueue = ptr.To(!s.Classic)
	if s.Replicas > 1 && !s.Unelected {
		worlds.Elect(&o, "510f803c.core.rukpak.io", bundledeployment.DefaultNamespace)
	}
	if s.ReadYourWrites {
		worlds.ReadYourWrites(&o)
	}
	return o
}

// scheme is shared by all runs, because making it takes longer than a run.
var scheme = worlds.Scheme(v1alpha1.AddToScheme)

// Deployment installs the chart of an image into a namespace, with more values for the chart.
func Deployment(name, image, namespace, values string) *v1alpha1.BundleDeployment {
	raw, err := json.Marshal(map[string]string{"values": "namespace: " + namespace + "\n" + values})
	worlds.Must(err, "encoding values for %s", name)
	return &v1alpha1.BundleDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.BundleDeploymentSpec{
			ProvisionerClassName: bundledeployment.ProvisionerID,
			Config:               runtime.RawExtension{Raw: raw},
			Template: &v1alpha1.BundleTemplate{Spec: v1alpha1.BundleSpec{
				ProvisionerClassName: bundledeployment.ProvisionerID,
				Source:               v1alpha1.BundleSource{Type: "image", Image: &v1alpha1.ImageSource{Ref: image}},
			}},
		},
	}
}

// refused are chart values with which the server refuses an object: its namespace does not exist.
const refused = "refused: " + cause + "\n"

// refuse applies a deployment of which the server refuses an object.
func (w *World) refuse(name, image, namespace string) {
	w.Apply(Deployment(name, image, namespace, refused+w.setting.Values))
}

// accept applies a correct deployment.
func (w *World) accept(name, image, namespace string) {
	w.Apply(Deployment(name, image, namespace, ""))
}

// The rest of the file counts watches. No request shows them: informers are shared, so a kind that
// is watched twice is listed once, and only its events are handled twice.

// watches counts by kind the watches that one incarnation of the operator has begun while it ran.
// Watches of its setup are of typed objects, and not counted. Each watch calls the manager's cache
// once. The client calls a cache of its own.
type watches struct {
	cache.Cache
	mu    sync.Mutex
	begun map[string]int
	again error // a kind was watched twice
}

// GetInformer implements cache.Cache.
func (w *watches) GetInformer(
	ctx context.Context, o client.Object, opts ...cache.InformerGetOption,
) (cache.Informer, error) {
	informer, err := w.Cache.GetInformer(ctx, o, opts...)
	if u, ok := o.(*unstructured.Unstructured); ok && err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.begun[u.GetKind()]++; w.begun[u.GetKind()] > 1 {
			w.again = fmt.Errorf("the operator has begun %d watches of %s", w.begun[u.GetKind()], u.GetKind())
		}
	}
	return informer, err
}

// watchedManager is a manager with a cache that counts.
type watchedManager struct {
	ctrl.Manager
	watches *watches
}

// GetCache implements ctrl.Manager.
func (m watchedManager) GetCache() cache.Cache { return m.watches }

// watchedOnce (S0-T1): an incarnation begins at most one watch of each kind.
func (w *World) watchedOnce(*history.History) error {
	w.watches.mu.Lock()
	defer w.watches.mu.Unlock()
	return w.watches.again
}

// stillWatched (S0-T1): the kinds of what is installed are watched.
func (w *World) stillWatched(*history.History) error {
	w.watches.mu.Lock()
	defer w.watches.mu.Unlock()
	for o := range w.objects.Live() {
		if name := owner(o); isTrue(w.says(name)) && w.watches.begun[o.Ref.Kind] == 0 {
			return fmt.Errorf("%s is installed, and the operator does not watch %s", name, o.Ref.Kind)
		}
	}
	return nil
}
