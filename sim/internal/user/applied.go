package user

import (
	"maps"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim/internal/definitions"
)

// User acts in a scenario with a client of one cluster. It remembers what it applied.
type User struct {
	*Client
	// lastApplied and applied are what Apply sent last: for the next Apply, and for w.ApplyAgain.
	lastApplied map[string]lastApplied // by id
	applied     []Applied
	declared    map[definitions.Key]definitions.Definition
}

// New returns a user of the API server at a host.
func New(host string, transport http.RoundTripper, mapper meta.RESTMapper) *User {
	return &User{
		Client:      newClient(host, transport, mapper),
		lastApplied: map[string]lastApplied{}, declared: map[definitions.Key]definitions.Definition{},
	}
}

// Applied is an object that the scenario has applied and not removed since.
type Applied struct {
	Object     client.Object
	ServerSide bool
	// Event is how many events the history had when the object was applied.
	Event int

	id string
}

// Applied lists the objects that were applied last, in the order in which they were applied first.
func (u *User) Applied() []Applied { return slices.Clone(u.applied) }

// Remember records that an object was applied.
func (u *User) Remember(obj client.Object, serverSide bool, event int) {
	a := Applied{obj.DeepCopyObject().(client.Object), serverSide, event, u.id(obj)}
	if i := slices.IndexFunc(u.applied, func(have Applied) bool { return have.id == a.id }); i >= 0 {
		u.applied[i] = a
		return
	}
	u.applied = append(u.applied, a)
}

// Forget records that an object was removed.
func (u *User) Forget(obj client.Object) {
	id := u.id(obj)
	u.applied = slices.DeleteFunc(u.applied, func(a Applied) bool { return a.id == id })
}

// id is an object's group, kind and name; "" if no scheme knows the object.
func (u *User) id(obj client.Object) string {
	gvk, err := u.GroupVersionKindFor(obj)
	if err != nil {
		return ""
	}
	return gvk.GroupKind().String() + " " + client.ObjectKeyFromObject(obj).String()
}

// Declare records that a definition was given to the cluster.
func (u *User) Declare(d definitions.Definition) { u.declared[d.Key()] = d }

// DeclareApplied records an applied object if it is a definition. A definition that means the same
// keeps the file that it came from.
func (u *User) DeclareApplied(obj client.Object) {
	if !definitions.IsDefinition(obj) {
		return
	}
	d := definitions.Definition{From: "an object given to w.Apply", Object: obj}
	if was, ok := u.declared[d.Key()]; ok && was.Same(d) {
		return
	}
	d.Object = obj.DeepCopyObject().(client.Object)
	u.Declare(d)
}

// Declared is the definition of a key that was given to the cluster.
func (u *User) Declared(key definitions.Key) (d definitions.Definition, ok bool) {
	d, ok = u.declared[key]
	return d, ok
}

// Definitions are the definitions that were given to the cluster, in no order.
func (u *User) Definitions() []definitions.Definition {
	return slices.Collect(maps.Values(u.declared))
}
