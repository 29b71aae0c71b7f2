package kept

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// shape is what the decoder and Copy must know of a type.
type shape struct {
	custom bool              // it decodes itself
	fields map[string]*field // of a struct, by the names of their members; nil if that is not simple
	flat   bool              // an assignment copies it
	hidden bool              // it has fields that cannot be set
	copier reflect.Value     // its method DeepCopy, if it has hidden fields
	deep   []deepField       // the fields of a struct that are not flat
	elem   atomic.Pointer[shape]
	// generated is the method DeepCopyInto of Kubernetes' own types. Those of operators may be
	// incomplete.
	generated reflect.Value
}

type field struct {
	index []int
	bit   uint64 // which no other field has
}

type deepField struct {
	index int
	*shape
}

// of returns the shape of the elements of t, whose shape this is. A type may contain itself, so it
// is found when it is needed.
func (s *shape) of(t reflect.Type) *shape {
	elem := s.elem.Load()
	if elem == nil {
		elem = shapeOf(t.Elem())
		s.elem.Store(elem)
	}
	return elem
}

var shapes sync.Map // of *shape by reflect.Type

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	timeType        = reflect.TypeFor[time.Time]()
)

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	p := reflect.PointerTo(t)
	s := &shape{custom: p.Implements(unmarshaler) || p.Implements(textUnmarshaler)}
	switch t.Kind() {
	case reflect.Struct:
		s.ofStruct(t)
	case reflect.Array:
		s.flat = shapeOf(t.Elem()).flat
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Func, reflect.Chan,
		reflect.UnsafePointer:
	default:
		s.flat = true
	}
	shapes.Store(t, s)
	return s
}

func (s *shape) ofStruct(t reflect.Type) {
	s.flat = true
	for i := range t.NumField() {
		f := t.Field(i)
		inner := shapeOf(f.Type)
		if inner.flat {
			continue
		}
		s.flat = false
		s.deep = append(s.deep, deepField{i, inner})
		s.hidden = s.hidden || !f.IsExported()
	}
	if t == timeType { // which shares its location
		s.flat, s.hidden, s.deep = true, false, nil
	}
	method := reflect.FuncOf([]reflect.Type{t}, []reflect.Type{t}, false)
	if m, ok := t.MethodByName("DeepCopy"); s.hidden && ok && m.Type == method {
		s.copier = m.Func // as resource.Quantity has it
	}
	if strings.HasPrefix(t.PkgPath(), "k8s.io/api/") {
		if m, ok := reflect.PointerTo(t).MethodByName("DeepCopyInto"); ok {
			s.generated = m.Func
		}
	}
	s.fields = map[string]*field{}
	if !s.name(t, nil) {
		s.fields = nil
	}
}

// name fills fields. It returns false if the names of some members are not simple.
func (s *shape) name(t reflect.Type, path []int) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := append(path[:len(path):len(path)], i)
		switch {
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct || !f.IsExported() || !s.name(f.Type, at) {
				return false
			}
			continue
		case !f.IsExported() || name == "-" && options == "":
			continue
		case name == "":
			name = f.Name
		}
		if s.fields[name] != nil || name == "-" || strings.Contains(options, "string") || len(s.fields) == 64 {
			return false
		}
		s.fields[name] = &field{at, 1 << len(s.fields)}
	}
	return true
}

// detach gives a value of this shape that was assigned parts of its own. It returns false if it
// cannot.
func (s *shape) detach(v reflect.Value) bool {
	switch {
	case s.flat:
		return true
	case v.Kind() == reflect.Struct:
		return s.detachStruct(v)
	case v.Kind() == reflect.Array:
		return s.detachAll(v)
	case v.IsNil():
		return true
	}
	switch v.Kind() {
	case reflect.Pointer:
		own := reflect.New(v.Type().Elem())
		own.Elem().Set(v.Elem())
		v.Set(own)
		return s.of(v.Type()).detach(own.Elem())
	case reflect.Interface:
		own := reflect.New(v.Elem().Type()).Elem()
		own.Set(v.Elem())
		done := shapeOf(own.Type()).detach(own)
		v.Set(own)
		return done
	case reflect.Slice:
		switch known := v.Addr().Interface().(type) {
		case *[]string:
			*known = slices.Clone(*known)
			return true
		case *[]byte:
			*known = slices.Clone(*known)
			return true
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		return s.detachAll(v)
	case reflect.Map:
		return s.detachMap(v)
	}
	return false
}

func (s *shape) detachStruct(v reflect.Value) bool {
	if s.hidden {
		if s.copier.IsValid() {
			v.Set(s.copier.Call([]reflect.Value{v})[0])
		}
		return s.copier.IsValid() || v.IsZero()
	}
	for _, f := range s.deep {
		if !f.detach(v.Field(f.index)) {
			return false
		}
	}
	return true
}

// detachAll detaches the elements of a slice or an array.
func (s *shape) detachAll(v reflect.Value) bool {
	elem := s.of(v.Type())
	for i := 0; i < v.Len() && !elem.flat; i++ {
		if !elem.detach(v.Index(i)) {
			return false
		}
	}
	return true
}

func (s *shape) detachMap(v reflect.Value) bool {
	if texts, ok := v.Addr().Interface().(*map[string]string); ok {
		*texts = maps.Clone(*texts)
		return true
	}
	own := reflect.MakeMapWithSize(v.Type(), v.Len())
	for each := v.MapRange(); each.Next(); {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(each.Value())
		if !shapeOf(v.Type().Key()).flat || !s.of(v.Type()).detach(value) {
			return false
		}
		own.SetMapIndex(each.Key(), value)
	}
	v.Set(own)
	return true
}
