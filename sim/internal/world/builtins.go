package world

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Builtin adds controllers that belong to the cluster itself. At a real API server they are clients
// of that server.
func (b *builtins) Builtin(actors ...actor.Actor) {
	b.panicIfOver()
	for _, a := range actors {
		added := &builtin{all: b, actor: a, steps: map[string]*sched.Action{}, fired: map[string]int{}}
		b.add(added)
		if s, ok := a.(actor.Server); ok && b.real == nil {
			s.Serve(b.wire.Server())
		}
		a.Begin(added)
	}
}

// builtins are the built-in controllers of a world.
type builtins struct {
	*core
	faults *faults
	real   *real // nil if the run is simulated
	all    []*builtin
}

// add puts a controller in the place of the one of the same name, or at the end.
func (b *builtins) add(added *builtin) {
	for i, old := range b.all {
		if old.actor.Name() == added.actor.Name() {
			for _, step := range old.steps {
				b.sched.Drop(step)
			}
			b.all[i] = added
			return
		}
	}
	b.all = append(b.all, added)
}

// has reports whether there is a controller of this name.
func (b *builtins) has(name string) bool {
	for _, one := range b.all {
		if one.actor.Name() == name {
			return true
		}
	}
	return false
}

// observe tells the controllers of a committed change.
func (b *builtins) observe(ch apiserver.Change) {
	for _, one := range b.all {
		one.actor.Observe(ch)
	}
}

// retried reports whether every attempt that controllers never stop repeating has been made since
// an event.
func (b *builtins) retried(since int) bool {
	for _, one := range b.all {
		for key, step := range one.steps {
			if fired, ok := one.fired[key]; step.Idle && !step.Seasonal && (!ok || fired <= since) {
				return false
			}
		}
	}
	return true
}

// longestStep is the longest that a controller puts a step off. Seasonal steps do not count: they
// may be years away, and Settle does not wait for them.
func (b *builtins) longestStep() (longest time.Duration) {
	for _, one := range b.all {
		for _, step := range one.steps {
			if !step.Seasonal {
				longest = max(longest, step.Own)
			}
		}
	}
	return longest
}

// builtin is the world as one built-in controller sees it. It implements actor.Cluster.
type builtin struct {
	all   *builtins
	actor actor.Actor
	steps map[string]*sched.Action // that it has asked for, by key
	fired map[string]int           // by key: how many events there were when its last step happened
	busy  bool                     // a step is under way
	later []func()                 // steps whose time has come meanwhile
}

// perform performs a step. While one waits for webhooks, the others of the same controller wait.
func (b *builtin) perform(do func()) {
	if b.busy {
		b.later = append(b.later, do)
		return
	}
	b.busy = true
	b.all.wire.Step(do, func() {
		b.busy = false
		if len(b.later) > 0 {
			next := b.later[0]
			b.later = b.later[1:]
			b.perform(next)
		}
	})
}

func (b *builtin) Now() time.Duration { return b.all.sched.Now() }
func (b *builtin) Clock() time.Time   { return time.Now() }

func (b *builtin) Choose(label string, n int) int {
	return b.all.choices.Choose(story.Label{Kind: story.Builtin, Of: b.actor.Name(), What: label}, n)
}

func (b *builtin) PodExit(p *corev1.Pod, class string) int32 {
	return b.all.faults.declared.PodExit(p, class)
}

func (b *builtin) NodeDown(node string) time.Duration { return b.all.faults.declared.NodeDown(node) }

func (b *builtin) Read(r *apiserver.Request) *apiserver.Response {
	b.identify(r)
	return b.all.wire.Read(r)
}

func (b *builtin) Write(r *apiserver.Request) *apiserver.Response {
	b.identify(r)
	return b.all.wire.Write(b.actor.Name(), *r)
}

// identify gives the controller rights to everything, as the roles that a cluster starts with do in
// effect.
func (b *builtin) identify(r *apiserver.Request) {
	r.User, r.Groups = "system:serviceaccount:kube-system:"+b.actor.Name(), []string{"system:masters"}
}

func (b *builtin) After(d time.Duration, key string, do func()) {
	b.ask(key, do, &sched.Action{Own: d})
}

func (b *builtin) Again(d time.Duration, key string, do func()) {
	b.ask(key, do, &sched.Action{Own: d, Idle: true})
}

func (b *builtin) Later(d time.Duration, key string, do func()) {
	b.ask(key, do, &sched.Action{Own: d, Idle: true, Seasonal: true})
}

// ask parks a step. It takes the place of the step of the same key.
func (b *builtin) ask(key string, do func(), step *sched.Action) {
	all := b.all
	if old := b.steps[key]; old != nil {
		all.sched.Drop(old)
	}
	name := b.actor.Name() + " " + key
	step.Order, step.Actor = name, choice.Actor{Process: b.actor.Name(), Name: key}
	step.What = func() string { return key + " by the " + b.actor.Name() }
	step.Delay = func() time.Duration { return step.Own + all.stepDelay(b.actor.Name(), key) }
	step.Do = func() {
		delete(b.steps, key)
		b.fired[key] = all.history.Len()
		all.sched.SetCurrent(history.Cause{Kind: history.CauseStep, Of: name})
		b.perform(do)
	}
	b.steps[key] = step
	all.sched.Park(step)
}

// stepDelay is how much longer a built-in controller takes for a step than it asks for.
func (b *builtins) stepDelay(actor, key string) time.Duration {
	label, whose := story.Label{Kind: story.Step, What: actor + " " + key}, choice.Actor{Process: actor, Name: key}
	return latencies[b.choices.Pace(label, whose, len(latencies), 3)] + b.faults.declared.StepDelay(actor, key)
}
