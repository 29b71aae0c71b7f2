package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
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

func (w *write) admits() bool { return w.ask != nil }

// attempt describes a write to admission. draft is nil for a deletion, old for a creation.
func (w *write) attempt(operation string, draft, old *object.Object, options runtime.Object) *Attempt {
	a := &Attempt{
		Request: w.Request, Info: w.info, Requested: w.info.Version, Operation: operation, Kind: w.ver.GVK(),
		Namespace: w.info.Namespace, Name: w.info.Name,
		DryRun: w.dryRun, Scale: w.info.Subresource == "scale", write: w, draft: draft, old: old,
	}
	if draft != nil {
		a.Object = w.ver.Convert(draft)
		if operation == "CREATE" {
			a.Name = draft.Meta.Name
		}
	}
	if old != nil {
		a.Old = old.As(object.View{Version: w.ver}).JSON
	}
	if w.kind.Group == "" && w.kind.Plural == "namespaces" {
		a.Namespace = a.Name
	}
	if raw, err := json.Marshal(options); err == nil {
		a.Options = raw
	}
	return a
}

// optionsOf are the options of a create, an update or a patch as admission sees them.
func (w *write) optionsOf(operation string) runtime.Object {
	meta := metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "UpdateOptions"}
	dryRun := w.query["dryRun"]
	given := w.query.Get("fieldValidation")
	if operation == "CREATE" {
		meta.Kind = "CreateOptions"
		return &metav1.CreateOptions{TypeMeta: meta, DryRun: dryRun, FieldManager: w.manager, FieldValidation: given}
	}
	return &metav1.UpdateOptions{TypeMeta: meta, DryRun: dryRun, FieldManager: w.manager, FieldValidation: given}
}

// mutate lets admission change a draft. Repeated owners are dropped afterwards, which for a patch
// is the first time.
func (w *write) mutate(operation string, draft, old *object.Object) (*object.Object, error) {
	if !w.admits() {
		w.dedupeOwners(draft.Meta, true)
		return draft, nil
	}
	a := w.attempt(operation, draft, old, w.optionsOf(operation))
	if err := w.s.admission.Mutate(a); err != nil {
		return nil, err
	}
	if a.draft != draft {
		w.keepOwnership(a.draft.Meta, draft.Meta.ManagedFields)
	}
	w.dedupeOwners(a.draft.Meta, true)
	return a.draft, w.moved(nil)
}

// keepOwnership puts ownership back that admission has spoilt, as
// endpoints/handlers/fieldmanager/admission.go does.
func (w *write) keepOwnership(meta *metav1.ObjectMeta, before []metav1.ManagedFieldsEntry) {
	err := managedfields.ValidateManagedFields(meta.ManagedFields)
	if err == nil {
		return
	}
	meta.ManagedFields = before
	w.warn(fmt.Sprintf(".metadata.managedFields was in an invalid state after admission; this could be caused by an "+
		"outdated mutating admission controller; please fix your requests: %v", err))
}

// validated lets admission judge a draft that is about to be stored.
func (w *write) validated(operation string, draft, old *object.Object) error {
	if !w.admits() {
		return nil
	}
	if err := w.s.admission.Validate(w.attempt(operation, draft, old, w.optionsOf(operation))); err != nil {
		return err
	}
	return w.moved(old)
}

// admitDelete lets admission judge the deletion of an object
// (staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go). A deletion that is under way already
// is not judged again.
func (w *write) admitDelete(o *object.Object, opts *metav1.DeleteOptions) error {
	if err := w.protects(o); err != nil || !w.admits() {
		return err
	}
	if n, ok := o.Typed.(*corev1.Namespace); ok && n.DeletionTimestamp != nil && len(n.Spec.Finalizers) > 0 {
		return nil
	}
	if err := w.kind.CheckPreconditions(opts.Preconditions, o); err != nil {
		return err
	}
	if _, pending := w.kind.BeginGraceful(o.Draft(), opts.DeepCopy(), w.s.now()); pending {
		return nil
	}
	options := opts.DeepCopy()
	options.TypeMeta = metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "DeleteOptions"}
	a := w.attempt("DELETE", nil, o, options)
	if err := w.s.admission.Mutate(a); err != nil {
		return err
	}
	if err := w.s.admission.Validate(a); err != nil {
		return err
	}
	return w.moved(o)
}

// moved looks after a wait whether things are still as they were read.
func (w *write) moved(old *object.Object) error {
	if !w.waited {
		return nil
	}
	if w.s.registry.ByResource(w.info.Group, w.info.Resource) != w.kind {
		return errMoved
	}
	if old == nil {
		return nil
	}
	if now, exists := w.table().Get(old.Key()); !exists || now != old {
		return errMoved
	}
	return nil
}
