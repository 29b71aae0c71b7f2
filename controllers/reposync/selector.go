// This file holds what a RootSync declares once and for many namespaces.

package reposync

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NamespaceSelector is the annotation of an object that is to be in every namespace whose labels it
// selects, as those labels are when the reconciler looks. Its value is the selector; that of Config
// Sync is the name of an object that holds it.
const NamespaceSelector = "configmanagement.gke.io/namespace-selector"

type objects = []*unstructured.Unstructured

// placed puts a copy of each object that selects namespaces into each of them, and leaves the
// others as they are.
func (r *Reconciler) placed(ctx context.Context, declared objects) (out objects, err error) {
	for _, o := range declared {
		selector := o.GetAnnotations()[NamespaceSelector]
		if selector == "" {
			out = append(out, o)
			continue
		}
		selects, err := labels.Parse(selector)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		var all corev1.NamespaceList
		if err := r.live.List(ctx, &all, client.MatchingLabelsSelector{Selector: selects}); err != nil {
			return nil, err
		}
		for i := range all.Items {
			if r.policy.avoids && !all.Items[i].DeletionTimestamp.IsZero() {
				continue
			}
			copied := o.DeepCopy()
			copied.SetNamespace(all.Items[i].Name)
			out = append(out, copied)
		}
	}
	return out, nil
}
