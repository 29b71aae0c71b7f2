package wire

import (
	"net/http"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Step runs one step of a built-in controller and calls ended when the step has ended. If a
// [Network.Write] in it has to wait for webhooks, Step returns before that.
func (n *Network) Step(f, ended func()) {
	if !n.server.Admits() && (n.backend == nil || !n.backend.Admits()) {
		f()
		ended()
		return
	}
	n.steps.begin(f, ended)
}

// Write performs a request of a client that is not a process of the world, and records it under
// that name. It takes effect at once unless webhooks must be asked. Within a [Network.Step] Write
// waits for them; elsewhere it returns before.
func (n *Network) Write(who string, req apiserver.Request) *apiserver.Response {
	info, _ := req.Info()
	call := &Call{Port: &Port{Process: who}, Request: req, Info: info, Kind: n.Hosts.kindOf("", info)}
	s := n.steps.running
	waiting := false
	n.serve(call, func() {
		if waiting {
			n.steps.run(s)
		}
	})
	if call.Response == nil {
		if s == nil { // it takes effect when webhooks have allowed it
			return &apiserver.Response{Code: http.StatusAccepted}
		}
		waiting = true
		if !s.yield(struct{}{}) {
			panic(errEnding)
		}
	}
	return call.Response
}
