package apiserver

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// write is a request that writes, with its options. Like the request, it never changes.
type write struct {
	*request
	writeOptions
	// body is the request's body as JSON.
	body []byte
	// upsert says that an update or an apply has found nothing and creates the object.
	upsert bool
	// applied says that the draft is the result of an apply.
	applied bool
}

// createWrite reads what a create says: its body, then its options.
func (r *request) createWrite() (*write, error) {
	body, err := r.jsonBody()
	if err != nil {
		return nil, err
	}
	options, err := createOptions(r.query)
	return &write{request: r, writeOptions: options, body: body}, err
}

// updateWrite reads what an update says: its options, then its body.
func (r *request) updateWrite() (*write, error) {
	options, err := updateOptions(r.query)
	if err != nil {
		return nil, err
	}
	body, err := r.jsonBody()
	return &write{request: r, writeOptions: options, body: body}, err
}

// internalWrite is a write that the server makes of its own accord.
func (s *Server) internalWrite(k *registry.Kind, name string, e *effects) *write {
	return &write{request: &request{
		Request: &Request{}, s: s, info: Info{Name: name}, kind: k, ver: k.Storage, effects: e,
	}}
}

// decoder reads objects as the write's options say.
func (w *write) decoder() object.Decoder {
	return object.Decoder{Validation: w.validation, Known: registry.Known, Warn: w.warn}
}

// note is what is kept of the write over an old object.
func (w *write) note(old *object.Object) *object.Note {
	return &object.Note{
		Before: old, Time: w.s.now(), Manager: w.manager, Agent: w.Header.Get("User-Agent"), Version: w.ver,
		Verb: w.info.Verb, Subresource: w.info.Subresource, Media: w.Header.Get("Content-Type"), Body: w.body,
	}
}

// checkUID is the precondition that an update carries when its object has a UID.
func (w *write) checkUID(uid types.UID, old *object.Object) error {
	if uid == "" {
		return nil
	}
	var found types.UID
	if old != nil {
		found = old.Meta.UID
	}
	if uid == found {
		return nil
	}
	return preconditionConflict(w.kind.GroupResource(), w.info.Name, w.etcdKey(w.info.Name),
		fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, found))
}

// etcdKey is the key that a real server stores an object under, which some of its messages show.
func (w *write) etcdKey(name string) string {
	resource := w.kind.Plural
	if !w.kind.Builtin {
		resource = w.kind.Group + "/" + resource
	}
	key := "/" + resource + "/" + object.Key(w.info.Namespace, name)
	if w.dryRun {
		return key // a dry run is checked above the layer that adds the prefix
	}
	return "/registry" + key
}

// dedupeOwners drops repeated owner references with a warning, as endpoints/handlers/rest.go does.
func (w *write) dedupeOwners(meta *metav1.ObjectMeta, patch bool) {
	repeated := registry.DedupeOwners(meta)
	if len(repeated) == 0 {
		return
	}
	when := ""
	if patch {
		when = " after mutating admission happens"
	}
	w.warn(".metadata.ownerReferences contains duplicate entries" + when + "; API server dedups owner references " +
		"in 1.20+, and may reject such requests as early as 1.24; please fix your requests; " +
		"duplicate UID(s) observed: " + strings.Join(repeated, ", "))
}

// own settles the ownership of a draft, unless an apply or a scale has.
func (w *write) own(draft, old *object.Object, sub string) {
	if !w.applied && w.info.Subresource != "scale" {
		w.note(old).Own(draft, sub, w.s.options.TrackFields)
	}
}

// hook is what strategies may know of the write.
func (w *write) hook() registry.Write {
	return registry.Write{Now: metav1.NewTime(w.s.now()), DryRun: w.dryRun, Allocated: &w.s.allocated}
}
