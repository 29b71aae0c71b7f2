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
// API server and its store, without controllers of its own. Requests to it are not authorized.
type Cluster struct {
	actions *actions
	server  *apiserver.Server
	user    *user.User
}

// Cluster adds another cluster, whose API server is reached at a host.
func (a *actions) Cluster(host string) *Cluster {
	a.panicIfOver()
	a.real.refuse("the scenario has a second cluster (w.Cluster), and there is one API server")
	f := fnv.New64a() // or objects of two clusters would have the same UIDs
	io.WriteString(f, host)
	names := a.choices.Choose(story.Label{Kind: story.Names, What: host}, 1<<16)
	server := apiserver.New(apiserver.Options{Now: time.Now, Seed: f.Sum64()<<16 | uint64(names)})
	if err := a.wire.Hosts.Remote(host, server); err != nil {
		a.misuse("w.Cluster: %v", err)
	}
	c := &Cluster{a, server, a.newUser(host, server)}
	c.user.KnowAsWell(a.user.Client)
	return c
}

// Install is [World.Install] for this cluster.
func (c *Cluster) Install(crds ...any) {
	c.actions.panicIfOver()
	c.actions.install(c.server, c.user, crds)
}

// Apply is [World.Apply] for this cluster.
func (c *Cluster) Apply(objs ...client.Object) { c.actions.apply(c.user, objs) }

// ApplyServerSide is [World.ApplyServerSide] for this cluster.
func (c *Cluster) ApplyServerSide(objs ...client.Object) { c.actions.applyServerSide(c.user, objs) }

// Remove is [World.Remove] for this cluster.
func (c *Cluster) Remove(objs ...client.Object) { c.actions.remove(c.user, objs) }

// Client is [World.Client] for this cluster.
func (c *Cluster) Client() client.Client { return c.user }
