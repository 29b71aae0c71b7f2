package apiserver

import (
	"iter"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
	"github.com/wavetank/wavetank/models/apiserver/internal/store"
)

// contents are the stored objects and the kinds that are served, for reading without a request.
type contents struct {
	store    *store.Store[*object.Object]
	registry registry.Registry
}

func (c *contents) table(k *object.Type) *store.Table[*object.Object] { return c.store.Table(k.Table) }

// Lookup returns the stored object of a kind by name, encoded in its storage version; the bytes are
// not to be changed.
func (c *contents) Lookup(group, kind, namespace, name string) ([]byte, bool) {
	k := c.registry.ByKind(group, kind)
	if k == nil {
		return nil, false
	}
	if !k.Namespaced {
		namespace = ""
	}
	o, ok := c.table(k.Type).Get(object.Key(namespace, name))
	if !ok {
		return nil, false
	}
	return o.JSON, true
}

// Objects yields the stored objects of a kind, ordered by namespace and name. The server must not
// be written to meanwhile.
func (c *contents) Objects(group, kind string) iter.Seq[Object] {
	return func(yield func(Object) bool) {
		k := c.registry.ByKind(group, kind)
		if k == nil {
			return
		}
		for _, o := range c.table(k.Type).Range("", "") {
			out := Object{
				Namespace: o.Meta.Namespace,
				Name:      o.Meta.Name,
				UID:       string(o.Meta.UID),
				Revision:  o.Revision,
				JSON:      o.JSON,
			}
			if !yield(out) {
				return
			}
		}
	}
}

// Typed is a stored object of a built-in type, or nil. It is the store's own and must not be
// changed.
func (c *contents) Typed(group, resource, namespace, name string) runtime.Object {
	k := registry.Builtins().ByResource[group+"/"+resource]
	if k == nil {
		return nil
	}
	o, ok := c.table(k.Type).Get(object.Key(namespace, name))
	if !ok {
		return nil
	}
	return o.Typed
}

// EachTyped are the stored objects of a built-in type, of one namespace or of all for "", ordered
// by namespace and name. They are the store's own and must not be changed.
func (c *contents) EachTyped(group, resource, namespace string) iter.Seq[runtime.Object] {
	return func(yield func(runtime.Object) bool) {
		k := registry.Builtins().ByResource[group+"/"+resource]
		if k == nil {
			return
		}
		prefix := ""
		if namespace != "" {
			prefix = namespace + "/"
		}
		for _, o := range c.table(k.Type).Range(prefix, "") {
			if !yield(o.Typed) {
				return
			}
		}
	}
}

// Revision is the revision of the newest change.
func (c *contents) Revision() int64 { return c.store.Revision() }

// History yields the changes after revision since, oldest first, as far as they have not been
// compacted.
func (c *contents) History(since int64) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		for _, e := range c.store.History(since) {
			if !yield(changeOf(e)) {
				return
			}
		}
	}
}

// Compacted is the revision up to which history has been forgotten.
func (c *contents) Compacted() int64 { return c.store.Compacted() }

// KindOf is the kind that a resource name stands for, "" when it is not served.
func (c *contents) KindOf(group, resource string) string {
	if k := c.registry.ByResource(group, resource); k != nil {
		return k.Kind
	}
	return ""
}

var operations = map[store.Op]string{store.Added: "ADDED", store.Modified: "MODIFIED", store.Deleted: "DELETED"}

func changeOf(e *store.Event[*object.Object]) Change {
	o := e.Value
	change := Change{
		Type:      operations[e.Op],
		Group:     o.Version.Type.Group,
		Version:   o.Version.Name,
		Kind:      o.Version.Type.Kind,
		Resource:  o.Version.Type.Plural,
		Namespace: o.Meta.Namespace,
		Name:      o.Meta.Name,
		UID:       string(o.Meta.UID),
		Revision:  e.Revision,
		Time:      o.CommittedAt,
		Object:    o.JSON,
	}
	if e.Previous != nil {
		change.Previous = e.Previous.JSON
	}
	return change
}
