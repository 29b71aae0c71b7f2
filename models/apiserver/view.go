package apiserver

// view is one way to show an object: a version, or its metadata alone.
type view struct {
	ver     *version
	partial bool
}

type encoded struct {
	json   []byte
	frames map[string][]byte
}

// as returns the object encoded for a view, encoding it at most once.
func (o *object) as(v view) *encoded {
	if e := o.views[v]; e != nil {
		return e
	}
	e := &encoded{}
	switch {
	case v.partial:
		e.json = o.encodePartial()
	case v.ver == o.ver:
		e.json = o.json
	default:
		e.json = v.ver.convert(o)
	}
	if o.views == nil {
		o.views = map[view]*encoded{}
	}
	o.views[v] = e
	return e
}

const partialPrefix = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",`

func (o *object) encodePartial() []byte {
	b := append([]byte(partialPrefix), `"metadata":`...)
	return append(append(b, marshal(o.meta)...), '}')
}

// frame is the watch frame of that type for a view, encoded once for all watchers.
func (o *object) frame(kind string, v view) []byte {
	e := o.as(v)
	if raw := e.frames[kind]; raw != nil {
		return raw
	}
	b := make([]byte, 0, len(e.json)+40)
	b = append(append(append(b, `{"type":"`...), kind...), `","object":`...)
	b = append(append(b, e.json...), '}', '\n')
	if e.frames == nil {
		e.frames = map[string][]byte{}
	}
	e.frames[kind] = b
	return b
}

// item is the object as a list shows it: built-in types leave out kind and apiVersion there.
func (o *object) item(b []byte, v view) []byte {
	raw := o.as(v).json
	if v.partial || !v.ver.kind.builtin {
		return append(b, raw...)
	}
	return append(append(b, '{'), raw[len(v.ver.prefix):]...)
}
