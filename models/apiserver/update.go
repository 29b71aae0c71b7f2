package apiserver

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// update replaces an object, or the part of it that a subresource stands for.
func (c *call) update(sub string) (*Response, error) {
	if err := c.updateOptions(); err != nil {
		return nil, err
	}
	if err := c.readBody(); err != nil {
		return nil, err
	}
	draft, err := c.decodeBody()
	if err != nil {
		return nil, err
	}
	if err := c.matchNamespace(draft.meta); err != nil {
		return nil, err
	}
	if err := c.matchName(draft.meta); err != nil {
		return nil, err
	}
	c.dedupeOwners(draft.meta, false)
	old, exists := c.lookup(c.info.Name)
	if b := c.kind.builtin; !exists && (b == nil || !b.createOnUpdate || sub != "") {
		return nil, apierrors.NewNotFound(c.kind.groupResource(), c.info.Name)
	}
	if err := c.checkUID(draft.meta.UID, old); err != nil {
		return nil, err
	}
	if !exists {
		return c.createOnUpdate(draft)
	}
	stored, err := c.replace(draft, old, sub)
	if err != nil {
		return nil, err
	}
	return c.objectResponse(http.StatusOK, stored), nil
}

// createOnUpdate is what an update of a missing object does for the types that allow it.
func (c *call) createOnUpdate(draft *object) (*Response, error) {
	draft.meta.ResourceVersion = ""
	c.creates = true
	stored, err := c.createObject(draft)
	if err != nil {
		return nil, err
	}
	return c.objectResponse(http.StatusCreated, stored), nil
}

func (c *call) matchName(meta *metav1.ObjectMeta) error {
	if meta.Name == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: %v",
			c.info.Name, "name must be provided"))
	}
	if meta.Name != c.info.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)",
			meta.Name, c.info.Name))
	}
	return nil
}

// checkUID is the precondition that an update carries when its object has a UID.
func (c *call) checkUID(uid types.UID, old *object) error {
	if uid == "" {
		return nil
	}
	var found types.UID
	if old != nil {
		found = old.meta.UID
	}
	if uid == found {
		return nil
	}
	return preconditionConflict(c.kind.groupResource(), c.info.Name, c.etcdKey(c.info.Name),
		fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, found))
}

// replace takes a complete new version of an object through the rest of an update, in the order of
// registry/generic/registry/store.go (Update) and registry/rest/update.go (BeforeUpdate).
func (c *call) replace(draft, stored *object, sub string) (*object, error) {
	if c.info.Subresource != "scale" {
		c.own(draft, stored, sub) // what webhooks set afterwards is nobody's
	}
	draft, err := c.mutate("UPDATE", draft, stored)
	if err != nil {
		return nil, err
	}
	if err := c.grants(draft, stored); err != nil {
		return nil, err
	}
	if err := c.checkRevision(draft.meta, stored); err != nil {
		return nil, err
	}
	old := stored.in(c.ver)
	meta := draft.meta
	if err := c.matchNamespace(meta); err != nil {
		return nil, err
	}
	meta.Generation = old.meta.Generation
	c.prepareUpdate(draft, old, sub)
	meta = draft.meta
	keepSystemFields(meta, old.meta)
	if errs := c.validateUpdate(draft, old, sub); len(errs) > 0 {
		return nil, c.invalid(draft, errs)
	}
	if sub == "" {
		c.warnings = append(c.warnings, c.strategyWarnings(draft)...)
		c.warnFinalizers(meta, old.meta)
	}
	c.canonicalize(draft)
	if err := c.validated("UPDATE", draft, stored); err != nil {
		return nil, err
	}
	if c.deletesOnUpdate(draft, old) {
		return c.finishDeletion(draft, stored), nil
	}
	return c.commit(draft, stored)
}

func (c *call) checkRevision(meta *metav1.ObjectMeta, stored *object) error {
	given, err := parseRevision(meta.ResourceVersion)
	if err != nil {
		return fmt.Errorf("strconv.ParseUint: parsing %q: invalid syntax", meta.ResourceVersion)
	}
	if given == 0 {
		if b := c.kind.builtin; b != nil && b.unconditional {
			meta.ResourceVersion = stored.meta.ResourceVersion
			return nil
		}
		return apierrors.NewInvalid(schema.GroupKind{Group: c.kind.group, Kind: c.kind.plural}, c.info.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update"),
		})
	}
	if given != stored.revision {
		return lockConflict(c.kind.groupResource(), c.info.Name)
	}
	return nil
}

// parseRevision reads a resourceVersion; the empty one is zero.
func parseRevision(text string) (int64, error) {
	if text == "" || text == "0" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, field.Invalid(field.NewPath("resourceVersion"), text, err.Error())
	}
	return int64(n), nil
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
func (c *call) prepareUpdate(draft, old *object, sub string) {
	if c.kind.builtin != nil {
		c.prepareBuiltin(draft, old, sub)
		return
	}
	if sub == "status" {
		status, has := draft.rest["status"]
		revision, owners := draft.meta.ResourceVersion, draft.meta.ManagedFields
		draft.meta, draft.rest = old.meta.DeepCopy(), shallowCopy(old.rest)
		draft.meta.ResourceVersion, draft.meta.ManagedFields, draft.oddMeta = revision, owners, false
		setOrDelete(draft.rest, "status", status, has)
		return
	}
	if c.ver.subresource("status") != nil {
		status, has := old.rest["status"]
		setOrDelete(draft.rest, "status", status, has)
	}
	if !equalJSON(draft.rest, old.rest) {
		draft.meta.Generation = old.meta.Generation + 1
	}
}

func (c *call) prepareBuiltin(draft, old *object, sub string) {
	b := c.kind.builtin
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
		if b.prepareStatus != nil {
			b.prepareStatus(c, draft.typed, old.typed)
		}
		return
	}
	if b.status {
		copyPart(draft.typed, old.typed, "Status")
	}
	if b.prepareUpdate != nil {
		b.prepareUpdate(c, draft.typed, old.typed)
	}
	if b.generation && (specChanged(draft.typed, old.typed) ||
		b.labelsCount && !maps.Equal(draft.meta.Labels, old.meta.Labels) ||
		b.annotationsCount && !maps.Equal(draft.meta.Annotations, old.meta.Annotations)) {
		draft.meta.Generation = old.meta.Generation + 1
	}
}

func shallowCopy(m map[string]any) map[string]any {
	out := make(map[string]any, len(m)+1)
	for name, value := range m {
		out[name] = value
	}
	return out
}

func setOrDelete(m map[string]any, name string, value any, has bool) {
	if has {
		m[name] = value
	} else {
		delete(m, name)
	}
}

// etcdKey is the key that a real server stores an object under, which some of its messages show.
func (c *call) etcdKey(name string) string {
	resource := c.kind.plural
	if c.kind.custom != nil {
		resource = c.kind.group + "/" + resource
	}
	key := "/" + resource + "/" + objectKey(c.info.Namespace, name)
	if c.dryRun {
		return key // a dry run is checked above the layer that adds the prefix
	}
	return "/registry" + key
}
