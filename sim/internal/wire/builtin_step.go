package wire

import (
	"errors"
	"iter"
	"net/http"

	"github.com/wavetank/wavetank/models/apiserver"
)

// step is one step of a built-in controller. It may have to wait for webhooks.
type step struct {
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
}

// errEnding unwinds a step whose run is over.
var errEnding = errors.New("wavetank: the run is over")

// Step runs one step of a built-in controller and calls ended when the step has ended. If a
// [Network.Write] in it has to wait for webhooks, Step returns before that.
func (c *Network) Step(f, ended func()) {
	if !c.server.Admits() {
		f()
		ended()
		return
	}
	s := &step{}
	s.next, s.stop = iter.Pull(func(yield func(struct{}) bool) {
		s.yield = yield
		if s.perform(f) {
			c.drop(s)
			ended()
		}
	})
	c.admission.steps = append(c.admission.steps, s)
	c.run(s)
}

// perform runs the step on a stack of its own and reports whether it came to its end.
func (s *step) perform(f func()) (ended bool) {
	defer func() {
		if r := recover(); r != nil && r != errEnding { //nolint:errorlint // what panicked, never wrapped
			panic(r)
		}
	}()
	f()
	return true
}

func (c *Network) run(s *step) {
	before := c.admission.running
	c.admission.running = s
	s.next()
	c.admission.running = before
}

func (c *Network) drop(s *step) {
	for i, other := range c.admission.steps {
		if other == s {
			c.admission.steps = append(c.admission.steps[:i], c.admission.steps[i+1:]...)
			return
		}
	}
}

// Write performs a request of somebody who is not a process of the world, and records it under that
// name. It takes effect at once unless webhooks must be asked. Within a [Network.Step] Write waits
// for them; elsewhere it returns before.
func (c *Network) Write(who string, req apiserver.Request) *apiserver.Response {
	info, _ := apiserver.ParseInfo(req.Method, req.URL)
	port, kind := &Port{Process: who, network: c}, c.server.KindOf(info.Group, info.Resource)
	call := &Call{Port: port, Request: req, Info: info, Kind: kind}
	s := c.admission.running
	waiting := false
	c.serve(call, func() {
		if waiting {
			c.run(s)
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

// abandon ends everything that waits for webhooks.
func (c *Network) abandon() {
	for _, s := range c.admission.steps {
		s.stop()
	}
	for _, ex := range c.admission.waiting {
		ex.Abandon()
	}
	c.admission = admissionState{}
}
