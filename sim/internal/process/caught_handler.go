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
func (l *Incarnation) catch() {
	v := recover()
	if v == nil {
		return
	}
	err := &PanicError{Value: v, Stack: stack()}
	gone := make(chan bool, 1)
	l.mu.Lock()
	released := l.released
	l.waiters = append(l.waiters, waiter{&sched.Action{}, gone, false})
	l.mu.Unlock()
	if !released {
		l.world.Sched.Note(l.Name()+" panic", func() { l.exit(err) })
		<-gone
	}
}
