package process

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// orderedHandler hears in key order what client-go tells in map order: the objects of a list or of the start of a
// watch, those that a handler finds when it joins, and those of a resync. It matters to queues that nobody observes and
// to handlers with memories of their own.
//
// Such news comes many at a time, within one step. The handler hears them when the next quiet moment has come, from a
// goroutine of its own, and whatever comes meanwhile afterwards. All other news it hears at once.
type orderedHandler struct {
	cache.ResourceEventHandler
	informer *informer

	mu      sync.Mutex
	held    []news // of this step
	ready   []news // of earlier steps, in order
	telling bool   // a goroutine passes on what is ready
}

// news is what an informer tells a handler: an object that was added (was is nil), updated, or deleted (is is nil).
type news struct {
	was, is any
	initial bool
}

func (i *informer) ordered(h cache.ResourceEventHandler) *orderedHandler {
	return &orderedHandler{ResourceEventHandler: caughtHandler{h, i.life}, informer: i}
}

// OnAdd implements cache.ResourceEventHandler.
func (h *orderedHandler) OnAdd(obj any, initial bool) { h.hear(news{is: obj, initial: initial}) }

// OnUpdate implements cache.ResourceEventHandler.
func (h *orderedHandler) OnUpdate(was, is any) { h.hear(news{was: was, is: is}) }

// OnDelete implements cache.ResourceEventHandler.
func (h *orderedHandler) OnDelete(obj any) { h.hear(news{was: obj}) }

func (h *orderedHandler) hear(n news) {
	h.mu.Lock()
	wait := n.initial || n.unchanged() || h.informer.replacing.Load() || h.telling || len(h.held)+len(h.ready) > 0
	if wait {
		h.held = append(h.held, n)
	}
	h.mu.Unlock()
	if wait {
		h.informer.wake()
	} else {
		h.tell(n)
	}
}

// unchanged says whether the object is as it was, as all are that a resync tells of.
func (n news) unchanged() bool {
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

func (h *orderedHandler) tell(n news) {
	switch {
	case n.was == nil:
		h.ResourceEventHandler.OnAdd(n.is, n.initial)
	case n.is == nil:
		h.ResourceEventHandler.OnDelete(n.was)
	default:
		h.ResourceEventHandler.OnUpdate(n.was, n.is)
	}
}

// release puts the news of the last step in order and has them told. It is called at each quiet moment, and reports
// whether it has begun to tell.
func (h *orderedHandler) release() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready = append(h.ready, sortNews(h.held)...)
	h.held = nil
	if h.telling || len(h.ready) == 0 {
		return false
	}
	h.telling = true
	h.informer.spawn(h.tellReady)
	return true
}

// tellReady passes on what is ready. The handler may block for as long as it likes.
func (h *orderedHandler) tellReady() {
	for {
		h.mu.Lock()
		if len(h.ready) == 0 {
			h.telling = false
			h.mu.Unlock()
			h.informer.wake()
			return
		}
		n := h.ready[0]
		h.ready = h.ready[1:]
		h.mu.Unlock()
		h.tell(n)
	}
}

// behind says whether the handler has not heard all that the informer has told.
func (h *orderedHandler) behind() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.telling || len(h.held)+len(h.ready) > 0
}

func sortNews(all []news) []news {
	return sortBy(all, func(n news) any {
		if n.is != nil {
			return n.is
		}
		return n.was
	})
}
