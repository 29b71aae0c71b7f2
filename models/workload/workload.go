// Package workload is a model of those controllers of kube-controller-manager that keep workloads
// going: Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs get their pods, CronJobs their
// Jobs, claims get volumes, Services get EndpointSlices, and PodDisruptionBudgets their status.
//
// Nothing in here makes a pod run: that is package kubelet. Together they let an operator wait for
// a Deployment to be available, see a Job fail, or find that a StatefulSet's pod is stuck.
//
// Each controller is an actor under the name that it has upstream. A controller looks at one object
// in one step and does one write at most. It looks again when that object, or anything that belongs
// to it, has changed. What fails is tried again after 5 ms, doubling up to 1000 s (util/workqueue,
// DefaultTypedControllerRateLimiter).
//
// Some steps make several writes. Nothing happens between them, unless one of them has to wait for
// webhooks. If one fails, the next step continues from there:
//
//   - A Deployment gets a new ReplicaSet, and then that revision in its annotation and its status.
//   - A Deployment whose spec.replicas changes while a rollout is under way scales all ReplicaSets
//     that have pods.
//   - A Job counts its ended pods in its status, and then takes the finalizer off each of them.
//   - A CronJob deletes the Jobs that exceed its history or that are replaced. It makes one, and
//     says so in its status and in Events.
//   - A claim gets a volume, and then its name in spec.volumeName. Its status is a step of its own.
//   - A ReplicaSet, StatefulSet or DaemonSet that was refused a pod, or a claim for it, brings its
//     status up to date all the same.
//   - A StatefulSet deletes the pods that an update replaces together.
//
// The schedule of a CronJob comes round in virtual time, for which w.Sleep is. w.Settle does not
// wait for it, and it does not come round while the world settles after faults have ended. The
// latest of the times that were missed is made up for afterwards, unless startingDeadlineSeconds
// forbids it. Without spec.timeZone a schedule is in UTC.
//
// # What is different
//
// The hashes in the names of ReplicaSets and ControllerRevisions are stable but not those of
// upstream. Pods are created and deleted one at a time rather than in bursts that double. Events
// are recorded only about CronJobs and PodDisruptionBudgets. Events that differ only in their
// message are not combined, as upstream does after ten. A DaemonSet's maxSurge counts as a
// maxUnavailable: the old pod goes before the new one comes. Pod failure policies, success policies
// and back-off limits per index are not implemented: a Job with one is left alone and gets a
// condition of type Failed with reason NotModelled. A pod of a Job that is deleted counts as failed
// at once, also with the pod replacement policy Failed. A DaemonSet keeps no ControllerRevisions. A
// claim gets a volume of its own at once, whatever its class says. Volumes that are there already
// are not taken, and one that is named is believed. A claim whose request grows is not resized. The
// volume goes with the claim where its reclaim policy is Delete; its phase is not kept.
//
// A condition DisruptionTarget of a Pod that was to be evicted, and was not, stays.
//
// No controller handles ReplicationControllers and HorizontalPodAutoscalers, whose status stays as
// it was written. v1 Endpoints are not created.
package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/wavetank/wavetank/internal/kept"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// New returns all controllers of the package.
func New() []actor.Actor {
	return []actor.Actor{
		&controller{name: "deployment-controller", kind: "Deployment", owns: "ReplicaSet", sync: syncDeployment,
			concerns: deploymentsOfPods},
		&controller{name: "replicaset-controller", kind: "ReplicaSet", owns: "Pod", sync: syncReplicaSet},
		&controller{name: "statefulset-controller", kind: "StatefulSet", owns: "Pod", sync: syncStatefulSet},
		&controller{name: "daemonset-controller", kind: "DaemonSet", owns: "Pod", sync: syncDaemonSet, concerns: nodes},
		&controller{name: "job-controller", kind: "Job", owns: "Pod", sync: syncJob},
		&controller{name: "cronjob-controller", component: "cronjob-controller", kind: "CronJob", owns: "Job",
			sync: syncCronJob, instead: reschedule, lets: true},
		&controller{name: "disruption-controller", component: "controllermanager", kind: "PodDisruptionBudget",
			sync: syncBudget, concerns: budgetsOfPods},
		&controller{name: "endpointslice-controller", kind: "Service", owns: "EndpointSlice", sync: syncService,
			concerns: servicesOfPods},
		&controller{name: "persistentvolume-binder-controller", kind: "PersistentVolumeClaim", sync: syncClaim},
	}
}

// firstRetry and lastRetry bound the time after which what fails is tried again.
const firstRetry, lastRetry = 5 * time.Millisecond, 1000 * time.Second

