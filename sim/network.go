package sim

import (
	"cmp"
	"net"
	"net/netip"
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
