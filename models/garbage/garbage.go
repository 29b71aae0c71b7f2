// Package garbage is a model of the garbage collector of kube-controller-manager: what deletes
// objects whose owners have gone, and carries out deletions in the foreground and deletions that
// orphan.
//
// It follows pkg/controller/garbagecollector of Kubernetes 1.37: graph_builder.go for what is kept
// of each object and what a change sets off, garbagecollector.go for the attempts
// (attemptToDeleteItem, attemptToOrphanWorker).
//
// # An attempt
//
// Objects belong together by UID. The collector looks at an object on three occasions: the object
// names an owner that is not where the reference says it is, an owner of it goes, or an owner of it
// begins to wait for its dependents. It then reads the object and each of its owners from the
// server. An owner is
//
//   - absent, if there is none of that type and name (in the namespace of the object, where the
//     type has namespaces), or if that one has another UID;
//   - waiting, if it is being deleted and has the finalizer foregroundDeletion;
//   - else solid.
//
// If an owner is solid, the references to the others are taken off. If none is, the object is
// deleted: in the foreground, if an owner is waiting and the object has dependents of its own.
//
// An owner that is deleted in the foreground loses its finalizer, and so goes, when no dependent
// with blockOwnerDeletion is left. One that is deleted with the finalizer orphan loses it when its
// dependents no longer refer to it. Only those count that were known when the work began, and the
// run chooses their order.
//
// Each write is a step of its own. What fails is tried again after 5 ms, doubling up to 1000 s;
// that includes references to types that are not served, for as long as they are not.
//
// # Owners that cannot be
//
// An owner in another namespace is absent, which deletes the dependent; an event
// OwnerRefInvalidNamespace is recorded for it. An object without namespace that names an owner with
// a namespace is never deleted.
//
// # What is different
//
// The collector knows of every change at once; it only acts later. A new type counts from the
// moment it is served, unless [Discovery] says otherwise. The queues' common limit of ten retries a
// second is left out. Instead, an object that is created again within a second of its deletion is
// collected with a delay from the fifth time on: 1 ms, doubling up to 30 s. Events own nothing and
// are owned by nothing, as upstream.
package garbage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/internal/kept"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// Option changes how the collector works.
type Option func(*collector)

// Discovery makes the collector look for new types only every so often, as the real one does every
// 30 s (Sync in garbagecollector.go). Until then it knows nothing of their objects: they do not go
// with their owners, an owner that is deleted in the foreground does not wait for them, and one
// that orphans does not spare them.
func Discovery(period time.Duration) Option {
	return func(c *collector) { c.period = period }
}

// New returns the collector. Its name is "garbage-collector-controller".
func New(opts ...Option) actor.Actor {
	c := &collector{unknown: map[groupResource]bool{}, graph: graph{nodes: map[types.UID]*node{},
		dependents: map[types.UID]map[*node]bool{}, gone: map[types.UID]*node{}}}
	for _, o := range opts {
		o(c)
	}
	return c
}

// collector owns when an object is looked at, and what becomes of it.
type collector struct {
	cluster actor.Cluster
	queue   queue
	pace    pace
	served  servedTypes
	graph

	period  time.Duration          // how often new types are looked for; 0: at once
	unknown map[groupResource]bool // types that are served and not known yet
}

// graph owns which objects there are, and which name which as their owner.
type graph struct {
	nodes map[types.UID]*node // every object there is
	// dependents are the objects that name an owner, by the owner's UID.
	dependents map[types.UID]map[*node]bool
	// gone are owners that were deleted and left dependents: their types need not be served any
	// more.
	gone map[types.UID]*node
}

type groupResource struct{ group, resource string }

// node is what is kept of an object.
type node struct {
	group, version, kind, resource, namespace, name string
	uid                                             types.UID

	owners []metav1.OwnerReference
	raw    []byte // the owners as the object's encoding has them
	rounds int    // see pace

	deleting, foreground, orphaning bool
	orphans                         *orphans // the work of orphaning, once it has begun
}

func (n *node) path() string { return actor.Path(n.group, n.version, n.namespace, n.resource, n.name) }

func (n *node) String() string {
	if n.namespace == "" {
		return n.kind + " " + n.name
	}
	return n.kind + " " + n.namespace + "/" + n.name
}

