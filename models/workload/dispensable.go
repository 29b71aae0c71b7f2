package workload

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wavetank/wavetank/models/actor"
)

// dispensable is the pod that is missed least (controller_utils.go, ActivePodsWithRanks). Pods that
// are not bound come first, then pending ones, then those that are not ready. Among equals these
// decide, in this order: the deletion cost, how many others are on the node, how short the pod has
// been ready, how often it has restarted, how young it is. age is how old a time is, as far as that
// counts.
func dispensable(
	pods []corev1.Pod, cost func(*corev1.Pod) int, crowd map[string]int, age func(time.Time) int64,
) *corev1.Pod {
	return slices.MinFunc(pointers(pods), func(a, b *corev1.Pod) int {
		first := cmp.Or(cmp.Compare(standing(a), standing(b)), cmp.Compare(cost(a), cost(b)),
			cmp.Compare(crowd[b.Spec.NodeName], crowd[a.Spec.NodeName]))
		if first == 0 && ready(a) && ready(b) {
			if first = younger(*readySince(a), *readySince(b), age); first == 0 && !readySince(a).Equal(readySince(b)) {
				return cmp.Compare(a.UID, b.UID) // so that it is as good as chance
			}
		}
		if first = cmp.Or(first, cmp.Compare(restarts(b), restarts(a)), younger(a.CreationTimestamp,
			b.CreationTimestamp, age)); first == 0 && !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
			return cmp.Compare(a.UID, b.UID)
		}
		return first
	})
}

func pointers(pods []corev1.Pod) (out []*corev1.Pod) {
	for i := range pods {
		out = append(out, &pods[i])
	}
	return out
}

// standing is how far a pod has come.
func standing(p *corev1.Pod) int {
	switch {
	case p.Spec.NodeName == "":
		return 0
	case p.Status.Phase == corev1.PodPending:
		return 1
	case p.Status.Phase == corev1.PodUnknown:
		return 2
	case !ready(p):
		return 3
	}
	return 4
}

func younger(a, b metav1.Time, age func(time.Time) int64) int {
	if a.Equal(&b) {
		return 0
	}
	return cmp.Compare(age(a.Time), age(b.Time))
}

// age is the number of digits that the age of something has: ReplicaSets do not look closer
// (logarithmicRankDiff).
func (c *controller) age(t time.Time) int64 {
	if d := c.Clock().Sub(t); d > 0 {
		return int64(math.Log2(float64(d)))
	}
	return -1
}

// exactly is for those who do look closer.
func exactly(t time.Time) int64 { return -t.UnixNano() }

// cost is what an annotation says that it costs to delete a pod.
func cost(p *corev1.Pod) int {
	n, err := strconv.ParseInt(p.Annotations[corev1.PodDeletionCost], 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

func nothing(*corev1.Pod) int { return 0 }

// restarts is how often the container that restarted most often did.
func restarts(p *corev1.Pod) (n int32) {
	for _, c := range p.Status.ContainerStatuses {
		n = max(n, c.RestartCount)
	}
	return n
}

// crowds is how many pods of a ReplicaSet, and of others with the same owner, are on each node
// (replica_set.go, getPodsRankedByRelatedPodsOnSameNode). One without an owner does not care.
func crowds(c *controller, rs *appsv1.ReplicaSet) (map[string]int, error) {
	owner := metav1.GetControllerOf(rs)
	if owner == nil {
		return nil, nil
	}
	sets, err := actor.List[appsv1.ReplicaSet](c, actor.Path("apps", "v1", rs.Namespace, "replicasets", ""))
	if err != nil {
		return nil, err
	}
	pods, err := actor.List[corev1.Pod](c, podsPath(rs.Namespace, ""))
	out := map[string]int{}
	for i := range pods {
		p := &pods[i]
		if active(p) && slices.ContainsFunc(sets, func(other appsv1.ReplicaSet) bool {
			selector, err := metav1.LabelSelectorAsSelector(other.Spec.Selector)
			return metav1.IsControlledBy(&other, &metav1.ObjectMeta{UID: owner.UID}) && err == nil &&
				selector.Matches(labels.Set(p.Labels))
		}) {
			out[p.Spec.NodeName]++
		}
	}
	return out, err
}
