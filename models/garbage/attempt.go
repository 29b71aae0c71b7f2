package garbage

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/models/actor"
)

var (
	// errNotServed says that a reference is to a type that is not served: it may be one day.
	errNotServed = errors.New("the owner's type is not served")
	// errScope says that something without namespace names an owner with a namespace: it will never
	// be right.
	errScope = errors.New("cluster-scoped objects cannot refer to namespaced owners")
)

func (c *collector) tryDelete(n *node) {
	c.queue.wait(work{n, "collect"}, n.delay(), c.cluster.After, func() error { return c.attempt(n) })
}

// attempt is attemptToDeleteItem.
func (c *collector) attempt(n *node) error {
	if n.deleting && !n.foreground {
		return nil
	}
	var latest struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if !actor.Get(c.cluster, n.path(), &latest) {
		return nil
	}
	if n.foreground {
		return c.waitForDependents(n, &latest.Metadata)
	}
	if len(latest.Metadata.OwnerReferences) == 0 {
		return nil
	}
	k, err := c.classify(n, latest.Metadata.OwnerReferences)
	switch {
	case errors.Is(err, errScope):
		return nil
	case err != nil:
		return err
	case k.solid > 0 && len(k.absent)+len(k.waiting) == 0:
		return nil
	case k.solid > 0:
		return disown(c.cluster, n, &latest.Metadata, append(k.absent, k.waiting...))
	case len(k.waiting) > 0 && len(c.dependents[n.uid]) > 0:
		return c.deleteAmong(n, &latest.Metadata)
	}
	policy := metav1.DeletePropagationBackground
	switch {
	case slices.Contains(latest.Metadata.Finalizers, metav1.FinalizerOrphanDependents):
		policy = metav1.DeletePropagationOrphan
	case slices.Contains(latest.Metadata.Finalizers, metav1.FinalizerDeleteDependents):
		policy = metav1.DeletePropagationForeground
	}
	return c.delete(n, &latest.Metadata, policy)
}

// kinds are the owners of an object by what has become of them.
type kinds struct {
	solid           int
	absent, waiting []types.UID
}

// classify asks the server for each owner (classifyReferences, isDangling).
func (c *collector) classify(n *node, owners []metav1.OwnerReference) (k kinds, err error) {
	for _, ref := range owners {
		if gone := c.gone[ref.UID]; gone != nil && gone.matches(ref, n.namespace) && c.served.remembered(gone, ref) {
			k.absent = append(k.absent, ref.UID)
			continue
		}
		path, err := c.served.locate(n, ref)
		if err != nil {
			return k, err
		}
		var owner struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
		}
		switch m := &owner.Metadata; {
		case !actor.Get(c.cluster, path, &owner) || m.UID != ref.UID:
			k.absent = append(k.absent, ref.UID)
		case m.DeletionTimestamp != nil && slices.Contains(m.Finalizers, metav1.FinalizerDeleteDependents):
			k.waiting = append(k.waiting, ref.UID)
		default:
			k.solid++
		}
	}
	return k, nil
}

// servedTypes are the types that the server serves. It owns where a reference leads.
type servedTypes struct {
	cluster   actor.Cluster
	byVersion map[string]map[string]metav1.APIResource // and kind, until the types change
}

// remembered reports whether an owner that has gone is remembered under the version in a reference.
// The real collector remembers it under one; a reference at another leads it to the server, and
// nowhere if the type is not served at that one.
func (s *servedTypes) remembered(gone *node, ref metav1.OwnerReference) bool {
	_, served := s.of(metav1.GroupVersion{Group: gone.group, Version: gone.version}.String())[gone.kind]
	return !served || versionOf(ref.APIVersion) == gone.version
}

// locate is where a reference leads: to the object's own namespace, if the owner's type has
// namespaces.
func (s *servedTypes) locate(n *node, ref metav1.OwnerReference) (string, error) {
	r, ok := s.of(ref.APIVersion)[ref.Kind]
	switch {
	case !ok:
		return "", errNotServed
	case !r.Namespaced:
		return actor.Path(groupOf(ref.APIVersion), versionOf(ref.APIVersion), "", r.Name, ref.Name), nil
	case n.namespace == "":
		return "", errScope
	}
	return actor.Path(groupOf(ref.APIVersion), versionOf(ref.APIVersion), n.namespace, r.Name, ref.Name), nil
}

