// This file holds what stands between a Deployment and the process that it runs.

package reposync

import (
	"context"
	"sync"
	"time"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// pods runs a process for as long as the Deployment of its name exists and its node is up. It may
// continue for a while after the Deployment has gone, in cases in which it is not created again.
type pods struct {
	cluster actor.Cluster
	lingers time.Duration
	mu      sync.Mutex // programs wait on their own goroutines
	all     map[string]*pod
}

type pod struct {
	deployed, off bool
	turns         chan struct{} // closed when its process starts or ends
}

func (p *pod) runs() bool { return p.deployed && !p.off }

// newPods has the manager and the webhook deployed.
func newPods(lingers time.Duration) *pods {
	p := &pods{lingers: lingers, all: map[string]*pod{}}
	p.set(Manager, deployed(true))
	p.set(Webhook, deployed(true))
	return p
}

func (*pods) Name() string            { return "reconciler-pods" }
func (p *pods) Begin(c actor.Cluster) { p.cluster = c }

func (p *pods) Observe(c apiserver.Change) {
	if c.Resource == "deployments" && c.Namespace == reposync.Namespace && c.Type != "MODIFIED" {
		there, after := c.Type == "ADDED", p.lingers
		if there {
			after = 0
		}
		p.cluster.After(after, "pod "+c.Name, func() { p.set(c.Name, deployed(there)) })
	}
}

func deployed(is bool) func(*pod) { return func(p *pod) { p.deployed = is } }

// power turns the node of a process off and on.
func (p *pods) power(name string, on bool) { p.set(name, func(p *pod) { p.off = !on }) }

// set changes a pod, and starts or ends its process by that.
func (p *pods) set(name string, change func(*pod)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[name] == nil {
		p.all[name] = &pod{turns: make(chan struct{})}
	}
	pod := p.all[name]
	was := pod.runs()
	change(pod)
	if pod.runs() != was {
		close(pod.turns)
		pod.turns = make(chan struct{})
	}
}

// state reports whether a process runs, and returns what is closed when that is over.
func (p *pods) state(name string) (runs bool, turns <-chan struct{}) {
	p.set(name, func(p *pod) { runs, turns = p.runs(), p.turns })
	return runs, turns
}

// run waits for the pod, and runs the program until the pod goes: then it ends at once, as by
// SIGKILL. Its next incarnation waits.
func (p *pods) run(ctx context.Context, name string, program func(context.Context) error) error {
	runs, turns := p.state(name)
	for ; !runs; runs, turns = p.state(name) {
		select {
		case <-turns:
		case <-ctx.Done():
			return nil
		}
	}
	ended := make(chan error, 1)
	new(sync.WaitGroup).Go(func() { ended <- program(ctx) })
	select {
	case err := <-ended:
		return err
	case <-turns:
		return nil
	}
}
