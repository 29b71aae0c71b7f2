package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	kjson "sigs.k8s.io/json"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Admission judges writes before they are stored, and may change them; models/admission is one. It
// may ask webhooks, which suspends the request: see [Exchange].
type Admission interface {
	// Active reports whether there is anything that could care about a write. If not, nothing else
	// is called.
	Active() bool
	// Mutate is asked as soon as the object is known, Validate when it is as it will be stored. An
	// error is the answer to the request.
	Mutate(*Attempt) error
	Validate(*Attempt) error
}

// SetAdmission puts admission in front of the store.
func (s *Server) SetAdmission(a Admission) { s.admission = a }

// Admission is what is in front of the store; nil if nothing is.
func (s *Server) Admission() Admission { return s.admission }

// Attempt is a write as admission sees it.
type Attempt struct {
	Request *Request
	Info    Info
	// Requested is the version that the client used, which differs from Info's where the attempt is
	// shown in another.
	Requested string
	// Operation is CREATE, UPDATE or DELETE.
	Operation string
	Kind      schema.GroupVersionKind
	// Namespace is that of the request; a Namespace lies in itself.
	Namespace, Name string
	// Object and Old are encoded in the version of the request; nil where there is none. They are
	// not to be changed.
	Object, Old []byte
	// Options are the request's options, encoded.
	Options []byte
	DryRun  bool
	// Scale says that the attempt goes through a scale, which admission would see in its place:
	// that is not modelled.
	Scale bool

	write *write
	draft *object.Object
	old   *object.Object
}

// Resource is what the attempt is about.
func (a *Attempt) Resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: a.Info.Group, Version: a.Info.Version, Resource: a.Info.Resource}
}

// Warn adds a warning to the answer.
func (a *Attempt) Warn(text string) { a.write.warn(text) }

// UID is a fresh unique identifier.
func (a *Attempt) UID() string { return string(a.write.s.generator.uid()) }

// Server is the server that the attempt is made at, for reading.
func (a *Attempt) Server() *Server { return a.write.s }

// Typed is the object of a built-in type, decoded, and OldTyped the stored one; nil where there is
// none. They are not to be changed.
func (a *Attempt) Typed() runtime.Object { return typed(a.draft) }

// OldTyped is described at [Attempt.Typed].
func (a *Attempt) OldTyped() runtime.Object { return typed(a.old) }

func typed(o *object.Object) runtime.Object {
	if o == nil {
		return nil
	}
	return o.Typed
}

// Change changes another object of a built-in type in the namespace of the attempt. The change is
// committed at once, even if the attempt fails later.
func (a *Attempt) Change(group, resource, name string, change func(runtime.Object)) error {
	return a.write.change(a.write.s, group, resource, a.Info.Namespace, name, change)
}

// Now is the time of the server's clock.
func (a *Attempt) Now() time.Time { return a.write.s.options.Now() }

// Ask makes calls, all at once, and returns when each has its answer.
func (a *Attempt) Ask(calls ...*WebhookCall) {
	for _, w := range calls {
		w.effects = a.write.effects
	}
	a.write.ask(calls)
}

// SetObject replaces the object by a changed one, which is read and defaulted. It reports whether
// the webhook has made a difference.
//
// A custom object is not pruned: what its schema does not know stays until the object is read from
// the store again. So it counts as a change of the object (mutating/dispatcher.go,
// callAttrMutatingHook).
func (a *Attempt) SetObject(raw []byte) (changed bool, err error) {
	w := a.write
	var content map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &content); err != nil {
		return false, err
	}
	var draft *object.Object
	if w.kind.Builtin {
		draft, _, err = w.decoder().FromDocument(content, w.ver)
	} else {
		changed = !object.EqualJSON(object.Decode(a.Object), content)
		draft, err = w.decoder().UnprunedDraft(content, a.draft, w.ver)
	}
	if err != nil {
		return false, err
	}
	draft.KeepOwnership(a.draft)
	a.draft = draft
	before := a.Object
	a.Object = w.ver.Convert(draft)
	if w.kind.Builtin {
		changed = !bytes.Equal(before, a.Object)
	}
	return changed, nil
}

// In is the attempt as a client of another version of a custom type would have made it; nil when
// there is no such version.
func (a *Attempt) In(version string) *Attempt {
	ver := a.write.kind.Version(version)
	if ver == nil || a.write.kind.Builtin {
		return nil
	}
	out := *a
	out.Kind, out.Info.Version = ver.GVK(), version
	if a.draft != nil {
		out.Object = ver.Convert(a.draft)
	}
	if a.old != nil {
		out.Old = a.old.As(object.View{Version: ver}).JSON
	}
	return &out
}

