package workload

import (
	"fmt"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tell writes the Deployment's status, if it has changed. During a rollout it estimates progress,
// too, and asks to be called again when the deadline may have passed.
func (r *rollout) tell(rolls bool) (time.Duration, error) {
	was := r.d.Status
	s := *was.DeepCopy()
	s.ObservedGeneration = r.d.Generation
	s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas, s.TerminatingReplicas = 0, 0, 0, 0, new(int32)
	if r.now != nil {
		s.UpdatedReplicas = r.now.Status.Replicas
	}
	for _, rs := range r.all() {
		s.Replicas += rs.Status.Replicas
		s.ReadyReplicas += rs.Status.ReadyReplicas
		s.AvailableReplicas += rs.Status.AvailableReplicas
		if n := rs.Status.TerminatingReplicas; n == nil {
			s.TerminatingReplicas = nil
		} else if s.TerminatingReplicas != nil {
			*s.TerminatingReplicas += *n
		}
	}
	s.UnavailableReplicas = max(r.total()-s.AvailableReplicas, 0)
	r.availability(&s)
	left := time.Duration(0)
	if rolls {
		left = r.progress(&s, &was)
		r.failures(&s)
	}
	if equality.Semantic.DeepEqual(was, s) {
		return left, nil
	}
	r.d.Status = s
	return 0, r.record()
}

func (r *rollout) availability(s *appsv1.DeploymentStatus) {
	_, unavailable := fence(r.d)
	if s.AvailableReplicas >= *r.d.Spec.Replicas-unavailable {
		r.condition(s, appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable",
			"Deployment has minimum availability.")
	} else {
		r.condition(s, appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable",
			"Deployment does not have minimum availability.")
	}
}

// hasDeadline reports whether progress is to be estimated.
func hasDeadline(d *appsv1.Deployment) bool {
	return d.Spec.ProgressDeadlineSeconds != nil && *d.Spec.ProgressDeadlineSeconds != math.MaxInt32
}

// complete reports whether all pods are of the present template, and available.
func complete(d *appsv1.Deployment, s *appsv1.DeploymentStatus) bool {
	want := *d.Spec.Replicas
	return s.UpdatedReplicas == want && s.Replicas == want && s.AvailableReplicas == want &&
		s.ObservedGeneration >= d.Generation
}

// progressing is the condition of that type, nil if there is none.
func progressing(s *appsv1.DeploymentStatus) *appsv1.DeploymentCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == appsv1.DeploymentProgressing {
			return &s.Conditions[i]
		}
	}
	return nil
}

// progress follows progress.go, syncRolloutStatus: complete, progressing, or past the deadline. It
// returns when to look again.
func (r *rollout) progress(s, was *appsv1.DeploymentStatus) time.Duration {
	if !hasDeadline(r.d) {
		s.Conditions = slices.DeleteFunc(s.Conditions,
			func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentProgressing })
		return 0
	}
	about := fmt.Sprintf("Deployment %q", r.d.Name)
	if r.now != nil {
		about = fmt.Sprintf("ReplicaSet %q", r.now.Name)
	}
	last := progressing(was)
	if last != nil && last.Reason == "NewReplicaSetAvailable" && s.Replicas == s.UpdatedReplicas {
		return 0
	}
	moved := s.UpdatedReplicas > was.UpdatedReplicas ||
		s.Replicas-s.UpdatedReplicas < was.Replicas-was.UpdatedReplicas ||
		s.ReadyReplicas > was.ReadyReplicas || s.AvailableReplicas > was.AvailableReplicas
	switch {
	case complete(r.d, s):
		r.condition(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetAvailable",
			about+" has successfully progressed.")
	case moved:
		if last != nil && last.Status == corev1.ConditionTrue { // its date is to be fresh
			progressing(s).Reason = ""
		}
		r.condition(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated",
			about+" is progressing.")
	case last != nil && last.Reason != "NewReplicaSetAvailable" && last.Reason != "ProgressDeadlineExceeded":
		left := last.LastUpdateTime.Add(time.Duration(*r.d.Spec.ProgressDeadlineSeconds) * time.Second).Sub(r.Clock())
		if left >= 0 {
			return left + time.Second
		}
		r.condition(s, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded",
			about+" has timed out progressing.")
	}
	return 0
}

// failures passes on what a ReplicaSet says of pods that cannot be made; the present one comes
// first.
func (r *rollout) failures(s *appsv1.DeploymentStatus) {
	sets := r.all()
	slices.Reverse(sets)
	for _, rs := range sets {
		for _, c := range rs.Status.Conditions {
			if c.Type == appsv1.ReplicaSetReplicaFailure {
				r.condition(s, appsv1.DeploymentReplicaFailure, c.Status, c.Reason, c.Message)
				return
			}
		}
	}
	s.Conditions = slices.DeleteFunc(s.Conditions,
		func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentReplicaFailure })
}

// condition sets a condition. One that says the same already is left alone.
func (r *rollout) condition(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType,
	status corev1.ConditionStatus, reason, message string) {
	now := metav1.NewTime(r.Clock())
	set := appsv1.DeploymentCondition{Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: now,
		LastTransitionTime: now}
	for i, c := range s.Conditions {
		if c.Type != kind {
			continue
		}
		if c.Status == status && c.Reason == reason {
			return
		}
		if c.Status == status {
			set.LastTransitionTime = c.LastTransitionTime
		}
		s.Conditions[i] = set
		return
	}
	s.Conditions = append(s.Conditions, set)
}
