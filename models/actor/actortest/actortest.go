// Package actortest runs built-in controllers against the API model without a world around them:
// for their own tests.
package actortest

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// epoch is what the clock shows at first.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Cluster is an API server, its built-in controllers, and a clock that moves only in [Cluster.Run].
type Cluster struct {
	Server *apiserver.Server
	// Choice answers every choice; nil gives the dull answer.
	Choice func(label string, n int) int
	// Exit, when set, is the code with which a fault lets the containers of a pod end.
	Exit func(*corev1.Pod) int32
	// Down, when set, is for how long a fault takes a node away.
	Down func(node string) time.Duration
	// Watch, when set, is called after each step.
	Watch func()
	// Changes is everything that was committed.
	Changes []apiserver.Change

	now    time.Duration
	actors []*host
	seq    int
}

// New returns a cluster with the given controllers.
func New(actors ...actor.Actor) *Cluster {
	c := &Cluster{}
	c.Server = apiserver.New(apiserver.Options{Now: func() time.Time { return epoch.Add(c.now) }})
	for _, a := range actors {
		c.Add(a)
	}
	return c
}

// Add starts another controller, which finds what is there already.
func (c *Cluster) Add(a actor.Actor) {
	h := &host{Cluster: c, actor: a, steps: map[string]*step{}}
	c.actors = append(c.actors, h)
	if s, ok := a.(actor.Server); ok {
		s.Serve(c.Server)
	}
	a.Begin(h)
}

// Between is an actor whose writes are shown to answer first. An error that this returns, a
// *apierrors.StatusError, is the reply to the write.
func Between(a actor.Actor, answer func(*apiserver.Request) error) actor.Actor {
	return &between{a, answer}
}

type between struct {
	actor.Actor
	answer func(*apiserver.Request) error
}

func (b *between) Begin(c actor.Cluster) { b.Actor.Begin(&answering{c, b.answer}) }

type answering struct {
	actor.Cluster
	answer func(*apiserver.Request) error
}

func (a *answering) Write(r *apiserver.Request) *apiserver.Response {
	if err := a.answer(r); err != nil {
		status := apierrors.APIStatus(nil)
		if !errors.As(err, &status) {
			panic(err)
		}
		body, _ := json.Marshal(status.Status())
		return &apiserver.Response{Code: int(status.Status().Code), Body: body}
	}
	return a.Cluster.Write(r)
}

// Do performs a request as another client and returns its status code; the answer is decoded into
// out, unless that is nil.
func (c *Cluster) Do(method, path string, in, out any) int {
	u, err := url.Parse(path)
	if err != nil {
		panic(err)
	}
	r := &apiserver.Request{Method: method, URL: u, Header: http.Header{"Content-Type": {"application/json"}}}
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	if in != nil {
		if r.Body, err = json.Marshal(in); err != nil {
			panic(err)
		}
	}
	resp := c.serve(r)
	if out != nil {
		if err := json.Unmarshal(resp.Body, out); err != nil {
			panic(err)
		}
	}
	return resp.Code
}

func (c *Cluster) serve(r *apiserver.Request) *apiserver.Response {
	resp := c.Server.Handle(r)
	c.Changes = append(c.Changes, resp.Changes...)
	for _, ch := range resp.Changes {
		for _, h := range c.actors {
			h.actor.Observe(ch)
		}
	}
	return resp
}

// Run lets time pass, and steps happen: the earliest first, of equally early ones the one that was
// asked for first.
func (c *Cluster) Run(d time.Duration) {
	until := c.now + d
	for {
		var next *step
		var of *host
		for _, h := range c.actors {
			for _, s := range h.steps {
				if s.due <= until && (next == nil || s.due < next.due || s.due == next.due && s.seq < next.seq) {
					next, of = s, h
				}
			}
		}
		if next == nil {
			c.now = until
			return
		}
		c.now = max(c.now, next.due)
		delete(of.steps, next.key)
		next.do()
		if c.Watch != nil {
			c.Watch()
		}
	}
}

// Now is the time that has passed.
func (c *Cluster) Now() time.Duration { return c.now }

// Pending are the keys of the steps that have been asked for, by the name of the controller.
func (c *Cluster) Pending(name string) map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, h := range c.actors {
		if h.actor.Name() == name {
			for k, s := range h.steps {
				out[k] = s.due
			}
		}
	}
	return out
}

// host is the cluster as one controller sees it.
type host struct {
	*Cluster
	actor actor.Actor
	steps map[string]*step
}

type step struct {
	due time.Duration
	seq int
	key string
	do  func()
}

func (h *host) Clock() time.Time { return epoch.Add(h.now) }

func (h *host) Read(r *apiserver.Request) *apiserver.Response { return h.Server.Handle(r) }

func (h *host) Write(r *apiserver.Request) *apiserver.Response {
	r.User, r.Groups = "system:"+h.actor.Name(), []string{"system:masters"}
	return h.serve(r)
}

func (h *host) After(d time.Duration, key string, do func()) {
	h.seq++
	h.steps[key] = &step{h.now + d, h.seq, key, do}
}

func (h *host) Again(d time.Duration, key string, do func()) { h.After(d, key, do) }

func (h *host) Later(d time.Duration, key string, do func()) { h.After(d, key, do) }

func (h *host) PodExit(p *corev1.Pod, _ string) int32 {
	if h.Exit == nil {
		return 0
	}
	return h.Exit(p)
}

func (h *host) NodeDown(node string) time.Duration {
	if h.Down == nil {
		return 0
	}
	return h.Down(node)
}

func (h *host) Choose(label string, n int) int {
	if h.Choice == nil {
		return 0
	}
	return h.Choice(label, n)
}
