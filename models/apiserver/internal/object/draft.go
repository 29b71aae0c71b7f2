package object

import (
	"bytes"
)

// Draft is a copy of a stored object that may be changed.
func (o *Object) Draft() *Object {
	d := &Object{Version: o.Version, Rest: o.Rest}
	if o.Typed != nil {
		d.Typed = o.Typed.DeepCopyObject()
		d.Meta, d.Rest = MetaOf(d.Typed), nil
		return d
	}
	d.Meta = o.Meta.DeepCopy()
	return d
}

// ToStore makes a draft what is stored over an old object, or as a new one when that is nil.
func (o *Object) ToStore(old *Object) *Object {
	draft := o.In(o.Version.Type.Storage)
	if o == draft { // a conversion prunes
		readBack(draft)
	}
	if old != nil {
		draft.Meta.ResourceVersion = old.Meta.ResourceVersion
	}
	if old != nil && !draft.owned && draft.written == nil {
		draft.ownership = old.ownership // not a client's write
	}
	draft.JSON = encodeOver(draft, old)
	if o != draft {
		if raw := held(draft, converted(o.Rest, draft.Version)); !bytes.Equal(raw, held(draft, draft.Rest)) {
			draft.raw = raw
		}
	}
	return draft
}

// held is what a store holds of an object with the given content, without its revision.
func held(o *Object, rest map[string]any) []byte {
	meta := *o.Meta
	meta.ResourceVersion = ""
	return (&Object{Version: o.Version, Meta: &meta, Rest: rest}).Encode()
}

// SameAs says that to store the draft would change nothing.
func (o *Object) SameAs(old *Object) bool {
	if o.unpruned || old.unpruned {
		return false
	}
	if o.raw == nil && old.raw == nil {
		return bytes.Equal(o.JSON, old.JSON)
	}
	raw, was := o.raw, old.raw
	if raw == nil {
		raw = held(o, o.Rest)
	}
	if was == nil {
		was = held(old, old.Rest)
	}
	return bytes.Equal(raw, was)
}

// encodeOver encodes a draft. Times of managed fields that alone differ from the old object are put
// back, so that the draft is seen to be no change.
func encodeOver(o, old *Object) []byte {
	if old == nil || !onlyTimesDiffer(o.Meta.ManagedFields, old.Meta.ManagedFields) {
		return o.Encode()
	}
	entries := o.Meta.ManagedFields
	o.Meta.ManagedFields = old.Meta.ManagedFields
	if raw := o.Encode(); bytes.Equal(raw, old.JSON) {
		return raw
	}
	o.Meta.ManagedFields = entries
	return o.Encode()
}

// readBack makes an unpruned draft what is read from the store after it has been written.
func readBack(o *Object) {
	if !o.unpruned {
		return
	}
	whole := CopyJSON(o.Rest).(map[string]any)
	whole["kind"], whole["apiVersion"] = o.Version.Type.Kind, o.Version.APIVersion()
	if _, err := o.Version.Schema.coerce(whole, false); err == nil {
		o.Version.Schema.fillDefaults(whole)
	}
	delete(whole, "kind")
	delete(whole, "apiVersion")
	o.unpruned = o.HiddenMeta || !EqualJSON(whole, o.Rest)
	o.Rest = whole
}

// SealJoined is seal for an object whose spec is encoded already.
func (o *Object) SealJoined(revision int64, spec []byte) *Object {
	o.Revision = revision
	o.Meta.ResourceVersion = RevisionText(revision)
	meta, status := Marshal(o.Meta), Marshal(Part(o.Typed, "Status").Interface())
	b := make([]byte, 0, len(o.Version.Prefix)+len(meta)+len(spec)+len(status)+40)
	b = append(append(append(b, o.Version.Prefix...), `"metadata":`...), meta...)
	b = append(append(b, `,"spec":`...), spec...)
	o.JSON = append(append(append(b, `,"status":`...), status...), '}')
	return o
}
