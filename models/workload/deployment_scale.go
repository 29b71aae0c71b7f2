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

// room is how many pods the present ReplicaSet may have now (deployment_util.go, NewRSNewReplicas).
func (r *rollout) room() int32 {
	want := *r.d.Spec.Replicas
	if r.recreates() {
		return want
	}
	have := int32(0)
	if r.now != nil {
		have = *r.now.Spec.Replicas
	}
	surge, _ := r.fence()
	return max(have, min(want, have+want+surge-r.total()))
}

// total is how many pods all ReplicaSets ask for.
func (r *rollout) total() (n int32) {
	for _, rs := range r.all() {
		n += *rs.Spec.Replicas
	}
	return n
}

// all are the ReplicaSets, the oldest first and the present one last.
func (r *rollout) all() (out []*appsv1.ReplicaSet) {
	for i := range r.before {
		out = append(out, &r.before[i])
	}
	if r.now != nil {
		out = append(out, r.now)
	}
	return out
}

// working are those of them that ask for pods.
func (r *rollout) working() []*appsv1.ReplicaSet {
	return slices.DeleteFunc(r.all(), func(rs *appsv1.ReplicaSet) bool { return *rs.Spec.Replicas == 0 })
}

// fence is maxSurge and maxUnavailable in pods (deployment_util.go, ResolveFenceposts).
func (r *rollout) fence() (surge, unavailable int32) {
	u := r.d.Spec.Strategy.RollingUpdate
	if u == nil {
		return 0, 0
	}
	want := int(*r.d.Spec.Replicas)
	s, _ := intstr.GetScaledValueFromIntOrPercent(u.MaxSurge, want, true)
	a, _ := intstr.GetScaledValueFromIntOrPercent(u.MaxUnavailable, want, false)
	if s == 0 && a == 0 {
		a = 1
	}
	return int32(s), int32(min(a, want))
}

// scaled reports whether the Deployment wants another number of pods than when it scaled its
// ReplicaSets last.
func (r *rollout) scaled() bool {
	return slices.ContainsFunc(r.working(), func(rs *appsv1.ReplicaSet) bool {
		n, err := strconv.Atoi(rs.Annotations[desiredAnnotation])
		return err == nil && int32(n) != *r.d.Spec.Replicas
	})
}

// spread scales in proportion (sync.go, scale). What belongs together is one step.
func (r *rollout) spread() (bool, error) {
	want, working := *r.d.Spec.Replicas, r.working()
	if len(working) < 2 {
		one := r.now
		if len(working) == 1 {
			one = working[0]
		} else if one == nil && len(r.before) > 0 {
			one = &r.before[len(r.before)-1]
		}
		if one == nil || *one.Spec.Replicas == want {
			return false, nil
		}
		return r.resize(one, want)
	}
	if r.saturated() {
		return r.empty()
	}
	if r.recreates() {
		return false, nil
	}
	surge, _ := r.fence()
	allowed := int32(0)
	if want > 0 {
		allowed = want + surge
	}
	left := allowed - r.total()
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
		share := r.share(rs)
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
		r.measure(before)
		if *rs.Spec.Replicas == sizes[i] &&
			before.Annotations[desiredAnnotation] == rs.Annotations[desiredAnnotation] &&
			before.Annotations[maxAnnotation] == rs.Annotations[maxAnnotation] {
			continue
		}
		wrote = true
		if _, err := r.resize(rs, sizes[i]); err != nil {
			return true, err
		}
	}
	return wrote, nil
}

// share is by how many pods a ReplicaSet should grow or shrink (deployment_util.go,
// getReplicaSetFraction).
func (r *rollout) share(rs *appsv1.ReplicaSet) int32 {
	want, size := *r.d.Spec.Replicas, *rs.Spec.Replicas
	if want == 0 {
		return -size
	}
	most, err := strconv.Atoi(rs.Annotations[maxAnnotation])
	if err != nil || most <= 0 {
		most = int(r.d.Status.Replicas)
	}
	if most == 0 {
		return 0
	}
	surge, _ := r.fence()
	return int32(math.Round(float64(size*(want+surge))/float64(most))) - size
}

