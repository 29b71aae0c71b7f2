// Package object holds the objects of the API model: their types and versions, decoding and
// encoding, conversion and views, patches, and who owns which field.
//
// It knows no request, no verb and no store, and no kind by name. A caller that wants the rules of
// a kind looks in package registry.
package object

import (
	"bytes"
	"reflect"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is one object at one revision. While a request builds it, it is a draft. Once stored it
// never changes, so its parts are shared by every reader.
//
// A built-in object is held as its Go type, a custom one as decoded JSON; either way the metadata
// is typed. The encoded form starts with kind, apiVersion and metadata, in that order. So three
// frequent things are a matter of copying bytes: dropping the type for list items, changing
// apiVersion, and setting the revision.
type Object struct {
	// Version is the version that the object is held in: the storage version once stored.
	Version *Version
	Meta    *metav1.ObjectMeta
	// Typed is the whole object, for built-in types; its ObjectMeta is Meta.
	Typed runtime.Object
	// Rest is everything but kind, apiVersion and metadata. For built-in types it is filled when
	// first needed.
	Rest map[string]any

	// SentKind and SentVersion are the type that a client gave a custom object, which may be wrong.
	SentKind, SentVersion string
	// SameMeta is set on the draft of an update that leaves metadata alone.
	SameMeta bool
	// HiddenMeta says that a webhook has left something in the metadata of a draft that the draft
	// does not show.
	HiddenMeta bool

	JSON        []byte
	Revision    int64
	CommittedAt time.Time

	// raw is what a real server holds of an object that was written in another version, without its
	// revision: conversion fills in no defaults, reading does. Only the next write sees it, and may
	// find that it changes something. It is nil when it is the same as the object.
	raw []byte
	// unpruned is set on a draft in which a webhook has left what its schema may not know. It is
	// set on a stored object of which a real server holds more than it shows. No write is the same
	// as that.
	unpruned bool
	// views are the encoded forms in other versions, made when first needed.
	views map[View]*Encoded
	ownership
	// left is the state before this one at this one's revision. A watcher whose selector the object
	// has left sees it.
	left *Object
}

// content is everything but kind, apiVersion and metadata.
func (o *Object) content() map[string]any {
	if o.Rest == nil {
		all, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.Typed)
		if err != nil {
			panic("apiserver: a built-in object that cannot be converted: " + err.Error())
		}
		delete(all, "kind")
		delete(all, "apiVersion")
		delete(all, "metadata")
		o.Rest = all
	}
	return o.Rest
}

// Document is the whole object as decoded JSON; its top level is fresh, deeper parts are shared
// with the store.
func (o *Object) Document() map[string]any { return o.document(metaDocument(o.Meta)) }

// document is the object with metadata in the given form.
func (o *Object) document(metadata any) map[string]any {
	content := o.content()
	out := make(map[string]any, len(content)+3)
	for name, value := range content {
		out[name] = value
	}
	out["kind"], out["apiVersion"] = o.Version.Type.Kind, o.Version.APIVersion()
	out["metadata"] = metadata
	return out
}

// metaDocument is metadata as decoded JSON. It is written out because it is made for every patch.
func metaDocument(m *metav1.ObjectMeta) map[string]any {
	out := make(map[string]any, 12)
	text := func(name, value string) {
		if value != "" {
			out[name] = value
		}
	}
	text("name", m.Name)
	text("generateName", m.GenerateName)
	text("namespace", m.Namespace)
	text("selfLink", m.SelfLink) //nolint:staticcheck // clients may still send it
	text("uid", string(m.UID))
	text("resourceVersion", m.ResourceVersion)
	if m.Generation != 0 {
		out["generation"] = m.Generation
	}
	if !m.CreationTimestamp.IsZero() {
		out["creationTimestamp"] = m.CreationTimestamp.UTC().Format(time.RFC3339)
	}
	if m.DeletionTimestamp != nil {
		out["deletionTimestamp"] = m.DeletionTimestamp.UTC().Format(time.RFC3339)
	}
	if m.DeletionGracePeriodSeconds != nil {
		out["deletionGracePeriodSeconds"] = *m.DeletionGracePeriodSeconds
	}
	if len(m.Labels) > 0 {
		out["labels"] = textDocument(m.Labels)
	}
	if len(m.Annotations) > 0 {
		out["annotations"] = textDocument(m.Annotations)
	}
	if len(m.Finalizers) > 0 {
		list := make([]any, len(m.Finalizers))
		for i, f := range m.Finalizers {
			list[i] = f
		}
		out["finalizers"] = list
	}
	if len(m.OwnerReferences) > 0 {
		out["ownerReferences"] = referencesDocument(m.OwnerReferences)
	}
	if len(m.ManagedFields) > 0 {
		out["managedFields"] = entriesDocument(m.ManagedFields)
	}
	return out
}

