package registry

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// CheckPreconditions refuses the deletion of another object than the one that a client means.
func (k *Kind) CheckPreconditions(p *metav1.Preconditions, o *object.Object) error {
	if p == nil {
		return nil
	}
	resource := k.GroupResource()
	resource.Resource = k.Kind
	if p.UID != nil && *p.UID != o.Meta.UID {
		return apierrors.NewConflict(resource, o.Meta.Name, fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been "+
				"deleted and then recreated",
			*p.UID, o.Meta.UID))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != o.Meta.ResourceVersion {
		return apierrors.NewConflict(resource, o.Meta.Name, fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The "+
				"object might have been modified",
			*p.ResourceVersion, o.Meta.ResourceVersion))
	}
	return nil
}

// BeginGraceful sets the deletion time of a type that is deleted gracefully. pending means that the
// deletion is under way already and this request changes nothing.
func (k *Kind) BeginGraceful(draft *object.Object, opts *metav1.DeleteOptions, now time.Time) (graceful, pending bool) {
	if g := opts.GracePeriodSeconds; g != nil && *g < 0 {
		one := int64(1)
		opts.GracePeriodSeconds = &one
	}
	if k.Strategy == nil || k.Strategy.grace == nil {
		return false, false
	}
	meta := draft.Meta
	if meta.DeletionTimestamp != nil {
		return shortenGrace(meta, opts, now)
	}
	period := k.Strategy.grace(draft.Typed, opts.GracePeriodSeconds)
	if period == nil {
		return false, false
	}
	at := metav1.NewTime(now.Add(time.Duration(*period) * time.Second))
	meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds = &at, period
	if meta.Generation > 0 {
		meta.Generation++
	}
	return true, false
}

// shortenGrace is a repeated graceful deletion, which may only shorten the time that is left.
func shortenGrace(meta *metav1.ObjectMeta, opts *metav1.DeleteOptions, now time.Time) (graceful, pending bool) {
	left := meta.DeletionGracePeriodSeconds
	if left == nil || *left == 0 {
		return false, false
	}
	if opts.GracePeriodSeconds == nil || *opts.GracePeriodSeconds >= *left {
		return false, true
	}
	period := *opts.GracePeriodSeconds
	at := meta.DeletionTimestamp.Add(time.Duration(period-*left) * time.Second)
	if at.Before(now) {
		at = now
		if period != 0 {
			period = 1
		}
	}
	stamp := metav1.NewTime(at)
	meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds = &stamp, &period
	return true, false
}

// MarkDeleting marks an object that waits for finalizers (registry/generic/registry/store.go,
// markAsDeleting).
func MarkDeleting(meta *metav1.ObjectMeta, now time.Time) {
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

// PropagationFinalizers is the finalizer list after the propagation policy has been recorded in it
// (registry/generic/registry/store.go, deletionFinalizersForGarbageCollection).
func (k *Kind) PropagationFinalizers(meta *metav1.ObjectMeta, opts *metav1.DeleteOptions) []string {
	orphan, foreground := k.propagation(meta, opts)
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

// propagation weighs, in falling order: the request's policy, the object's finalizers, the type's
// default.
func (k *Kind) propagation(meta *metav1.ObjectMeta, opts *metav1.DeleteOptions) (orphan, foreground bool) {
	b := k.Strategy
	if b != nil && b.noCollection {
		return false, false
	}
	if opts.OrphanDependents != nil { //nolint:staticcheck // deprecated, still served
		return *opts.OrphanDependents, false //nolint:staticcheck // deprecated, still served
	}
	if opts.PropagationPolicy != nil {
		return *opts.PropagationPolicy == metav1.DeletePropagationOrphan,
			*opts.PropagationPolicy == metav1.DeletePropagationForeground
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

// DeletesOnUpdate says that an update has taken the last finalizer off an object that waits to be
// deleted (registry/generic/registry/store.go, ShouldDeleteDuringUpdate). Namespaces have
// finalizers in their spec as well.
func DeletesOnUpdate(draft, old *object.Object) bool {
	if len(draft.Meta.Finalizers) > 0 || old.Meta.DeletionTimestamp == nil {
		return false
	}
	if n, ok := draft.Typed.(*corev1.Namespace); ok && len(n.Spec.Finalizers) > 0 {
		return false
	}
	return old.Meta.DeletionGracePeriodSeconds == nil || *old.Meta.DeletionGracePeriodSeconds == 0
}
