package world

import (
	"cmp"
	"fmt"

	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Dialled ends the run under way because a process dials an address at file:line. The process is ""
// if it is not known.
func Dialled(process, address, at string) {
	if w := current.Load(); w != nil {
		w.failSoon(misuse("%s dials %s itself at %s, which would reach the real network. Its transport or dialer is "+
			"not the world's: an http.Transport{}, a net.Dialer{} or a clone of http.DefaultTransport. %s",
			cmp.Or(process, "code in this run"), address, at, run.UseTheWorld))
	}
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
		"w.External(%[2]q, handler), or with w.Cluster(%[2]q) if it is an API server; w.External(%[2]q, nil) says "+
		"that there is no such host; names that are made at run time are given to w.External as a pattern, and "+
		"Services to w.ExternalServices", sent, c.Host))
}
