package wire

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

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
	// Admits reports whether a write could have to wait for webhooks.
	Admits() bool
	// AskWebhooks says how webhooks are called. ask is called on any goroutine, and answers later.
	AskWebhooks(ask func(*apiserver.WebhookCall, func(apiserver.WebhookAnswer)))
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
