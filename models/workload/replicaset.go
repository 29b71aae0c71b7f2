package workload

import (
	"net/http"
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wavetank/wavetank/models/actor"
)

// syncReplicaSet follows pkg/controller/replicaset/replica_set.go: adopt or let go, then make or
// delete pods, then tell.
func syncReplicaSet(c *controller, namespace, name string) (time.Duration, error) {
	path := actor.Path("apps", "v1", namespace, "replicasets", name)
	rs := read[appsv1.ReplicaSet](c, path)
	if rs == nil {
		return 0, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
	if err != nil {
		return 0, nil // the API server refuses those
	}
	ref := *metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
	pods, wrote, err := claim(c, rs, ref, selector)
	if wrote || err != nil {
		return 0, err
	}
	var alive []corev1.Pod
	leaving := int32(0)
	for _, p := range pods {
		if active(&p) {
			alive = append(alive, p)
		} else if p.DeletionTimestamp != nil && p.Status.Phase != corev1.PodSucceeded &&
			p.Status.Phase != corev1.PodFailed {
			leaving++
		}
	}
	var failed error
	if want := int(*rs.Spec.Replicas); rs.DeletionTimestamp == nil {
		switch {
		case len(alive) < want:
			p := podOf(namespace, &rs.Spec.Template, ref)
			p.GenerateName = rs.Name + "-"
			if failed = create(c, p); failed == nil {
				return 0, nil
			}
		case len(alive) > want:
			crowd, err := crowds(c, rs)
			if err != nil {
				return 0, err
			}
			if failed = remove(c, dispensable(alive, cost, crowd, c.age)); failed == nil {
				return 0, nil
			}
		}
	}
	status, wait := replicaSetStatus(c, rs, alive, failed)
	status.TerminatingReplicas = &leaving
	if reflect.DeepEqual(rs.Status, status) {
		return wait, failed
	}
	rs.Status = status
	if err := actor.Do(c, http.MethodPut, path+"/status", rs, nil); err != nil {
		return 0, err
	}
	return wait, failed
}

// replicaSetStatus counts (replica_set_utils.go, calculateStatus).
func replicaSetStatus(
	c *controller, rs *appsv1.ReplicaSet, alive []corev1.Pod, failed error,
) (s appsv1.ReplicaSetStatus, wait time.Duration) {
	s = *rs.Status.DeepCopy()
	s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas = int32(len(alive)), 0, 0, 0
	s.ObservedGeneration = rs.Generation
	of := labels.SelectorFromSet(rs.Spec.Template.Labels)
	for _, p := range alive {
		if of.Matches(labels.Set(p.Labels)) {
			s.FullyLabeledReplicas++
		}
		if ready(&p) {
			s.ReadyReplicas++
		}
		ok, left := available(c, &p, rs.Spec.MinReadySeconds)
		if ok {
			s.AvailableReplicas++
		}
		wait = soonest(wait, left)
	}
	var kept []appsv1.ReplicaSetCondition
	for _, cond := range s.Conditions {
		if cond.Type != appsv1.ReplicaSetReplicaFailure || failed != nil {
			kept = append(kept, cond)
		}
	}
	reason := "FailedCreate"
	if len(alive) > int(*rs.Spec.Replicas) {
		reason = "FailedDelete"
	}
	if failed != nil && len(kept) == 0 {
		kept = append(kept, appsv1.ReplicaSetCondition{Type: appsv1.ReplicaSetReplicaFailure,
			Status:             corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(c.Clock()), Reason: reason, Message: failed.Error()})
	}
	s.Conditions = kept
	return s, wait
}
