package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"runtime"
	"strings"
	"sync"
	"time"
)

// This file keeps code under test from the real network, as far as Go lets it.
//
//   - Contexts of an incarnation carry hooks that stop a goroutine before it looks up a name or connects.
//   - net.DefaultResolver refuses during a run, with any context.
//   - An address dialled without such a context is refused by the overlay of exact mode alone, which asks the resolver.

// errNetwork is what code under test gets when it reaches for the real network.
var errNetwork = errors.New("sim: a run does not reach the real network; use sim.HTTPClient(mgr)")

// OverlayNetwork precedes the name of the network when the overlay of exact mode asks whether a dial may
// go on. See cmd/wavetank/exact.
const OverlayNetwork = "wavetank "

// own is a context of the incarnation: what is sent with it belongs to it, and who dials with it stops.
func (l *Life) own(ctx context.Context) context.Context {
	if ctx.Value(lifeOf{}) == l {
		return ctx
	}
	stop := func(address string) {
		l.world.observer.Dialled(l.Process.Name, address, Caller())
		runtime.Goexit() // a hook can return no error
	}
	return httptrace.WithClientTrace(context.WithValue(ctx, lifeOf{}, l), &httptrace.ClientTrace{
		DNSStart:     func(info httptrace.DNSStartInfo) { stop(info.Host) },
		ConnectStart: func(_, address string) { stop(address) },
	})
}

// dialled tells of an address that code under test dials.
func (o Outside) dialled(ctx context.Context, address string) {
	if o.Dialled == nil {
		return
	}
	process := ""
	if l, ok := ctx.Value(lifeOf{}).(*Life); ok {
		process = l.Process.Name
	}
	o.Dialled(process, address, Caller())
}

// refusing is a resolver that answers from the hosts file alone. Goroutines that belong to no run, for
// example those of an envtest beside it, ask the real servers.
func (o Outside) refusing() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if of, refused := strings.CutPrefix(network, OverlayNetwork); refused {
			o.dialled(ctx, address)
			return nil, fmt.Errorf("%w (%s %s)", errNetwork, of, address)
		}
		if !inBubble() {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		return &question{ctx: ctx, outside: o}, nil
	}}
}

// question is a connection to a name server that never was: it reads the name from the question and refuses.
type question struct {
	net.Conn
	ctx     context.Context
	outside Outside
}

// Write implements net.Conn. It is given a DNS message, with its length before it.
func (q *question) Write(message []byte) (int, error) {
	q.outside.dialled(q.ctx, asked(message))
	return 0, errNetwork
}

// Close implements net.Conn.
func (q *question) Close() error { return nil }

// SetDeadline implements net.Conn.
func (q *question) SetDeadline(time.Time) error { return nil }

// asked is the name in the first question of a DNS message over a stream.
func asked(message []byte) string {
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

// warm makes package net's own channels outside of any run. Made in one, they would end the process in the next:
// "send on synctest channel from outside bubble".
var warm = sync.OnceFunc(func() {
	r := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errNetwork
	}}
	r.LookupHost(context.Background(), "wavetank.invalid.")            //nolint:errcheck // it is refused
	new(net.Resolver).LookupPort(context.Background(), "tcp", "https") //nolint:errcheck // for the resolver of the C library
})

// inBubble says whether the calling goroutine belongs to a run.
func inBubble() bool {
	var head [128]byte
	first, _, _ := strings.Cut(string(head[:runtime.Stack(head[:], false)]), "\n")
	return strings.Contains(first, "synctest bubble")
}
