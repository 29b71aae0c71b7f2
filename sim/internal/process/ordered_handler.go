package process

import (
	"sync"

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
	informer *informer

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

func (i *informer) ordered(h cache.ResourceEventHandler) *orderedHandler {
	return &orderedHandler{ResourceEventHandler: caughtHandler{h, i.incarnation}, informer: i}
}

// OnAdd implements cache.ResourceEventHandler.
func (h *orderedHandler) OnAdd(obj any, initial bool) {
	h.handle(notification{is: obj, initial: initial})
}

// OnUpdate implements cache.ResourceEventHandler.
func (h *orderedHandler) OnUpdate(was, is any) { h.handle(notification{was: was, is: is}) }

// OnDelete implements cache.ResourceEventHandler.
func (h *orderedHandler) OnDelete(obj any) { h.handle(notification{was: obj}) }

func (h *orderedHandler) handle(n notification) {
	h.mu.Lock()
	wait := n.initial || n.unchanged() || h.informer.replacing.Load() || h.delivering || len(h.held)+len(h.ready) > 0
	if wait {
		h.held = append(h.held, n)
	}
	h.mu.Unlock()
	if wait {
		h.informer.wake()
	} else {
		h.deliver(n)
	}
}

// unchanged says whether the object has not changed, as in a resync.
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

func (h *orderedHandler) deliver(n notification) {
	switch {
	case n.was == nil:
		h.ResourceEventHandler.OnAdd(n.is, n.initial)
	case n.is == nil:
		h.ResourceEventHandler.OnDelete(n.was)
	default:
		h.ResourceEventHandler.OnUpdate(n.was, n.is)
	}
}

// release sorts the notifications of the last step and starts their delivery. It is called at each
// quiet moment, and reports whether it has started one.
func (h *orderedHandler) release() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready = append(h.ready, sortNotifications(h.held)...)
	h.held = nil
	if h.delivering || len(h.ready) == 0 {
		return false
	}
	h.delivering = true
	h.informer.spawn(h.deliverReady)
	return true
}

// deliverReady delivers what is ready. The handler may block for as long as it likes.
func (h *orderedHandler) deliverReady() {
	for {
		h.mu.Lock()
		if len(h.ready) == 0 {
			h.delivering = false
			h.mu.Unlock()
			h.informer.wake()
			return
		}
		n := h.ready[0]
		h.ready = h.ready[1:]
		h.mu.Unlock()
		h.deliver(n)
	}
}

// behind says whether the handler has not got all notifications of the informer yet.
func (h *orderedHandler) behind() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.delivering || len(h.held)+len(h.ready) > 0
}

func sortNotifications(all []notification) []notification {
	return sortBy(all, func(n notification) any {
		if n.is != nil {
			return n.is
		}
		return n.was
	})
}
