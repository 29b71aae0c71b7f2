package kubelet

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	quota "k8s.io/apiserver/pkg/quota/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/klog/v2"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// Lifecycle adds "node-lifecycle-controller", and gives nodes what a pod may ask of them; nil is
// no limit. The scheduler then looks at taints and at what pods request. Pods are evicted from
// nodes with taints that they do not tolerate (pkg/controller/tainteviction). Nodes can be lost:
// see fault.NodeDown.
//
// The kubelet of a lost node reports nothing and stops nothing. After 50 s the condition Ready of
// the node is Unknown, its pods are not ready, and it has the taint node.kubernetes.io/unreachable
// (pkg/controller/nodelifecycle). Pods tolerate that for five minutes unless they say otherwise.
// Then they are deleted, and stay Terminating until the node is back or a client deletes them with
// a grace period of zero. Pods of a Node object that is deleted stay, too: the garbage collector of
// pods is not modelled.
func Lifecycle(allocatable corev1.ResourceList) Option {
	return func(k *kubelet) {
		k.life = &lifecycle{kubelet: k, allocatable: allocatable, until: map[string]time.Duration{},
			tainted: map[string][]corev1.Taint{}, nodeOf: map[string]string{}, evicting: map[string]types.UID{}}
	}
}

// monitorGrace is after how long a silent node counts as lost (--node-monitor-grace-period).
const monitorGrace = 50 * time.Second

type lifecycle struct {
	actor.Cluster
	kubelet     *kubelet
	allocatable corev1.ResourceList
	until       map[string]time.Duration  // by node, when it is back
	tainted     map[string][]corev1.Taint // by node, those that evict
	nodeOf      map[string]string         // by pod
	evicting    map[string]types.UID      // pods whose eviction is planned, by the key of its step
}

// Name implements [actor.Actor].
func (*lifecycle) Name() string { return "node-lifecycle-controller" }

// Begin implements [actor.Actor].
func (l *lifecycle) Begin(c actor.Cluster) {
	l.Cluster = c
	nodes, _ := actor.List[corev1.Node](c, "/api/v1/nodes")
	for i := range nodes {
		l.look(&nodes[i])
	}
}

// Observe implements [actor.Actor].
func (l *lifecycle) Observe(ch apiserver.Change) {
	var n corev1.Node
	var p corev1.Pod
	switch {
	case ch.Kind == "Node" && ch.Type == "DELETED":
		delete(l.tainted, ch.Name)
	case ch.Kind == "Node" && actor.Decode(ch.Object, &n):
		l.look(&n)
	case ch.Kind == "Pod" && ch.Type != "DELETED" && len(l.tainted) > 0 && actor.Decode(ch.Object, &p):
		l.judge(&p)
	}
}

// look notes which taints of a node evict, and judges its pods by them.
func (l *lifecycle) look(n *corev1.Node) {
	evicting := slices.DeleteFunc(slices.Clone(n.Spec.Taints),
		func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectNoExecute })
	if len(evicting) == 0 {
		delete(l.tainted, n.Name)
		return
	}
	l.tainted[n.Name] = evicting
	pods, _ := actor.List[corev1.Pod](l, "/api/v1/pods")
	for i := range pods {
		if pods[i].Spec.NodeName == n.Name {
			l.judge(&pods[i])
		}
	}
}

// judge plans the eviction of a pod, once.
func (l *lifecycle) judge(p *corev1.Pod) {
	wait, evicted := patience(p, l.tainted[p.Spec.NodeName])
	if key := "eviction of Pod " + p.Namespace + "/" + p.Name; evicted && p.DeletionTimestamp == nil &&
		l.evicting[key] != p.UID {
		l.evicting[key] = p.UID
		path, uid := actor.Path("", "v1", p.Namespace, "pods", p.Name), p.UID
		l.After(wait, key, func() {
			delete(l.evicting, key)
			var now corev1.Pod
			if !actor.Get(l, path, &now) || now.UID != uid || now.DeletionTimestamp != nil {
				return
			}
			if _, still := patience(&now, l.tainted[now.Spec.NodeName]); !still {
				return
			}
			l.kubelet.condition(&now, corev1.DisruptionTarget, true, "DeletionByTaintManager",
				"Taint manager: deleting due to NoExecute taint")
			_ = actor.Do(l, http.MethodPut, path+"/status", &now, nil)
			if err := actor.Do(l, http.MethodDelete, path, nil, nil); err != nil && !apierrors.IsNotFound(err) {
				l.Again(firstRestart, key, func() { l.judge(&now) })
			}
		})
	}
}

// patience is how long a pod may stay under taints that evict, and whether it must go then.
func patience(p *corev1.Pod, taints []corev1.Taint) (wait time.Duration, evicted bool) {
	for i := range taints {
		t := tolerated(p, &taints[i])
		if t == nil {
			return 0, true
		}
		if s := t.TolerationSeconds; s != nil {
			if left := max(time.Duration(*s)*time.Second, 0); !evicted || left < wait {
				wait = left
			}
			evicted = true
		}
	}
	return wait, evicted
}

