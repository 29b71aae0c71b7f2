package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	kjson "sigs.k8s.io/json"
)

// delete removes an object, or marks it when something still has to happen first.
func (c *call) delete() (*Response, error) {
	opts, err := c.deleteOptions()
	if err != nil {
		return nil, err
	}
	o, exists := c.lookup(c.info.Name)
	if !exists {
		return nil, apierrors.NewNotFound(c.kind.groupResource(), c.info.Name)
	}
	if err := c.admitDelete(o); err != nil {
		return nil, err
	}
	if err := c.admittedDeletion(o, opts); err != nil {
		return nil, err
	}
	if b := c.kind.builtin; b != nil && b.deleteWarning != "" && opts.PropagationPolicy == nil && opts.OrphanDependents == nil { //nolint:staticcheck // deprecated, still served
		c.warn(b.deleteWarning)
	}
	last, gone, err := c.deleteAny(o, opts)
	if err != nil {
		return nil, err
	}
	code := http.StatusOK
	if !gone && opts.OrphanDependents != nil && !*opts.OrphanDependents { //nolint:staticcheck // deprecated, still served
		code = http.StatusAccepted
	}
	// An object that is marked but not gone is shown; one that is gone is reported by a Status, except for the types
	// that return it (registry/generic/registry/store.go, finalizeDelete).
	if b := c.kind.builtin; gone && (b == nil || !b.returnsDeleted) {
		return jsonResponse(code, encodeStatus(c.deletedStatus(last))), nil
	}
	return c.objectResponse(code, last), nil
}

func (c *call) deletedStatus(o *object) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name:  o.meta.Name,
			Group: c.kind.group,
			Kind:  c.kind.plural,
			UID:   o.meta.UID,
		},
	}
}

// deleteOptions are read from the body when there is one, else from the query.
func (c *call) deleteOptions() (*metav1.DeleteOptions, error) {
	opts := &metav1.DeleteOptions{}
	switch {
	case len(c.req.Body) > 0:
		if err := c.readBody(); err != nil {
			return nil, err
		}
		apiVersion, kind, err := typeOf(c.req.Body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if kind != "" && kind != "DeleteOptions" {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("no kind %q is registered for version %q in scheme %s", kind, apiVersion, schemeName))
		}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(c.req.Body, opts); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	case len(c.query) > 0:
		if err := metav1.Convert_url_Values_To_v1_DeleteOptions(&c.query, opts, nil); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	if err := invalidOptions("DeleteOptions", metavalidation.ValidateDeleteOptions(opts)); err != nil {
		return nil, err
	}
	c.dryRun = len(opts.DryRun) > 0
	return opts, nil
}

// deleteObject follows registry/generic/registry/store.go (Delete) and registry/rest/delete.go (BeforeDelete). It returns
// the last or marked state and whether the object is gone.
func (c *call) deleteObject(o *object, opts *metav1.DeleteOptions) (*object, bool, error) {
	if err := c.checkPreconditions(opts.Preconditions, o); err != nil {
		return nil, false, err
	}
	// An object is read in the version of the request, and what that does not know is lost when it is written again.
	draft := o.in(c.ver).draft()
	graceful, pending := c.beginGraceful(draft, opts)
	if pending {
		return o, false, nil
	}
	finalizers := c.collectorFinalizers(draft.meta, opts)
	draft.meta.Finalizers = finalizers
	if !graceful && len(finalizers) == 0 {
		return c.remove(o), true, nil
	}
	if !graceful {
		markDeleting(draft.meta, c.s.now())
	}
	stored, err := c.commit(draft, o)
	if err != nil {
		return nil, false, err
	}
	if len(finalizers) > 0 || !graceful || *draft.meta.DeletionGracePeriodSeconds > 0 {
		return stored, false, nil
	}
	return c.remove(stored), true, nil
}

// deleteAny deletes an object by the rules of its type.
func (c *call) deleteAny(o *object, opts *metav1.DeleteOptions) (*object, bool, error) {
	switch typed := o.typed.(type) {
	case *corev1.Namespace:
		return c.deleteNamespace(o, typed, opts)
	case *apiextensionsv1.CustomResourceDefinition:
		return c.deleteDefinition(o, typed, opts)
	default:
		return c.deleteObject(o, opts)
	}
}

// draft is a copy of a stored object that may be changed.
func (o *object) draft() *object {
	d := &object{ver: o.ver, rest: o.rest}
	if o.typed != nil {
		d.typed = o.typed.DeepCopyObject()
		d.meta, d.rest = metaOf(d.typed), nil
		return d
	}
	d.meta = o.meta.DeepCopy()
	return d
}

func (c *call) checkPreconditions(p *metav1.Preconditions, o *object) error {
	if p == nil {
		return nil
	}
	resource := c.kind.groupResource()
	resource.Resource = c.kind.kind
	if p.UID != nil && *p.UID != o.meta.UID {
		return apierrors.NewConflict(resource, o.meta.Name, fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated",
			*p.UID, o.meta.UID))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != o.meta.ResourceVersion {
		return apierrors.NewConflict(resource, o.meta.Name, fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified",
			*p.ResourceVersion, o.meta.ResourceVersion))
	}
	return nil
}

