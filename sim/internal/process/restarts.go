package process

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Restarts decides as the kubelet does when the next incarnation of a process begins.
type Restarts struct {
	process   string
	sched     *sched.Scheduler
	begin     func()
	started   int  // how many incarnations
	settled   int  // how many incarnations there were when the world last settled
	ends      int  // in a row, for the back-off
	fresh     bool // the next failure counts as the first
	forgiven  bool // an end has counted as the first
	replaced  bool // the next incarnation is another version
	startedAt time.Duration
	next      *sched.Action
}

// kubelet's restart back-off,
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy
const (
	firstBackOff = 10 * time.Second
	maxBackOff   = 300 * time.Second
	backOffReset = 10 * time.Minute
)

// maxIncarnations is how many incarnations of a process faults may begin between two Settles.
const maxIncarnations = 20

// schedule schedules the next incarnation. why is how the last one ended, in words, and
// asked whether it was asked to end. The kubelet counts every end, as it would start a container
// again that exits with code 0. One that ended as it was asked to has not ended before.
func (r *Restarts) schedule(failed, asked bool, why string) {
	s := r.sched
	var wait time.Duration
	if s.Now()-r.startedAt >= backOffReset || r.replaced {
		r.ends, r.forgiven = 0, false
	}
	if first := r.fresh || !failed || r.replaced; first && r.ends == 0 && !r.forgiven {
		r.forgiven = true
	} else {
		wait = min(firstBackOff<<min(r.ends, 10), maxBackOff)
		r.ends++
	}
	r.fresh = false
	r.next = &sched.Action{
		Order: r.process + " restart",
		Actor: choice.Actor{Process: r.process, Name: "restart"},
		What:  func() string { return "restart of " + r.process + ", which " + why },
		Delay: func() time.Duration { return wait },
		Own:   wait,
		Do: func() {
			if asked {
				chosen := s.Choices.Choose(story.Label{Kind: story.Seed, What: r.process}, 1<<16)
				reseed(r.seedOfNext(chosen))
			}
			r.begin()
		},
	}
	s.Park(r.next)
}

// replace makes the next incarnation one that has not failed before. It begins at once if the
// process is down.
func (r *Restarts) replace() {
	r.replaced = true
	if r.next != nil && r.sched.Drop(r.next) {
		r.schedule(false, false, "was upgraded")
	}
}

// began counts an incarnation that begins now.
func (r *Restarts) began() {
	r.started++
	r.replaced = false
	r.startedAt = r.sched.Now()
}

// seedOfNext is the seed of the random generators as the next incarnation begins. It depends on the
// process and on the incarnation: the default choice is that of every incarnation and of the run
// itself, and an incarnation must not draw the names that another has drawn.
func (r *Restarts) seedOfNext(chosen int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s/%d", chosen, r.process, r.started+1)
	return h.Sum64()
}

// Fresh makes the next failure count as the first, if there was none before. The kubelet does not
// wait after a first failure.
func (r *Restarts) Fresh() { r.fresh = true }

// MayEnd reports whether a fault may end the process: not when there have been many incarnations
// since the world settled. A run that mostly restarts shows little.
func (r *Restarts) MayEnd() bool { return r.started-r.settled < maxIncarnations }
