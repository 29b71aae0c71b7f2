package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
)

// Object is a server-side object in its current state.
type Object struct {
	Ref      Ref
	UID      string
	Revision int64
	JSON     []byte

	state *state // nil for an object that does not come from a history
}

// state is the last change of an object. Properties decode it after every step, and most steps
// change other objects, so it keeps what was decoded.
type state struct {
	*Change
	decoded atomic.Pointer[reflect.Value] // a pointer to a value with no other owner
}

func (s *state) show() Object { return Object{s.Ref, s.UID, s.Revision, s.Change.Object, s} }

// String names the object and its revision.
func (o Object) String() string { return fmt.Sprintf("%s (rv %d)", o.Ref, o.Revision) }

// Equal reports whether two objects are the same state, as go-cmp asks: whose history they are of
// does not matter.
func (o Object) Equal(other Object) bool {
	return o.Ref == other.Ref && o.UID == other.UID && o.Revision == other.Revision &&
		bytes.Equal(o.JSON, other.JSON)
}

// Into decodes the object into v, as encoding/json does. A type that has the method DeepCopyInto,
// as Kubernetes' own and generated ones do, is decoded once for each state of the object. After
// that, Into copies.
func (o Object) Into(v any) error {
	into := reflect.ValueOf(v)
	if o.state == nil || !blank(into) {
		return json.Unmarshal(o.JSON, v)
	}
	if kept := o.state.decoded.Load(); kept != nil && kept.Type() == into.Type() && o.unchanged() {
		copyInto(*kept, into)
		return nil
	}
	if err := json.Unmarshal(o.JSON, v); err != nil {
		return err
	}
	if kept := reflect.New(into.Type().Elem()); o.unchanged() && copyInto(into, kept) &&
		reflect.DeepEqual(kept.Interface(), v) {
		o.state.decoded.Store(&kept)
	}
	return nil
}

// unchanged reports whether the object still has the JSON of its state.
func (o Object) unchanged() bool {
	was := o.state.Change.Object
	return len(o.JSON) == len(was) && len(was) > 0 && &o.JSON[0] == &was[0]
}

// blank reports whether v points to a zero value. Decoding into another one would merge.
func blank(v reflect.Value) bool {
	return v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().Kind() == reflect.Struct && v.Elem().IsZero()
}

// copyInto calls from.DeepCopyInto(to), and reports whether there is such a method.
func copyInto(from, to reflect.Value) bool {
	f := copier(from.Type())
	if !f.IsValid() || from.Type() != to.Type() {
		return false
	}
	f.Call([]reflect.Value{from, to})
	return true
}

// copiers are the methods DeepCopyInto that were looked for: a reflect.Value by reflect.Type. To
// look for one takes longer than to copy a small object.
var copiers sync.Map

func copier(t reflect.Type) reflect.Value {
	if f, ok := copiers.Load(t); ok {
		return f.(reflect.Value)
	}
	var f reflect.Value
	if m, ok := t.MethodByName("DeepCopyInto"); ok && m.Type.NumIn() == 2 && m.Type.In(1) == t {
		f = m.Func
	}
	copiers.Store(t, f)
	return f
}