// controller is the frame that all have in common: a queue of objects, each looked at in a step of
// its own.
type controller struct {
	name string
	kind string // of the objects that it looks after
	owns string // the kind whose changes make it look at their owner
	// sync does one step for an object. It is asked again after a write, when anything has changed,
	// and after again if that is positive.
	sync func(c *controller, namespace, name string) (again time.Duration, err error)
	// concerns says which other objects a change makes it look at.
	concerns func(c *controller, ch apiserver.Change) []string
	// instead, when set, takes in a change of an object of kind, and reports whether it did: then
	// that is not looked at now.
	instead   func(c *controller, ch apiserver.Change) bool
	lets      bool   // it does not adopt objects without a controller
	component string // of its Events

	actor.Cluster
	wrote    bool // in this step
	queued   map[string]bool
	failures map[string]int
	streaks  map[types.UID]streak     // of Jobs
	due      map[string]time.Duration // by key: when its schedule comes round
	seen     bool                     // there has been an object to look at
	season   bool                     // this step was asked for by schedule
	tales    map[told]tale            // Events that have been recorded
}

// Name implements [actor.Actor].
func (c *controller) Name() string { return c.name }

// Begin implements [actor.Actor].
func (c *controller) Begin(cluster actor.Cluster) {
	c.Cluster, c.queued, c.failures, c.streaks = cluster, map[string]bool{}, map[string]int{}, map[types.UID]streak{}
	c.due, c.tales, c.seen = map[string]time.Duration{}, map[told]tale{}, false
	for _, r := range actor.Resources(cluster) {
		if r.Kind != c.kind {
			continue
		}
		found, _ := actor.List[metav1.PartialObjectMetadata](cluster, actor.Path(r.Group, r.Version, "", r.Name, ""))
		for _, o := range found {
			c.look(o.Namespace + "/" + o.Name)
		}
	}
}

// Observe implements [actor.Actor].
func (c *controller) Observe(ch apiserver.Change) {
	if ch.Kind == c.kind && (c.instead == nil || !c.instead(c, ch)) {
		c.look(ch.Namespace + "/" + ch.Name)
	}
	if ch.Kind == c.owns {
		for _, object := range [][]byte{ch.Object, ch.Previous} { // an owner that has let go wants to know, too
			if owner := ownerOf(object, c.kind); owner != "" {
				c.look(ch.Namespace + "/" + owner)
			}
		}
		if !c.lets && ch.Type != "DELETED" && !bytes.Contains(ch.Object, []byte(`"ownerReferences"`)) &&
			relabelled(ch) {
			c.lookAtAll(ch.Namespace) // a controller may adopt it
		}
	}
	if c.concerns != nil {
		for _, key := range c.concerns(c, ch) {
			c.look(key)
		}
	}
}

// relabelled reports whether an object is new or has other labels than before.
func relabelled(ch apiserver.Change) bool {
	var now, before metav1.PartialObjectMetadata
	return ch.Type == "ADDED" || actor.Decode(ch.Object, &now) && actor.Decode(ch.Previous, &before) &&
		!maps.Equal(now.Labels, before.Labels)
}

// lookAtAll looks at every object in a namespace.
func (c *controller) lookAtAll(namespace string) {
	for _, r := range actor.Resources(c) {
		if r.Kind == c.kind {
			found, _ := actor.List[metav1.PartialObjectMetadata](c,
				actor.Path(r.Group, r.Version, namespace, r.Name, ""))
			for _, o := range found {
				c.look(o.Namespace + "/" + o.Name)
			}
		}
	}
}

func (c *controller) look(key string) {
	c.seen = true
	if !c.queued[key] {
		c.queued[key] = true
		c.After(0, "sync of "+c.kind+" "+key, func() { c.step(key) })
	}
}

func (c *controller) step(key string) {
	c.queued[key], c.wrote = false, false
	namespace, name, _ := strings.Cut(key, "/")
	again, err := c.sync(c, namespace, name)
	switch {
	case err == nil:
		delete(c.failures, key)
		if c.wrote { // there may be more to do
			c.look(key)
		}
		if again > 0 && !c.queued[key] {
			c.After(again, "sync of "+c.kind+" "+key, func() { c.step(key) })
		}
	case !c.queued[key]:
		wait := min(firstRetry<<min(c.failures[key], 20), lastRetry)
		c.failures[key]++
		c.Again(wait, "sync of "+c.kind+" "+key, func() { c.step(key) })
	}
}

// Write performs a request, and remembers whether it changed anything.
func (c *controller) Write(r *apiserver.Request) *apiserver.Response {
	resp := c.Cluster.Write(r)
	c.wrote = c.wrote || len(resp.Changes) > 0
	return resp
}

// ownerOf is the name of the controlling owner of a kind, "" if there is none.
func ownerOf(object []byte, kind string) string {
	if !bytes.Contains(object, []byte(`"controller":true`)) {
		return ""
	}
	if ref := controllerOf(object); ref != nil && ref.Kind == kind {
		return ref.Name
	}
	return ""
}

