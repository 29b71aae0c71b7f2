package kubelet

import (
	"maps"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// scheduler binds pods to the node with the fewest, of those that match their node selector.
type scheduler struct {
	actor.Cluster
	life *lifecycle // nil without Lifecycle
}

// Name implements [actor.Actor].
func (*scheduler) Name() string { return "scheduler" }

// Begin implements [actor.Actor].
func (s *scheduler) Begin(c actor.Cluster) {
	s.Cluster = c
	s.lookAtAll()
}

func (s *scheduler) lookAtAll() {
	pods, _ := actor.List[corev1.Pod](s, "/api/v1/pods")
	for i := range pods {
		s.look(&pods[i])
	}
}

// Observe implements [actor.Actor].
func (s *scheduler) Observe(ch apiserver.Change) {
	var p corev1.Pod
	switch {
	case ch.Kind == "Node" && (fits(ch) || s.life != nil && ch.Type == "MODIFIED"),
		ch.Kind == "PersistentVolumeClaim" && ch.Type == "ADDED",
		s.life != nil && ch.Kind == "Pod" && ch.Type == "DELETED":
		s.lookAtAll()
	case ch.Kind == "Pod" && ch.Type != "DELETED" && actor.Decode(ch.Object, &p):
		if s.life != nil && over(&p) {
			s.lookAtAll()
			return
		}
		s.look(&p)
	}
}

// fits reports whether a node may now take pods that it did not take before: it is new, has other
// labels or is no longer cordoned (pkg/scheduler/eventhandlers.go, updateNodeInCache).
func fits(ch apiserver.Change) bool {
	var now, before corev1.Node
	switch {
	case ch.Type != "MODIFIED":
		return ch.Type == "ADDED"
	case !actor.Decode(ch.Object, &now) || !actor.Decode(ch.Previous, &before):
		return false
	}
	return !maps.Equal(now.Labels, before.Labels) || before.Spec.Unschedulable && !now.Spec.Unschedulable
}

func (s *scheduler) look(p *corev1.Pod) {
	if p.Spec.NodeName != "" || p.DeletionTimestamp != nil || p.Spec.SchedulerName != corev1.DefaultSchedulerName ||
		len(p.Spec.SchedulingGates) > 0 {
		return
	}
	path := actor.Path("", "v1", p.Namespace, "pods", p.Name)
	s.After(0, "binding of Pod "+p.Namespace+"/"+p.Name, func() { s.bind(path) })
}

func (s *scheduler) bind(path string) {
	var p corev1.Pod
	if !actor.Get(s, path, &p) || p.Spec.NodeName != "" || p.DeletionTimestamp != nil {
		return
	}
	node, why := s.node(&p), "0 nodes are available"
	if lack := s.unclaimed(&p); lack != "" {
		node, why = "", why+": "+lack
	}
	if node == "" {
		s.unschedulable(&p, path, why)
		return // a new node or claim brings it back
	}
	binding := &corev1.Binding{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Binding"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}
	if err := actor.Do(s, http.MethodPost, path+"/binding", binding, nil); err != nil && !apierrors.IsConflict(err) &&
		!apierrors.IsNotFound(err) {
		s.Again(firstRestart, "binding of Pod "+p.Namespace+"/"+p.Name, func() { s.bind(path) })
	}
}

// unschedulable says in the pod's status why no node takes it.
func (s *scheduler) unschedulable(p *corev1.Pod, path, why string) {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return
		}
	}
	p.Status.Conditions = append(p.Status.Conditions,
		corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
			Reason: corev1.PodReasonUnschedulable, Message: why, LastTransitionTime: metav1.NewTime(s.Clock())})
	_ = actor.Do(s, http.MethodPut, path+"/status", p, nil)
}

// node is the name of the node with the fewest pods that the pod may run on, "" if there is none.
func (s *scheduler) node(p *corev1.Pod) string {
	nodes, _ := actor.List[corev1.Node](s, "/api/v1/nodes")
	pods, _ := actor.List[corev1.Pod](s, "/api/v1/pods")
	load := map[string]int{}
	for _, other := range pods {
		load[other.Spec.NodeName]++
	}
	best := ""
	for i := range nodes {
		n := &nodes[i]
		fits := s.life == nil || s.life.admits(n, p, pods)
		for k, v := range p.Spec.NodeSelector {
			fits = fits && n.Labels[k] == v
		}
		if fits && !n.Spec.Unschedulable && (best == "" || load[n.Name] < load[best]) {
			best = n.Name
		}
	}
	return best
}
