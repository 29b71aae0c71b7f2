package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/wavetank/wavetank/internal/kept"
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
// change other objects, so it keeps what was decoded: this state, or one before it.
type state struct {
	*Change
	decoded atomic.Pointer[kept.Version]
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

// Into decodes the object into v, as encoding/json does. A struct is decoded once for each state of
// the object, and after that copied.
func (o Object) Into(v any) error {
	if !blank(reflect.ValueOf(v)) {
		return json.Unmarshal(o.JSON, v)
	}
	return o.fill(v)
}

// fill decodes the object into a zero value.
func (o Object) fill(v any) error {
	into := reflect.ValueOf(v)
	if o.state == nil || into.Type().Elem().Kind() != reflect.Struct || !o.unchanged() {
		return json.Unmarshal(o.JSON, v)
	}
	version, err := kept.Decode(into.Type().Elem(), o.JSON, o.state.decoded.Load(), json.Unmarshal)
	if err != nil || !version.CopyInto(into) {
		return json.Unmarshal(o.JSON, v)
	}
	o.state.decoded.Store(version)
	return nil
}

// unchanged reports whether the object still has the JSON of its state.
func (o Object) unchanged() bool {
	was := o.state.Change.Object
	return len(o.JSON) == len(was) && len(was) > 0 && &o.JSON[0] == &was[0]
}

// blank reports whether v points to a zero value. Decoding into another one would merge.
func blank(v reflect.Value) bool {
	return v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().IsZero()
}
