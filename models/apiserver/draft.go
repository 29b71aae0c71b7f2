package apiserver

import (
	"bytes"
)

// draft is a copy of a stored object that may be changed.
func (o *object) draft() *object {
	d := &object{ver: o.ver, rest: o.rest}
	if o.typed != nil {
		d.typed = o.typed.DeepCopyObject()
		d.meta, d.rest = metaOf(d.typed), nil
		return d
	}
	d.meta = o.meta.DeepCopy()
	return d
}

// toStore makes a draft what is stored over an old object, or as a new one when that is nil.
func (o *object) toStore(old *object) *object {
	draft := o.in(o.ver.kind.storage)
	if o == draft { // a conversion prunes
		draft.readBack()
	}
	if old != nil {
		draft.meta.ResourceVersion = old.meta.ResourceVersion
	}
	if old != nil && !draft.owned && draft.written == nil {
		draft.keepOwnership(old) // not a client's write
	}
	draft.json = draft.encodeOver(old)
	if o != draft {
		if raw := draft.held(o.converted(draft.ver)); !bytes.Equal(raw, draft.held(draft.rest)) {
			draft.raw = raw
		}
	}
	return draft
}

// held is what a store holds of an object with the given content, without its revision.
func (o *object) held(rest map[string]any) []byte {
	meta := *o.meta
	meta.ResourceVersion = ""
	return (&object{ver: o.ver, meta: &meta, rest: rest}).encode()
}

// sameAs says that to store the draft would change nothing.
func (o *object) sameAs(old *object) bool {
	if o.unpruned || old.unpruned {
		return false
	}
	if o.raw == nil && old.raw == nil {
		return bytes.Equal(o.json, old.json)
	}
	raw, was := o.raw, old.raw
	if raw == nil {
		raw = o.held(o.rest)
	}
	if was == nil {
		was = old.held(old.rest)
	}
	return bytes.Equal(raw, was)
}

// encodeOver encodes a draft. When nothing but the times of its managed fields differs from the old object, those are put
// back, so that it is seen to be no change.
func (o *object) encodeOver(old *object) []byte {
	if old == nil || !onlyTimesDiffer(o.meta.ManagedFields, old.meta.ManagedFields) {
		return o.encode()
	}
	entries := o.meta.ManagedFields
	o.meta.ManagedFields = old.meta.ManagedFields
	if raw := o.encode(); bytes.Equal(raw, old.json) {
		return raw
	}
	o.meta.ManagedFields = entries
	return o.encode()
}

// readBack makes an unpruned draft what is read from the store after it has been written.
func (o *object) readBack() {
	if !o.unpruned {
		return
	}
	whole := copyJSON(o.rest).(map[string]any)
	whole["kind"], whole["apiVersion"] = o.ver.kind.kind, o.ver.apiVersion()
	if _, err := o.ver.schema.coerce(whole, false); err == nil {
		o.ver.schema.fillDefaults(whole)
	}
	delete(whole, "kind")
	delete(whole, "apiVersion")
	o.unpruned = o.oddMeta || !equalJSON(whole, o.rest)
	o.rest = whole
}

// sealJoined is seal for an object whose spec is encoded already.
func (o *object) sealJoined(revision int64, spec []byte) *object {
	o.revision = revision
	o.meta.ResourceVersion = revisionText(revision)
	b := append(append([]byte(nil), o.ver.prefix...), `"metadata":`...)
	b = append(append(b, marshal(o.meta)...), `,"spec":`...)
	b = append(append(b, spec...), `,"status":`...)
	o.json = append(append(b, marshal(part(o.typed, "Status").Interface())...), '}')
	return o
}
