package process

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// kubelet's restart back-off,
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy
const (
	firstBackOff = 10 * time.Second
	maxBackOff   = 300 * time.Second
	backOffReset = 10 * time.Minute
)

// mostIncarnations is how many incarnations of a process faults may begin between two Settles.
const mostIncarnations = 20

// Fresh makes the next failure count as the first, if there was none before. The kubelet does not
// wait after a first failure.
func (p *Process) Fresh() { p.fresh = true }

// MayEnd says whether a fault may end the process: not when there have been many incarnations since
// the world settled. A run that mostly restarts shows little.
func (p *Process) MayEnd() bool { return p.started-p.settled < mostIncarnations }

// Settled begins to count incarnations anew.
func (s *Supervisor) Settled() {
	for _, p := range s.processes {
		p.settled = p.started
	}
}

// scheduleRestart schedules the next incarnation. why is how the last one ended, in words, and
// asked whether it was asked to end. The kubelet counts every end, as it would start a container
// again that exits with code 0. One that ended as it was asked to has not ended before.
func (p *Process) scheduleRestart(failed, asked bool, why string) {
	w := p.world
	var wait time.Duration
	if w.Sched.Now()-p.startedAt >= backOffReset {
		p.ends, p.forgiven = 0, false
	}
	if first := p.fresh || !failed; first && p.ends == 0 && !p.forgiven {
		p.forgiven = true
	} else {
		wait = min(firstBackOff<<min(p.ends, 10), maxBackOff)
		p.ends++
	}
	p.fresh = false
	p.restart = &sched.Action{
		Order: p.Name + " restart",
		Actor: choice.Actor{Process: p.Name, Name: "restart"},
		What:  func() string { return "restart of " + p.Name + ", which " + why },
		Delay: func() time.Duration { return wait },
		Own:   wait,
		Do: func() {
			if asked {
				chosen := w.Sched.Choices.Choose(choice.Label{Kind: choice.Seed, What: p.Name}, 1<<16)
				reseed(p.seedOfNext(chosen))
			}
			p.begin()
		},
	}
	w.Sched.Park(p.restart)
}

// seedOfNext is the seed of the random generators as the next incarnation begins. It depends on the
// process and on the incarnation: the default choice is that of every incarnation and of the run
// itself, and an incarnation must not draw the names that another has drawn.
func (p *Process) seedOfNext(chosen int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s/%d", chosen, p.Name, p.started+1)
	return h.Sum64()
}