// Name implements [actor.Actor].
func (*collector) Name() string { return "garbage-collector-controller" }

// Begin implements [actor.Actor]. It finds all objects again by listing; where a cluster has
// nothing but namespaces, one list tells.
func (c *collector) Begin(cluster actor.Cluster) {
	c.cluster, c.queue, c.served = cluster, queue{cluster: cluster}, servedTypes{cluster: cluster}
	revision, found := c.find(actor.Resource{Version: "v1", Name: "namespaces", Kind: "Namespace"})
	if revision != strconv.Itoa(len(found)) { // else each write so far made one of them
		found = nil
		for _, r := range actor.Resources(cluster) {
			if r.Name != "events" && slices.Contains(r.Verbs, "list") {
				_, more := c.find(r)
				found = append(found, more...)
			}
		}
	}
	for _, f := range found {
		c.changed(f.node, f.object)
	}
}

type found struct {
	node   *node
	object []byte
}

// find enters all objects of a type, and says at which revision of the store it found them.
func (c *collector) find(r actor.Resource) (revision string, out []found) {
	var list struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Items []json.RawMessage `json:"items"`
	}
	if !actor.Get(c.cluster, actor.Path(r.Group, r.Version, "", r.Name, ""), &list) {
		panic("garbage: " + r.Name + " cannot be listed")
	}
	for _, raw := range list.Items {
		var o struct {
			Metadata struct {
				Namespace, Name string
				UID             types.UID
			}
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			panic("garbage: an object that cannot be decoded: " + err.Error())
		}
		n := &node{group: r.Group, version: r.Version, kind: r.Kind, resource: r.Name,
			namespace: o.Metadata.Namespace, name: o.Metadata.Name, uid: o.Metadata.UID}
		c.nodes[n.uid] = n
		out = append(out, found{n, raw})
	}
	return list.Metadata.ResourceVersion, out
}

// Observe implements [actor.Actor]. An object is decoded only where its owners have changed or it
// is being deleted.
func (c *collector) Observe(change apiserver.Change) {
	switch change.Resource {
	case "events":
		return
	case "customresourcedefinitions":
		c.served.byVersion = nil
		if change.Type == "ADDED" && c.period > 0 {
			c.learn(change.Name)
		}
	}
	if c.unknown[groupResource{change.Group, change.Resource}] {
		return
	}
	uid := types.UID(change.UID)
	n := c.nodes[uid]
	if change.Type == "DELETED" {
		if n != nil {
			c.deleted(n)
		}
		return
	}
	if n == nil {
		n = &node{group: change.Group, version: change.Version, kind: change.Kind, resource: change.Resource,
			namespace: change.Namespace, name: change.Name, uid: uid}
		n.rounds = c.pace.created(n, c.cluster.Now())
		c.nodes[uid] = n
	}
	c.changed(n, change.Object)
}

// learn makes the objects of a new type known when types are looked for again. The name of a
// definition is that of its type.
func (c *collector) learn(definition string) {
	resource, group, _ := strings.Cut(definition, ".")
	id := groupResource{group, resource}
	c.unknown[id] = true
	c.cluster.After(c.period-c.cluster.Now()%c.period, "learn "+definition, func() {
		delete(c.unknown, id)
		for _, r := range actor.Resources(c.cluster) {
			if r.Group == group && r.Name == resource {
				_, all := c.find(r)
				for _, f := range all {
					c.changed(f.node, f.object)
				}
			}
		}
	})
}

var ownersField, deletionField = []byte(`"ownerReferences":`), []byte(`"deletionTimestamp":`)

// changed follows an object to its present state.
func (c *collector) changed(n *node, object []byte) {
	same := len(n.owners) == 0
	if i := bytes.Index(object, ownersField); i >= 0 {
		same = n.raw != nil && bytes.HasPrefix(object[i+len(ownersField):], n.raw)
	}
	deleting := bytes.Contains(object, deletionField)
	if same && !deleting {
		return
	}
	o := metadataOf(object)
	if !same {
		c.owned(n, o)
	}
	if o.DeletionTimestamp == nil {
		return
	}
	n.deleting = true
	foreground, orphaning := slices.Contains(o.Finalizers, metav1.FinalizerDeleteDependents),
		slices.Contains(o.Finalizers, metav1.FinalizerOrphanDependents)
	began, beganOrphaning := foreground && !n.foreground, orphaning && !n.orphaning
	n.foreground, n.orphaning = foreground, orphaning
	switch {
	case beganOrphaning:
		c.tryOrphan(n)
	case began:
		for _, d := range c.dependentsOf(n.uid) {
			c.tryDelete(d)
		}
		c.tryDelete(n)
	}
}

