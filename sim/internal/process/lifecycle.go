package process

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Start adds a process and begins its first incarnation.
func (s *Supervisor) Start(name string, main Main, settings Settings) *Process {
	p := &Process{Name: name, main: main, settings: settings, world: s}
	s.processes = append(s.processes, p)
	p.begin()
	s.Sched.Disturb()
	return p
}

func (p *Process) begin() {
	w := p.world
	p.started++
	p.restart = nil
	p.startedAt = w.Sched.Now()
	l := &Incarnation{Process: p, N: p.started, Port: w.Wire.NewPort(p.Name, p.started), world: w}
	l.Port.Owner = l
	l.Port.Attribute = Attribute
	l.identify()
	l.ctx, l.cancel = context.WithCancel(l.attach(context.Background()))
	p.current = l
	w.incarnations = append(w.incarnations, l)
	l.record(history.Start, history.Outcome{})
	metrics.Registry = newRegistry()
	l.spawn(l.run)
}

func (i *Incarnation) run() {
	var err error
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: r, Stack: stack()}
		}
		i.world.Sched.Note(i.Name(), func() { i.exit(err) })
	}()
	err = i.Process.main(i.ctx, i.Config())
}

// exit runs on the scheduling goroutine when main has returned.
func (i *Incarnation) exit(err error) {
	if i.Port.Dead() || i.exited {
		return
	}
	if i.Port.Frozen() { // its exit is reported only after it resumes
		i.dismiss()
		i.Port.Await(&sched.Action{
			Order: i.Name() + " exit",
			Actor: choice.Actor{Process: i.Name(), Name: "exit"},
			What:  func() string { return "the end of " + i.Name() },
			Do:    func() { i.exit(err) },
		})
		return
	}
	i.exited = true
	outcome := history.Outcome{Kind: history.OutcomeSuccess}
	if err != nil {
		outcome = history.Outcome{Kind: history.OutcomeFailure, Text: repeatable(err.Error())}
	}
	e := i.record(history.Stop, outcome)
	i.bury()
	if i.world.observer.Exited(i, err) {
		i.Process.scheduleRestart(err != nil || !i.asked, i.asked, e.Remark())
	}
}

// Kill ends the incarnation as SIGKILL would: nothing of it takes effect any more.
func (i *Incarnation) Kill() {
	if i.Port.Dead() {
		return
	}
	i.record(history.Crash, history.Outcome{})
	i.bury()
	i.Process.scheduleRestart(true, i.asked, "crashed")
}

// grace is how long the kubelet waits between SIGTERM and SIGKILL: terminationGracePeriodSeconds,
// by default.
const grace = 30 * time.Second

// Stop asks the incarnation to end, as SIGTERM would. The kubelet kills it after 30 s, and starts
// the next one when it has ended.
func (i *Incarnation) Stop() {
	if i.Port.Dead() || i.asked {
		return
	}
	i.asked = true
	i.record(history.Stop, history.Outcome{Kind: history.OutcomeAsked})
	i.dismiss()
	i.cancel()
	i.grace = &sched.Action{
		Order: i.Process.Name + " grace",
		Actor: choice.Actor{Process: i.Process.Name, Name: "grace"},
		What:  func() string { return "the end of " + i.Name() + "'s grace period" },
		Delay: func() time.Duration { return grace },
		Own:   grace,
		Do:    i.Kill,
	}
	i.world.Sched.Park(i.grace)
	i.world.Sched.Disturb()
}

// kubelet's restart back-off,
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy
const (
	firstBackOff = 10 * time.Second
	maxBackOff   = 300 * time.Second
	backOffReset = 10 * time.Minute
)

// mostIncarnations is how many incarnations of a process faults may begin between two Settles.
const mostIncarnations = 20

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
				chosen := w.Sched.Choices.Choose(story.Label{Kind: story.Seed, What: p.Name}, 1<<16)
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

// Fresh makes the next failure count as the first, if there was none before. The kubelet does not
// wait after a first failure.
func (p *Process) Fresh() { p.fresh = true }

// MayEnd reports whether a fault may end the process: not when there have been many incarnations
// since the world settled. A run that mostly restarts shows little.
func (p *Process) MayEnd() bool { return p.started-p.settled < mostIncarnations }

// Settled resets the count of incarnations.
func (s *Supervisor) Settled() {
	for _, p := range s.processes {
		p.settled = p.started
	}
}
