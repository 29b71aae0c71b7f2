package garbage

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/models/actor"
)

// orphans is the work on an owner that is to leave its dependents behind.
type orphans struct {
	left   []*node // dependents that have not had their turn
	failed error
}

func (c *collector) tryOrphan(n *node) {
	c.queue.add(n, "orphan", func() error { return c.orphan(n) })
}

// orphan is attemptToOrphanWorker. Each step takes one reference off; the last releases the owner.
// A dependent that is created meanwhile is not known, keeps its reference, and is deleted when the
// owner has gone.
func (c *collector) orphan(n *node) error {
	if n.orphans == nil {
		n.orphans = &orphans{left: c.dependentsOf(n.uid)}
	}
	o := n.orphans
	if len(o.left) == 0 {
		n.orphans = nil
		var latest struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
		}
		if o.failed != nil || !actor.Get(c.cluster, n.path(), &latest) {
			return o.failed
		}
		return release(c.cluster, n, &latest.Metadata, metav1.FinalizerOrphanDependents)
	}
	i := 0
	if len(o.left) > 1 {
		i = c.cluster.Choose("next dependent of "+n.String()+" to be orphaned", len(o.left))
	}
	d := o.left[i]
	o.left = slices.Delete(o.left, i, i+1)
	var latest struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if actor.Get(c.cluster, d.path(), &latest) && latest.Metadata.UID == d.uid {
		if err := gone(disown(c.cluster, d, &latest.Metadata, []types.UID{n.uid})); err != nil {
			o.failed = err
		}
	}
	return errMore
}

// report records that an object names an owner in another namespace
// (reportInvalidNamespaceOwnerRef). An event that cannot be recorded is lost.
func (c *collector) report(n *node, ref metav1.OwnerReference) {
	c.cluster.After(0, fmt.Sprintf("report %s, which names an owner in another namespace (%s, %s)", n, n.uid, ref.UID),
		func() {
			about := corev1.ObjectReference{
				Kind: n.kind, APIVersion: metav1.GroupVersion{Group: n.group, Version: n.version}.String(),
				Namespace: n.namespace, Name: n.name, UID: n.uid,
			}
			_, _ = actor.Record(c.cluster, c.Name(), about, corev1.EventTypeWarning, "OwnerRefInvalidNamespace",
				fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
					ref.APIVersion, ref.Kind, n.namespace, ref.Name, ref.UID, n.namespace))
		})
}
