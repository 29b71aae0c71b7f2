package workload

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wavetank/wavetank/models/actor"
)

// replicaSets are the ReplicaSets of a Deployment. It owns what follows from their numbers of pods.
type replicaSets struct {
	now    *appsv1.ReplicaSet // of the present template; nil if there is none yet
	before []appsv1.ReplicaSet
}

// room is how many pods the present ReplicaSet may have now (deployment_util.go, NewRSNewReplicas).
func (r *replicaSets) room(d *appsv1.Deployment) int32 {
	want := *d.Spec.Replicas
	if recreates(d) {
		return want
	}
	have := int32(0)
	if r.now != nil {
		have = *r.now.Spec.Replicas
	}
	surge, _ := fence(d)
	return max(have, min(want, have+want+surge-r.total()))
}

// total is how many pods all ReplicaSets ask for.
func (r *replicaSets) total() (n int32) {
	for _, rs := range r.all() {
		n += *rs.Spec.Replicas
	}
	return n
}

// all are the ReplicaSets, the oldest first and the present one last.
func (r *replicaSets) all() (out []*appsv1.ReplicaSet) {
	for i := range r.before {
		out = append(out, &r.before[i])
	}
	if r.now != nil {
		out = append(out, r.now)
	}
	return out
}

// working are those of them that ask for pods.
func (r *replicaSets) working() []*appsv1.ReplicaSet {
	return slices.DeleteFunc(r.all(), func(rs *appsv1.ReplicaSet) bool { return *rs.Spec.Replicas == 0 })
}

// fence is maxSurge and maxUnavailable in pods (deployment_util.go, ResolveFenceposts).
func fence(d *appsv1.Deployment) (surge, unavailable int32) {
	u := d.Spec.Strategy.RollingUpdate
	if u == nil {
		return 0, 0
	}
	want := int(*d.Spec.Replicas)
	over, _ := intstr.GetScaledValueFromIntOrPercent(u.MaxSurge, want, true)
	under, _ := intstr.GetScaledValueFromIntOrPercent(u.MaxUnavailable, want, false)
	if over == 0 && under == 0 {
		under = 1
	}
	return int32(over), int32(min(under, want))
}

// scaled reports whether the Deployment wants another number of pods than when it scaled its
// ReplicaSets last.
func (r *replicaSets) scaled(d *appsv1.Deployment) bool {
	return slices.ContainsFunc(r.working(), func(rs *appsv1.ReplicaSet) bool {
		n, err := strconv.Atoi(rs.Annotations[desiredAnnotation])
		return err == nil && int32(n) != *d.Spec.Replicas
	})
}

// latest is the highest revision of the earlier ReplicaSets.
func (r *replicaSets) latest() int {
	n := 0
	for i := range r.before {
		n = max(n, revision(&r.before[i]))
	}
	return n
}

// saturated reports whether the present ReplicaSet has all pods that are wanted, and all of them
// are available.
func (r *replicaSets) saturated(d *appsv1.Deployment) bool {
	want := *d.Spec.Replicas
	return r.now != nil && *r.now.Spec.Replicas == want && r.now.Status.AvailableReplicas == want &&
		r.now.Annotations[desiredAnnotation] == strconv.Itoa(int(want))
}

// scaling owns how many pods each ReplicaSet of a rollout asks for.
type scaling struct{ *rollout }

// spread scales in proportion (sync.go, scale). What belongs together is one step.
func (s *scaling) spread() (bool, error) {
	want, working := *s.d.Spec.Replicas, s.working()
	if len(working) < 2 {
		one := s.now
		if len(working) == 1 {
			one = working[0]
		} else if one == nil && len(s.before) > 0 {
			one = &s.before[len(s.before)-1]
		}
		if one == nil || *one.Spec.Replicas == want {
			return false, nil
		}
		return s.resize(one, want)
	}
	if s.saturated(s.d) {
		return s.empty()
	}
	if recreates(s.d) {
		return false, nil
	}
	surge, _ := fence(s.d)
	allowed := int32(0)
	if want > 0 {
		allowed = want + surge
	}
	left := allowed - s.total()
	slices.SortStableFunc(working,
		func(a, b *appsv1.ReplicaSet) int { // larger ones first, then newer ones, or older ones when there are too many
			age := a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
			if left > 0 {
				age = -age
			}
			return cmp.Or(cmp.Compare(*b.Spec.Replicas, *a.Spec.Replicas), age)
		})
	sizes := make([]int32, len(working))
	for i, rs := range working {
		share := share(s.d, rs)
		if left > 0 {
			share = min(share, left)
		} else {
			share = max(share, left)
		}
		sizes[i] = *rs.Spec.Replicas + share
		left -= share
	}
	sizes[0] = max(sizes[0]+left, 0)
	wrote := false
	for i, rs := range working {
		before := rs.DeepCopy()
		measure(s.d, before)
		if *rs.Spec.Replicas == sizes[i] &&
			before.Annotations[desiredAnnotation] == rs.Annotations[desiredAnnotation] &&
			before.Annotations[maxAnnotation] == rs.Annotations[maxAnnotation] {
			continue
		}
		wrote = true
		if _, err := s.resize(rs, sizes[i]); err != nil {
			return true, err
		}
	}
	return wrote, nil
}

