package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func (c *call) create() (*Response, error) {
	if err := c.readBody(); err != nil {
		return nil, err
	}
	if err := c.createOptions(); err != nil {
		return nil, err
	}
	draft, err := c.decodeBody()
	if err != nil {
		return nil, err
	}
	stored, err := c.createObject(draft)
	if err != nil {
		return nil, err
	}
	return c.objectResponse(http.StatusCreated, stored), nil
}

// nameAttempts is how often a generated name is drawn anew when it is taken
// (staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go).
const nameAttempts = 8

// createObject takes a decoded object through creation. The order of the steps is that of endpoints/handlers/create.go,
// registry/rest/create.go and registry/generic/registry/store.go: it decides which of several faults is reported.
func (c *call) createObject(draft *object) (*object, error) {
	meta := draft.meta
	if !c.creates {
		// A creation by update or apply is cleaned when it is stored: who said it owns what is not kept.
		meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds, meta.SelfLink = nil, nil, ""
	}
	if err := c.matchNamespace(meta); err != nil {
		return nil, err
	}
	c.dedupeOwners(meta, false)
	if err := c.admitCreate(draft); err != nil {
		return nil, err
	}
	c.own(draft, nil, "")
	draft, err := c.mutate("CREATE", draft, nil)
	if err != nil {
		return nil, err
	}
	meta = draft.meta
	if err := c.matchNamespace(meta); err != nil {
		return nil, err
	}
	if err := c.grants(draft, nil); err != nil {
		return nil, err
	}
	generated := meta.GenerateName != "" && meta.Name == ""
	for attempt := 1; ; attempt++ {
		if generated {
			meta.Name = c.s.dice.name(meta.GenerateName)
		}
		stored, err := c.tryCreate(draft)
		if generated && attempt < nameAttempts && apierrors.IsAlreadyExists(err) {
			continue
		}
		if generated && apierrors.IsAlreadyExists(err) {
			return nil, apierrors.NewGenerateNameConflict(c.kind.groupResource(), meta.Name, 1)
		}
		return stored, err
	}
}

func (c *call) tryCreate(draft *object) (*object, error) {
	meta := draft.meta
	meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds, meta.SelfLink = nil, nil, ""
	meta.CreationTimestamp, meta.UID = metav1.NewTime(c.s.now()), c.s.dice.uid()
	c.prepareCreate(draft)
	if errs := c.validateCreate(draft); len(errs) > 0 {
		return nil, c.invalid(draft, errs)
	}
	c.warnings = append(c.warnings, c.strategyWarnings(draft)...)
	c.warnFinalizers(meta, nil)
	c.canonicalize(draft)
	if err := c.mayCreate(); err != nil {
		return nil, err
	}
	if err := c.validated("CREATE", draft, nil); err != nil {
		return nil, err
	}
	if meta.ResourceVersion != "" && meta.ResourceVersion != "0" {
		if _, err := parseRevision(meta.ResourceVersion); err == nil {
			return nil, errors.New("resourceVersion should not be set on objects to be created")
		}
	}
	meta.ResourceVersion = ""
	key := draft.key()
	if old, exists := c.table().Get(key); exists {
		if c.creates { // the transaction of an update begins anew (storage/etcd3/store.go, GuaranteedUpdate)
			return nil, errMoved
		}
		err := apierrors.NewAlreadyExists(c.kind.groupResource(), meta.Name)
		if old.meta.DeletionTimestamp != nil {
			err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
		}
		return nil, err
	}
	return c.commit(draft, nil)
}

// prepareCreate is the strategy's PrepareForCreate: status is not for clients to set, and generation starts at one.
func (c *call) prepareCreate(draft *object) {
	b := c.kind.builtin
	if b == nil {
		if c.ver.subresource("status") != nil {
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
		b.prepareCreate(c, draft.typed)
	}
}

func (c *call) strategyWarnings(draft *object) []string {
	if b := c.kind.builtin; b != nil && b.warnings != nil {
		return b.warnings(draft.typed)
	}
	return nil
}

func (c *call) canonicalize(draft *object) {
	if b := c.kind.builtin; b != nil && b.canonicalize != nil {
		b.canonicalize(draft.typed)
	}
}

// matchNamespace makes the object's namespace that of the request, or refuses a contradiction
// (staging/src/k8s.io/apiserver/pkg/registry/rest/meta.go).
func (c *call) matchNamespace(meta *metav1.ObjectMeta) error {
	want := c.info.Namespace
	switch {
	case meta.Namespace == want:
	case meta.Namespace == "", want == "":
		meta.Namespace = want
	default:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// dedupeOwners drops repeated owner references with a warning, as endpoints/handlers/rest.go does.
func (c *call) dedupeOwners(meta *metav1.ObjectMeta, patch bool) {
	var kept []metav1.OwnerReference
	var repeated []string
	for _, ref := range meta.OwnerReferences {
		if containsOwner(kept, ref) {
			repeated = append(repeated, string(ref.UID))
			continue
		}
		kept = append(kept, ref)
	}
	if len(repeated) == 0 {
		return
	}
	text := ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %v"
	if patch {
		text = ".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %v"
	}
	c.warn(fmt.Sprintf(text, strings.Join(repeated, ", ")))
	meta.OwnerReferences = kept
}

func containsOwner(refs []metav1.OwnerReference, ref metav1.OwnerReference) bool {
	for _, other := range refs {
		if equalOwner(other, ref) {
			return true
		}
	}
	return false
}

func equalOwner(a, b metav1.OwnerReference) bool {
	return a.UID == b.UID && a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name &&
		equalFlag(a.Controller, b.Controller) && equalFlag(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

func equalFlag(a, b *bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

var namespaceResource = schema.GroupResource{Resource: "namespaces"}
