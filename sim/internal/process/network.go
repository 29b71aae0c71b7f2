package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"
)

// This file keeps the code under test from the real network, as far as Go allows.
//
//  - Contexts of an incarnation carry hooks that end a goroutine before it resolves a name or
//    connects.
//  - net.DefaultResolver refuses during a run, with any context.
//  - An address that is dialled without such a context is refused by the overlay of exact mode
//    alone, which asks the resolver.

// errNetwork is the error of an attempt to reach the real network.
var errNetwork = errors.New("sim: a run does not reach the real network; use sim.HTTPClient(mgr)")

// OverlayNetwork precedes the name of the network when the overlay of exact mode asks whether a
// dial is allowed. See cmd/wavetank/internal/exact.
const OverlayNetwork = "wavetank "

// dialled reports an address that the code under test dials.
func (o Outside) dialled(ctx context.Context, address string) {
	if o.Dialled == nil {
		return
	}
	process := ""
	if c, ok := ctx.Value(incarnationKey{}).(*core); ok {
		process = c.Port.Process
	}
	at, byHTTP := caller()
	o.Dialled(process, address, at, byHTTP)
}

// refusing is a resolver that answers from the hosts file alone. Goroutines that belong to no run,
// for example those of an envtest in the same test, reach the real servers.
func (o Outside) refusing() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if of, refused := strings.CutPrefix(network, OverlayNetwork); refused {
			o.dialled(ctx, address)
			return nil, fmt.Errorf("%w (%s %s)", errNetwork, of, address)
		}
		if !inBubble() {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		return &refusedQuery{ctx: ctx, outside: o}, nil
	}}
}

// refusedQuery is a connection to a name server that does not exist: it reads the name from the
// query and refuses.
type refusedQuery struct {
	net.Conn
	ctx     context.Context
	outside Outside
}

// Write implements net.Conn. It is given a DNS message, with its length before it.
func (r *refusedQuery) Write(message []byte) (int, error) {
	r.outside.dialled(r.ctx, queriedName(message))
	return 0, errNetwork
}

func (r *refusedQuery) Close() error                { return nil }
func (r *refusedQuery) SetDeadline(time.Time) error { return nil }

// queriedName is the name in the first question of a DNS message over a stream.
func queriedName(message []byte) string {
	const header = 2 + 12
	var labels []string
	for at := header; at < len(message) && message[at] != 0; {
		end := at + 1 + int(message[at])
		if end > len(message) {
			break
		}
		labels = append(labels, string(message[at+1:end]))
		at = end
	}
	return strings.Join(labels, ".")
}

// makeNetChannels makes package net's own channels outside of any run. Made in a run, they would
// end the process in the next one: "send on synctest channel from outside bubble".
var makeNetChannels = sync.OnceFunc(func() {
	r := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errNetwork
	}}
	r.LookupHost(context.Background(), "wavetank.invalid.") //nolint:errcheck // it is refused
	c := new(net.Resolver)                                  // that of the C library
	c.LookupPort(context.Background(), "tcp", "https")      //nolint:errcheck // only its channel matters
})

// inBubble reports whether the calling goroutine belongs to a run.
func inBubble() bool {
	var head [128]byte
	first, _, _ := strings.Cut(string(head[:runtime.Stack(head[:], false)]), "\n")
	return strings.Contains(first, "synctest bubble")
}

// Outside is the transport in place of http.DefaultTransport during a run. Requests with a context
// of an incarnation belong to it; all others are refused.
type Outside struct {
	// Dialled, if set, is called when the code under test dials an address by itself: which
	// process, "" if that is not known, which address, at which file:line, and whether net/http's
	// transport dials for it.
	Dialled func(process, address, at string, byHTTP bool)
	// Unattributed, if set, is called with each request that is refused because its context belongs
	// to no incarnation, on the goroutine of a run that sends it.
	Unattributed func(*http.Request)
}

// RoundTrip implements http.RoundTripper.
func (o Outside) RoundTrip(req *http.Request) (*http.Response, error) {
	if c, ok := req.Context().Value(incarnationKey{}).(*core); ok {
		return c.Port.RoundTrip(req)
	}
	if o.Unattributed != nil && inBubble() {
		o.Unattributed(req)
	}
	return nil, fmt.Errorf("sim: %s %s was sent through http.DefaultTransport "+
		"with a context that belongs to no reconcile; "+
		"use sim.HTTPClient(mgr), or a request made with the reconcile's context", req.Method, req.URL)
}
