// This file holds the controllers of the cluster that are in the way of a clean-up: one that takes
// its time to empty a namespace, and one that holds an object in it.

package bundledeployment

import (
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/namespace"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
)

// holder is a controller that has a finalizer on ConfigMaps, and takes its time to take it off one
// that is being deleted.
type holder struct {
	after   time.Duration
	cluster actor.Cluster
}

const hold = "example.com/hold"

// Name implements actor.Actor.
func (*holder) Name() string { return "holder" }

// Begin implements actor.Actor.
func (o *holder) Begin(c actor.Cluster) { o.cluster = c }

// Observe implements actor.Actor.
func (o *holder) Observe(c apiserver.Change) {
	var cm corev1.ConfigMap
	if c.Group != "" || c.Resource != "configmaps" || c.Type != "MODIFIED" || !actor.Decode(c.Object, &cm) ||
		cm.DeletionTimestamp == nil || !slices.Contains(cm.Finalizers, hold) {
		return
	}
	o.cluster.After(o.after, "release "+cm.Namespace+"/"+cm.Name, func() {
		cm.Finalizers, cm.ResourceVersion = nil, ""
		// It may be another one by now, which the server knows by its uid.
		path := actor.Path("", "v1", cm.Namespace, "configmaps", cm.Name)
		_ = actor.Do(o.cluster, http.MethodPut, path, &cm, nil)
	})
}

// namespaces is the namespace controller of a world: it takes its time before it begins to empty a
// namespace.
func (s Setting) namespaces() actor.Actor {
	var options []namespace.Option
	if s.OldServer {
		options = append(options, namespace.RefuseSecondDelete())
	}
	return worlds.Slow(namespace.New(options...), "wait ", s.Terminates)
}
