package world

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// External puts a model of the outside world behind a host name.
func (c *core) External(host string, handler http.Handler) {
	c.panicIfOver()
	if err := c.wire.Hosts.Outside(host, c.inside(handler)); err != nil {
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
	c.wire.Hosts.Services(func(s *corev1.Service) http.Handler { return c.inside(model(s)) })
}

// ExternalPods puts models into Pods of the own cluster.
func (c *core) ExternalPods(model func(*corev1.Pod) http.Handler) {
	c.panicIfOver()
	if model == nil {
		c.misuse("w.ExternalPods was given no function; give it one that returns a handler for the Pods that it knows")
	}
	c.wire.Hosts.Pods(func(p *corev1.Pod) http.Handler { return c.inside(model(p)) })
}

// worldKey is the key of a context's world, see [From].
type worldKey struct{}

// inside gives requests to a model the world as a value of their context.
func (c *core) inside(model http.Handler) http.Handler {
	if model == nil {
		return nil
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		model.ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), worldKey{}, c.ctx.Value(worldKey{}))))
	})
}

// unknownHost ends the run when a program asks for a host that the scenario does not declare, or
// that two patterns fit equally well.
func (c *core) unknownHost(call *wire.Call, clash string) {
	sent := call.Port.Process + " sent " + withoutQuery(call.Request.Method, call.Request.URL)
	if at := call.Source(); at != "" {
		sent += " at " + at
	}
	if clash != "" {
		c.failSoon(misuse("%s, and the host fits %s, which are equally long; give w.External a longer pattern or the "+
			"host %q itself", sent, clash, call.Host))
		return
	}
	c.failSoon(misuse("%s%s", sent, noHost(call.Host)))
}

// noHost is the end of a message about a request to a host that is not declared.
func noHost(host string) string {
	return fmt.Sprintf(", and the world has no host %q; before w.Start, declare a model of it with "+
		"w.External(%[1]q, handler), or with w.Cluster(%[1]q) if it is an API server; w.External(%[1]q, nil) says "+
		"that there is no such host; names that are made at run time are given to w.External as a pattern, "+
		"Services to w.ExternalServices, and Pods to w.ExternalPods", host)
}

// withoutQuery is a request in words. A query may hold a secret.
func withoutQuery(method string, u *url.URL) string {
	return fmt.Sprintf("%s %s://%s%s", method, u.Scheme, u.Host, u.Path)
}

// dialled ends the run because a process dials an address itself.
func (c *core) dialled(process, address, at string, byHTTP bool) {
	c.failSoon(misuse("%s dials %s itself at %s, which would reach the real network. Its transport or dialer is "+
		"not the world's: an http.Transport{}, a net.Dialer{} or a clone of http.DefaultTransport. %s",
		cmp.Or(process, "code in this run"), address, at, run.Instead(byHTTP)))
}