// Versions are the served versions of the attempt's type.
func (a *Attempt) Versions() []string {
	var out []string
	for _, v := range a.write.kind.Versions {
		if v.Served {
			out = append(out, v.Name)
		}
	}
	return out
}

// errMoved means that another writer changed the object that a request had read while it waited for
// webhooks. The request starts again, as a real server's conditional writes do.
var errMoved = errors.New("apiserver: the object has changed meanwhile")

// admitting is a write on its way through admission.
type admitting struct {
	*write
	operation string
	// old is the stored object; nil for a creation.
	old *object.Object
}

func (a *admitting) admits() bool { return a.ask != nil }

// attempt describes the write to admission. draft is nil for a deletion.
func (a *admitting) attempt(draft *object.Object, options runtime.Object) *Attempt {
	w, old := a.write, a.old
	out := &Attempt{
		Request: w.Request, Info: w.info, Requested: w.info.Version, Operation: a.operation, Kind: w.ver.GVK(),
		Namespace: w.info.Namespace, Name: w.info.Name,
		DryRun: w.dryRun, Scale: w.info.Subresource == "scale", write: w, draft: draft, old: old,
	}
	if draft != nil {
		out.Object = w.ver.Convert(draft)
		if a.operation == "CREATE" {
			out.Name = draft.Meta.Name
		}
	}
	if old != nil {
		out.Old = old.As(object.View{Version: w.ver}).JSON
	}
	if w.kind.Group == "" && w.kind.Plural == "namespaces" {
		out.Namespace = out.Name
	}
	if raw, err := json.Marshal(options); err == nil {
		out.Options = raw
	}
	return out
}

// encodedOptions are the options of a create, an update or a patch as admission sees them.
func (a *admitting) encodedOptions() runtime.Object {
	w := a.write
	meta := metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "UpdateOptions"}
	dryRun := w.query["dryRun"]
	given := w.query.Get("fieldValidation")
	if a.operation == "CREATE" {
		meta.Kind = "CreateOptions"
		return &metav1.CreateOptions{TypeMeta: meta, DryRun: dryRun, FieldManager: w.manager, FieldValidation: given}
	}
	return &metav1.UpdateOptions{TypeMeta: meta, DryRun: dryRun, FieldManager: w.manager, FieldValidation: given}
}

// mutate lets admission change a draft. Repeated owners are dropped afterwards, which for a patch
// is the first time.
func (a *admitting) mutate(draft *object.Object) (*object.Object, error) {
	if !a.admits() {
		a.dedupeOwners(draft.Meta, true)
		return draft, nil
	}
	attempt := a.attempt(draft, a.encodedOptions())
	if err := a.s.admission.Mutate(attempt); err != nil {
		return nil, err
	}
	if attempt.draft != draft {
		a.keepOwnership(attempt.draft.Meta, draft.Meta.ManagedFields)
	}
	a.dedupeOwners(attempt.draft.Meta, true)
	return attempt.draft, a.moved(nil)
}

// keepOwnership puts ownership back that admission has spoilt, as
// endpoints/handlers/fieldmanager/admission.go does.
func (a *admitting) keepOwnership(meta *metav1.ObjectMeta, before []metav1.ManagedFieldsEntry) {
	err := managedfields.ValidateManagedFields(meta.ManagedFields)
	if err == nil {
		return
	}
	meta.ManagedFields = before
	a.warn(fmt.Sprintf(".metadata.managedFields was in an invalid state after admission; this could be caused by an "+
		"outdated mutating admission controller; please fix your requests: %v", err))
}

// validate lets admission judge a draft that is about to be stored.
func (a *admitting) validate(draft *object.Object) error {
	if !a.admits() {
		return nil
	}
	if err := a.s.admission.Validate(a.attempt(draft, a.encodedOptions())); err != nil {
		return err
	}
	return a.moved(a.old)
}

// moved looks after a wait whether things are still as they were read.
func (a *admitting) moved(old *object.Object) error {
	if !a.waited {
		return nil
	}
	if a.s.registry.ByResource(a.info.Group, a.info.Resource) != a.kind {
		return errMoved
	}
	if old == nil {
		return nil
	}
	if now, exists := a.table().Get(old.Key()); !exists || now != old {
		return errMoved
	}
	return nil
}