// tolerated is the first toleration of a pod for a taint; nil if it has none.
func tolerated(p *corev1.Pod, taint *corev1.Taint) *corev1.Toleration {
	for i := range p.Spec.Tolerations {
		if t := &p.Spec.Tolerations[i]; t.ToleratesTaint(klog.Background(), taint, false) {
			return t
		}
	}
	return nil
}

// admits reports whether a node takes a pod, beside those that it has.
func (l *lifecycle) admits(n *corev1.Node, p *corev1.Pod, pods []corev1.Pod) bool {
	for i := range n.Spec.Taints {
		if t := &n.Spec.Taints[i]; t.Effect != corev1.TaintEffectPreferNoSchedule && tolerated(p, t) == nil {
			return false
		}
	}
	need := resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{})
	for i := range pods {
		if pods[i].Spec.NodeName == n.Name && !over(&pods[i]) {
			need = quota.Add(need, resourcehelper.PodRequests(&pods[i], resourcehelper.PodResourcesOptions{}))
		}
	}
	fits, _ := quota.LessThanOrEqual(need, n.Status.Allocatable)
	return fits
}

// running asks whether the node of a pod is lost when the pod has started.
func (l *lifecycle) running(p *corev1.Pod) {
	name := p.Spec.NodeName
	if l.left(name) > 0 {
		return
	}
	d := l.NodeDown(name)
	if d == 0 {
		return
	}
	l.until[name] = l.Now() + d
	if d > monitorGrace {
		l.After(monitorGrace, "loss of "+name, func() { l.lose(name) })
	}
	l.After(d, "return of "+name, func() { l.back(name) })
}

// left is for how long a node is lost yet.
func (l *lifecycle) left(node string) time.Duration { return l.until[node] - l.Now() }

// lose notes on a node and on its pods that nothing was heard of it.
func (l *lifecycle) lose(name string) {
	var n corev1.Node
	path, now := actor.Path("", "v1", "", "nodes", name), metav1.NewTime(l.Clock())
	if !actor.Get(l, path, &n) {
		return
	}
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			c.Status, c.LastTransitionTime = corev1.ConditionUnknown, now
			c.Reason, c.Message = "NodeStatusUnknown", "Kubelet stopped posting node status."
		}
	}
	_ = actor.Do(l, http.MethodPut, path+"/status", &n, &n)
	for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
		n.Spec.Taints = append(n.Spec.Taints,
			corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: effect, TimeAdded: &now})
	}
	_ = actor.Do(l, http.MethodPut, path, &n, nil)
	pods, _ := actor.List[corev1.Pod](l, "/api/v1/pods")
	for i := range pods {
		if p := &pods[i]; p.Spec.NodeName == name && holds(p, corev1.PodReady) {
			at := actor.Path("", "v1", p.Namespace, "pods", p.Name)
			l.After(0, "readiness of Pod "+p.Namespace+"/"+p.Name, func() {
				var p corev1.Pod
				if actor.Get(l, at, &p) && holds(&p, corev1.PodReady) && l.left(name) > 0 {
					l.kubelet.condition(&p, corev1.PodReady, false, "", "")
					_ = actor.Do(l, http.MethodPut, at+"/status", &p, nil)
				}
			})
		}
	}
}

// back lets a node report again: itself, and which of its pods are ready.
func (l *lifecycle) back(name string) {
	delete(l.until, name)
	k := l.kubelet
	k.After(0, "registration of "+name, func() { k.register(name) })
	for _, uid := range slices.Sorted(maps.Keys(k.pods)) {
		state := k.pods[uid]
		var p corev1.Pod
		if actor.Get(k, state.path, &p) && p.Spec.NodeName == name && passes(&p) && !holds(&p, corev1.PodReady) {
			k.After(0, "readiness of Pod "+p.Namespace+"/"+p.Name, func() { k.pass(state) })
		}
	}
}

// After implements [actor.Cluster]. The steps of a pod wait while its node is lost.
func (k *kubelet) After(d time.Duration, key string, step func()) {
	k.Cluster.After(d, key, k.gated(key, step))
}

// Again implements [actor.Cluster], as [kubelet.After] does.
func (k *kubelet) Again(d time.Duration, key string, step func()) {
	k.Cluster.Again(d, key, k.gated(key, step))
}

func (k *kubelet) gated(key string, step func()) func() {
	_, pod, ofPod := strings.Cut(key, " of Pod ")
	if k.life == nil || !ofPod {
		return step
	}
	return func() {
		if left := k.life.left(k.life.nodeOf[pod]); left > 0 {
			k.After(left, key, step)
			return
		}
		step()
	}
}
