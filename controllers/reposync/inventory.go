// This file holds the inventory of what a sync manages, and the deletion of that in the order of
// its dependencies.

package reposync

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DependsOn is the annotation that says what an object needs: a comma-separated list of objects,
// written "group/namespaces/namespace/kind/name" with an empty group for core, as kpt defines it.
const DependsOn = "config.kubernetes.io/depends-on"

var inventoryKind = schema.GroupVersionKind{Group: "kpt.dev", Version: "v1alpha1", Kind: "ResourceGroup"}

// object names one object in an inventory.
type object struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String is "Kind namespace/name".
func (o object) String() string { return o.Kind + " " + o.Namespace + "/" + o.Name }

func refTo(o client.Object, kind schema.GroupKind) object {
	return object{kind.Group, kind.Kind, o.GetNamespace(), o.GetName()}
}

// needs are the objects that o says it depends on.
func needs(o client.Object) (out []object) {
	for _, ref := range strings.Split(o.GetAnnotations()[DependsOn], ",") {
		parts := strings.Split(strings.TrimSpace(ref), "/")
		if len(parts) == 5 && parts[1] == "namespaces" {
			out = append(out, object{Group: parts[0], Kind: parts[3], Namespace: parts[2], Name: parts[4]})
		}
	}
	return out
}

// managed is an object that is in an inventory and in the cluster.
type managed struct {
	object
	*unstructured.Unstructured
}

// newInventory is an empty inventory of a sync.
func newInventory(sync types.NamespacedName) *unstructured.Unstructured {
	inv := &unstructured.Unstructured{}
	inv.SetGroupVersionKind(inventoryKind)
	inv.SetNamespace(sync.Namespace)
	inv.SetName(sync.Name)
	return inv
}

// contents are the objects of an inventory. That of a RepoSync lists nothing outside its namespace:
// any other entry was written by a user with fewer rights than the program that would act on it.
func contents(inv *unstructured.Unstructured) ([]object, error) {
	var typed struct {
		Spec struct {
			Resources []object `json:"resources"`
		} `json:"spec"`
	}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(inv.Object, &typed)
	return slices.DeleteFunc(typed.Spec.Resources, func(o object) bool {
		return inv.GetNamespace() != Namespace && o.Namespace != inv.GetNamespace()
	}), err
}

// present are the objects of an inventory that exist.
func present(ctx context.Context, c client.Client, inv *unstructured.Unstructured) (out []managed, err error) {
	listed, err := contents(inv)
	if err != nil {
		return nil, err
	}
	for _, ref := range listed {
		mapping, err := c.RESTMapper().RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
		if apimeta.IsNoMatchError(err) {
			continue // a kind that is not served has no objects
		} else if err != nil {
			return nil, err
		}
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(mapping.GroupVersionKind)
		// not from the cache: it is unstructured
		err = c.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, o)
		if apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			return nil, err
		}
		out = append(out, managed{ref, o})
	}
	return out, nil
}

// dependents are those of all that need one object. What is in a namespace needs that. Between
// objects that need each other there is no order.
func dependents(all []managed, on object) (out []managed) {
	for _, m := range all {
		if on.Kind == "Namespace" && on.Group == "" && m.Namespace == on.Name {
			out = append(out, m)
		}
		for _, need := range needs(m) {
			if need == on && !leads(all, on, m.object) {
				out = append(out, m)
			}
		}
	}
	return out
}

// leads reports whether one object needs another, or something that does.
func leads(all []managed, from, to object) bool {
	seen := []object{from}
	for i := 0; i < len(seen); i++ {
		for _, m := range all {
			if m.object != seen[i] {
				continue
			}
			for _, need := range needs(m) {
				if need == to {
					return true
				}
				if !slices.Contains(seen, need) {
					seen = append(seen, need)
				}
			}
		}
	}
	return false
}

// defines reports whether m is the definition of one of all.
func defines(m managed, all []managed) bool {
	group, _, _ := unstructured.NestedString(m.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(m.Object, "spec", "names", "kind")
	return m.object.Kind == "CustomResourceDefinition" &&
		slices.ContainsFunc(all, func(o managed) bool { return o.object.Group == group && o.object.Kind == kind })
}

// destroy deletes what an inventory lists, dependents first, and then the inventory. It returns
// what still exists, in words; "" means that it is done. A definition does not wait for its
// resources, because the API server deletes these with it.
func (p *policy) destroy(ctx context.Context, c client.Client, sync types.NamespacedName) (waits string, err error) {
	inv := newInventory(sync)
	if err := c.Get(ctx, sync, inv); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	left, err := present(ctx, c, inv)
	if err != nil {
		return "", err
	}
	if len(left) == 0 {
		return "", client.IgnoreNotFound(c.Delete(ctx, inv))
	}
	var names []string
	for _, m := range left {
		name := m.object.String()
		if f := m.GetFinalizers(); len(f) > 0 {
			name += fmt.Sprintf(" (kept by %s)", strings.Join(f, ", "))
		}
		names = append(names, name)
		if m.GetDeletionTimestamp() != nil || len(dependents(left, m.object)) > 0 {
			continue
		}
		if p.definitionsLast && defines(m, left) {
			continue
		}
		if p.forces && len(m.GetFinalizers()) > 0 {
			m.SetFinalizers(nil)
			if err := c.Update(ctx, m.Unstructured); err != nil {
				return "", err
			}
		}
		err := c.Delete(ctx, m.Unstructured, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("deleting %s: %w", m.object, err)
		}
	}
	return strings.Join(names, ", "), nil
}
