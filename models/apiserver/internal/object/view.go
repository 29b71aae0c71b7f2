package object

import (
	"encoding/json"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// View is one way to show an object: a version, or its metadata alone.
type View struct {
	Version *Version
	Partial bool
}

// Encoded is an object as a view shows it.
type Encoded struct {
	JSON   []byte
	typed  int // length of kind and apiVersion in front, which a list of a built-in type leaves out
	frames map[string][]byte
	// whole and item are what was decoded last from JSON, and from the object as a list shows it.
	whole, item runtime.Object
	of          *Object
	view        View
	// item and body in protobuf, made when first needed
	protobufItem, protobufBody []byte
}

// As returns the object encoded for a view, encoding it at most once.
func (o *Object) As(v View) *Encoded {
	if e := o.views[v]; e != nil {
		return e
	}
	e := &Encoded{of: o, view: v}
	switch {
	case v.Partial:
		e.JSON = encodePartial(o.Meta)
	case v.Version == o.Version:
		e.JSON = o.JSON
	default:
		e.JSON = v.Version.Convert(o)
	}
	if !v.Partial && v.Version.Type.Builtin {
		e.typed = len(v.Version.Prefix)
	}
	if o.views == nil {
		o.views = map[View]*Encoded{}
	}
	o.views[v] = e
	return e
}

// PartialPrefix is how the encoded metadata of an object starts.
const PartialPrefix = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",`

func encodePartial(meta *metav1.ObjectMeta) []byte {
	b := append([]byte(PartialPrefix), `"metadata":`...)
	return append(append(b, Marshal(meta)...), '}')
}

// Frame is the watch frame of that type for a view, encoded once for all watchers.
func (o *Object) Frame(kind string, v View) []byte {
	e := o.As(v)
	if raw := e.frames[kind]; raw != nil {
		return raw
	}
	b := make([]byte, 0, len(e.JSON)+40)
	b = append(append(append(b, `{"type":"`...), kind...), `","object":`...)
	b = append(append(b, e.JSON...), '}', '\n')
	if e.frames == nil {
		e.frames = map[string][]byte{}
	}
	e.frames[kind] = b
	return b
}

// Item is the object as a list shows it: built-in types leave out kind and apiVersion there.
func (e *Encoded) Item(b []byte) []byte {
	if e.typed == 0 {
		return append(b, e.JSON...)
	}
	return append(append(b, '{'), e.JSON[e.typed:]...)
}

// Decode decodes the object, or what a list shows of it, into a zero value. A type that was asked
// for last is copied.
func (e *Encoded) Decode(item bool, into runtime.Object) error {
	kept, raw := &e.whole, e.JSON
	if item {
		kept = &e.item
	}
	to := reflect.ValueOf(into)
	if *kept != nil && reflect.TypeOf(*kept) == to.Type() {
		to.Elem().Set(reflect.ValueOf((*kept).DeepCopyObject()).Elem())
		return nil
	}
	if item {
		raw = e.Item(nil)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return err
	}
	*kept = into.DeepCopyObject()
	return nil
}

// Superseded drops what was made for readers of a state that is no longer the newest.
func (o *Object) Superseded() {
	for _, e := range o.views {
		e.whole, e.item, e.protobufItem, e.protobufBody = nil, nil, nil, nil
	}
}
