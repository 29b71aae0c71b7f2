package fault

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// RacingRequeue causes one more reconcile of a key than its events ask for: at once, while the key
// is being reconciled, or up to a minute later. A resync, a duplicate event or a leftover timer has
// the same effect.
func RacingRequeue(scopes ...QueueScope) Fault {
	return declare("RacingRequeue", "", scopes, func(c core) inject.Fault { return &racingRequeue{c} })
}

type racingRequeue struct{ core }

// requeueDelays are how much later the key comes once more. The first stands for not at all.
var requeueDelays = []time.Duration{
	0, 0, time.Millisecond, 5 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute,
}

// Dequeued implements [inject.Dequeuer].
func (r *racingRequeue) Dequeued(l *process.Incarnation, controller string, item reconcile.Request) {
	if !r.covers(l.Port.Process, "", "", history.Ref{Namespace: item.Namespace, Name: item.Name}) {
		return
	}
	where := l.Port.Process + " " + controller + " " + item.String()
	v := r.injected(story.Label{What: where}, len(requeueDelays), 10, 3)
	if v == 0 {
		return
	}
	r.env.Park(&sched.Action{
		Order: "requeue " + where,
		Actor: choice.Actor{Name: "requeue " + where},
		What:  func() string { return "racing requeue of " + where },
		Delay: func() time.Duration { return requeueDelays[v] },
		Do:    func() { r.requeue(l, controller, item) },
	})
}

// requeue puts the key into the queue of the controller, unless that incarnation is over.
func (r *racingRequeue) requeue(l *process.Incarnation, controller string, item reconcile.Request) {
	for _, c := range r.env.Controllers() {
		if c.Life == l && c.Name == controller {
			r.observed()
			r.env.Note(history.Event{
				Kind: history.Fault, Process: l.Port.Process, Incarnation: l.Port.Incarnation,
				Injection: r.injection("of " + item.String()),
			})
			c.Inject(item, "racing requeue")
			return
		}
	}
}
