// Package namespace is a model of the namespace controller of kube-controller-manager: what empties
// a namespace that is being deleted, and lets it go.
//
// It follows pkg/controller/namespace of Kubernetes 1.37: namespace_controller.go for the queue,
// and in deletion/ namespaced_resources_deleter.go for a pass and status_condition_utils.go for the
// conditions.
//
// # A pass
//
// Five seconds after it has seen that a namespace terminates, the controller begins a pass:
//
//  1. It looks up which types have objects there.
//  2. It deletes pods, and continues only when none is left (KEP-5080; [AnyOrder] leaves that out).
//  3. It deletes the other types, one collection after the other. The run chooses the order, as the
//     real controller ranges over a map.
//  4. It writes the remaining objects into the conditions of the namespace.
//  5. If nothing is left, it takes its finalizer off spec.finalizers.
//
// Each of these writes is a step of its own. A type with nothing in it is passed over, for nothing
// can be created there any more.
//
// What is left decides when the next pass comes. Objects that finalizers hold are expected to take
// 15 s, and pods the longest of their grace periods. The controller tries again after half of that
// and a second. After any other error it tries again after 5 ms, doubling up to 60 s. But every
// change of the namespace brings a pass 5 s later, if none was due sooner. The conditions that the
// controller itself writes are such a change.
//
// # What is different
//
// The limit of ten retries a second for all namespaces together is left out. A DELETE of a
// collection is one request and takes effect at once; a real server deletes its objects one by one.
// The first attempt to finalize, which always conflicts with the conditions that were written just
// before, is not made; its repetition is. Group versions always parse, so the condition
// NamespaceDeletionGroupVersionParsingFailure never becomes true.
package namespace

