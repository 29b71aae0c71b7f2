package kept

import (
	"bytes"
	"reflect"
)

// Version is one version of an object, decoded into a Go type.
type Version struct {
	json  []byte
	value reflect.Value // a pointer; parts of it may belong to other versions, too
}

// Decode decodes a version of an object into a zero value of the struct type t, by a function like
// json.Unmarshal. Parts that are the same in the version before are shared with it. The text must
// be valid, and the caller must not change it later.
func Decode(t reflect.Type, text []byte, before *Version, decode func([]byte, any) error) (*Version, error) {
	v := &Version{text, reflect.New(t)}
	switch {
	case before == nil || before.value.Type() != v.value.Type():
		return v, decode(text, v.value.Interface())
	case bytes.Equal(text, before.json):
		return before, nil
	}
	return v, decoder(decode).part(v.value.Elem(), text, before.json, before.value.Elem())
}

// Shared returns a pointer to the value. What the value refers to must not be changed.
func (v *Version) Shared() any {
	c := reflect.New(v.value.Type().Elem())
	c.Elem().Set(v.value.Elem())
	return c.Interface()
}

// Copy returns a pointer to a copy of the value; ok is false if Copy cannot make one.
func (v *Version) Copy() (out any, ok bool) {
	c := reflect.New(v.value.Type().Elem())
	return c.Interface(), v.CopyInto(c)
}

// CopyInto copies the value to where a pointer points. If it cannot, it leaves a zero value there,
// and returns false.
func (v *Version) CopyInto(out reflect.Value) (ok bool) {
	s := shapeOf(out.Type().Elem())
	if s.generated.IsValid() {
		s.generated.Call([]reflect.Value{v.value, out})
		return true
	}
	out.Elem().Set(v.value.Elem())
	if ok = s.detach(out.Elem()); !ok {
		out.Elem().SetZero()
	}
	return ok
}

type decoder func(text []byte, into any) error

// part decodes a part of an object into a zero value. The version before had the text was there,
// and the value old.
func (d decoder) part(out reflect.Value, text, was []byte, old reflect.Value) error {
	if bytes.Equal(text, was) {
		out.Set(old)
		return nil
	}
	done, err := false, error(nil)
	if t := out.Type(); !shapeOf(t).custom {
		switch t.Kind() {
		case reflect.Pointer:
			if !old.IsNil() && text[0] != 'n' {
				out.Set(reflect.New(t.Elem()))
				return d.part(out.Elem(), text, was, old.Elem())
			}
		case reflect.Struct:
			done, err = d.members(out, text, was, old)
		case reflect.Slice:
			done, err = d.elements(out, text, was, old)
		}
	}
	if done || err != nil {
		return err
	}
	out.SetZero()
	return d(text, out.Addr().Interface())
}

// members decodes a struct. It returns false if it cannot.
func (d decoder) members(out reflect.Value, text, was []byte, old reflect.Value) (done bool, err error) {
	fields := shapeOf(out.Type()).fields
	// Values of two members of one name may be merged, and unknown names taken for known ones.
	simple, seen := true, uint64(0)
	find := func(quoted []byte) *field {
		at := fields[string(quoted[1:len(quoted)-1])]
		if simple = at != nil && seen&at.bit == 0; simple {
			seen |= at.bit
		}
		return at
	}
	before := make([]member, 0, len(fields))
	ok := eachMember(was, func(quoted, value []byte) bool {
		before = append(before, member{quoted, value})
		return find(quoted) != nil && simple
	})
	n := 0
	seen = 0
	ok = ok && simple && eachLike(text, before, func(quoted, value []byte) bool {
		at := find(quoted)
		if !simple {
			return false
		}
		field := out.FieldByIndex(at.index)
		for i := range before { // in the same order, as a rule
			if then := &before[(n+i)%len(before)]; bytes.Equal(then.quoted, quoted) {
				n += i + 1
				err = d.part(field, value, then.value, old.FieldByIndex(at.index))
				return err == nil
			}
		}
		err = d(value, field.Addr().Interface())
		return err == nil
	})
	return ok && simple, err
}

// elements decodes a slice. It returns false if it cannot.
func (d decoder) elements(out reflect.Value, text, was []byte, old reflect.Value) (done bool, err error) {
	before, both := Elements(was)
	elements, ok := elementsLike(text, before)
	if !ok || !both || len(before) != old.Len() {
		return false, nil
	}
	out.Set(reflect.MakeSlice(out.Type(), len(elements), len(elements)))
	for i, e := range elements {
		if i < len(before) {
			err = d.part(out.Index(i), e, before[i], old.Index(i))
		} else {
			err = d(e, out.Index(i).Addr().Interface())
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}
