package kept

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"sync"
	"time"
)

// shape is what the decoder and Copy must know of a type.
type shape struct {
	custom bool             // it decodes itself
	fields map[string][]int // of a struct, by the names of their members; nil if that is not simple
	flat   bool             // an assignment copies it
	hidden bool             // it has fields that cannot be set
	copier reflect.Value    // its method DeepCopy, if it has hidden fields
	deep   []int            // the fields of a struct that are not flat
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
		if shapeOf(f.Type).flat {
			continue
		}
		s.flat = false
		s.deep = append(s.deep, i)
		s.hidden = s.hidden || !f.IsExported()
	}
	if t == timeType { // which shares its location
		s.flat, s.hidden, s.deep = true, false, nil
	}
	method := reflect.FuncOf([]reflect.Type{t}, []reflect.Type{t}, false)
	if m, ok := t.MethodByName("DeepCopy"); s.hidden && ok && m.Type == method {
		s.copier = m.Func // as resource.Quantity has it
	}
	s.fields = map[string][]int{}
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
		if s.fields[name] != nil || name == "-" || strings.Contains(options, "string") {
			return false
		}
		s.fields[name] = at
	}
	return true
}

// detach gives a value that was assigned parts of its own. It returns false if it cannot.
func detach(v reflect.Value) bool {
	s := shapeOf(v.Type())
	if s.flat {
		return true
	}
	switch v.Kind() {
	case reflect.Struct:
		if s.hidden {
			if s.copier.IsValid() {
				v.Set(s.copier.Call([]reflect.Value{v})[0])
			}
			return s.copier.IsValid() || v.IsZero()
		}
		for _, i := range s.deep {
			if !detach(v.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Array:
		return detachAll(v)
	}
	if v.IsNil() {
		return true
	}
	switch v.Kind() {
	case reflect.Pointer:
		own := reflect.New(v.Type().Elem())
		own.Elem().Set(v.Elem())
		v.Set(own)
		return detach(own.Elem())
	case reflect.Interface:
		own := reflect.New(v.Elem().Type()).Elem()
		own.Set(v.Elem())
		if !detach(own) {
			return false
		}
		v.Set(own)
		return true
	case reflect.Slice:
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		return shapeOf(v.Type().Elem()).flat || detachAll(v)
	case reflect.Map:
		return detachMap(v)
	}
	return false
}

// detachAll detaches the elements of a slice or an array.
func detachAll(v reflect.Value) bool {
	for i := range v.Len() {
		if !detach(v.Index(i)) {
			return false
		}
	}
	return true
}

func detachMap(v reflect.Value) bool {
	if texts, ok := v.Addr().Interface().(*map[string]string); ok {
		*texts = maps.Clone(*texts)
		return true
	}
	own := reflect.MakeMapWithSize(v.Type(), v.Len())
	for each := v.MapRange(); each.Next(); {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(each.Value())
		if !shapeOf(v.Type().Key()).flat || !detach(value) {
			return false
		}
		own.SetMapIndex(each.Key(), value)
	}
	v.Set(own)
	return true
}
