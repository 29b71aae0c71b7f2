package sim

import (
	"hash/fnv"
	"io"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Cluster is another cluster than the world's own, as operators that manage several know them: an API server and its
// store, without controllers of its own. Everybody may do everything there.
type Cluster struct {
	world  *World
	server *apiserver.Server
	user   *userClient
}

// Cluster adds a cluster, whose API server is reached at "http://" + host through the transport of [HTTPClient]:
//
//	cfg := &rest.Config{Host: "http://prod.example", Transport: httpClient.Transport}
//
// Its objects are in the history with Ref.Cluster set to the host: see [history.History.Find]. Faults reach it as they
// reach the world's own, but for Conflict and StaleServer.
//
// A cache of it the operator makes itself, as by cluster.New, where the harness cannot reach: such a cache lists in map order, as client-go
// does. An operator that goes by that order, as one that writes while it ranges over a list, is called nondeterministic; let it sort,
// or let exact mode take chance out of it (wavetank run --exact).
func (w *World) Cluster(host string) *Cluster {
	w.alive()
	f := fnv.New64a() // or objects of two clusters would have the same UIDs
	io.WriteString(f, host)
	server := apiserver.New(apiserver.Options{Now: time.Now, Seed: f.Sum64()<<16 | uint64(w.choices.Choose("names in "+host, 1<<16))})
	if err := w.wire.Remote(host, server); err != nil {
		w.misuse("w.Cluster: %v", err)
	}
	c := &Cluster{world: w, server: server, user: newUserClient(w, host, server)}
	for _, s := range w.user.schemes {
		c.user.know(s)
	}
	w.clusters = append(w.clusters, c)
	return c
}

// Install is [World.Install] for this cluster.
func (c *Cluster) Install(crds ...any) {
	c.world.alive()
	c.world.install(c.server, c.user, crds)
}

// Apply is [World.Apply] for this cluster.
func (c *Cluster) Apply(objs ...client.Object) { c.world.apply(c.user, objs) }

// ApplyServerSide is [World.ApplyServerSide] for this cluster.
func (c *Cluster) ApplyServerSide(objs ...client.Object) { c.world.applyServerSide(c.user, objs) }

// Remove is [World.Remove] for this cluster.
func (c *Cluster) Remove(objs ...client.Object) { c.world.remove(c.user, objs) }

// Client is [World.Client] for this cluster.
func (c *Cluster) Client() client.Client { return c.user }
