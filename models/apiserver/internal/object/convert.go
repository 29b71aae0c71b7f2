package object

// In is the object in another version of its kind. Custom types know one conversion, strategy None:
// apiVersion changes, and what the other version's schema does not know is pruned. Defaults are
// those of the version that is stored: they are filled in when an object is read from the store,
// before it is converted (apiextensions-apiserver's pkg/apiserver/customresource_handler.go,
// schemaCoercingConverter).
func (o *Object) In(ver *Version) *Object {
	if o.Version == ver || o.Typed != nil {
		return o
	}
	content := converted(o.Rest, ver)
	if ver == ver.Type.Storage && ver.Schema.compile() == nil {
		ver.Schema.fillDefaults(content)
	}
	return &Object{Version: ver, Meta: o.Meta, Rest: content, Revision: o.Revision, ownership: o.ownership}
}

// converted is the content of a custom object in another version, as it is written to a store:
// without defaults.
func converted(rest map[string]any, ver *Version) map[string]any {
	content := CopyJSON(rest).(map[string]any)
	content["kind"], content["apiVersion"] = ver.Type.Kind, ver.APIVersion()
	_, _ = ver.Schema.coerce(content, false) // a schema that does not compile prunes nothing
	delete(content, "kind")
	delete(content, "apiVersion")
	return content
}

// shown is a stored object in the version's own form.
func (v *Version) shown(o *Object) *Object {
	if v != o.Version && v.FromStored != nil {
		typed := v.FromStored(o.Typed)
		return &Object{Version: v, Typed: typed, Meta: MetaOf(typed)}
	}
	return o.In(v)
}

// Document is an object as decoded JSON in this version, for patches; deeper parts are shared.
func (v *Version) Document(o *Object) map[string]any { return v.shown(o).Document() }

// Convert encodes an object in this version.
func (v *Version) Convert(o *Object) []byte { return v.shown(o).Encode() }

// Whole is the complete decoded object, for validators that look at metadata too; only the top
// level is fresh.
func (o *Object) Whole() map[string]any {
	if o.Version.Schema.compile() == nil && !o.Version.Schema.meta {
		return o.Rest
	}
	return o.Document()
}
