package process

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wavetank/wavetank/history"
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
		for _, q := range p.current.observed() {
			out = append(out, Controller{p.current, q.controller, q})
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
	c.q.each(func(item request, k *key) bool {
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
	c.q.each(func(_ request, k *key) bool {
		busy = busy || !k.name.None() || len(k.causes) > 0 && c.q.hooked.working.Load()
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
	c.q.each(func(item request, k *key) bool {
		if !k.name.None() {
			out = append(out, "reconcile "+k.name.String())
		} else if len(k.causes) > 0 && c.q.hooked.working.Load() {
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

// Inject adds a key to the controller's queue, as an event would.
func (c Controller) Inject(item request, why string) { c.q.inject(item, why) }

// Managed reports whether the incarnation runs at least one manager made by this package.
func (i *Incarnation) Managed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.managers) > 0
}

// Starting says what a living process waits for before all its controllers work; "" when all that
// can work do.
func (s *Supervisor) Starting() string {
	for _, p := range s.processes {
		l := p.current
		if l == nil {
			continue
		}
		l.mu.Lock()
		hooked, managers := l.hooked, l.managers
		l.mu.Unlock()
		led := true
		for _, m := range managers {
			if m.setup.Load() {
				return fmt.Sprintf("the setup function of %s, which has not returned: "+
					"it registers controllers, and the manager is started for it", l.Name())
			}
			select {
			case <-m.Elected():
			default:
				led = false
				if m.lease == nil {
					continue
				}
				switch holder := s.holder(*m.lease); holder {
				case "":
					return fmt.Sprintf("%s is waiting for the lease %s, which no running process holds",
						l.Name(), m.lease)
				case m.id:
					return fmt.Sprintf("%s has the lease %s and is about to lead", l.Name(), m.lease)
				}
			}
		}
		for _, h := range hooked {
			if !h.working.Load() && (led || !h.waitsForLease()) {
				return fmt.Sprintf("the start of controller %s in %s", h.name, l.Name())
			}
		}
	}
	return ""
}

// MissingWatch says which informer of a living process has no open watch, because its reflector
// backs off; "" when all have one.
func (s *Supervisor) MissingWatch() string {
	for _, p := range s.processes {
		l := p.current
		if l == nil {
			continue
		}
		l.mu.Lock()
		informers := l.informers
		l.mu.Unlock()
		need := map[schema.GroupKind]int{}
		for _, in := range informers {
			if !in.IsStopped() {
				need[in.kind]++
			}
		}
		for _, stream := range s.Wire.Watches.Streams() {
			// An operator's own caches of other clusters are not among the informers.
			if stream.Port == l.Port && stream.Call.Cluster == "" {
				need[schema.GroupKind{Group: stream.Call.Info.Group, Kind: stream.Kind}]--
			}
		}
		for _, in := range informers {
			if need[in.kind] > 0 {
				const message = "%s's informer for %s has no watch, its reflector is backing off"
				return fmt.Sprintf(message, l.Name(), in.kind.Kind)
			}
		}
	}
	return ""
}

// holder is the identity of the incarnation that holds the lease, "" if that incarnation is over.
func (s *Supervisor) holder(lease history.Ref) string {
	o, ok := s.History.Object(lease.Group, lease.Kind, lease.Namespace, lease.Name)
	if !ok {
		return ""
	}
	var v struct {
		Spec struct{ HolderIdentity string }
	}
	if o.Into(&v) != nil {
		return ""
	}
	for _, p := range s.processes {
		if p.current != nil && p.current.holds(lease, v.Spec.HolderIdentity) {
			return v.Spec.HolderIdentity
		}
	}
	return ""
}

// holds reports whether one of the incarnation's managers holds a lease under that identity.
func (i *Incarnation) holds(lease history.Ref, identity string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.ContainsFunc(i.managers, func(m *Manager) bool {
		return m.lease != nil && *m.lease == lease && m.id == identity
	})
}
