package process

import (
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

// Fresh makes the next failure count as the first, if there was none before. The kubelet does not
// wait after a first failure.
func (p *Process) Fresh() { p.fresh = true }

// scheduleRestart schedules the next incarnation. why is how the last one ended, in words, and
// asked whether it was asked to end.
func (p *Process) scheduleRestart(failed, asked bool, why string) {
	w := p.world
	var wait time.Duration
	if w.Sched.Now()-p.startedAt >= backOffReset {
		p.failures, p.forgiven = 0, false
	}
	switch {
	case failed && p.fresh && p.failures == 0 && !p.forgiven:
		p.forgiven = true
	case failed:
		wait = min(firstBackOff<<min(p.failures, 10), maxBackOff)
		p.failures++
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
				reseed(uint64(w.Sched.Choices.Choose(choice.Label{Kind: choice.Seed, What: p.Name}, 1<<16)))
			}
			p.begin()
		},
	}
	w.Sched.Park(p.restart)
}
