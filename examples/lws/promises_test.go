package lws

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	api "sigs.k8s.io/lws/api/leaderworkerset/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// The promises are sentences of the comments in api/leaderworkerset/v1/leaderworkerset_types.go in
// https://github.com/kubernetes-sigs/lws.
const (
	// "LeaderReady creates the workers statefulset after the leader pod is ready"
	// (LeaderReadyStartupPolicy).
	leaderFirst = "workers begin when their leader is ready"
	// "RecreateGroupOnPodRestart will recreate all the pods in the group if 1. Any individual pod
	// in the group is recreated".
	restartTogether = "all Pods of a group are made again if one is"
	// "maxUnavailable is the maximum number of replicas that can be unavailable during the update"
	// (RollingUpdateConfiguration).
	stayAvailable = "at most one group is unavailable during an update"
	// "readyReplicas track the number of groups that are in ready state (updated or not)"
	// (LeaderWorkerSetStatus).
	areCounted = "the status counts the groups that are ready"
	// "On scale down, the leader pod as well as the workers statefulset will be deleted"
	// (LeaderWorkerSetSpec).
	scalesDown = "a set has the Pods of its groups, of its newest template, and no others"
)

const size = 2 // a leader and a worker

type check = func(*history.History) error

// scenario declares the promises that are asked for.
func scenario(start func(*sim.World), asked ...string) func(*sim.World) {
	return func(w *sim.World) {
		replicas, image, updating, before := 0, "", false, []types.UID{}
		ask := func(declare func(string, check), sentence string, holds check) {
			if slices.Contains(asked, sentence) {
				declare(sentence, holds)
			}
		}
		begun := map[types.UID]bool{}
		ask(w.Always, leaderFirst, func(h *history.History) error {
			for _, s := range history.List[appsv1.StatefulSet](h) {
				if s.Name != "m" && !begun[s.UID] {
					begun[s.UID] = true
					leader, _ := history.Get[corev1.Pod](h, "default", s.Name)
					if metav1.IsControlledBy(&s, &leader) && !ready(leader) { // and not an earlier one of its name
						return fmt.Errorf("StatefulSet %s is made before the Pod %s is ready", s.Name, s.Name)
					}
				}
			}
			return nil
		})
		ask(w.Eventually, restartTogether, func(h *history.History) error {
			for _, p := range history.List[corev1.Pod](h) {
				if slices.Contains(before, p.UID) {
					return fmt.Errorf("the Pod %s is still that of before", p.Name)
				}
			}
			return nil
		})
		ask(w.Always, stayAvailable, func(h *history.History) error {
			if groups := readyGroups(h); updating && groups < replicas-1 {
				return fmt.Errorf("%d of %d groups are available", groups, replicas)
			}
			return nil
		})
		ask(w.Eventually, areCounted, func(h *history.History) error {
			m, _ := history.Get[api.LeaderWorkerSet](h, "default", "m")
			if is := readyGroups(h); int(m.Status.ReadyReplicas) != is || is != replicas {
				return fmt.Errorf("%d of %d groups are ready, and its status says %d", is, replicas,
					m.Status.ReadyReplicas)
			}
			return nil
		})
		ask(w.Eventually, scalesDown, func(h *history.History) error {
			pods := history.List[corev1.Pod](h)
			for _, p := range pods {
				if p.Spec.Containers[0].Image != image {
					return fmt.Errorf("the Pod %s has the image %s, and should have %s", p.Name,
						p.Spec.Containers[0].Image, image)
				}
			}
			if sets := history.List[appsv1.StatefulSet](h); len(pods) != replicas*size || len(sets) != 1+replicas {
				return fmt.Errorf("%d groups have %d Pods and %d StatefulSets", replicas, len(pods), len(sets))
			}
			return nil
		})

		start(w)
		w.Inject(fault.StaleCache(time.Minute), fault.MissedStates(time.Minute), fault.DroppedWatch(), fault.Relist(),
			fault.Crash("lws"), fault.LostReply(), fault.Conflict(), fault.ServerError())
		apply := func(n int, tag string) {
			replicas, image = n, "model.example/model:"+tag
			w.Apply(set(int32(n), image))
		}
		apply(2, "1")
		w.Settle()
		var pods corev1.PodList
		if w.Client().List(w.Context(), &pods) == nil {
			for _, p := range pods.Items {
				if p.Labels[api.GroupIndexLabelKey] == "0" {
					before = append(before, p.UID)
				}
			}
		}
		w.Remove(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m-0-1"}})
		w.Settle()
		updating = true
		apply(2, "2")
		w.Settle()
		updating = false
		apply(3, "3")
		w.Sleep(time.Minute)
		apply(1, "4")
		w.Settle()
	}
}

// readyGroups is the number of groups whose Pods are all ready.
func readyGroups(h *history.History) (n int) {
	pods := map[string]int{}
	for _, p := range history.List[corev1.Pod](h) {
		if group := p.Labels[api.GroupIndexLabelKey]; ready(p) {
			if pods[group]++; pods[group] == size {
				n++
			}
		}
	}
	return n
}

func ready(p corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func set(replicas int32, image string) *api.LeaderWorkerSet {
	n := int32(size)
	named := metav1.ObjectMeta{Namespace: "default", Name: "m"}
	pod := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "model", Image: image}}}}
	return &api.LeaderWorkerSet{ObjectMeta: named, Spec: api.LeaderWorkerSetSpec{
		Replicas: &replicas, StartupPolicy: api.LeaderReadyStartupPolicy,
		LeaderWorkerTemplate: api.LeaderWorkerTemplate{Size: &n, WorkerTemplate: pod,
			RestartPolicy: api.RecreateGroupOnPodRestart},
	}}
}

func TestPromises(t *testing.T) {
	sim.Check(t, scenario(operator(t), leaderFirst, stayAvailable, areCounted, scalesDown))
}

// TestFindings finds the violation of docs/findings.md again. An operator's own tests would say
// sim.Check, and fail.
func TestFindings(t *testing.T) {
	r := sim.Explore(t, scenario(operator(t), restartTogether), sim.Runs(1000), sim.For(0))
	if r.Failure == nil || r.Failure.Property != restartTogether {
		t.Fatalf("%d runs found %+v", r.Runs, r.Failure)
	}
	t.Logf("run %d, after %.1f s of CPU time:\n%s", r.Failure.Run, r.Failure.Took.Seconds(), r.Failure.Text())
}