var controllerOf = kept.Of(func(object []byte) *metav1.OwnerReference {
	var m metav1.ObjectMeta
	if json.Unmarshal(kept.Member(object, "metadata"), &m) != nil {
		return nil
	}
	return metav1.GetControllerOf(&m)
})

// read returns an object, nil if there is none.
func read[T any](c *controller, path string) *T {
	o := new(T)
	if !actor.Get(c, path, o) {
		return nil
	}
	return o
}

// podsPath is the path of the pods of a namespace, or of one.
func podsPath(namespace, name string) string { return actor.Path("", "v1", namespace, "pods", name) }

// claim returns the pods that belong to an owner, as claimed does.
func claim(c *controller, owner metav1.Object, ref metav1.OwnerReference, selector labels.Selector,
	members ...func(name string) bool) (pods []corev1.Pod, wrote bool, err error) {
	return claimed[corev1.Pod](c, owner, ref, selector, podsPath(owner.GetNamespace(), ""), members...)
}

// claimed returns what of a collection belongs to an owner. Where something should be adopted or
// let go, it does that and says so (controller_ref_manager.go, ClaimObject). Only what the selector
// matches and whose name is a member's can belong to it.
func claimed[T any, P interface {
	*T
	metav1.Object
}](c *controller, owner metav1.Object, ref metav1.OwnerReference, selector labels.Selector, collection string,
	members ...func(name string) bool) (out []T, wrote bool, err error) {
	all, err := actor.List[T](c, collection)
	if err != nil {
		return nil, false, err
	}
	for i := range all {
		o := P(&all[i])
		has, matches, leaves := metav1.GetControllerOf(o), selector.Matches(labels.Set(o.GetLabels())),
			owner.GetDeletionTimestamp() != nil
		for _, member := range members {
			matches = matches && member(o.GetName())
		}
		var refs []metav1.OwnerReference
		switch {
		case has != nil && has.UID != owner.GetUID() || has == nil &&
			(!matches || leaves || o.GetDeletionTimestamp() != nil):
			continue
		case has != nil && matches:
			out = append(out, all[i])
			continue
		case has != nil && leaves:
			continue
		case has != nil: // its labels do not match any more
			refs = without(o.GetOwnerReferences(), owner)
		default:
			refs = append(o.GetOwnerReferences(), ref)
		}
		patch := map[string]any{"metadata": map[string]any{"uid": o.GetUID(), "ownerReferences": refs}}
		return nil, true, gone(actor.Do(c, http.MethodPatch, collection+"/"+o.GetName(), patch, nil))
	}
	return out, false, nil
}

func without(refs []metav1.OwnerReference, owner metav1.Object) []metav1.OwnerReference {
	out := []metav1.OwnerReference{}
	for _, r := range refs {
		if r.UID != owner.GetUID() {
			out = append(out, r)
		}
	}
	return out
}

// podOf is a pod made from a template.
func podOf(namespace string, template *corev1.PodTemplateSpec, owner metav1.OwnerReference) *corev1.Pod {
	t := template.DeepCopy()
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Labels: t.Labels, Annotations: t.Annotations, Finalizers: t.Finalizers,
			OwnerReferences: []metav1.OwnerReference{owner},
		},
		Spec: t.Spec,
	}
}

// create makes a pod. A namespace that is being deleted takes none, and that is no reason to try
// again.
func create(c *controller, p *corev1.Pod) error {
	err := actor.Do(c, http.MethodPost, podsPath(p.Namespace, ""), p, nil)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}

func remove(c *controller, p *corev1.Pod) error {
	return gone(actor.Do(c, http.MethodDelete, podsPath(p.Namespace, p.Name), nil, nil))
}

// gone forgives that there is nothing to delete.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// active reports whether a pod runs or will run.
func active(p *corev1.Pod) bool {
	return p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed && p.DeletionTimestamp == nil
}

func ready(p *corev1.Pod) bool { return readySince(p) != nil }

// readySince is when a pod became ready, nil if it is not.
func readySince(p *corev1.Pod) *metav1.Time {
	for i, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return &p.Status.Conditions[i].LastTransitionTime
		}
	}
	return nil
}

// available reports whether a pod has been ready for long enough, and if not, how long it still has
// to be.
func available(c *controller, p *corev1.Pod, minReady int32) (bool, time.Duration) {
	since := readySince(p)
	if since == nil {
		return false, 0
	}
	left := since.Add(time.Duration(minReady) * time.Second).Sub(c.Clock())
	return left <= 0, max(left, 0)
}

// hash makes a short name from what an object says.
func hash(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("workload: %T cannot be encoded: %v", v, err))
	}
	h := fnv.New32a()
	h.Write(data)
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}

// soonest is the smaller of two waits, of which 0 is none.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
