// Package protection is a model of the two controllers of kube-controller-manager that keep storage
// which is in use: a PersistentVolumeClaim that is deleted stays until no pod uses it, a
// PersistentVolume until it is not bound.
//
// They follow pkg/controller/volume/pvcprotection and pkg/controller/volume/pvprotection of
// Kubernetes 1.37. The finalizers are put on by the API server, as its admission plugin
// StorageObjectInUseProtection does; these controllers put them back if a client has removed
// them, and remove them when they are no longer needed.
//
// models/upstream compares them with the real ones.
//
// A pod uses a claim from when it is scheduled until it is gone, whatever its phase; a claim of an
// ephemeral volume until the pod is shut down.
//
// # What is different
//
// Kubernetes 1.37 also writes since when a bound claim has been unused into its conditions
// (PersistentVolumeClaimUnusedSinceTime); this does not.
package protection

import (
	"bytes"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// The finalizers, from pkg/volume/util/finalizer.go.
const (
	claimFinalizer  = "kubernetes.io/pvc-protection"
	volumeFinalizer = "kubernetes.io/pv-protection"
)

// firstRetry and lastRetry bound the time after which a write that failed is tried again
// (client-go's default limiter).
const firstRetry, lastRetry = 5 * time.Millisecond, 1000 * time.Second

// New returns both controllers, "pvc-protection-controller" and "pv-protection-controller".
func New() []actor.Actor {
	return []actor.Actor{
		&controller{name: "pvc-protection-controller", resource: "persistentvolumeclaims", finalizer: claimFinalizer,
			used: claimed},
		&controller{name: "pv-protection-controller", resource: "persistentvolumes", finalizer: volumeFinalizer,
			used: bound},
	}
}

// controller is what the two have in common.
type controller struct {
	name, resource, finalizer string
	// used reports whether the object at path is in use.
	used func(c *controller, path string, meta *metav1.ObjectMeta) (bool, error)

	cluster  actor.Cluster
	queued   map[string]bool
	failures map[string]int
}

// Name implements [actor.Actor].
func (c *controller) Name() string { return c.name }

// Begin implements [actor.Actor].
func (c *controller) Begin(cluster actor.Cluster) {
	c.cluster, c.queued, c.failures = cluster, map[string]bool{}, map[string]int{}
	all, err := actor.List[metav1.PartialObjectMetadata](cluster, actor.Path("", "v1", "", c.resource, ""))
	if err != nil {
		panic("protection: " + c.resource + " cannot be listed: " + err.Error())
	}
	for i := range all {
		c.concerns(&all[i].ObjectMeta)
	}
}

// Observe implements [actor.Actor].
func (c *controller) Observe(ch apiserver.Change) {
	switch {
	case ch.Group != "":
	case ch.Resource == c.resource && ch.Type != "DELETED":
		var o metav1.PartialObjectMetadata
		if actor.Decode(ch.Object, &o) {
			c.concerns(&o.ObjectMeta)
		}
	case ch.Resource == "pods" && c.finalizer == claimFinalizer:
		for _, object := range [][]byte{ch.Object, ch.Previous} { // a pod may be replaced by another one of its name
			var pod corev1.Pod
			if bytes.Contains(object, []byte(`"volumes"`)) && actor.Decode(object, &pod) {
				for i := range pod.Spec.Volumes {
					if name, _ := claimOf(&pod, &pod.Spec.Volumes[i]); name != "" {
						c.look(ch.Namespace, name)
					}
				}
			}
		}
	}
}

// concerns looks at an object if there may be something to do for it.
func (c *controller) concerns(o *metav1.ObjectMeta) {
	if slices.Contains(o.Finalizers, c.finalizer) == (o.DeletionTimestamp != nil) {
		c.look(o.Namespace, o.Name)
	}
}

func (c *controller) look(namespace, name string) {
	if key := namespace + "/" + name; !c.queued[key] {
		c.queued[key] = true
		c.cluster.After(0, key, func() { c.step(key, actor.Path("", "v1", namespace, c.resource, name)) })
	}
}

// step looks at one object, and tries again what could not be written.
func (c *controller) step(key, path string) {
	c.queued[key] = false
	if err := c.sync(path); err != nil {
		c.cluster.Again(min(firstRetry<<min(c.failures[key], 20), lastRetry), key, func() { c.step(key, path) })
		c.failures[key]++
		return
	}
	delete(c.failures, key)
}

func (c *controller) sync(path string) error {
	var o metav1.PartialObjectMetadata
	if !actor.Get(c.cluster, path, &o) {
		return nil
	}
	switch has, deleting := slices.Contains(o.Finalizers, c.finalizer), o.DeletionTimestamp != nil; {
	case has != deleting:
		return nil
	case !has:
		return c.write(path, &o.ObjectMeta, append(o.Finalizers, c.finalizer))
	}
	if used, err := c.used(c, path, &o.ObjectMeta); used || err != nil {
		return err
	}
	return c.write(path, &o.ObjectMeta,
		slices.DeleteFunc(o.Finalizers, func(f string) bool { return f == c.finalizer }))
}

// write replaces the finalizers of an object that has not changed since it was read.
func (c *controller) write(path string, o *metav1.ObjectMeta, finalizers []string) error {
	return actor.Do(c.cluster, http.MethodPatch, path, map[string]any{"metadata": map[string]any{
		"uid": o.UID, "resourceVersion": o.ResourceVersion, "finalizers": finalizers}}, nil)
}

// claimed reports whether a pod uses a claim (podUsesPVCForDeletion).
func claimed(c *controller, _ string, claim *metav1.ObjectMeta) (bool, error) {
	pods, err := actor.List[corev1.Pod](c.cluster, actor.Path("", "v1", claim.Namespace, "pods", ""))
	return slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Spec.NodeName != "" && uses(&p, claim) }), err
}

func uses(pod *corev1.Pod, claim *metav1.ObjectMeta) bool {
	over := pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil &&
		*pod.DeletionGracePeriodSeconds == 0
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		name, ephemeral := claimOf(pod, &v)
		return name == claim.Name && (!ephemeral || !over && metav1.IsControlledBy(claim, pod))
	})
}

// claimOf is the claim that a volume of a pod is, "" if it is none, and whether it was made for the
// pod.
func claimOf(pod *corev1.Pod, v *corev1.Volume) (name string, ephemeral bool) {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName, false
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name, true
	}
	return "", false
}

// bound reports whether a volume is in use: its binder writes that into its status.
func bound(c *controller, path string, _ *metav1.ObjectMeta) (bool, error) {
	var v corev1.PersistentVolume
	return actor.Get(c.cluster, path, &v) && v.Status.Phase == corev1.VolumeBound, nil
}
