package sim

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
)

// This file is about code under test that dials by itself: its runs would depend on the real network.

// dialled ends the run because a process, "" for one that is not known, dials an address at file:line.
func dialled(process, address, at string) {
	if w := current.Load(); w != nil {
		w.soon(dials(process, address, at))
	}
}

func dials(process, address, at string) *Verdict {
	return misuse("%s dials %s itself at %s, which would reach the real network. Its transport or dialer is not "+
		"the world's: an http.Transport{}, a net.Dialer{} or a clone of http.DefaultTransport. %s",
		cmp.Or(process, "code in this run"), address, at, useTheWorld)
}

// useTheWorld is what to do about it.
const useTheWorld = "Give the client there sim.HTTPClient(mgr), and declare a model of whom it calls with " +
	"w.External(host, handler), the host as its URLs have it."

// connected makes a run fail that has connected to the real network. The count does not say who did,
// so the run is made again, with a record of who dials. If it does not connect then, it was perhaps
// something else in the process.
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

// strays is the warning that something connected to the real network during a run, but perhaps not in it.
const strays = "something in this process connected over TCP while a run was made, and did not when the run was " +
	"repeated; if it was the code under test, the run depends on the real network: use sim.HTTPClient(mgr) and w.External"
