package process

import (
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/wavetank/wavetank/sim/internal/sched"
)

// late is a handler that joined an informer when that had objects already. client-go tells it of those in map order, which
// matters to queues that nobody observes and to handlers with memories of their own; so it hears of them all at once, by key.
type late struct {
	cache.ResourceEventHandler

	mu      sync.Mutex
	waits   int // for how many of them
	objects []any
}

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

// late puts the order of keys into what a handler hears first, and catches it.
func (i *informer) late(h cache.ResourceEventHandler) cache.ResourceEventHandler {
	h = caughtHandler{h, i.life}
	n := len(i.SharedIndexInformer.GetStore().ListKeys())
	if n < 2 {
		return h
	}
	return &late{ResourceEventHandler: h, waits: n}
}

// OnAdd implements cache.ResourceEventHandler.
func (l *late) OnAdd(obj any, initial bool) {
	if l.keep(obj, initial) {
		return
	}
	l.tell()
	l.ResourceEventHandler.OnAdd(obj, initial)
}

// OnUpdate implements cache.ResourceEventHandler.
func (l *late) OnUpdate(was, is any) {
	l.tell()
	l.ResourceEventHandler.OnUpdate(was, is)
}

// OnDelete implements cache.ResourceEventHandler.
func (l *late) OnDelete(obj any) {
	l.tell()
	l.ResourceEventHandler.OnDelete(obj)
}

// keep reports whether the object waits for others. With the last of them all are told.
func (l *late) keep(obj any, initial bool) bool {
	l.mu.Lock()
	waiting := l.waits > 0 && initial
	if waiting {
		l.objects = append(l.objects, obj)
		l.waits--
	}
	last := l.waits == 0
	l.mu.Unlock()
	if waiting && last {
		l.tell()
	}
	return waiting
}

// waiting says whether something is kept.
func (l *late) waiting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.objects) > 0
}

// tell tells of what has been kept, and of all else as it comes from now on.
func (l *late) tell() {
	l.mu.Lock()
	objects := sortByKey(l.objects)
	l.objects, l.waits = nil, 0
	l.mu.Unlock()
	for _, o := range objects {
		l.ResourceEventHandler.OnAdd(o, true)
	}
}