func referencesDocument(references []metav1.OwnerReference) []any {
	out := make([]any, len(references))
	for i := range references {
		r := &references[i]
		fields := map[string]any{"apiVersion": r.APIVersion, "kind": r.Kind, "name": r.Name, "uid": string(r.UID)}
		if r.Controller != nil {
			fields["controller"] = *r.Controller
		}
		if r.BlockOwnerDeletion != nil {
			fields["blockOwnerDeletion"] = *r.BlockOwnerDeletion
		}
		out[i] = fields
	}
	return out
}

func textDocument(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for name, value := range m {
		out[name] = value
	}
	return out
}

// Encode writes the draft at the revision that its metadata names.
func (o *Object) Encode() []byte {
	if o.Typed != nil {
		o.Typed.GetObjectKind().SetGroupVersionKind(o.Version.GVK())
		return Marshal(o.Typed)
	}
	meta := Marshal(o.Meta)
	b := make([]byte, 0, len(o.Version.Prefix)+len(meta)+256)
	b = append(append(append(b, o.Version.Prefix...), `"metadata":`...), meta...)
	if len(o.Rest) > 0 {
		b = appendFields(append(b, ','), o.Rest)
	}
	return append(b, '}')
}

// Seal turns the draft into the object stored at a revision.
func (o *Object) Seal(revision int64) *Object {
	o.Revision = revision
	if o.JSON == nil {
		o.Meta.ResourceVersion = RevisionText(revision)
		o.JSON = o.Encode()
		return o
	}
	o.JSON = atRevision(o.JSON, o.Meta.ResourceVersion, revision)
	o.Meta.ResourceVersion = RevisionText(revision)
	return o
}

// At is the stored object with another revision.
func (o *Object) At(revision int64) *Object {
	if o.Revision == revision {
		return o
	}
	out := &Object{Version: o.Version, Rest: o.Rest, Revision: revision, CommittedAt: o.CommittedAt,
		JSON: atRevision(o.JSON, o.Meta.ResourceVersion, revision)}
	if o.Typed != nil {
		out.Typed = o.Typed.DeepCopyObject()
		out.Meta = MetaOf(out.Typed)
	} else {
		out.Meta = o.Meta.DeepCopy()
	}
	out.Meta.ResourceVersion = RevisionText(revision)
	return out
}

// Leaving is the state before this one at this one's revision, made once for all watchers.
func (o *Object) Leaving(before *Object) *Object {
	if o.left == nil {
		o.left = before.At(o.Revision)
	}
	return o.left
}

// atRevision replaces the revision in an encoded object. The first occurrence is the object's own:
// only kind, apiVersion and strings of metadata precede it, and a quote inside a string is escaped.
func atRevision(raw []byte, old string, revision int64) []byte {
	mark := []byte(`"resourceVersion":"` + old + `"`)
	i := bytes.Index(raw, mark)
	if i < 0 {
		panic("apiserver: an encoded object without its revision")
	}
	b := make([]byte, 0, len(raw)+8)
	b = append(b, raw[:i]...)
	b = append(b, `"resourceVersion":"`...)
	b = strconv.AppendInt(b, revision, 10)
	b = append(b, '"')
	return append(b, raw[i+len(mark):]...)
}

// MetaOf is the metadata inside a built-in object.
func MetaOf(typed runtime.Object) *metav1.ObjectMeta {
	return typed.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}

// Key is the object's place in its table, ordered as in etcd: by namespace, then by name.
func (o *Object) Key() string { return Key(o.Meta.Namespace, o.Meta.Name) }

// Key is the place of an object in its table.
func Key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// RevisionText is a revision as a resourceVersion.
func RevisionText(revision int64) string { return strconv.FormatInt(revision, 10) }

// Part is a top-level field of a built-in object, such as its Spec; the zero Value when the type
// has none.
func Part(o runtime.Object, name string) reflect.Value {
	return reflect.ValueOf(o).Elem().FieldByName(name)
}

// CopyPart makes a top-level field of o equal to that of old, or empty when old is nil.
func CopyPart(o, old runtime.Object, name string) {
	to := Part(o, name)
	if !to.IsValid() {
		return
	}
	if old == nil {
		to.SetZero()
		return
	}
	to.Set(Part(old.DeepCopyObject(), name))
}
