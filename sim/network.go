package sim

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// This file is about code under test that dials by itself: its runs would depend on the real
// network.

// dialled ends the run because a process, "" for one that is not known, dials an address at
// file:line.
func dialled(process, address, at string) {
	if w := current.Load(); w != nil {
		w.failSoon(dials(process, address, at))
	}
}

func dials(process, address, at string) *Verdict {
	return misuse("%s dials %s itself at %s, which would reach the real network. Its transport or dialer is not "+
		"the world's: an http.Transport{}, a net.Dialer{} or a clone of http.DefaultTransport. %s",
		cmp.Or(process, "code in this run"), address, at, useTheWorld)
}

// unknownHost ends the run when a program asks for a host that nobody has declared, or that two
// patterns fit equally well.
func (w *World) unknownHost(c *wire.Call, clash string) {
	u := c.Request.URL
	sent := fmt.Sprintf("%s sent %s %s://%s%s", c.Port.Process, c.Request.Method, u.Scheme, u.Host, u.Path)
	if clash != "" {
		w.failSoon(misuse("%s, and the host fits %s, which are equally long; give w.External a longer pattern or the "+
			"host %q itself", sent, clash, c.Host))
		return
	}
	w.failSoon(misuse("%s, and the world has no host %q; before w.Start, declare a model of it with "+
		"w.External(%[2]q, handler), or with w.Cluster(%[2]q) if it is an API server; w.External(%[2]q, nil) says that "+
		"there is no such host; names that are made at run time are given to w.External as a pattern, and Services "+
		"to w.ExternalServices", sent, c.Host))
}

// useTheWorld is what to do about it.
const useTheWorld = "Give the client there sim.HTTPClient(mgr), and declare a model of whom it calls with " +
	"w.External(host, handler), the host as its URLs have it."

// connected makes a run fail that has connected to the real network. The count does not say who
// did, so the run is made again, with a record of who dials. If it does not connect then, it was
// perhaps something else in the process.
func (r *result) connected(t *testing.T, scenario func(*World), s settings) {
	at := process.RecordDials()
	once(t, scenario, choice.Play(r.tape), s)
	site := at()
	if site == "" {
		r.strayed = true
		return
	}
	r.verdict = misuse("%s", connectedAt(site))
	r.verdict.Step, r.verdict.At = r.steps, r.virtual
}

func connectedAt(site string) string {
	return fmt.Sprintf("code in this run has connected to the real network at %s. It dials an address, or a name in "+
		"the hosts file, with a context that is not the reconcile's; only exact mode can refuse that "+
		"(wavetank run --exact). %s", site, useTheWorld)
}

// strays is the warning that something connected to the real network during a run, but perhaps not
// in it.
const strays = "something in this process connected over TCP while a run was made, and did not when the run was " +
	"repeated; if it was the code under test, the run depends on the real network: use sim.HTTPClient(mgr) and w.External"
