package workload

import (
	"fmt"
	"net/http"
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
)

// tell writes the Deployment's status, if it has changed. It asks to be called again when the deadline may pass.
func (r *rollout) tell() (time.Duration, error) {
	was := r.d.Status
	s := *was.DeepCopy()
	s.ObservedGeneration = r.d.Generation
	s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas = 0, 0, 0, 0
	all := r.before
	if r.now != nil {
		all = append(all[:len(all):len(all)], *r.now)
		s.UpdatedReplicas = r.now.Status.Replicas
	}
	for _, rs := range all {
		s.Replicas += rs.Status.Replicas
		s.ReadyReplicas += rs.Status.ReadyReplicas
		s.AvailableReplicas += rs.Status.AvailableReplicas
	}
	s.UnavailableReplicas = max(r.total()-s.AvailableReplicas, 0)
	r.availability(&s)
	left := r.progress(&s, &was)
	if reflect.DeepEqual(was, s) {
		return left, nil
	}
	r.d.Status = s
	return left, actor.Do(r, http.MethodPut, r.path+"/status", r.d, nil)
}

func (r *rollout) availability(s *appsv1.DeploymentStatus) {
	_, unavailable := r.fence()
	if s.AvailableReplicas >= *r.d.Spec.Replicas-unavailable {
		r.condition(s, appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability.", false)
	} else {
		r.condition(s, appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "Deployment does not have minimum availability.", false)
	}
}

// progress follows progress.go, syncRolloutStatus: complete, progressing, or past the deadline.
func (r *rollout) progress(s, was *appsv1.DeploymentStatus) (left time.Duration) {
	if r.now == nil || r.d.Spec.ProgressDeadlineSeconds == nil || r.d.Spec.Paused {
		return 0
	}
	about := fmt.Sprintf("ReplicaSet %q", r.now.Name)
	var last *appsv1.DeploymentCondition
	for i := range s.Conditions {
		if s.Conditions[i].Type == appsv1.DeploymentProgressing {
			last = &s.Conditions[i]
		}
	}
	want := *r.d.Spec.Replicas
	moved := s.UpdatedReplicas > was.UpdatedReplicas || s.Replicas-s.UpdatedReplicas < was.Replicas-was.UpdatedReplicas ||
		s.ReadyReplicas > was.ReadyReplicas || s.AvailableReplicas > was.AvailableReplicas
	switch {
	case s.UpdatedReplicas == want && s.Replicas == want && s.AvailableReplicas == want && s.ObservedGeneration >= r.d.Generation:
		r.condition(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetAvailable", about+" has successfully progressed.", false)
		return 0
	case last == nil || last.Reason == "NewReplicaSetAvailable" && r.d.Generation != was.ObservedGeneration:
		r.condition(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetCreated", "Created new replica set "+fmt.Sprintf("%q", r.now.Name), true)
	case moved:
		r.condition(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", about+" is progressing.", true)
	case last.Reason != "NewReplicaSetAvailable" && last.Reason != "ProgressDeadlineExceeded":
		left = last.LastUpdateTime.Add(time.Duration(*r.d.Spec.ProgressDeadlineSeconds) * time.Second).Sub(r.Clock())
		if left <= 0 {
			r.condition(s, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", about+" has timed out progressing.", false)
			return 0
		}
		return left
	default:
		return 0
	}
	return time.Duration(*r.d.Spec.ProgressDeadlineSeconds) * time.Second
}

// condition sets a condition. One that says the same already is left alone, unless its date is to be fresh.
func (r *rollout) condition(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string, fresh bool) {
	now := metav1.NewTime(r.Clock())
	set := appsv1.DeploymentCondition{Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now}
	for i, c := range s.Conditions {
		if c.Type != kind {
			continue
		}
		if c.Status == status && c.Reason == reason && !fresh {
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
