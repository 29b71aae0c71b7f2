package wire

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Call is one request in flight.
type Call struct {
	Port      *Port
	Request   apiserver.Request
	Info      apiserver.Info
	Kind      string              // Kubernetes kind, for requests to the API server
	Cluster   string              // host of the cluster, for requests to another than the world's own
	Host      string              // for requests to the outside
	Reconcile history.Reconcile   // that sends it
	Response  *apiserver.Response // once it has taken effect
	Webhook   string              // the webhook's name, for calls of the API server itself
	// Lag is how far the watch cache of the server that gets the request is behind. Wait is how
	// much longer the reply takes. Rules set both in Arrive.
	Lag, Wait time.Duration

	http    *http.Request
	events  Events       // of a watch that the backend has opened; nil for none
	handler http.Handler // who answers, for requests to the outside that have arrived
	client  int          // which client of the process sends it, see [Port.Client]; 0 if that is not known
	ordered sync.Once
	key     string
	// subjectKey is key without the part that distinguishes informers of one kind.
	subjectKey string
	event      int
	callers    []uintptr
	byTimer    bool           // nothing but time had passed before it was sent
	source     string         // see [Source]
	beside     bool           // see [recorder.Beside]
	reads      []history.Read // of the cache, by its reconcile, since the call before it
	reply      chan outcome
	mu         sync.Mutex
	action     *sched.Action
	// server is the incarnation that works on the call of a webhook. lost tells the caller that it
	// has ended.
	server *Port
	lost   func()
	sent   bool // its caller was frozen before it arrived, so it takes effect in any case
	over   bool // its caller has the reply, or has given up
}

type outcome struct {
	response *apiserver.Response
	stream   io.ReadCloser // of a watch
	err      error
}

// Source is the line of the code under test that sends the call, as dir/file.go:line in its module;
// "" if that is not known.
func (c *Call) Source() string { return c.source }

// Ref is the object that the call is about.
func (c *Call) Ref() history.Ref {
	if c.Host != "" {
		return history.Ref{}
	}
	i := c.Info
	return history.Ref{Cluster: c.Cluster, Group: i.Group, Kind: c.Kind, Namespace: i.Namespace, Name: i.Name}
}

// Object is Ref with the name that a create gives its object: its URL has none.
func (c *Call) Object() history.Ref {
	ref := c.Ref()
	if ref.Name == "" && c.Host == "" && c.Info.Verb == "create" {
		ref.Name = history.NameIn(c.Request.Body)
	}
	return ref
}

// given is the name that a create gives its object; "" if the server completes it.
func (c *Call) given() string {
	if name := c.Object().Name; !strings.HasSuffix(name, "…") {
		return name
	}
	return ""
}

// Verb is the Kubernetes verb, or the HTTP method for the outside.
func (c *Call) Verb() string {
	if c.Host != "" {
		return c.Request.Method
	}
	return c.Info.Verb
}

// Writes reports whether the request may change anything.
func (c *Call) Writes() bool {
	switch c.Verb() {
	case "get", "list", "watch", http.MethodGet, http.MethodHead:
		return false
	}
	return true
}

// Idle reports whether the call is one that always comes again, as lease renewals do in a quiescent
// world.
func (c *Call) Idle() bool {
	return c.Info.Group == "coordination.k8s.io" && c.Info.Resource == "leases"
}

// String is the call in words. It contains nothing that may differ between two runs, as choice
// labels have it.
func (c *Call) String() string { return c.Verb() + " " + c.Subject() }

// Subject is what the call is about, in words: the object, or the URL of a service outside.
func (c *Call) Subject() string {
	if c.Host != "" {
		return c.Host + c.Request.URL.Path
	}
	s := c.Ref().String()
	if c.Info.Subresource != "" {
		s += "/" + c.Info.Subresource
	}
	return s
}

// Description is String for stories: it names the object that a create makes.
func (c *Call) Description() string {
	if c.Host != "" || c.Info.Verb != "create" || c.Info.Name != "" {
		return c.String()
	}
	return "create " + c.Object().String()
}

// WasFrozen reports whether the call was under way, and a write, when its caller was frozen.
func (c *Call) WasFrozen() bool { return c.sent }

// order is the canonical order of calls that are sent in one phase.
func (c *Call) order() string {
	c.ordered.Do(func() {
		f := fnv.New64a()
		f.Write(c.Request.Body)
		u := c.Request.URL.String()
		if strings.Contains(u, "timeout") {
			u = clientTimeout.ReplaceAllString(u, "")
		}
		sum := strconv.FormatUint(f.Sum64(), 16)
		c.subjectKey = c.Port.Name() + " " + c.Reconcile.String() + " " + c.Request.Method + " " + u + " " + sum
		c.key = c.subjectKey
		as := c.Request.Header.Get("Accept")
		if strings.Contains(as, ";as=") { // an informer of metadata, next to one of whole objects
			c.key += " " + as
		}
		if variant := c.variant(); variant != "" {
			c.key += " " + variant
		}
		if c.client > 0 {
			c.key += fmt.Sprintf(" client %03d", c.client)
		}
	})
	return c.key
}

type variantKey struct{}

// WithVariant distinguishes requests that are otherwise equal: a process may have two informers for
// one kind, of typed and of unstructured objects.
func WithVariant(ctx context.Context, variant string) context.Context {
	return context.WithValue(ctx, variantKey{}, variant)
}

func (c *Call) variant() (s string) {
	if c.http != nil {
		s, _ = c.http.Context().Value(variantKey{}).(string)
	}
	return s
}

// Actor is who sends the call: the worker at a key, in all its attempts. For a call outside any
// reconcile it is the process with the path, so that an informer's list and watch have one actor.
func (c *Call) Actor() choice.Actor {
	if c.Reconcile.None() {
		return c.Port.Actor("at " + c.Host + c.Request.URL.Path)
	}
	return c.Port.Actor(c.Reconcile.Key.String())
}

// cause is the call as the cause of what comes after it.
func (c *Call) cause(kind history.CauseKind) history.Cause {
	if c.Host != "" {
		return history.Cause{Kind: kind, Verb: c.Request.Method, Of: c.Subject()}
	}
	ref := c.Ref()
	ref.Kind = ""
	of := ref.String()
	if c.Info.Subresource != "" {
		of += "/" + c.Info.Subresource
	}
	return history.Cause{Kind: kind, Verb: c.Info.Verb, Object: c.Kind, Of: of}
}

// expired reports whether the call is sent at the very instant of its context's deadline. A poll
// whose interval divides its time-out, such as the renewal of client-go's leader election, has a
// timer and a deadline that are due at one instant, and Go's runtime chooses at random which fires
// first. If it is the timer, the program sends one more request. Such a request does not leave the
// program, so the choice has no effect.
func (c *Call) expired() bool {
	deadline, ok := c.http.Context().Deadline()
	s := c.Port.sched
	return ok && s.At(deadline) == s.Now()
}

// clientTimeout is the time-out that a reflector draws for each watch. Reflectors that start
// together draw in an order that the harness does not choose, so the number must not matter: see
// [Stream.timeLimit].
var clientTimeout = regexp.MustCompile(`[?&]timeout(Seconds)?=[^&]*`)

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