// beginGraceful sets the deletion time of a type that is deleted gracefully. pending means that the deletion is under
// way already and this request changes nothing.
func (c *call) beginGraceful(draft *object, opts *metav1.DeleteOptions) (graceful, pending bool) {
	if g := opts.GracePeriodSeconds; g != nil && *g < 0 {
		one := int64(1)
		opts.GracePeriodSeconds = &one
	}
	if c.kind.builtin == nil || c.kind.builtin.grace == nil {
		return false, false
	}
	meta := draft.meta
	if meta.DeletionTimestamp != nil {
		return c.shortenGrace(meta, opts)
	}
	period := c.kind.builtin.grace(draft.typed, opts.GracePeriodSeconds)
	if period == nil {
		return false, false
	}
	at := metav1.NewTime(c.s.now().Add(time.Duration(*period) * time.Second))
	meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds = &at, period
	if meta.Generation > 0 {
		meta.Generation++
	}
	return true, false
}

// shortenGrace is a repeated graceful deletion, which may only shorten the time that is left.
func (c *call) shortenGrace(meta *metav1.ObjectMeta, opts *metav1.DeleteOptions) (graceful, pending bool) {
	left := meta.DeletionGracePeriodSeconds
	if left == nil || *left == 0 {
		return false, false
	}
	if opts.GracePeriodSeconds == nil || *opts.GracePeriodSeconds >= *left {
		return false, true
	}
	period := *opts.GracePeriodSeconds
	at := meta.DeletionTimestamp.Add(time.Duration(period-*left) * time.Second)
	if now := c.s.now(); at.Before(now) {
		at = now
		if period != 0 {
			period = 1
		}
	}
	stamp := metav1.NewTime(at)
	meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds = &stamp, &period
	return true, false
}

// markDeleting marks an object that waits for finalizers (registry/generic/registry/store.go, markAsDeleting).
func markDeleting(meta *metav1.ObjectMeta, now time.Time) {
	if meta.DeletionTimestamp == nil && meta.Generation > 0 {
		meta.Generation++
	}
	if meta.DeletionTimestamp == nil || meta.DeletionTimestamp.After(now) {
		stamp := metav1.NewTime(now)
		meta.DeletionTimestamp = &stamp
	}
	zero := int64(0)
	meta.DeletionGracePeriodSeconds = &zero
}

