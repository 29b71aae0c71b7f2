package process

import (
	"context"
	"net/http/httptrace"
	"runtime"
	"runtime/pprof"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// core is what every part of an incarnation needs: its port, its context and the world.
type core struct {
	*environment
	Port *wire.Port

	readers *readers // nil unless the process has an account
	spawn   func(func())
	ctx     context.Context
	cancel  context.CancelFunc
}

// Name is the process and incarnation, as "pipelines/2".
func (c *core) Name() string { return c.Port.Name() }

// incarnationLabel is the key of the profiler's label with the name of the incarnation. Goroutines
// inherit the labels of those that start them.
const incarnationLabel = "wavetank"

func (c *core) record(k history.Kind, outcome history.Outcome) *history.Event {
	e := c.Wire.Event(c.Port, k)
	e.Outcome = outcome
	c.History.Add(e)
	return &e
}

type incarnationKey struct{}

// attach returns a context of the incarnation. What is sent with it belongs to the incarnation, and
// a goroutine that dials with it ends.
func (c *core) attach(ctx context.Context) context.Context {
	if ctx.Value(incarnationKey{}) == c {
		return ctx
	}
	stop := func(address string) {
		at, byHTTP := caller()
		c.dialled(c.Port.Process, address, at, byHTTP)
		runtime.Goexit() // a hook can return no error
	}
	ctx = pprof.WithLabels(context.WithValue(ctx, incarnationKey{}, c), pprof.Labels(incarnationLabel, c.Name()))
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart:     func(info httptrace.DNSStartInfo) { stop(info.Host) },
		ConnectStart: func(_, address string) { stop(address) },
	})
}

type reconcileName struct{}

// Attribute names the reconcile that a context belongs to; the zero value for none.
func Attribute(ctx context.Context) history.Reconcile {
	name, _ := ctx.Value(reconcileName{}).(history.Reconcile)
	return name
}
