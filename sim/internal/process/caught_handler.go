package process

import (
	"k8s.io/client-go/tools/cache"

	"github.com/wavetank/wavetank/sim/internal/sched"
)

// caughtHandler is a handler whose panic, or that of a predicate or a mapping function in it, ends its program and not the test binary.
type caughtHandler struct {
	cache.ResourceEventHandler
	life *Life
}

// OnAdd implements cache.ResourceEventHandler.
func (c caughtHandler) OnAdd(obj any, initial bool) {
	defer c.life.catch()
	c.ResourceEventHandler.OnAdd(obj, initial)
}

// OnUpdate implements cache.ResourceEventHandler.
func (c caughtHandler) OnUpdate(was, is any) {
	defer c.life.catch()
	c.ResourceEventHandler.OnUpdate(was, is)
}

// OnDelete implements cache.ResourceEventHandler.
func (c caughtHandler) OnDelete(obj any) {
	defer c.life.catch()
	c.ResourceEventHandler.OnDelete(obj)
}

// catch ends the life of a goroutine that panics, which stays where it is until the run ends. It must be deferred.
func (l *Life) catch() {
	v := recover()
	if v == nil {
		return
	}
	err := &PanicError{Value: v, Stack: stack()}
	gone := make(chan bool, 1)
	l.mu.Lock()
	released := l.released
	l.handouts = append(l.handouts, handout{&sched.Action{}, gone, false})
	l.mu.Unlock()
	if !released {
		l.world.Sched.Note(l.Name()+" panic", func() { l.exit(err) })
		<-gone
	}
}
