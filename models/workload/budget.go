package workload

import (
	"fmt"
	"net/http"
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// deletionTimeout is for how long a pod of status.disruptedPods counts as one that will be deleted
// (DeletionTimeout).
const deletionTimeout = 2 * time.Minute

// aboutBudgets is how Events refer to a PodDisruptionBudget.
var aboutBudgets = corev1.ObjectReference{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}

// budget is a PodDisruptionBudget and its pods, at one look.
type budget struct {
	*controller
	pdb  *policyv1.PodDisruptionBudget
	path string
	pods []corev1.Pod
}

// budgetsOfPods makes those PodDisruptionBudgets look that select a pod which has changed, as it is
// now: one that loses it is not told (disruption.go, updatePod). Of several that do, upstream looks
// at one, whichever comes first out of a map; here all look.
func budgetsOfPods(c *controller, ch apiserver.Change) []string {
	if ch.Kind != "Pod" || !c.seen { // so that a world without budgets has no work from them
		return nil
	}
	var p metav1.PartialObjectMetadata
	budgets, _ := actor.List[policyv1.PodDisruptionBudget](c, budgetPath(ch.Namespace, ""))
	if len(budgets) == 0 || !actor.Decode(ch.Object, &p) {
		return nil
	}
	var out []string
	for _, b := range budgets {
		if of, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil && of.Matches(labels.Set(p.Labels)) {
			out = append(out, b.Namespace+"/"+b.Name)
		}
	}
	return out
}

func budgetPath(namespace, name string) string {
	return actor.Path("policy", "v1", namespace, "poddisruptionbudgets", name)
}

// syncBudget follows pkg/controller/disruption/disruption.go, sync: what cannot be counted allows
// no disruption.
func syncBudget(c *controller, namespace, name string) (time.Duration, error) {
	b := &budget{controller: c, path: budgetPath(namespace, name)}
	if b.pdb = read[policyv1.PodDisruptionBudget](c, b.path); b.pdb == nil {
		return 0, nil
	}
	wait, err := b.count()
	if err == nil || apierrors.IsConflict(err) {
		return wait, err
	}
	s := b.pdb.Status.DeepCopy() // failSafe
	s.DisruptionsAllowed = 0
	b.condition(s, metav1.ConditionFalse, policyv1.SyncFailedReason, err.Error())
	return 0, b.write(s)
}

func (b *budget) event(kind, reason, format string, args ...any) {
	b.tell(b.pdb, aboutBudgets, kind, reason, format, args...)
}

// count brings the status up to date (trySync, updatePdbStatus).
func (b *budget) count() (time.Duration, error) {
	selector, err := metav1.LabelSelectorAsSelector(b.pdb.Spec.Selector)
	if err != nil {
		b.event(corev1.EventTypeWarning, "NoPods", "Failed to get pods: %v", err)
		return 0, err
	}
	all, err := actor.List[corev1.Pod](b, podsPath(b.pdb.Namespace, ""))
	if err != nil {
		return 0, err
	}
	for i := range all {
		if selector.Matches(labels.Set(all[i].Labels)) {
			b.pods = append(b.pods, all[i])
		}
	}
	if len(b.pods) == 0 {
		b.event(corev1.EventTypeNormal, "NoPods", "No matching pods found")
	}
	expected, desired, unmanaged, err := b.expected()
	if err != nil {
		b.event(corev1.EventTypeWarning, "CalculateExpectedPodCountFailed",
			"Failed to calculate the number of expected pods: %v", err)
		return 0, err
	}
	if unmanaged {
		b.event(corev1.EventTypeWarning, "UnmanagedPods",
			"Pods selected by this PodDisruptionBudget (selector: %v) were found "+
				"to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may "+
				"result in "+
				"undefined behavior. "+
				"To account for these pods please set \".spec.minAvailable\" field of the PDB to an integer value.",
			b.pdb.Spec.Selector)
	}
	disrupted, wait := b.disrupted()
	s := &policyv1.PodDisruptionBudgetStatus{
		DesiredHealthy: desired, ExpectedPods: expected, DisruptedPods: disrupted,
		ObservedGeneration: b.pdb.Generation, Conditions: b.pdb.Status.DeepCopy().Conditions,
	}
	for i := range b.pods {
		p := &b.pods[i]
		at, leaves := disrupted[p.Name]
		if ready(p) && p.DeletionTimestamp == nil && (!leaves || !at.Add(deletionTimeout).After(b.Clock())) {
			s.CurrentHealthy++
		}
	}
	// None where nothing is expected, so that the first pods are safe until they have been counted.
	if expected > 0 {
		s.DisruptionsAllowed = max(s.CurrentHealthy-desired, 0)
	}
	if s.DisruptionsAllowed > 0 { // component-helpers/apps/poddisruptionbudget, UpdateDisruptionAllowedCondition
		b.condition(s, metav1.ConditionTrue, policyv1.SufficientPodsReason, "")
	} else {
		b.condition(s, metav1.ConditionFalse, policyv1.InsufficientPodsReason, "")
	}
	return wait, b.write(s)
}

func (b *budget) condition(s *policyv1.PodDisruptionBudgetStatus, is metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&s.Conditions,
		metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: is, Reason: reason, Message: message,
			ObservedGeneration: s.ObservedGeneration, LastTransitionTime: metav1.NewTime(b.Clock())})
}

