package wire

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
)

// Backend is an API server that answers in place of the model. It must be safe for concurrent use,
// because discovery is served on the caller's goroutine.
type Backend interface {
	// Do performs a request. The response has the changes that the request committed.
	Do(req *apiserver.Request) *apiserver.Response
	// Watch opens a watch. The events are nil if the server refused it. arrived is called, on any
	// goroutine, when there is a new event or the server has ended the watch.
	Watch(req *apiserver.Request, arrived func()) (*apiserver.Response, Events)
	// Revision is the newest resource version that is known.
	Revision() int64
	// Mapper finds the kinds that the server serves.
	Mapper() meta.RESTMapper
	// KindOf is the kind of a resource; "" if the server does not serve it.
	KindOf(group, resource string) string
}

// Events are what a watch has to deliver. [apiserver.Watch] implements it.
type Events interface {
	// Peek returns the next event.
	Peek() (apiserver.Frame, bool)
	// Next returns the next event and advances.
	Next() (apiserver.Frame, bool)
	// Behind is the number of events that Next has not returned.
	Behind() int
	// Timeout is how long the client wants the watch to last.
	Timeout() time.Duration
	// Expired is the event that ends a watch whose place in history is forgotten.
	Expired() apiserver.Frame
	// Expire makes [Events.Expired] the next event and the last.
	Expire()
	// Close ends the watch.
	Close()
}

// ended is implemented by events that the server may end.
type ended interface{ Ended() bool }

// Use lets a backend answer in place of the model of the world's own cluster.
func (n *Network) Use(b Backend) { n.backend, n.Hosts.backend = b, b }

// Revision is the newest resource version of the world's own cluster.
func (r *recorder) Revision() int64 {
	if r.backend != nil {
		return r.backend.Revision()
	}
	return r.server.Revision()
}

// Mapper finds the kinds of the world's own cluster.
func (n *Network) Mapper() meta.RESTMapper {
	if n.backend != nil {
		return n.backend.Mapper()
	}
	return n.server.Mapper()
}

// openAtBackend opens a watch at the backend.
func (n *Network) openAtBackend(call *Call) {
	call.Response, call.events = n.backend.Watch(&call.Request, func() {
		n.Sched.Note(call.order(), func() {
			if stream := n.Watches.of(call); stream != nil {
				n.Watches.arrived(stream)
			}
		})
	})
}

// Watched are the events of a watch that was served; nil for every other call.
func (c *Call) Watched() Events {
	switch {
	case c.events != nil:
		return c.events
	case c.Response != nil && c.Response.Watch != nil:
		return c.Response.Watch
	}
	return nil
}

// of is the open stream of a call; nil if there is none.
func (w *Watches) of(call *Call) *Stream {
	for _, s := range w.streams {
		if s.Call == call {
			return s
		}
	}
	return nil
}

// arrived is called when the backend has sent an event, or has ended the watch.
func (w *Watches) arrived(s *Stream) {
	w.next(s)
	if e, ok := s.watch.(ended); ok && e.Ended() && s.head == nil {
		w.hangUp(s)
	}
}

// Change is a change of the world's own cluster as the history has it.
func (n *Network) Change(ch apiserver.Change) history.Change { return change(ch, "", n.Sched) }