// of are the types of a group version, by kind.
func (s *servedTypes) of(apiVersion string) map[string]metav1.APIResource {
	if known, ok := s.byVersion[apiVersion]; ok {
		return known
	}
	path := "/apis/" + apiVersion
	if groupOf(apiVersion) == "" {
		path = "/api/" + apiVersion
	}
	var list metav1.APIResourceList
	actor.Get(s.cluster, path, &list)
	out := map[string]metav1.APIResource{}
	for _, r := range list.APIResources {
		if !strings.Contains(r.Name, "/") {
			out[r.Kind] = r
		}
	}
	if s.byVersion == nil {
		s.byVersion = map[string]map[string]metav1.APIResource{}
	}
	s.byVersion[apiVersion] = out
	return out
}

func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}

func versionOf(apiVersion string) string { return apiVersion[strings.Index(apiVersion, "/")+1:] }

// disown takes references to the given owners off an object. Waiting owners are among them: they
// must not wait for an object that stays.
func disown(c actor.Cluster, n *node, latest *metav1.ObjectMeta, owners []types.UID) error {
	var left []metav1.OwnerReference
	for _, ref := range latest.OwnerReferences {
		if !slices.Contains(owners, ref.UID) {
			left = append(left, ref)
		}
	}
	return setOwners(c, n, latest, left)
}

func setOwners(c actor.Cluster, n *node, latest *metav1.ObjectMeta, owners []metav1.OwnerReference) error {
	return patch(c, n, map[string]any{"resourceVersion": latest.ResourceVersion, "ownerReferences": owners})
}

func patch(c actor.Cluster, n *node, metadata map[string]any) error {
	return actor.Do(c, http.MethodPatch, n.path(), map[string]any{"metadata": metadata}, nil)
}

// deleteAmong deletes an object between owners that wait for it and dependents of its own, in the
// foreground. If one of those waits as well they may wait for each other, so the object stops
// blocking its owners first.
func (c *collector) deleteAmong(n *node, latest *metav1.ObjectMeta) error {
	circle := slices.ContainsFunc(c.dependentsOf(n.uid), func(d *node) bool { return d.foreground })
	if circle && slices.ContainsFunc(latest.OwnerReferences, blocks) {
		owners := slices.Clone(latest.OwnerReferences)
		for i := range owners {
			owners[i].BlockOwnerDeletion = new(false)
		}
		err := setOwners(c.cluster, n, latest, owners)
		if err == nil {
			c.tryDelete(n) // the deletion is a step of its own
		}
		return err
	}
	return c.delete(n, latest, metav1.DeletePropagationForeground)
}

func (c *collector) delete(n *node, latest *metav1.ObjectMeta, policy metav1.DeletionPropagation) error {
	c.pace.deleted(n, c.cluster.Now())
	return gone(actor.Do(c.cluster, http.MethodDelete, n.path(), &metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &n.uid, ResourceVersion: &latest.ResourceVersion},
		PropagationPolicy: &policy,
	}, nil))
}

// gone returns nil for a NotFound error: the object that was to be deleted is gone.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// waitForDependents is processDeletingDependentsItem: the owner goes when nothing that blocks it is
// left.
func (c *collector) waitForDependents(n *node, latest *metav1.ObjectMeta) error {
	blocked := false
	for _, d := range c.dependentsOf(n.uid) {
		if !slices.ContainsFunc(d.owners, func(r metav1.OwnerReference) bool { return r.UID == n.uid && blocks(r) }) {
			continue
		}
		blocked = true
		if !d.foreground {
			c.tryDelete(d)
		}
	}
	if blocked {
		return nil
	}
	return release(c.cluster, n, latest, metav1.FinalizerDeleteDependents)
}

// release takes a finalizer off an object.
func release(c actor.Cluster, n *node, latest *metav1.ObjectMeta, finalizer string) error {
	if !slices.Contains(latest.Finalizers, finalizer) {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(latest.Finalizers), func(f string) bool { return f == finalizer })
	return gone(patch(c, n, map[string]any{"resourceVersion": latest.ResourceVersion, "finalizers": left}))
}
