// Package worlds holds parts of the worlds of several reference scenarios.
package worlds

import (
	"errors"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/internal/versions"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// Scheme returns a scheme with the built-in kinds and those that own adds.
func Scheme(own func(*runtime.Scheme) error) *runtime.Scheme {
	scheme := runtime.NewScheme()
	Must(errors.Join(clientgoscheme.AddToScheme(scheme), own(scheme)), "building the operator's scheme")
	return scheme
}

// Namespace is an empty namespace.
func Namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// ReadYourWrites gives a manager a client that waits until the cache has seen what it wrote.
func ReadYourWrites(o *ctrl.Options) {
	o.NewClient = func(config *rest.Config, options client.Options) (client.Client, error) {
		cache := *options.Cache
		if !versions.ReadYourWrites(&cache) {
			return nil, errors.New("a client that reads its own writes needs controller-runtime 0.25")
		}
		options.Cache = &cache
		return client.New(config, options)
	}
}

// Elect has replicas elect a leader, by a lease.
func Elect(o *ctrl.Options, lease, namespace string) {
	o.LeaderElection, o.LeaderElectionReleaseOnCancel = true, true
	o.LeaderElectionID, o.LeaderElectionNamespace = lease, namespace
}

// Slow delays the steps of a built-in controller whose keys begin with step, by at least wait.
func Slow(a actor.Actor, step string, wait time.Duration) actor.Actor { return slow{a, step, wait} }

type slow struct {
	actor.Actor
	step string
	wait time.Duration
}

// Serve implements actor.Server.
func (s slow) Serve(server *apiserver.Server) {
	if a, ok := s.Actor.(actor.Server); ok {
		a.Serve(server)
	}
}

// Begin implements actor.Actor.
func (s slow) Begin(c actor.Cluster) { s.Actor.Begin(slowCluster{c, s}) }

type slowCluster struct {
	actor.Cluster
	slow slow
}

// After implements actor.Cluster.
func (c slowCluster) After(d time.Duration, key string, step func()) {
	if strings.HasPrefix(key, c.slow.step) {
		d = max(d, c.slow.wait)
	}
	c.Cluster.After(d, key, step)
}
