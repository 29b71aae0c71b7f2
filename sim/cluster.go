package sim

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim/internal/world"
)

// Cluster is another cluster than the world's own, as operators that manage several know them: an
// API server and its store, without controllers of its own. Requests to it are not authorized.
type Cluster struct{ cluster *world.Cluster }

// Install is [World.Install] for this cluster.
func (c *Cluster) Install(crds ...any) { c.cluster.Install(crds...) }

// Apply is [World.Apply] for this cluster.
func (c *Cluster) Apply(objs ...client.Object) { c.cluster.Apply(objs...) }

// ApplyServerSide is [World.ApplyServerSide] for this cluster.
func (c *Cluster) ApplyServerSide(objs ...client.Object) { c.cluster.ApplyServerSide(objs...) }

// Remove is [World.Remove] for this cluster.
func (c *Cluster) Remove(objs ...client.Object) { c.cluster.Remove(objs...) }

// Client is [World.Client] for this cluster.
func (c *Cluster) Client() client.Client { return c.cluster.Client() }
