package process

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/child"
)

// Controller is one controller of a living process, with its queue.
type Controller struct {
	Life *Incarnation
	Name string
	q    *queue
}

// Controllers are the controllers of all living processes, in order.
func (s *Supervisor) Controllers() []Controller {
	var out []Controller
	for _, p := range s.processes {
		if p.current == nil {
			continue
		}
		for _, q := range p.current.controllers.all() {
			out = append(out, Controller{p.current, q.controller.name, q})
		}
	}
	return out
}

// Timer is a delayed dequeue that is pending.
type Timer struct {
	Item  request
	What  history.CauseKind // CauseBackOff or CauseRequeueAfter
	Delay time.Duration
	Due   time.Duration
	Fired int // index of the key's last dequeue that a timer of this sort caused, or that came at its time; -1 for none
}

// Timers are the controller's pending timers, ordered by key.
func (c Controller) Timers() []Timer {
	var out []Timer
	c.EachTimer(func(t Timer) bool { out = append(out, t); return true })
	sort.Slice(out, func(i, j int) bool { return out[i].Item.String() < out[j].Item.String() })
	return out
}

// EachTimer calls f for each pending timer, in no order, until f returns false.
func (c Controller) EachTimer(f func(Timer) bool) {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	c.q.keys.each(func(item request, k *key) bool {
		if k.timer == nil {
			return true
		}
		fired, ok := k.fired[k.timer.what]
		if !ok {
			fired = -1
		}
		return f(Timer{item, k.timer.what, k.timer.delay, k.timer.due, fired})
	})
}

// IsBusy reports whether [Controller.Busy] would return anything.
func (c Controller) IsBusy() bool {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	busy := len(c.q.adds) > 0
	c.q.keys.each(func(_ request, k *key) bool {
		busy = busy || !k.name.None() || len(k.causes) > 0 && c.q.controller.working.Load()
		return !busy
	})
	return busy
}

// Busy are the names of the reconciles in progress, and of keys that wait for a worker. The keys of
// a controller without workers, because its process does not lead, do not wait.
func (c Controller) Busy() []string {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	var out []string
	c.q.keys.each(func(item request, k *key) bool {
		if !k.name.None() {
			out = append(out, "reconcile "+k.name.String())
		} else if len(k.causes) > 0 && c.q.controller.working.Load() {
			out = append(out, fmt.Sprintf("%s %s in the queue", c.Name, item))
		}
		return true
	})
	for _, a := range c.q.adds {
		out = append(out, fmt.Sprintf("%s %s in the queue", c.Name, a.item))
	}
	sort.Strings(out)
	return out
}

// Inject adds a key to the controller's queue, as an event would. why names the fault that does it.
func (c Controller) Inject(item request, why string) {
	c.q.waiters.Sched.SetCurrent(history.Cause{Kind: history.CauseFault, Of: why})
	c.q.plain(priorityqueue.AddOpts{}, item)
}

// FireTimer fires the pending timer of the first key whose dequeue, in words, is the one wanted. It
// reports whether there is one. The world must be quiet.
func (s *Supervisor) FireTimer(wanted func(words string) bool) bool {
	for _, i := range s.incarnations {
		if i.far == nil || isDead(i) {
			continue
		}
		if at := slices.IndexFunc(i.far.timers, wanted); at >= 0 {
			i.far.turn(child.Turn{Fire: i.far.timers[at]})
			return true
		}
	}
	return slices.ContainsFunc(s.Controllers(), func(c Controller) bool {
		return c.q.fireTimers(func(item request, _ *timer) bool { return wanted(c.q.handOut(item)) })
	})
}
