package world

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"

	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Dialled ends the run under way because a process dials an address at file:line. The process is ""
// if it is not known.
func Dialled(process, address, at string, byHTTP bool) {
	if w := current.Load(); w != nil {
		w.failSoon(misuse("%s dials %s itself at %s, which would reach the real network. Its transport or dialer is "+
			"not the world's: an http.Transport{}, a net.Dialer{} or a clone of http.DefaultTransport. %s",
			cmp.Or(process, "code in this run"), address, at, run.Instead(byHTTP)))
	}
}

// unknownHost ends the run when a program asks for a host that the scenario does not declare, or
// that two patterns fit equally well.
func (w *World) unknownHost(c *wire.Call, clash string) {
	sent := c.Port.Process + " sent " + withoutQuery(c.Request.Method, c.Request.URL)
	if at := c.Source(); at != "" {
		sent += " at " + at
	}
	if clash != "" {
		w.failSoon(misuse("%s, and the host fits %s, which are equally long; give w.External a longer pattern or the "+
			"host %q itself", sent, clash, c.Host))
		return
	}
	w.failSoon(misuse("%s%s", sent, noHost(c.Host)))
}

// noHost is the end of a message about a request to a host that is not declared.
func noHost(host string) string {
	return fmt.Sprintf(", and the world has no host %q; before w.Start, declare a model of it with "+
		"w.External(%[1]q, handler), or with w.Cluster(%[1]q) if it is an API server; w.External(%[1]q, nil) says "+
		"that there is no such host; names that are made at run time are given to w.External as a pattern, and "+
		"Services to w.ExternalServices", host)
}

// withoutQuery is a request in words. A query may hold a secret.
func withoutQuery(method string, u *url.URL) string {
	return fmt.Sprintf("%s %s://%s%s", method, u.Scheme, u.Host, u.Path)
}

// Unattributed ends the run under way because a request through http.DefaultTransport was refused:
// its context belongs to no reconcile, as with http.Get. The operator may live with the error, and
// then nothing would show that no such request ever succeeds. To a host that the scenario declares
// absent, every request fails alike.
func Unattributed(req *http.Request) {
	w := current.Load()
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
