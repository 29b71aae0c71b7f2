package world

import (
	"hash/fnv"
	"io"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/user"
)

// Cluster is another cluster than the world's own, as operators that manage several know them: an
// API server and its store, without controllers of its own. Everybody may do everything there.
type Cluster struct {
	world  *World
	server *apiserver.Server
	user   *user.Client
}

// Cluster adds another cluster, whose API server is reached at a host.
func (w *World) Cluster(host string) *Cluster {
	w.panicIfOver()
	w.cannotIfReal("the scenario has a second cluster (w.Cluster), and there is one API server")
	f := fnv.New64a() // or objects of two clusters would have the same UIDs
	io.WriteString(f, host)
	names := w.choices.Choose(story.Label{Kind: story.Names, What: host}, 1<<16)
	server := apiserver.New(apiserver.Options{Now: time.Now, Seed: f.Sum64()<<16 | uint64(names)})
	if err := w.wire.Hosts.Remote(host, server); err != nil {
		w.misuse("w.Cluster: %v", err)
	}
	c := &Cluster{w, server, w.newUser(host, server)}
	c.user.KnowAsWell(w.user)
	w.clusters = append(w.clusters, c)
	return c
}

// Install is [World.Install] for this cluster.
func (c *Cluster) Install(crds ...any) {
	c.world.panicIfOver()
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
