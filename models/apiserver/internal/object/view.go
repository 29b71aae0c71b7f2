package object

// View is one way to show an object: a version, or its metadata alone.
type View struct {
	Version *Version
	Partial bool
}

type encoded struct {
	JSON   []byte
	frames map[string][]byte
}

// As returns the object encoded for a view, encoding it at most once.
func (o *Object) As(v View) *encoded {
	if e := o.views[v]; e != nil {
		return e
	}
	e := &encoded{}
	switch {
	case v.Partial:
		e.JSON = o.encodePartial()
	case v.Version == o.Version:
		e.JSON = o.JSON
	default:
		e.JSON = v.Version.Convert(o)
	}
	if o.views == nil {
		o.views = map[View]*encoded{}
	}
	o.views[v] = e
	return e
}

// PartialPrefix is how the encoded metadata of an object starts.
const PartialPrefix = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",`

func (o *Object) encodePartial() []byte {
	b := append([]byte(PartialPrefix), `"metadata":`...)
	return append(append(b, Marshal(o.Meta)...), '}')
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
func (o *Object) Item(b []byte, v View) []byte {
	raw := o.As(v).JSON
	if v.Partial || !v.Version.Type.Builtin {
		return append(b, raw...)
	}
	return append(append(b, '{'), raw[len(v.Version.Prefix):]...)
}
