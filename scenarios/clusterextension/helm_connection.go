// This file exists to interrupt an action at the same place in every run, so that what follows can
// be interrupted everywhere.

package clusterextension

import (
	"errors"
	"net/http"

	"k8s.io/client-go/rest"
)

// helmConnection is Helm's connection to the API server during one incarnation of the operator.
type helmConnection struct {
	next http.RoundTripper
	left int // writes until it is cut; never if negative
}

// connect connects before the operator makes Helm's clients. The manager's own client has its
// connection already.
func connect(config *rest.Config) *helmConnection {
	c := &helmConnection{left: -1}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		c.next = next
		return c
	})
	return c
}

// RoundTrip implements http.RoundTripper.
func (c *helmConnection) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.left == 0 {
		return nil, errors.New("the connection is cut")
	}
	if r.Method != http.MethodGet && c.left > 0 {
		c.left--
	}
	return c.next.RoundTrip(r)
}
