// This file exists for namespaces that take their time to go.

package clusterextension

import (
	"strings"
	"time"

	"github.com/wavetank/wavetank/models/actor"
)

// slowly is a namespace controller that takes its time before it begins to empty a namespace.
type slowly struct {
	actor.Actor
	begins time.Duration
}

// Begin implements actor.Actor.
func (s slowly) Begin(c actor.Cluster) { s.Actor.Begin(slowCluster{c, s.begins}) }

type slowCluster struct {
	actor.Cluster
	begins time.Duration
}

// After implements actor.Cluster.
func (c slowCluster) After(d time.Duration, key string, step func()) {
	if strings.HasPrefix(key, "wait ") {
		d = max(d, c.begins)
	}
	c.Cluster.After(d, key, step)
}
