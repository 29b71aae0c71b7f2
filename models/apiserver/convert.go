package apiserver

// in is the object in another version of its kind. Custom types know one conversion, strategy None: apiVersion changes,
// and what the other version's schema does not know is pruned. Defaults are those of the version that is stored: they are
// filled in when an object is read from the store, before it is converted (apiextensions-apiserver's
// pkg/apiserver/customresource_handler.go, schemaCoercingConverter).
func (o *object) in(ver *version) *object {
	if o.ver == ver || o.typed != nil {
		return o
	}
	content := o.converted(ver)
	if ver == ver.kind.storage && ver.schema.compile() == nil {
		ver.schema.fillDefaults(content)
	}
	return &object{ver: ver, meta: o.meta, rest: content, revision: o.revision, owned: o.owned, written: o.written, owners: o.owners}
}

// converted is the content of a custom object in another version, as it is written to a store: without defaults.
func (o *object) converted(ver *version) map[string]any {
	content := copyJSON(o.rest).(map[string]any)
	content["kind"], content["apiVersion"] = ver.kind.kind, ver.apiVersion()
	_, _ = ver.schema.coerce(content, false) // a schema that does not compile prunes nothing
	delete(content, "kind")
	delete(content, "apiVersion")
	return content
}

// shown is a stored object in the version's own form.
func (v *version) shown(o *object) *object {
	if v != o.ver && v.converted != nil {
		typed := v.converted(o.typed)
		return &object{ver: v, typed: typed, meta: metaOf(typed)}
	}
	return o.in(v)
}

// document is an object as decoded JSON in this version, for patches; deeper parts are shared.
func (v *version) document(o *object) map[string]any { return v.shown(o).document() }

// convert encodes an object in this version.
func (v *version) convert(o *object) []byte { return v.shown(o).encode() }

// whole is the complete decoded object, for validators that look at metadata too; only the top level is fresh.
func (o *object) whole() map[string]any {
	if o.ver.schema.compile() == nil && !o.ver.schema.meta {
		return o.rest
	}
	return o.document()
}
