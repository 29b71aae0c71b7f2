package sim

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
)

// This file is about code under test that dials by itself: such a run would depend on the real network, and reach it.

// dialled ends the run because a process, "" for one that is not known, dials an address at file:line.
func dialled(process, address, at string) {
	if w := current.Load(); w != nil {
		w.soon(dials(process, address, at))
	}
}

func dials(process, address, at string) *Verdict {
	host := address
	if name, _, err := net.SplitHostPort(address); err == nil {
		host = name
	}
	what := "host name"
	if _, err := netip.ParseAddr(host); err == nil {
		what = "address"
	}
	return misuse("%s dials %s itself at %s, past the simulated world. A transport or dialer of its own (http.Transport{}, net.Dialer{}) reaches the real network; "+
		"give the client there sim.HTTPClient(mgr), and declare a model of the %s with w.External(%q, handler)", cmp.Or(process, "the code under test"), address, at, what, host)
}

// connected makes a run fail that has connected to the real network. Nothing that was counted says who did, so the run is
// made again, with a record of who dials. Something else in the process may have, and does not do it again.
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
	return fmt.Sprintf("the code under test has connected to the real network, past the simulated world, at %s: to an address (or a name in the hosts file), with a context "+
		"that is not the reconcile's, which only exact mode can refuse. Give the client there sim.HTTPClient(mgr), and declare a model of the address with "+
		"w.External(host, handler)", site)
}

// strays is the warning that something connected to the real network, in the middle of a run but perhaps not in it.
const strays = "something in this process connected over TCP while a run was made, and did not when the run was repeated; if it was the code " +
	"under test, the run depends on the real network: use sim.HTTPClient(mgr) and w.External"
