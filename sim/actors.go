package sim

import (
	"time"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Builtin adds controllers that belong to the cluster itself, from the packages under models, for example
// workload.New() and kubelet.New(). One of the same name is replaced: the namespace controller, the garbage
// collector and those that protect claims and volumes are there from the start, with their default settings.
func (w *World) Builtin(actors ...actor.Actor) {
	w.alive()
	for _, a := range actors {
		w.builtin(a)
	}
}

func (w *World) builtin(a actor.Actor) {
	b := &builtin{world: w, actor: a, steps: map[string]*step{}, fired: map[string]int{}}
	at := len(w.builtins)
	for i, old := range w.builtins {
		if old.actor.Name() == a.Name() {
			at = i
			for _, s := range old.steps {
				w.sched.Drop(s.action)
			}
		}
	}
	if at == len(w.builtins) {
		w.builtins = append(w.builtins, nil)
	}
	w.builtins[at] = b
	if s, ok := a.(actor.Server); ok {
		s.Serve(w.wire.Server())
	}
	a.Begin(b)
}

// Committed implements wire.Observer: built-in controllers observe the change.
func (r rules) Committed(ch apiserver.Change) {
	for _, b := range r.w.builtins {
		b.actor.Observe(ch)
	}
}

// retried says whether every attempt that built-in controllers repeat for ever has been made since anything changed.
func (w *World) retried() bool {
	for _, b := range w.builtins {
		for key, s := range b.steps {
			if fired, ok := b.fired[key]; s.action.Idle && !s.action.Seasonal && (!ok || fired <= w.quiet.changed()) {
				return false
			}
		}
	}
	return true
}

// actorDelayer is a fault that makes built-in controllers slower.
type actorDelayer interface {
	actorDelay(w *World, actor, key string) time.Duration
}

// builtin is the world as one built-in controller sees it.
type builtin struct {
	world *World
	actor actor.Actor
	steps map[string]*step
	busy  bool           // a step is under way
	later []func()       // steps whose time has come meanwhile
	fired map[string]int // by key: how many events there were when a step of that key happened last
}

// run performs a step. While one waits for webhooks, the others of the same controller wait for it.
func (b *builtin) run(do func()) {
	if b.busy {
		b.later = append(b.later, do)
		return
	}
	b.busy = true
	b.world.wire.Step(do, func() {
		b.busy = false
		if len(b.later) > 0 {
			next := b.later[0]
			b.later = b.later[1:]
			b.run(next)
		}
	})
}

// step is what a built-in controller has asked to do.
type step struct{ action *sched.Action }

// Now implements actor.Cluster.
func (b *builtin) Now() time.Duration { return b.world.sched.Now() }

// Clock implements actor.Cluster.
func (b *builtin) Clock() time.Time { return time.Now() }

// Choose implements actor.Cluster.
func (b *builtin) Choose(label string, n int) int {
	return b.world.choices.Choose(b.actor.Name()+" "+label, n)
}

// Read implements actor.Cluster.
func (b *builtin) Read(r *apiserver.Request) *apiserver.Response {
	b.identify(r)
	return b.world.wire.Read(r)
}

// Write implements actor.Cluster.
func (b *builtin) Write(r *apiserver.Request) *apiserver.Response {
	b.identify(r)
	return b.world.wire.Write(b.actor.Name(), *r)
}

// identify gives built-in controllers rights to everything, as the roles that a cluster starts with do in effect.
func (b *builtin) identify(r *apiserver.Request) {
	r.User, r.Groups = "system:serviceaccount:kube-system:"+b.actor.Name(), []string{"system:masters"}
}

// After implements actor.Cluster.
func (b *builtin) After(d time.Duration, key string, do func()) { b.ask(d, key, do, sched.Action{}) }

// Again implements actor.Cluster.
func (b *builtin) Again(d time.Duration, key string, do func()) {
	b.ask(d, key, do, sched.Action{Idle: true})
}

// Later implements actor.Cluster.
func (b *builtin) Later(d time.Duration, key string, do func()) {
	b.ask(d, key, do, sched.Action{Idle: true, Seasonal: true})
}

// ask parks an action of the given sort.
func (b *builtin) ask(d time.Duration, key string, do func(), sort sched.Action) {
	w := b.world
	if old := b.steps[key]; old != nil {
		w.sched.Drop(old.action)
	}
	s := &step{}
	name := b.actor.Name() + " " + key
	s.action = &sched.Action{
		Order: name,
		What:  func() string { return key + " by the " + b.actor.Name() },
		Own:   d,
		Idle:  sort.Idle, Seasonal: sort.Seasonal,
		Delay: func() time.Duration {
			wait := d + latencies[w.choices.Pace("step "+name, name, len(latencies), 3)]
			for _, f := range w.faults {
				if f, ok := f.(actorDelayer); ok {
					wait += f.actorDelay(w, b.actor.Name(), key)
				}
			}
			return wait
		},
		Do: func() {
			delete(b.steps, key)
			b.fired[key] = w.history.Len()
			w.sched.SetCurrent(name)
			b.run(do)
		},
	}
	b.steps[key] = s
	w.sched.Park(s.action)
}
