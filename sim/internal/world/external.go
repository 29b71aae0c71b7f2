package world

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
)

// External puts a model of the outside world behind a host name.
func (c *core) External(host string, handler http.Handler) {
	c.panicIfOver()
	if err := c.wire.Hosts.Outside(host, handler); err != nil {
		c.misuse("w.External: %v", err)
	}
}

// ExternalServices puts models behind Services of the own cluster.
func (c *core) ExternalServices(model func(*corev1.Service) http.Handler) {
	c.panicIfOver()
	if model == nil {
		c.misuse("w.ExternalServices was given no function; give it one that returns a handler for the Services that " +
			"it knows")
	}
	c.wire.Hosts.Services(model)
}