// share is by how many pods a ReplicaSet should grow or shrink (deployment_util.go,
// getReplicaSetFraction).
func share(d *appsv1.Deployment, rs *appsv1.ReplicaSet) int32 {
	want, size := *d.Spec.Replicas, *rs.Spec.Replicas
	if want == 0 {
		return -size
	}
	most, err := strconv.Atoi(rs.Annotations[maxAnnotation])
	if err != nil || most <= 0 {
		most = int(d.Status.Replicas)
	}
	if most == 0 {
		return 0
	}
	surge, _ := fence(d)
	return int32(math.Round(float64(size*(want+surge))/float64(most))) - size
}

// empty scales the old ReplicaSets down to nothing.
func (s *scaling) empty() (bool, error) {
	for i := range s.before {
		if *s.before[i].Spec.Replicas > 0 {
			return s.resize(&s.before[i], 0)
		}
	}
	return false, nil
}

// resize scales a ReplicaSet, and notes how many pods are wanted and allowed.
func (s *scaling) resize(rs *appsv1.ReplicaSet, to int32) (bool, error) {
	rs = rs.DeepCopy()
	rs.Spec.Replicas = &to
	measure(s.d, rs)
	return true, s.put(rs)
}

// replace makes the present ReplicaSet once the old pods have gone (recreate.go).
func (s *scaling) replace() (bool, error) {
	if wrote, err := s.empty(); wrote || err != nil {
		return wrote, err
	}
	if left, err := s.oldPods(); left || err != nil {
		return false, err
	}
	if wrote, err := s.makeNew(); wrote || err != nil {
		return wrote, err
	}
	if *s.now.Spec.Replicas == *s.d.Spec.Replicas {
		return false, nil
	}
	return s.resize(s.now, *s.d.Spec.Replicas)
}

// oldPods reports whether a pod of an earlier template is still there (recreate.go,
// oldPodsRunning).
func (s *scaling) oldPods() (bool, error) {
	for i := range s.before {
		if s.before[i].Status.Replicas > 0 {
			return true, nil
		}
	}
	pods, err := actor.List[corev1.Pod](s, podsPath(s.d.Namespace, ""))
	for i := range pods {
		over := pods[i].Status.Phase == corev1.PodSucceeded || pods[i].Status.Phase == corev1.PodFailed
		for j := range s.before {
			if metav1.IsControlledBy(&pods[i], &s.before[j]) && !over {
				return true, nil
			}
		}
	}
	return false, err
}

// grow gives the present ReplicaSet the pods that it may have, or takes away those that are too
// many.
func (s *scaling) grow() (bool, error) {
	have, to := *s.now.Spec.Replicas, *s.d.Spec.Replicas
	if have < to {
		to = s.room(s.d)
	}
	if to == have {
		return false, nil
	}
	return s.resize(s.now, to)
}

// shrink takes pods away from old ReplicaSets: first those that are not available, then others, as
// far as enough remain (rolling.go, reconcileOldReplicaSets).
func (s *scaling) shrink() (bool, error) {
	_, unavailable := fence(s.d)
	least := *s.d.Spec.Replicas - unavailable
	spare := s.total() - least - (*s.now.Spec.Replicas - s.now.Status.AvailableReplicas)
	if spare <= 0 {
		return false, nil
	}
	for i := range s.before {
		rs := &s.before[i]
		switch sick := *rs.Spec.Replicas - rs.Status.AvailableReplicas; {
		case *rs.Spec.Replicas == 0:
		case sick > 0:
			return s.resize(rs, *rs.Spec.Replicas-min(sick, spare))
		case sick < 0: // pods that are to go are still counted, so the rest is not known yet
			return false, nil
		}
	}
	up := int32(0)
	for _, rs := range s.all() {
		up += rs.Status.AvailableReplicas
	}
	for i := range s.before {
		rs := &s.before[i]
		if n := min(*rs.Spec.Replicas, up-least); n > 0 {
			return s.resize(rs, *rs.Spec.Replicas-n)
		}
	}
	return false, nil
}