// saturated reports whether the present ReplicaSet has all pods that are wanted, and all of them
// are available.
func (r *rollout) saturated() bool {
	want := *r.d.Spec.Replicas
	return r.now != nil && *r.now.Spec.Replicas == want && r.now.Status.AvailableReplicas == want &&
		r.now.Annotations[desiredAnnotation] == strconv.Itoa(int(want))
}

// empty scales the old ReplicaSets down to nothing.
func (r *rollout) empty() (bool, error) {
	for i := range r.before {
		if *r.before[i].Spec.Replicas > 0 {
			return r.resize(&r.before[i], 0)
		}
	}
	return false, nil
}

// resize scales a ReplicaSet, and notes how many pods are wanted and allowed.
func (r *rollout) resize(rs *appsv1.ReplicaSet, to int32) (bool, error) {
	rs = rs.DeepCopy()
	rs.Spec.Replicas = &to
	r.measure(rs)
	return true, r.put(rs)
}

// replace makes the present ReplicaSet once the old pods have gone (recreate.go).
func (r *rollout) replace() (bool, error) {
	if wrote, err := r.empty(); wrote || err != nil {
		return wrote, err
	}
	if left, err := r.oldPods(); left || err != nil {
		return false, err
	}
	if wrote, err := r.makeNew(); wrote || err != nil {
		return wrote, err
	}
	if *r.now.Spec.Replicas == *r.d.Spec.Replicas {
		return false, nil
	}
	return r.resize(r.now, *r.d.Spec.Replicas)
}

// oldPods reports whether a pod of an earlier template is still there (recreate.go,
// oldPodsRunning).
func (r *rollout) oldPods() (bool, error) {
	for i := range r.before {
		if r.before[i].Status.Replicas > 0 {
			return true, nil
		}
	}
	pods, err := actor.List[corev1.Pod](r, podsPath(r.d.Namespace, ""))
	for i := range pods {
		over := pods[i].Status.Phase == corev1.PodSucceeded || pods[i].Status.Phase == corev1.PodFailed
		for j := range r.before {
			if metav1.IsControlledBy(&pods[i], &r.before[j]) && !over {
				return true, nil
			}
		}
	}
	return false, err
}

// grow gives the present ReplicaSet the pods that it may have, or takes away those that are too
// many.
func (r *rollout) grow() (bool, error) {
	have, to := *r.now.Spec.Replicas, *r.d.Spec.Replicas
	if have < to {
		to = r.room()
	}
	if to == have {
		return false, nil
	}
	return r.resize(r.now, to)
}

// shrink takes pods away from old ReplicaSets: first those that are not available, then others, as
// far as enough remain (rolling.go, reconcileOldReplicaSets).
func (r *rollout) shrink() (bool, error) {
	_, unavailable := r.fence()
	least := *r.d.Spec.Replicas - unavailable
	spare := r.total() - least - (*r.now.Spec.Replicas - r.now.Status.AvailableReplicas)
	if spare <= 0 {
		return false, nil
	}
	for i := range r.before {
		rs := &r.before[i]
		switch sick := *rs.Spec.Replicas - rs.Status.AvailableReplicas; {
		case *rs.Spec.Replicas == 0:
		case sick > 0:
			return r.resize(rs, *rs.Spec.Replicas-min(sick, spare))
		case sick < 0: // pods that are to go are still counted, so the rest is not known yet
			return false, nil
		}
	}
	up := int32(0)
	for _, rs := range r.all() {
		up += rs.Status.AvailableReplicas
	}
	for i := range r.before {
		rs := &r.before[i]
		if n := min(*rs.Spec.Replicas, up-least); n > 0 {
			return r.resize(rs, *rs.Spec.Replicas-n)
		}
	}
	return false, nil
}
