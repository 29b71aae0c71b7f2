// This file makes the cache of an operator that watches several namespaces repeatable.
// controller-runtime gives each namespace a cache of its own, and goes through them in map order.

package process

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// cachesInOrder starts the informers of all namespaces before it waits for any, so that none is
// first, and sorts what they list together.
type cachesInOrder struct {
	cache.Cache
	scheme *runtime.Scheme
	strict bool // reading begins no informer
}

func (c cachesInOrder) GetInformer(
	ctx context.Context, o client.Object, opts ...cache.InformerGetOption,
) (cache.Informer, error) {
	unsynced := append(slices.Clone(opts), cache.BlockUntilSynced(false))
	if _, err := c.Cache.GetInformer(ctx, o, unsynced...); err != nil {
		return nil, err
	}
	return c.Cache.GetInformer(ctx, o, opts...)
}

func (c cachesInOrder) GetInformerForKind(
	ctx context.Context, kind schema.GroupVersionKind, opts ...cache.InformerGetOption,
) (cache.Informer, error) {
	unsynced := append(slices.Clone(opts), cache.BlockUntilSynced(false))
	if _, err := c.Cache.GetInformerForKind(ctx, kind, unsynced...); err != nil {
		return nil, err
	}
	return c.Cache.GetInformerForKind(ctx, kind, opts...)
}

func (c cachesInOrder) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	o := client.ListOptions{}
	o.ApplyOptions(opts)
	if o.Namespace != "" {
		return c.Cache.List(ctx, list, opts...)
	}
	if item := c.newItem(list); item != nil && !c.strict { // else what the first one holds would be read sooner
		if _, err := c.GetInformer(ctx, item); err != nil {
			return err
		}
	}
	limit := int(o.Limit)
	o.Limit = 0
	if err := c.Cache.List(ctx, list, &o); err != nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	slices.SortFunc(items, func(a, b runtime.Object) int { return strings.Compare(keyOf(a), keyOf(b)) })
	if limit > 0 && len(items) > limit {
		items = items[:limit]
	}
	return meta.SetList(list, items)
}

// newItem returns an empty object of the item type of a list, as the cache keeps it; nil if the
// type is not known.
func (c cachesInOrder) newItem(list client.ObjectList) client.Object {
	kind, err := apiutil.GVKForObject(list, c.scheme)
	if err != nil {
		return nil
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	switch list.(type) {
	case runtime.Unstructured:
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(kind)
		return u
	case *metav1.PartialObjectMetadataList:
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(kind)
		return m
	}
	o, err := c.scheme.New(kind)
	if err != nil {
		return nil
	}
	item, _ := o.(client.Object)
	return item
}

func keyOf(o runtime.Object) string {
	m, err := meta.Accessor(o)
	if err != nil {
		return ""
	}
	return m.GetNamespace() + "/" + m.GetName()
}