func (b *budget) write(s *policyv1.PodDisruptionBudgetStatus) error {
	if len(s.DisruptedPods)+len(b.pdb.Status.DisruptedPods) == 0 {
		s.DisruptedPods = b.pdb.Status.DisruptedPods
	}
	if reflect.DeepEqual(*s, b.pdb.Status) {
		return nil
	}
	b.pdb.Status = *s
	return actor.Do(b, http.MethodPut, b.path+"/status", b.pdb, nil)
}

// disrupted are the pods that were said to be deleted soon and have not been, and when to look
// again (buildDisruptedPodMap).
func (b *budget) disrupted() (map[string]metav1.Time, time.Duration) {
	out, wait := map[string]metav1.Time{}, time.Duration(0)
	for i := range b.pods {
		p := &b.pods[i]
		at, ok := b.pdb.Status.DisruptedPods[p.Name]
		if !ok || p.DeletionTimestamp != nil {
			continue
		}
		left := at.Add(deletionTimeout).Sub(b.Clock())
		if left < 0 {
			b.tell(p, corev1.ObjectReference{APIVersion: "v1", Kind: "Pod"}, corev1.EventTypeWarning, "NotDeleted",
				"Pod was expected by PDB %s/%s to be deleted but it wasn't", b.pdb.Namespace, b.pdb.Namespace)
			continue
		}
		out[p.Name] = at
		wait = soonest(wait, max(left, time.Millisecond)) // at the very time it still counts
	}
	return out, wait
}

// expected is how many pods there should be, how many of them healthy, and whether there are pods
// without a controller, which are not in these numbers (getExpectedPodCount).
func (b *budget) expected() (expected, desired int32, unmanaged bool, err error) {
	least, most := b.pdb.Spec.MinAvailable, b.pdb.Spec.MaxUnavailable
	if most == nil && least == nil {
		return 0, 0, false, nil
	}
	if most == nil && least.Type == intstr.Int {
		return int32(len(b.pods)), least.IntVal, false, nil
	}
	if expected, unmanaged, err = b.scale(); err != nil {
		return 0, 0, false, err
	}
	share := least
	if most != nil {
		share = most
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(share, int(expected), true)
	if most != nil {
		return expected, max(expected-int32(n), 0), unmanaged, err
	}
	return expected, int32(n), unmanaged, err
}

// scale is how many pods those want in sum who control ours (getExpectedScale).
func (b *budget) scale() (sum int32, unmanaged bool, err error) {
	counted, asked := map[types.UID]bool{}, map[types.UID]bool{}
	for i := range b.pods {
		ref := metav1.GetControllerOf(&b.pods[i])
		if ref == nil {
			unmanaged = true
			continue
		}
		if asked[ref.UID] {
			continue
		}
		asked[ref.UID] = true
		uid, n, err := b.scaleOf(ref)
		if err != nil {
			return 0, false, err
		}
		if uid == "" {
			return 0, false, fmt.Errorf("found no controllers for pod %q", b.pods[i].Name)
		}
		if !counted[uid] {
			counted[uid] = true
			sum += n
		}
	}
	return sum, unmanaged, nil
}

// scaleOf is what a controller of pods wants: of a ReplicaSet that belongs to a Deployment, what
// that one wants; else what its scale subresource says (finders). The UID is empty if there is
// none.
func (b *budget) scaleOf(ref *metav1.OwnerReference) (types.UID, int32, error) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return "", 0, err
	}
	if gv.Group == "apps" && ref.Kind == "ReplicaSet" {
		rs := read[appsv1.ReplicaSet](b.controller, actor.Path("apps", "v1", b.pdb.Namespace, "replicasets", ref.Name))
		if rs != nil && rs.UID == ref.UID {
			if of := metav1.GetControllerOf(rs); of != nil && of.Kind == "Deployment" {
				d := read[appsv1.Deployment](b.controller,
					actor.Path("apps", "v1", b.pdb.Namespace, "deployments", of.Name))
				if d != nil && d.UID == of.UID {
					return d.UID, *d.Spec.Replicas, nil
				}
			}
		}
	}
	for _, r := range actor.Resources(b) {
		if r.Group != gv.Group || r.Kind != ref.Kind {
			continue
		}
		var s autoscalingv1.Scale
		switch {
		case actor.Get(b, actor.Path(r.Group, r.Version, b.pdb.Namespace, r.Name, ref.Name)+"/scale", &s) &&
			s.UID == ref.UID:
			return s.UID, s.Spec.Replicas, nil
		case s.UID == "" && !b.scales(r):
			return "", 0, fmt.Errorf("%s does not implement the scale subresource",
				schema.GroupResource{Group: r.Group, Resource: r.Name})
		}
		return "", 0, nil
	}
	return "", 0, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: gv.Group, Kind: ref.Kind},
		SearchedVersions: []string{gv.Version}}
}

// scales reports whether a type has a scale subresource (implementsScale).
func (b *budget) scales(r actor.Resource) bool {
	path := "/apis/" + r.Group + "/" + r.Version
	if r.Group == "" {
		path = "/api/" + r.Version
	}
	var list metav1.APIResourceList
	actor.Get(b, path, &list)
	for _, served := range list.APIResources {
		if served.Name == r.Name+"/scale" {
			return true
		}
	}
	return false
}