// metadata is what an object's encoding says of it. The owners are kept as they are written, too.
type metadata struct {
	metav1.ObjectMeta
	rawOwners []byte
}

var metadataOf = kept.Of(func(object []byte) metadata {
	raw := kept.Member(object, "metadata")
	out := metadata{rawOwners: kept.Member(raw, "ownerReferences")}
	if err := json.Unmarshal(raw, &out.ObjectMeta); err != nil {
		panic("garbage: an object that cannot be decoded: " + err.Error())
	}
	return out
})

// owned notes the owners of an object. Owners that it does not block any more may go; if an owner
// is not where a new reference says, the object is looked at.
func (c *collector) owned(n *node, o metadata) {
	before := n.owners
	n.owners, n.raw = o.OwnerReferences, o.rawOwners
	for _, old := range before {
		i := slices.IndexFunc(n.owners, func(r metav1.OwnerReference) bool { return r.UID == old.UID })
		if i < 0 {
			c.drop(old.UID, n)
		}
		if owner := c.nodes[old.UID]; owner != nil && blocks(old) && (i < 0 || !blocks(n.owners[i])) {
			c.tryDelete(owner)
		}
	}
	look, doubtful := false, false
	for _, ref := range n.owners {
		if slices.ContainsFunc(before, func(r metav1.OwnerReference) bool { return r.UID == ref.UID }) {
			continue
		}
		c.add(ref.UID, n)
		switch owner := c.nodes[ref.UID]; {
		case owner == nil:
			look = true
		case doubtful: // the first reference that cannot be right is enough to look, and no further one is reported
		case !owner.matches(ref, n.namespace):
			doubtful = true
			if owner.namespace != "" && owner.namespace != n.namespace {
				c.report(n, ref)
			}
		}
	}
	if look || doubtful {
		c.tryDelete(n)
	}
}

func blocks(r metav1.OwnerReference) bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

// matches reports whether a reference in a namespace leads to the object. The version may be
// another.
func (n *node) matches(r metav1.OwnerReference, namespace string) bool {
	return r.UID == n.uid && r.Kind == n.kind && r.Name == n.name && groupOf(r.APIVersion) == n.group &&
		(n.namespace == "" || n.namespace == namespace)
}

// add notes that an object depends on an owner.
func (g *graph) add(owner types.UID, n *node) {
	if g.dependents[owner] == nil {
		g.dependents[owner] = map[*node]bool{}
	}
	g.dependents[owner][n] = true
}

// drop forgets that an object depends on an owner.
func (g *graph) drop(owner types.UID, n *node) {
	delete(g.dependents[owner], n)
	if len(g.dependents[owner]) == 0 {
		delete(g.dependents, owner)
		delete(g.gone, owner)
	}
}

// deleted forgets an object. Its dependents may have to go as well, and owners that waited for it
// may go now.
func (c *collector) deleted(n *node) {
	delete(c.nodes, n.uid)
	c.queue.forget(n)
	for _, ref := range n.owners {
		c.drop(ref.UID, n)
	}
	dependents := c.dependentsOf(n.uid)
	if len(dependents) > 0 {
		c.gone[n.uid] = n
	}
	for _, d := range dependents {
		c.tryDelete(d)
	}
	for _, ref := range n.owners {
		if owner := c.nodes[ref.UID]; owner != nil && owner.foreground {
			c.tryDelete(owner)
		}
	}
}

// dependentsOf are the objects that name an owner, by type, namespace and name.
func (g *graph) dependentsOf(owner types.UID) []*node {
	out := make([]*node, 0, len(g.dependents[owner]))
	for d := range g.dependents[owner] {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.kind, b.kind), cmp.Compare(a.namespace, b.namespace),
			cmp.Compare(a.name, b.name))
	})
	return out
}
