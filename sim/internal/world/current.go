package world

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/wire"
	"github.com/wavetank/wavetank/sim/result"
)

// underWay is the world of the run that is under way.
var underWay atomic.Pointer[World]

// From returns the world that a context belongs to: that of [World.Context], or of a request to a
// model of the outside world. It returns nil if the context belongs to none.
func From(ctx context.Context) *World {
	w, _ := ctx.Value(worldKey{}).(*World)
	return w
}

// Fail ends the run that is under way because an assertion failed at site (file:line), and does not
// return. It is the fail handler of assertion libraries while a campaign runs: the failure becomes
// that of the run, with a story. Any goroutine may call it. On a goroutine of the code under test
// it ends the goroutine, as t.FailNow does, and the run ends at its next quiet moment. Without a
// run it returns false.
func Fail(site, message string) bool {
	w := underWay.Load()
	if w == nil {
		return false
	}
	e := &result.Ending{Kind: result.Expectation, Site: site, Message: run.Repeatable(message)}
	if run.OnScenario() {
		w.fail(e)
	}
	w.failLater(e)
	return true
}

// Dialled ends the run under way because a process dials an address at file:line. The process is ""
// if it is not known.
func Dialled(process, address, at string, byHTTP bool) {
	if w := underWay.Load(); w != nil {
		w.dialled(process, address, at, byHTTP)
	}
}

// Unattributed ends the run under way because a request through http.DefaultTransport was refused:
// its context belongs to no reconcile, as with http.Get. The operator may live with the error, and
// then nothing would show that no such request ever succeeds. To a host that the scenario declares
// absent, every request fails alike.
func Unattributed(req *http.Request) {
	w := underWay.Load()
	if w == nil {
		return
	}
	sent := fmt.Sprintf("code in this run sent %s at %s with a context of no reconcile",
		withoutQuery(req.Method, req.URL), process.Caller())
	const instead = "give the client there sim.HTTPClient(mgr), or send the request with the reconcile's context"
	switch w.wire.Hosts.State(req.URL) {
	case wire.Undeclared:
		w.failSoon(misuse("%s%s; then %s", sent, noHost(req.URL.Host), instead))
	case wire.Modelled:
		w.failSoon(misuse("%s, so the world does not know which process sent it, and w.External(%q, …) "+
			"did not get it; %s", sent, req.URL.Host, instead))
	}
}
