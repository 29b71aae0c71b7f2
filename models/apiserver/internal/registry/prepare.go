package registry

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// PrepareCreate is the strategy's PrepareForCreate: status is not for clients to set, and
// generation starts at one.
func (k *Kind) PrepareCreate(w Write, draft *object.Object) {
	b := k.Strategy
	if b == nil {
		if draft.Version.Subresource("status") != nil {
			delete(draft.Rest, "status")
		}
		draft.Meta.Generation = 1
		return
	}
	if b.generation {
		draft.Meta.Generation = 1 // other types keep what they are given
	}
	if b.status {
		object.CopyPart(draft.Typed, nil, "Status")
	}
	if b.prepareCreate != nil {
		b.prepareCreate(w, draft.Typed)
	}
}

// StrategyWarnings are the warnings about a draft.
func (k *Kind) StrategyWarnings(draft *object.Object) []string {
	if b := k.Strategy; b != nil && b.warnings != nil {
		return b.warnings(draft.Typed)
	}
	return nil
}

// Canonicalize completes a valid draft.
func (k *Kind) Canonicalize(draft *object.Object) {
	if b := k.Strategy; b != nil && b.canonicalize != nil {
		b.canonicalize(draft.Typed)
	}
}

// KeepSystemFields restores what no update can change.
func KeepSystemFields(meta, old *metav1.ObjectMeta) {
	if meta.UID == "" {
		meta.UID = old.UID
	}
	if !old.CreationTimestamp.IsZero() {
		meta.CreationTimestamp = old.CreationTimestamp
	}
	if old.DeletionTimestamp != nil {
		meta.DeletionTimestamp = old.DeletionTimestamp
	}
	if old.DeletionGracePeriodSeconds != nil && meta.DeletionGracePeriodSeconds == nil {
		meta.DeletionGracePeriodSeconds = old.DeletionGracePeriodSeconds
	}
}

// PrepareUpdate is the strategy's PrepareForUpdate: an update of the object keeps the status, an
// update of the status keeps everything else.
func (k *Kind) PrepareUpdate(w Write, draft, old *object.Object, sub string) {
	if k.Strategy != nil {
		k.prepareBuiltin(w, draft, old, sub)
		return
	}
	if sub == "status" {
		status, has := draft.Rest["status"]
		revision, owners := draft.Meta.ResourceVersion, draft.Meta.ManagedFields
		draft.Meta, draft.Rest = old.Meta.DeepCopy(), maps.Clone(old.Rest)
		draft.Meta.ResourceVersion, draft.Meta.ManagedFields, draft.HiddenMeta = revision, owners, false
		object.SetOrDelete(draft.Rest, "status", status, has)
		return
	}
	if draft.Version.Subresource("status") != nil {
		status, has := old.Rest["status"]
		object.SetOrDelete(draft.Rest, "status", status, has)
	}
	if !object.EqualJSON(draft.Rest, old.Rest) {
		draft.Meta.Generation = old.Meta.Generation + 1
	}
}

func (k *Kind) prepareBuiltin(w Write, draft, old *object.Object, sub string) {
	b := k.Strategy
	if sub == "finalize" {
		object.CopyPart(draft.Typed, old.Typed, "Status")
		return
	}
	if sub == "status" {
		for _, name := range []string{"Spec", "Data"} {
			object.CopyPart(draft.Typed, old.Typed, name)
		}
		if b.keepOnStatus != nil {
			b.keepOnStatus(draft.Typed, old.Typed)
		}
		return
	}
	if b.status {
		object.CopyPart(draft.Typed, old.Typed, "Status")
	}
	if b.prepareUpdate != nil {
		b.prepareUpdate(w, draft.Typed, old.Typed)
	}
	if b.generation && (specChanged(draft.Typed, old.Typed) ||
		b.labelsCount && !maps.Equal(draft.Meta.Labels, old.Meta.Labels) ||
		b.annotationsCount && !maps.Equal(draft.Meta.Annotations, old.Meta.Annotations)) {
		draft.Meta.Generation = old.Meta.Generation + 1
	}
}
