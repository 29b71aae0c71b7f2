package process

import (
	"k8s.io/client-go/tools/cache"

	"github.com/wavetank/wavetank/sim/internal/sched"
)

// caughtHandler is a handler whose panic ends its process and not the test binary. The panic may
// come from a predicate or a mapping function in it.
type caughtHandler struct {
	cache.ResourceEventHandler
	incarnation *Incarnation
}

// OnAdd implements cache.ResourceEventHandler.
func (c caughtHandler) OnAdd(obj any, initial bool) {
	defer c.incarnation.catch()
	c.ResourceEventHandler.OnAdd(obj, initial)
}

// OnUpdate implements cache.ResourceEventHandler.
func (c caughtHandler) OnUpdate(was, is any) {
	defer c.incarnation.catch()
	c.ResourceEventHandler.OnUpdate(was, is)
}

// OnDelete implements cache.ResourceEventHandler.
func (c caughtHandler) OnDelete(obj any) {
	defer c.incarnation.catch()
	c.ResourceEventHandler.OnDelete(obj)
}

// catch ends the incarnation of a goroutine that panics. The goroutine stays blocked until the run
// ends. It must be deferred.
func (i *Incarnation) catch() {
	v := recover()
	if v == nil {
		return
	}
	err := &PanicError{Value: v, Stack: stack()}
	gone := make(chan bool, 1)
	i.mu.Lock()
	released := i.released
	i.waiters = append(i.waiters, waiter{&sched.Action{}, gone, false})
	i.mu.Unlock()
	if !released {
		i.world.Sched.Note(i.Name()+" panic", func() { i.exit(err) })
		<-gone
	}
}
