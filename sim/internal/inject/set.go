package inject

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Set is the faults of one run. Each of its methods asks those that have the hook, in the order of
// their declaration.
type Set struct {
	retired        []Fault // they are counted, and never asked again
	faults         []Fault
	arrivers       []Arriver
	landers        []Lander
	replyDelayers  []ReplyDelayer
	laggers        []Lagger
	fateDeciders   []FateDecider
	webhookCallers []WebhookCaller
	stepDelayers   []StepDelayer
	podExiters     []PodExiter
	nodeTakers     []NodeTaker
	holders        []Holder
	dequeuers      []Dequeuer
	enders         []Ender
}

// Add puts a fault at the end.
func (s *Set) Add(f Fault) {
	s.faults = append(s.faults, f)
	hook(&s.arrivers, f)
	hook(&s.landers, f)
	hook(&s.replyDelayers, f)
	hook(&s.laggers, f)
	hook(&s.fateDeciders, f)
	hook(&s.webhookCallers, f)
	hook(&s.stepDelayers, f)
	hook(&s.podExiters, f)
	hook(&s.nodeTakers, f)
	hook(&s.holders, f)
	hook(&s.dequeuers, f)
	hook(&s.enders, f)
}

// Retire takes all faults out. They must have ended.
func (s *Set) Retire() { *s = Set{retired: slices.Concat(s.retired, s.faults)} }

// hook appends the fault to those with a hook, if it has that hook.
func hook[T any](to *[]T, f Fault) {
	if h, ok := f.(T); ok {
		*to = append(*to, h)
	}
}

// Armed reports whether any fault may be injected in this run.
func (s *Set) Armed() bool {
	for _, f := range s.faults {
		if f.Armed() {
			return true
		}
	}
	return false
}

// Counts is what has become of each fault, retired ones included.
func (s *Set) Counts() (out []Count) {
	for _, f := range slices.Concat(s.retired, s.faults) {
		out = append(out, f.Count())
	}
	return out
}

// Waits are those of the faults that report any.
func (s *Set) Waits() (out []Waits) {
	for _, f := range s.faults {
		if w, ok := f.(Waiter); ok {
			out = append(out, w.Waits())
		}
	}
	return out
}

// Arrive asks what goes wrong with a request that is about to take effect. The first fault that
// ends it wins.
func (s *Set) Arrive(c *wire.Call) (ruling wire.Ruling) {
	for _, f := range s.arrivers {
		got := f.Arrive(c)
		if got.Kill || got.Lose != nil || got.Answer != nil || got.Hold {
			return got
		}
		if got.Again || got.Seen != nil {
			ruling = got
		}
	}
	return ruling
}

// Landed asks what goes wrong with a reply that is about to leave. The first fault that changes it
// wins.
func (s *Set) Landed(c *wire.Call) wire.Ruling {
	for _, f := range s.landers {
		if got := f.Landed(c); got.Kill || got.Lose != nil || got.Answer != nil || got.Seen != nil {
			return got
		}
	}
	return wire.Ruling{}
}

// ReplyDelay is how much longer a reply takes.
func (s *Set) ReplyDelay(c *wire.Call) (d time.Duration) {
	for _, f := range s.replyDelayers {
		d += f.ReplyDelay(c)
	}
	return d
}

// Lag is how much later a watch event may reach its stream: the longest of the lags.
func (s *Set) Lag(stream *wire.Stream, frame apiserver.Frame) (lag time.Duration) {
	for _, f := range s.laggers {
		lag = max(lag, f.Lag(stream, frame))
	}
	return lag
}

// Fate asks what becomes of a watch event that is about to reach its stream. The first fault that
// changes it wins.
func (s *Set) Fate(stream *wire.Stream, frame apiserver.Frame) wire.Fate {
	for _, f := range s.fateDeciders {
		if fate := f.Fate(stream, frame); fate != wire.Arrives {
			return fate
		}
	}
	return wire.Arrives
}

// Webhook asks what goes wrong with a call that arrives at a webhook. The first fault that ends it
// wins.
func (s *Set) Webhook(c *wire.Call) wire.Ruling {
	for _, f := range s.webhookCallers {
		if got := f.Webhook(c); got.Lose != nil || got.Answer != nil {
			return got
		}
	}
	return wire.Ruling{}
}

// StepDelay is how much longer a built-in controller takes for a step.
func (s *Set) StepDelay(actor, key string) (d time.Duration) {
	for _, f := range s.stepDelayers {
		d += f.StepDelay(actor, key)
	}
	return d
}

// NodeDown is for how long a node is lost; 0 for not at all.
func (s *Set) NodeDown(node string) (longest time.Duration) {
	for _, f := range s.nodeTakers {
		longest = max(longest, f.NodeDown(node))
	}
	return longest
}

// PodExit is the code with which the containers of a Pod end; 0 for nothing special. The first
// fault that fails them wins.
func (s *Set) PodExit(p *corev1.Pod, class string) int32 {
	for _, f := range s.podExiters {
		if code := f.PodExit(p, class); code != 0 {
			return code
		}
	}
	return 0
}

// Held is until when an action may not happen; 0 for one that is free.
func (s *Set) Held(a *sched.Action) (until time.Duration) {
	for _, f := range s.holders {
		until = max(until, f.Held(a))
	}
	return until
}

// Dequeued tells the faults of a reconcile that begins.
func (s *Set) Dequeued(l *process.Incarnation, controller string, item reconcile.Request) {
	for _, f := range s.dequeuers {
		f.Dequeued(l, controller, item)
	}
}

// End tells the faults that they have ended.
func (s *Set) End() {
	for _, f := range s.enders {
		f.End()
	}
}
