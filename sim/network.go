package sim

import (
	"cmp"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// This file is about code under test that dials by itself: its runs would depend on the real network.

// dialled ends the run because a process, "" for one that is not known, dials an address at file:line.
func dialled(process, address, at string) {
	if w := current.Load(); w != nil {
		w.soon(dials(process, address, at))
	}
}

func dials(process, address, at string) *result.Ending {
	return misuse("%s dials %s itself at %s, which would reach the real network. Its transport or dialer is not "+
		"the world's: an http.Transport{}, a net.Dialer{} or a clone of http.DefaultTransport. %s",
		cmp.Or(process, "code in this run"), address, at, run.UseTheWorld)
}

// connected makes a run fail that has connected to the real network. The count does not say who did,
// so the run is made again, with a record of who dials. If it does not connect then, it was perhaps
// something else in the process.
func (r *runner) connected(t *testing.T, res *run.Result, s run.Settings) {
	at := process.RecordDials()
	r.once(t, choice.Play(res.Tape), s)
	site := at()
	if site == "" {
		res.Strayed = true
		return
	}
	res.Ending = *misuse("%s", run.ConnectedAt(site))
	res.Ending.Step, res.Ending.At = res.Steps, res.Virtual
}
