package wire

import (
	"errors"
	"iter"
	"net/http"

	"github.com/wavetank/wavetank/models/apiserver"
)

// step is one step of a built-in controller, which may have to wait for webhooks.
type step struct {
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
}

// errEnding unwinds a step whose run is over.
var errEnding = errors.New("wavetank: the run is over")

// Step runs one step of a built-in controller. If a [Cluster.Write] in it has to wait for webhooks, the step goes on when
// they have answered, and Step returns before; ended is called when the step has ended.
func (c *Cluster) Step(f, ended func()) {
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

// perform runs the step on a stack of its own, which is not the scenario's, and reports whether it came to its end.
func (s *step) perform(f func()) (ended bool) {
	defer func() {
		if r := recover(); r != nil && r != errEnding {
			panic(r)
		}
	}()
	f()
	return true
}

func (c *Cluster) run(s *step) {
	before := c.admission.running
	c.admission.running = s
	s.next()
	c.admission.running = before
}

func (c *Cluster) drop(s *step) {
	for i, other := range c.admission.steps {
		if other == s {
			c.admission.steps = append(c.admission.steps[:i], c.admission.steps[i+1:]...)
			return
		}
	}
}

// Write performs a request of somebody who is not a process of the world, at once but for webhooks, and records it under
// that name. Within a [Cluster.Step] it waits for webhooks; elsewhere it goes on by itself when they have answered.
func (c *Cluster) Write(who string, req apiserver.Request) *apiserver.Response {
	info, _ := apiserver.ParseInfo(req.Method, req.URL)
	call := &Call{Port: &Port{Process: who, cluster: c}, Request: req, Info: info, Kind: c.server.KindOf(info.Group, info.Resource)}
	s := c.admission.running
	waiting := false
	c.serve(call, func() {
		if waiting {
			c.run(s)
		}
	})
	if call.Response == nil {
		if s == nil { // nobody waits for it: it takes effect when webhooks have let it pass
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
func (c *Cluster) abandon() {
	for _, s := range c.admission.steps {
		s.stop()
	}
	for _, ex := range c.admission.waiting {
		ex.Abandon()
	}
	c.admission = admission{}
}
