// This file exists to interrupt an action at the same place in every run, so that what follows can
// be interrupted everywhere.

package clusterextension

import (
	"errors"
	"net/http"

	"k8s.io/client-go/rest"
)

// cable is Helm's connection to the API server during one life of the operator.
type cable struct {
	next http.RoundTripper
	left int // writes until it is cut; never if negative
}

// plug puts a cable in before the operator makes Helm's clients. The manager's own client has its
// connection already.
func plug(config *rest.Config) *cable {
	c := &cable{left: -1}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		c.next = next
		return c
	})
	return c
}

// RoundTrip implements http.RoundTripper.
func (c *cable) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.left == 0 {
		return nil, errors.New("the cable is cut")
	}
	if r.Method != http.MethodGet && c.left > 0 {
		c.left--
	}
	return c.next.RoundTrip(r)
}
