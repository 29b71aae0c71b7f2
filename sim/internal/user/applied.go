package user

import (
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim/internal/definitions"
)

// Applied is an object that the scenario has applied and not removed since.
type Applied struct {
	Object     client.Object
	ServerSide bool
	// Event is how many events the history had when the object was applied.
	Event int

	id string
}

// Applied lists the objects that were applied last, in the order in which they were applied first.
func (c *Client) Applied() []Applied { return slices.Clone(c.applied) }

// Remember records that an object was applied.
func (c *Client) Remember(obj client.Object, serverSide bool, event int) {
	a := Applied{obj.DeepCopyObject().(client.Object), serverSide, event, c.id(obj)}
	if i := slices.IndexFunc(c.applied, func(have Applied) bool { return have.id == a.id }); i >= 0 {
		c.applied[i] = a
		return
	}
	c.applied = append(c.applied, a)
}

// Forget records that an object was removed.
func (c *Client) Forget(obj client.Object) {
	id := c.id(obj)
	c.applied = slices.DeleteFunc(c.applied, func(a Applied) bool { return a.id == id })
}

// id is an object's group, kind and name; "" if no scheme knows the object.
func (c *Client) id(obj client.Object) string {
	gvk, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return ""
	}
	return gvk.GroupKind().String() + " " + client.ObjectKeyFromObject(obj).String()
}

// Declare records that a definition was given to the cluster.
func (c *Client) Declare(d definitions.Definition) { c.declared[d.Key()] = d }

// DeclareApplied records an applied object if it is a definition. A definition that means the same
// keeps the file that it came from.
func (c *Client) DeclareApplied(obj client.Object) {
	if !definitions.IsDefinition(obj) {
		return
	}
	d := definitions.Definition{From: "an object given to w.Apply", Object: obj}
	if was, ok := c.declared[d.Key()]; ok && was.Same(d) {
		return
	}
	d.Object = obj.DeepCopyObject().(client.Object)
	c.Declare(d)
}

// Declared is the definition of a key that was given to the cluster.
func (c *Client) Declared(key definitions.Key) (d definitions.Definition, ok bool) {
	d, ok = c.declared[key]
	return d, ok
}

// Definitions are the definitions that were given to the cluster, in no order.
func (c *Client) Definitions() []definitions.Definition {
	return slices.Collect(maps.Values(c.declared))
}
