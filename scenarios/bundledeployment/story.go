// This file exists to set the scene, so that each telling of the story is only about what happens
// in it.

package bundledeployment

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/internal/versions"
	"github.com/wavetank/wavetank/sim"
)

// Operator is the name of the process that runs the operator.
const Operator = "rukpak"

// Second is the name of another replica of it.
const Second = "rukpak-2"

// cause is the token of the root cause: a namespace that does not exist, into which a bundle wants
// to put something. To remove the cause somebody has to create it.
const cause = "rc-17"

// Setting is how one world differs from another.
type Setting struct {
	// Variant of the operator.
	Variant bundledeployment.Variant
	// Workers, if not as many as the variant has.
	Workers int
	// Terminates is how long an empty namespace takes to go: 5 s at the least, as in a real
	// cluster.
	Terminates time.Duration
	// Replicas of the operator, with leader election, if more than one.
	Replicas int
	// Unelected are replicas without leader election: all of them lead, all the time.
	Unelected bool
	// Held puts another controller's finalizer on what a failing bundle has in its namespace, and
	// is how long that takes to go.
	Held time.Duration
	// Classic takes the work queue that controller-runtime had before the priority queue.
	Classic bool
	// ReadYourWrites gives the operator a client that waits until the cache has seen what it wrote.
	ReadYourWrites bool
	// KeepRemains has the full cure leave what a failed install has made.
	KeepRemains bool
	// OldServer refuses to delete a namespace that terminates already, as API servers once did.
	OldServer bool
	// Slow is how long a write of Helm's takes on its way.
	Slow time.Duration
	// Twice is a mistake in the operator's main: it sets the controller up twice.
	Twice bool
}

// Story is a world with the operator in it.
type Story struct {
	*sim.World
	// Books read this run's history.
	*Books
	// Setting of this world.
	Setting Setting

	watched *watched
}

// Begin installs the kinds and starts the operator; it applies no deployment yet.
func Begin(w *sim.World, s Setting) *Story {
	w.Install(crds)
	w.Builtin(&Unpacker{After: time.Second})
	w.Builtin(s.namespaces())
	if s.Held > 0 {
		w.Builtin(&holder{after: s.Held})
	}
	story := &Story{World: w, Books: NewBooks(s.Terminates + s.Held), Setting: s, watched: &watched{}}
	w.Apply(Namespace(bundledeployment.DefaultNamespace))
	story.replica(Operator)
	if s.Replicas > 1 {
		story.replica(Second)
	}
	return story
}

// watch lets time pass. What is watched for long enough should have settled.
func (s *Story) watch(d time.Duration) {
	s.Sleep(d)
	s.Over = d == longEnough
}

// replica starts the operator under a name.
func (s *Story) replica(name string) {
	s.Start(name, func(mgr ctrl.Manager) error {
		mgr = s.watched.by(mgr)
		if s.Setting.Slow > 0 {
			slowDown(mgr.GetConfig(), s.Setting.Slow)
		}
		setup := func() error {
			r := &bundledeployment.Reconciler{Client: mgr.GetClient(), Store: store{}, Variant: s.Setting.Variant, Workers: s.Setting.Workers, KeepRemains: s.Setting.KeepRemains}
			return r.SetupWithManager(mgr)
		}
		if err := setup(); err != nil || !s.Setting.Twice {
			return err
		}
		return setup()
	}, sim.Options(s.Setting.options()))
}

// slowDown has writes take their time. The manager's own client has its connection already.
func slowDown(config *rest.Config, by time.Duration) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet {
				time.Sleep(by)
			}
			return next.RoundTrip(r)
		})
	})
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func (s Setting) options() ctrl.Options {
	o := bundledeployment.ManagerOptions(ctrl.Options{Scheme: scheme})
	o.Controller.UsePriorityQueue = ptr.To(!s.Classic)
	if s.Replicas > 1 && !s.Unelected {
		o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, "510f803c.core.rukpak.io", bundledeployment.DefaultNamespace
		o.LeaderElectionReleaseOnCancel = true
	}
	if s.ReadYourWrites {
		o.NewClient = func(config *rest.Config, options client.Options) (client.Client, error) {
			cache := *options.Cache
			if !versions.ReadYourWrites(&cache) {
				return nil, errors.New("a client that reads its own writes needs controller-runtime 0.25")
			}
			options.Cache = &cache
			return client.New(config, options)
		}
	}
	return o
}

// What all runs share, made once: as in an operator's main, and because it takes longer than a run.
var (
	crds   = bundledeployment.CRDs()
	scheme = newScheme()
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(fmt.Sprintf("the operator's scheme cannot be built: %v", err))
		}
	}
	return scheme
}

// Namespace is an empty namespace.
func Namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// Deployment installs the chart of an image into a namespace. If it is refused, one of its objects
// wants to go into the namespace that does not exist.
func Deployment(name, image, namespace string, refused bool) *v1alpha1.BundleDeployment {
	values := "namespace: " + namespace + "\n"
	if refused {
		values += "refused: " + cause + "\n"
	}
	return &v1alpha1.BundleDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.BundleDeploymentSpec{
			ProvisionerClassName: bundledeployment.ProvisionerID,
			Config:               config(values),
			Template: &v1alpha1.BundleTemplate{Spec: v1alpha1.BundleSpec{
				ProvisionerClassName: bundledeployment.ProvisionerID,
				Source:               v1alpha1.BundleSource{Type: "image", Image: &v1alpha1.ImageSource{Ref: image}},
			}},
		},
	}
}

// config gives a chart its values.
func config(values string) runtime.RawExtension {
	raw, err := json.Marshal(map[string]string{"values": values})
	if err != nil {
		panic(err)
	}
	return runtime.RawExtension{Raw: raw}
}
