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
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Call is one request in flight.
type Call struct {
	Port      *Port
	Request   apiserver.Request
	Info      apiserver.Info
	Kind      string // Kubernetes kind, for requests to the API server
	Cluster   string // host of the cluster, for requests to another than the world's own
	Host      string // for requests to the outside
	Reconcile string
	Response  *apiserver.Response // once it has taken effect
	Webhook   string              // the webhook's name, for calls of the API server itself
	// Trails is how far behind the watch cache of the server is that the request was sent to, and Wait how long the server
	// keeps the reply back because of that. Rules set them in Arrive.
	Trails, Wait time.Duration

	http    *http.Request
	handler http.Handler // who answers, for requests to the outside that have arrived
	client  int          // which client of the program sends it, see [Port.Client]; 0 if nobody knows
	ordered sync.Once
	key     string
	// subjectKey is key without what tells informers of one kind apart.
	subjectKey string
	event      int
	callers    []uintptr
	reply      chan outcome
	mu         sync.Mutex
	action     *sched.Action
	// server is the life that works on the call of a webhook; lost tells the caller that this life is over.
	server *Port
	lost   func()
	sent   bool // its caller was frozen before it arrived: it takes effect whatever the caller does
	over   bool // its caller has the reply, or has given up
}

type outcome struct {
	response *apiserver.Response
	stream   *Stream
	err      error
}

// Ref is the object that the call is about.
func (c *Call) Ref() history.Ref {
	if c.Host != "" {
		return history.Ref{}
	}
	return history.Ref{Cluster: c.Cluster, Group: c.Info.Group, Kind: c.Kind, Namespace: c.Info.Namespace, Name: c.Info.Name}
}

// Object is Ref with the name that a create gives its object: its URL has none.
func (c *Call) Object() history.Ref {
	ref := c.Ref()
	if ref.Name == "" && c.Host == "" && c.Info.Verb == "create" {
		ref.Name = history.NameIn(c.Request.Body)
	}
	return ref
}

// Verb is the Kubernetes verb, or the HTTP method for the outside.
func (c *Call) Verb() string {
	if c.Host != "" {
		return c.Request.Method
	}
	return c.Info.Verb
}

// Writes says whether the request may change anything.
func (c *Call) Writes() bool {
	switch c.Verb() {
	case "get", "list", "watch", http.MethodGet, http.MethodHead:
		return false
	}
	return true
}

// Idle says whether the call belongs to the endless chatter that a settled world still has.
func (c *Call) Idle() bool {
	return c.Info.Group == "coordination.k8s.io" && c.Info.Resource == "leases"
}

// String is the call in words, without anything that differs between equal calls of two runs.
func (c *Call) String() string {
	if c.Host != "" {
		return c.Request.Method + " " + c.Host + c.Request.URL.Path
	}
	s := c.Info.Verb + " " + c.Ref().String()
	if c.Info.Subresource != "" {
		s += "/" + c.Info.Subresource
	}
	return s
}

// Told is String for stories: a create names its object, too. Labels of choices have String, lest they change.
func (c *Call) Told() string {
	if c.Host != "" || c.Info.Verb != "create" || c.Info.Name != "" {
		return c.String()
	}
	return "create " + c.Object().String()
}

// call reads the request and finds out what it is about.
func (p *Port) call(req *http.Request) (*Call, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	call := &Call{
		Port: p, http: req, reply: make(chan outcome, 1), Reconcile: p.Attribute(req.Context()), event: -1,
		Request: apiserver.Request{Method: req.Method, URL: req.URL, Header: req.Header, Body: body, User: p.User, Groups: p.Groups, UID: p.UID},
	}
	switch {
	case req.URL.Host == APIHost:
	case p.cluster.remotes[req.URL.Host] != nil:
		call.Cluster = req.URL.Host
	default:
		call.Host = req.URL.Host
		return call, nil
	}
	// The history keeps bodies in JSON. One that is no object of a built-in type stays: the server
	// refuses it.
	if header, body, err := apiserver.JSONBody(req.Header, body); err == nil {
		call.Request.Header, call.Request.Body = header, body
	}
	if info, ok := apiserver.ParseInfo(req.Method, req.URL); ok {
		call.Info = info
		p.cluster.mu.Lock()
		call.Kind = p.cluster.serverOf(call).KindOf(info.Group, info.Resource)
		p.cluster.mu.Unlock()
		if call.Kind == "" {
			call.Kind = info.Resource
		}
	}
	return call, nil
}

// order is the call's place among those that arrive in one stretch.
func (c *Call) order() string {
	c.ordered.Do(func() {
		f := fnv.New64a()
		f.Write(c.Request.Body)
		u := c.Request.URL.String()
		if strings.Contains(u, "timeout") {
			u = clientTimeout.ReplaceAllString(u, "")
		}
		c.subjectKey = c.Port.Name() + " " + c.Reconcile + " " + c.Request.Method + " " + u + " " + strconv.FormatUint(f.Sum64(), 16)
		c.key = c.subjectKey
		if as := c.Request.Header.Get("Accept"); strings.Contains(as, ";as=") { // an informer of metadata, beside one of whole objects
			c.key += " " + as
		}
		if sort := c.sort(); sort != "" {
			c.key += " " + sort
		}
		if c.client > 0 {
			c.key += fmt.Sprintf(" client %03d", c.client)
		}
	})
	return c.key
}

type sortKey struct{}

// WithSort tells requests apart that are otherwise the same: a program may have informers of two sorts for one kind.
func WithSort(ctx context.Context, sort string) context.Context {
	return context.WithValue(ctx, sortKey{}, sort)
}

func (c *Call) sort() (s string) {
	if c.http != nil {
		s, _ = c.http.Context().Value(sortKey{}).(string)
	}
	return s
}

// Actor says who sends the call: the worker at a key, whichever attempt it is, or else all that the program sends about one
// sort of thing, as an informer's list and watch.
func (c *Call) Actor() string {
	if at := strings.LastIndex(c.Reconcile, " #"); at >= 0 {
		return c.Port.Name() + " " + c.Reconcile[:at]
	}
	return c.Port.Name() + " at " + c.Host + c.Request.URL.Path
}

// clientTimeout is the time-out that a reflector draws for each watch. Reflectors that start together draw in an order
// that nobody chooses, so the number must not matter: see [Stream.patience].
var clientTimeout = regexp.MustCompile(`[?&]timeout(Seconds)?=[^&]*`)