import (
	"bytes"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// grace is how long after an event work on a namespace begins (namespace_controller.go,
// namespaceDeletionGracePeriod).
const grace = 5 * time.Second

// first and longest bound the time between two attempts that fail (namespace_controller.go,
// nsControllerRateLimiter).
const first, longest = 5 * time.Millisecond, 60 * time.Second

// Option changes how the controller works.
type Option func(*controller)

// AnyOrder deletes pods in their turn, as Kubernetes did before 1.33: they may go after what they
// depend on.
func AnyOrder() Option {
	return func(c *controller) { c.anyOrder = true }
}

// InOrder deletes these types first, in this order, each written as "resource.group" or, in the
// core group, as "resource". The others follow as the run chooses. No real controller promises an
// order; this is for trying them one by one.
func InOrder(types ...string) Option {
	return func(c *controller) { c.order = types }
}

// RefuseSecondDelete has the API server answer the DELETE of a namespace that terminates already
// with 409 Conflict, as old servers did; present ones answer 200 and change nothing.
func RefuseSecondDelete() Option {
	return func(c *controller) { c.refuse = true }
}

// Undiscovered makes discovery fail for the group versions that failing returns, at a time since
// the beginning of the run. That is what a cluster sees while an aggregated API server is down: the
// types of those groups are not deleted, and no namespace finishes.
func Undiscovered(failing func(at time.Duration) []schema.GroupVersion) Option {
	return func(c *controller) { c.undiscovered = failing }
}

// New returns the controller. Its name is "namespace-controller".
func New(opts ...Option) actor.Actor {
	c := &controller{work: map[string]*work{}}
	for _, o := range opts {
		o(c)
	}
	return c
}

type controller struct {
	cluster      actor.Cluster
	anyOrder     bool
	order        []string
	refuse       bool
	undiscovered func(time.Duration) []schema.GroupVersion
	work         map[string]*work
	types        []actor.Resource // what is served, until that changes
}

// work is what the queue of the real controller knows of one namespace.
type work struct {
	waiting  bool // a pass is due
	due      time.Duration
	pass     *pass // the pass that is under way
	dirty    bool  // one was due meanwhile
	failures int
	// empty are the types that had no objects when they were last listed, and to which none was
	// added since. The real controller lists them again in every pass and would see the same.
	empty map[schema.GroupResource]bool
}

// Name implements [actor.Actor].
func (*controller) Name() string { return "namespace-controller" }

// Serve implements [actor.Server].
func (c *controller) Serve(s *apiserver.Server) { s.RefuseDeleteOfTerminating(c.refuse) }

// Begin implements [actor.Actor].
func (c *controller) Begin(cluster actor.Cluster) {
	c.cluster = cluster
	all, err := actor.List[corev1.Namespace](cluster, "/api/v1/namespaces")
	if err != nil {
		panic("namespace: namespaces cannot be listed: " + err.Error())
	}
	for _, n := range all {
		if n.DeletionTimestamp != nil {
			c.wait(n.Name, grace, cluster.After)
		}
	}
}

// Observe implements [actor.Actor].
func (c *controller) Observe(change apiserver.Change) {
	if w := c.work[change.Namespace]; w != nil && change.Type == "ADDED" {
		// Another group may serve the same objects, as two serve events.
		maps.DeleteFunc(w.empty, func(r schema.GroupResource, _ bool) bool { return r.Resource == change.Resource })
	}
	switch change.Resource {
	case "customresourcedefinitions":
		c.types = nil
		for _, w := range c.work {
			clear(w.empty)
		}
	case "namespaces":
		switch {
		case change.Group != "":
		case change.Type == "DELETED":
			c.forget(change.Name)
		case bytes.Contains(change.Object, []byte(`"deletionTimestamp"`)):
			c.wait(change.Name, grace, c.cluster.After)
		}
	}
}

// forget drops the pass that is due for a namespace that is gone. The pass would find nothing, and
// Settle does not wait for it.
func (c *controller) forget(name string) {
	w := c.work[name]
	if w == nil {
		return
	}
	if w.waiting {
		w.waiting = false
		c.cluster.After(0, "wait "+name, func() {})
	}
	if w.pass == nil {
		delete(c.work, name)
	}
}

// wait makes a pass due, unless one is due sooner. after is the cluster's After or Again.
func (c *controller) wait(name string, d time.Duration, after func(time.Duration, string, func())) {
	w := c.work[name]
	if w == nil {
		w = &work{empty: map[schema.GroupResource]bool{}}
		c.work[name] = w
	}
	due := c.cluster.Now() + d
	if w.waiting && w.due <= due {
		return
	}
	w.waiting, w.due = true, due
	after(d, "wait "+name, func() {
		w.waiting = false
		if w.pass != nil {
			w.dirty = true
			return
		}
		c.begin(name, w)
	})
}

// begin starts a pass.
func (c *controller) begin(name string, w *work) {
	w.pass = &pass{controller: c, name: name, work: w}
	w.pass.begin()
}

// next asks for the next step of a pass.
func (p *pass) next(step func()) {
	p.cluster.After(0, "pass "+p.name, step)
}

// finished ends a pass that has nothing more to do.
func (p *pass) finished() {
	p.work.failures = 0
	p.end()
}

// remaining ends a pass that has left something behind, which is expected to take so many seconds.
func (p *pass) remaining(estimate int64) {
	p.wait(p.name, time.Duration(estimate/2+1)*time.Second, p.cluster.Again)
	p.end()
}

// failed ends a pass in which something could not be done.
func (p *pass) failed() {
	d := longest
	if shift := p.work.failures; shift < 14 { // 5 ms doubled fourteen times is more than the longest
		d = first << shift
	}
	p.work.failures++
	p.wait(p.name, d, p.cluster.Again)
	p.end()
}

func (p *pass) end() {
	p.work.pass = nil
	switch {
	case p.work.dirty:
		p.work.dirty = false
		p.wait(p.name, 0, p.cluster.After)
	case !p.work.waiting:
		delete(p.controller.work, p.name)
	}
}
