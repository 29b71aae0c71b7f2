package process

import (
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// orderedHandler gets notifications in key order where client-go sends them in map order: the
// objects of a list or of the start of a watch, those that a handler gets when it joins, and those
// of a resync. It matters to queues that are not observed and to handlers with state of their own.
//
// Such notifications come many at a time, within one step. The handler gets them at the next quiet
// moment, from a goroutine of its own, and after them whatever has come meanwhile. All other
// notifications it gets at once.
type orderedHandler struct {
	cache.ResourceEventHandler
	waiters   *waiters
	replacing *atomic.Bool // all objects of the informer were requested, and are not here yet

	mu         sync.Mutex
	held       []notification // of this step
	ready      []notification // of earlier steps, in order
	delivering bool           // a goroutine passes on what is ready
}

// notification is what an informer sends to a handler: an object was added (was is nil), updated,
// or deleted (is is nil).
type notification struct {
	was, is any
	initial bool
}

func (o *orderedHandler) OnAdd(obj any, initial bool) {
	o.handle(notification{is: obj, initial: initial})
}

func (o *orderedHandler) OnUpdate(was, is any) { o.handle(notification{was: was, is: is}) }
func (o *orderedHandler) OnDelete(obj any)     { o.handle(notification{was: obj}) }

func (o *orderedHandler) handle(n notification) {
	o.mu.Lock()
	wait := n.initial || n.unchanged() || o.replacing.Load() || o.delivering || len(o.held)+len(o.ready) > 0
	if wait {
		o.held = append(o.held, n)
	}
	o.mu.Unlock()
	if wait {
		o.waiters.Sched.Wake()
	} else {
		o.deliver(n)
	}
}

// unchanged reports whether the object has not changed, as in a resync.
func (n notification) unchanged() bool {
	if n.was == nil || n.is == nil {
		return false
	}
	was, err := meta.Accessor(n.was)
	if err != nil {
		return false
	}
	is, err := meta.Accessor(n.is)
	return err == nil && was.GetResourceVersion() == is.GetResourceVersion()
}

func (o *orderedHandler) deliver(n notification) {
	defer o.waiters.catch() // the panic of a predicate or a mapping function ends its process
	switch {
	case n.was == nil:
		o.ResourceEventHandler.OnAdd(n.is, n.initial)
	case n.is == nil:
		o.ResourceEventHandler.OnDelete(n.was)
	default:
		o.ResourceEventHandler.OnUpdate(n.was, n.is)
	}
}

// release sorts the notifications of the last step and starts their delivery. It is called at each
// quiet moment, and reports whether it has started one.
func (o *orderedHandler) release() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ready = append(o.ready, sortNotifications(o.held)...)
	o.held = nil
	if o.delivering || len(o.ready) == 0 {
		return false
	}
	o.delivering = true
	o.waiters.spawn(o.deliverReady)
	return true
}

// deliverReady delivers what is ready. The handler may block for as long as it likes.
func (o *orderedHandler) deliverReady() {
	for {
		o.mu.Lock()
		if len(o.ready) == 0 {
			o.delivering = false
			o.mu.Unlock()
			o.waiters.Sched.Wake()
			return
		}
		n := o.ready[0]
		o.ready = o.ready[1:]
		o.mu.Unlock()
		o.deliver(n)
	}
}

// behind reports whether the handler has not got all notifications of the informer yet.
func (o *orderedHandler) behind() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.delivering || len(o.held)+len(o.ready) > 0
}

func sortNotifications(all []notification) []notification {
	return sortBy(all, func(n notification) any {
		if n.is != nil {
			return n.is
		}
		return n.was
	})
}