// collectorFinalizers is the finalizer list after the propagation policy has been recorded in it
// (registry/generic/registry/store.go, deletionFinalizersForGarbageCollection).
func (c *call) collectorFinalizers(meta *metav1.ObjectMeta, opts *metav1.DeleteOptions) []string {
	orphan, foreground := c.propagation(meta, opts)
	var out []string
	for _, f := range meta.Finalizers {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			out = append(out, f)
		}
	}
	if orphan {
		out = append(out, metav1.FinalizerOrphanDependents)
	}
	if foreground {
		out = append(out, metav1.FinalizerDeleteDependents)
	}
	if len(out) == len(meta.Finalizers) && sameSet(out, meta.Finalizers) {
		return meta.Finalizers
	}
	return out
}

func sameSet(a, b []string) bool {
	for _, s := range a {
		if !slices.Contains(b, s) {
			return false
		}
	}
	return true
}

// propagation weighs, in falling order: the request's policy, the object's finalizers, the type's default.
func (c *call) propagation(meta *metav1.ObjectMeta, opts *metav1.DeleteOptions) (orphan, foreground bool) {
	b := c.kind.builtin
	if b != nil && b.noCollection {
		return false, false
	}
	if opts.OrphanDependents != nil { //nolint:staticcheck // deprecated, still served
		return *opts.OrphanDependents, false //nolint:staticcheck // deprecated, still served
	}
	if opts.PropagationPolicy != nil {
		return *opts.PropagationPolicy == metav1.DeletePropagationOrphan, *opts.PropagationPolicy == metav1.DeletePropagationForeground
	}
	for _, f := range meta.Finalizers {
		switch f {
		case metav1.FinalizerOrphanDependents:
			return true, false
		case metav1.FinalizerDeleteDependents:
			return false, true
		}
	}
	return b != nil && b.orphans, false
}

// deletesOnUpdate says that an update has taken the last finalizer off an object that waits to be deleted
// (registry/generic/registry/store.go, ShouldDeleteDuringUpdate). Namespaces have finalizers in their spec as well.
func (c *call) deletesOnUpdate(draft, old *object) bool {
	if len(draft.meta.Finalizers) > 0 || old.meta.DeletionTimestamp == nil {
		return false
	}
	if n, ok := draft.typed.(*corev1.Namespace); ok && len(n.Spec.Finalizers) > 0 {
		return false
	}
	return old.meta.DeletionGracePeriodSeconds == nil || *old.meta.DeletionGracePeriodSeconds == 0
}

// finishDeletion removes the object that an update has released. The event carries the last stored state, the reply the
// object as it was sent, in the version in which it was sent.
func (c *call) finishDeletion(draft, old *object) *object {
	c.remove(old)
	draft.meta.ResourceVersion = old.meta.ResourceVersion
	draft.json = draft.encode()
	return draft
}

// deleteCollection deletes what a list with the same options would show, in its order.
func (c *call) deleteCollection() (*Response, error) {
	q, err := c.listQuery()
	if err != nil {
		return nil, err
	}
	opts, err := c.deleteOptions()
	if err != nil {
		return nil, err
	}
	page, err := c.selected(q)
	if err != nil {
		return nil, err
	}
	namespace := c.info.Namespace
	for _, o := range page.objects {
		c.info.Namespace = o.meta.Namespace
		if err := c.deleteOne(o.meta.Name, opts); err != nil {
			return nil, err
		}
	}
	c.info.Namespace = namespace
	return c.listResponse(page), nil
}

// deleteOne deletes an object of a collection, unless it has gone meanwhile.
func (c *call) deleteOne(name string, opts *metav1.DeleteOptions) error {
	for {
		o, exists := c.lookup(name)
		if !exists {
			return nil
		}
		if err := c.admitDelete(o); err != nil {
			return err
		}
		err := c.admittedDeletion(o, opts)
		if err == nil {
			_, _, err = c.deleteAny(o, opts.DeepCopy())
		}
		if err != errMoved {
			return err
		}
		if err := c.resolve(); err != nil {
			return err
		}
	}
}
