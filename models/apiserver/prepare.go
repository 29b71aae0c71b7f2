package apiserver

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// prepareCreate is the strategy's PrepareForCreate: status is not for clients to set, and generation starts at one.
func (k *kind) prepareCreate(w *hookWrite, draft *object) {
	b := k.strategy
	if b == nil {
		if draft.ver.subresource("status") != nil {
			delete(draft.rest, "status")
		}
		draft.meta.Generation = 1
		return
	}
	if b.generation {
		draft.meta.Generation = 1 // other types keep what they are given
	}
	if b.status {
		copyPart(draft.typed, nil, "Status")
	}
	if b.prepareCreate != nil {
		b.prepareCreate(w, draft.typed)
	}
}

func (k *kind) strategyWarnings(draft *object) []string {
	if b := k.strategy; b != nil && b.warnings != nil {
		return b.warnings(draft.typed)
	}
	return nil
}

func (k *kind) canonicalize(draft *object) {
	if b := k.strategy; b != nil && b.canonicalize != nil {
		b.canonicalize(draft.typed)
	}
}

// keepSystemFields restores what no update can change.
func keepSystemFields(meta, old *metav1.ObjectMeta) {
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

// prepareUpdate is the strategy's PrepareForUpdate: an update of the object keeps the status, an update of the status
// keeps everything else.
func (k *kind) prepareUpdate(w *hookWrite, draft, old *object, sub string) {
	if k.strategy != nil {
		k.prepareBuiltin(w, draft, old, sub)
		return
	}
	if sub == "status" {
		status, has := draft.rest["status"]
		revision, owners := draft.meta.ResourceVersion, draft.meta.ManagedFields
		draft.meta, draft.rest = old.meta.DeepCopy(), maps.Clone(old.rest)
		draft.meta.ResourceVersion, draft.meta.ManagedFields, draft.oddMeta = revision, owners, false
		setOrDelete(draft.rest, "status", status, has)
		return
	}
	if draft.ver.subresource("status") != nil {
		status, has := old.rest["status"]
		setOrDelete(draft.rest, "status", status, has)
	}
	if !equalJSON(draft.rest, old.rest) {
		draft.meta.Generation = old.meta.Generation + 1
	}
}

func (k *kind) prepareBuiltin(w *hookWrite, draft, old *object, sub string) {
	b := k.strategy
	if sub == "finalize" {
		copyPart(draft.typed, old.typed, "Status")
		return
	}
	if sub == "status" {
		for _, name := range []string{"Spec", "Data"} {
			copyPart(draft.typed, old.typed, name)
		}
		if b.keepOnStatus != nil {
			b.keepOnStatus(draft.typed, old.typed)
		}
		return
	}
	if b.status {
		copyPart(draft.typed, old.typed, "Status")
	}
	if b.prepareUpdate != nil {
		b.prepareUpdate(w, draft.typed, old.typed)
	}
	if b.generation && (specChanged(draft.typed, old.typed) ||
		b.labelsCount && !maps.Equal(draft.meta.Labels, old.meta.Labels) ||
		b.annotationsCount && !maps.Equal(draft.meta.Annotations, old.meta.Annotations)) {
		draft.meta.Generation = old.meta.Generation + 1
	}
}
