// Package kubelet is a model of what runs pods: a scheduler that binds them to nodes, and one
// kubelet for all nodes that reports what containers do. Nothing runs; a pod does what its [Plan]
// says, at times that the run chooses.
//
// What an operator sees follows the documentation of the pod lifecycle
// (https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/):
//
//   - phases, and the conditions PodScheduled, Initialized, ContainersReady and Ready;
//   - container states with restart counts;
//   - restarts at once, then after 10 s, 20 s, … 300 s, which starts again at 0 once a container
//     has run for 10 minutes;
//   - readiness gates and active deadlines;
//   - graceful termination within the pod's grace period.
//
// # What is different
//
// All containers of a pod share its fate; init containers take no time of their own. Containers are
// ready as soon as the pod is Running, unless its plan says that they never are. A pod waits until
// the ConfigMaps, Secrets and claims that it names exist. It does not look at what is in them, nor
// at whether the claims are bound. Volumes are not mounted. Probes and affinity are not looked at.
// With [Lifecycle] taints and resources are, and nodes can be lost. Without it no node ever fails.
package kubelet

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// Plan is what becomes of a pod once it is bound.
type Plan struct {
	// Ready is how long after it was bound, or restarted, its containers are ready. Negative:
	// never.
	Ready time.Duration
	// Run is how long after that they end; 0 for never.
	Run time.Duration
	// Exit is the code with which they end. Reason is the state's reason; empty for Completed or
	// Error.
	Exit   int32
	Reason string
	// Stop is how long they take to end when the pod is deleted; no longer than the grace period.
	// They end with 143, or with 137 when that is over; the pod has failed then, if it had not
	// ended before, and goes.
	Stop time.Duration
}

// Option changes how pods fare.
type Option func(*kubelet)

// Nodes sets the names of the nodes; there is one, "node-1", otherwise.
func Nodes(names ...string) Option { return func(k *kubelet) { k.nodes = names } }

// Plans decides what becomes of pods. It is asked for each start of each pod (restarts is how many
// there have been), and gets what would happen otherwise: pods become ready after a time between 1
// s and 2 min that the run chooses; those with restartPolicy Always never end, the others run for
// as long again and exit with 0; they stop within a second. Under fault.FailedPod some run for as
// long again and exit with 1 or 137. The plan may overrule that.
func Plans(plan func(pod *corev1.Pod, restarts int, otherwise Plan) Plan) Option {
	return func(k *kubelet) { k.plan = plan }
}

// New returns the scheduler ("scheduler") and the kubelet ("kubelet"), and what options add.
func New(opts ...Option) []actor.Actor {
	k := &kubelet{nodes: []string{"node-1"}, plan: func(_ *corev1.Pod, _ int, p Plan) Plan { return p },
		pods: map[string]*pod{}}
	for _, o := range opts {
		o(k)
	}
	out := []actor.Actor{&scheduler{life: k.life}, k}
	if k.life != nil {
		out = append(out, k.life)
	}
	return out
}

// The times between restarts (pkg/kubelet/kubelet.go, MaxContainerBackOff and backOffPeriod).
const firstRestart, lastRestart, wellAfter = 10 * time.Second, 300 * time.Second, 10 * time.Minute

// resync is after how long the kubelet tries again what it could not write
// (status/status_manager.go, syncPeriod).
const resync = 10 * time.Second

// starts are the times that containers take to become ready; the first is the dull one.
var starts = []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second, 2 * time.Minute}

type kubelet struct {
	actor.Cluster
	nodes     []string
	plan      func(*corev1.Pod, int, Plan) Plan
	pods      map[string]*pod // by UID, those that are being looked after
	addresses int
	life      *lifecycle // nil without Lifecycle
}

// pod is what the kubelet knows of a pod.
type pod struct {
	path     string
	plan     Plan
	restarts int
	inARow   int           // failures without a long run between them
	began    time.Duration // when the containers were last started
	at       metav1.Time   // the same, by the clock
	// ended is how the containers ended, nil while they run; last is how they ended before they
	// were last started again.
	ended, last *corev1.ContainerStateTerminated
	since       metav1.Time // when the kubelet took it up
	waiting     bool        // between two starts
	stopping    bool
	overdue     bool   // past its deadline
	lacks       string // why its containers cannot be made yet
}

// Name implements [actor.Actor].
func (*kubelet) Name() string { return "kubelet" }

// Begin implements [actor.Actor]. Nodes register themselves.
func (k *kubelet) Begin(c actor.Cluster) {
	k.Cluster = c
	for _, name := range k.nodes {
		c.After(0, "registration of "+name, func() { k.register(name) })
	}
	pods, _ := actor.List[corev1.Pod](c, "/api/v1/pods")
	for i := range pods {
		k.see(&pods[i])
	}
}

// register creates the node unless it exists, and sets its condition Ready. It removes the taint
// that the API server gives a node until then, as the node lifecycle controller does
// (node_lifecycle_controller.go, doNoScheduleTaintingPass).
func (k *kubelet) register(name string) {
	now, path := metav1.NewTime(k.Clock()), "/api/v1/nodes/"+name
	node := &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name,
			corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}},
	}
	if err := actor.Do(k, http.MethodPost, "/api/v1/nodes", node, node); err != nil && !actor.Get(k, path, node) {
		k.Again(firstRestart, "registration of "+name, func() { k.register(name) })
		return
	}
	if k.life != nil {
		node.Status.Allocatable, node.Status.Capacity = k.life.allocatable, k.life.allocatable
	}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
		LastHeartbeatTime: now, LastTransitionTime: now,
		Reason: "KubeletReady", Message: "kubelet is posting ready status"}}
	_ = actor.Do(k, http.MethodPut, path+"/status", node, node)
	if n := len(node.Spec.Taints); n > 0 {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints,
			func(t corev1.Taint) bool {
				return t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable
			})
		if len(node.Spec.Taints) < n {
			_ = actor.Do(k, http.MethodPut, path, node, nil)
		}
	}
}

// Observe implements [actor.Actor].
func (k *kubelet) Observe(ch apiserver.Change) {
	if ch.Group == "" && (ch.Kind == "ConfigMap" || ch.Kind == "Secret") {
		k.arrived(ch)
	}
	if ch.Kind != "Pod" {
		return
	}
	if ch.Type == "DELETED" {
		delete(k.pods, ch.UID)
		return
	}
	var p corev1.Pod
	if actor.Decode(ch.Object, &p) {
		k.see(&p)
	}
}

// see takes up a pod that was bound, and stops one that is to go.
func (k *kubelet) see(p *corev1.Pod) {
	known := k.pods[string(p.UID)]
	switch {
	case p.Spec.NodeName == "":
	case known == nil && p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodPending:
		known = k.take(p)
		k.start(p, known)
		if d := p.Spec.ActiveDeadlineSeconds; d != nil {
			k.After(time.Duration(*d)*time.Second, deadline(p), func() { k.expire(known) })
		}
	case p.DeletionTimestamp != nil && (known == nil || !known.stopping):
		if known == nil {
			known = k.take(p)
		}
		known.stopping = true
		wait := known.plan.Stop
		if grace := p.DeletionGracePeriodSeconds; grace != nil {
			wait = min(wait, time.Duration(*grace)*time.Second)
		}
		uid, code := p.UID, int32(143) // SIGTERM
		if wait < known.plan.Stop {
			code = 137 // SIGKILL
		}
		if p.Spec.ActiveDeadlineSeconds != nil {
			k.After(0, deadline(p), func() {})
		}
		k.After(wait, key(p), func() { k.stop(known, uid, code) })
	case known != nil && !known.stopping && len(p.Spec.ReadinessGates) > 0 && passes(p) != holds(p, corev1.PodReady):
		k.After(0, "readiness of Pod "+p.Namespace+"/"+p.Name, func() { k.pass(known) })
	}
}

func (k *kubelet) take(p *corev1.Pod) *pod {
	known := &pod{path: actor.Path("", "v1", p.Namespace, "pods", p.Name), since: metav1.NewTime(k.Clock())}
	k.pods[string(p.UID)] = known
	if k.life != nil {
		k.life.nodeOf[p.Namespace+"/"+p.Name] = p.Spec.NodeName
	}
	return known
}

// stop ends the containers of a pod that is being deleted, says so in its status, and then deletes
// it (kubelet.go, SyncTerminatingPod; status/status_manager.go, TerminatePod and syncPod). Who
// holds the pod with a finalizer sees that it has ended.
func (k *kubelet) stop(state *pod, uid types.UID, code int32) {
	var p corev1.Pod
	if !actor.Get(k, state.path, &p) || p.UID != uid {
		return
	}
	again := func() { k.Again(resync, key(&p), func() { k.stop(state, uid, code) }) }
	if !over(&p) {
		state.waiting = false
		if state.ended == nil {
			state.ended = &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", StartedAt: state.at,
				FinishedAt: metav1.NewTime(k.Clock())}
		}
		k.describe(&p, state, corev1.PodFailed, false)
		if err := actor.Do(k, http.MethodPut, state.path+"/status", &p, nil); err != nil {
			again()
			return
		}
		k.After(0, key(&p), func() { k.stop(state, uid, code) })
		return
	}
	err := actor.Do(k, http.MethodDelete, state.path,
		metav1.DeleteOptions{GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &uid}}, nil)
	if err != nil && !apierrors.IsNotFound(err) {
		again()
	}
}

// key names the step of a pod.
func key(p *corev1.Pod) string { return "run of Pod " + p.Namespace + "/" + p.Name }

// deadline names the step in which a pod has run for as long as it may.
func deadline(p *corev1.Pod) string { return "deadline of Pod " + p.Namespace + "/" + p.Name }

// expire fails a pod that has been active for too long (active_deadline.go).
func (k *kubelet) expire(state *pod) {
	var p corev1.Pod
	if state.stopping || !actor.Get(k, state.path, &p) || over(&p) {
		return
	}
	state.overdue, state.waiting = true, false
	state.ended = &corev1.ContainerStateTerminated{ExitCode: 143, Reason: "Error", StartedAt: state.at,
		FinishedAt: metav1.NewTime(k.Clock())}
	k.After(0, key(&p), func() { k.report(state, corev1.PodFailed, false) })
}

func over(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// start begins the containers and says when they will be ready.
func (k *kubelet) start(p *corev1.Pod, state *pod) {
	if state.restarts == 0 {
		if state.lacks = k.lacks(p); state.lacks != "" {
			k.After(0, key(p), func() { k.report(state, corev1.PodPending, false) })
			return
		}
	}
	class := p.Namespace + "/" + cmp.Or(p.GenerateName, p.Name)
	otherwise := Plan{Ready: starts[k.Choose("start of "+class, len(starts))], Stop: time.Second}
	if otherwise.Exit = k.PodExit(p, class); otherwise.Exit == 137 {
		otherwise.Reason = "OOMKilled"
	}
	if p.Spec.RestartPolicy != corev1.RestartPolicyAlways || otherwise.Exit != 0 {
		otherwise.Run = otherwise.Ready
	}
	state.plan, state.began, state.at = k.plan(p, state.restarts, otherwise), k.Now(), metav1.NewTime(k.Clock())
	ready := max(state.plan.Ready, 0)
	if state.ended != nil {
		state.last, state.ended = state.ended, nil
		if ready > 0 {
			k.report(state, corev1.PodRunning, false)
		}
	}
	k.After(ready, key(p), func() { k.report(state, corev1.PodRunning, state.plan.Ready >= 0) })
}

// report writes what the containers do, and plans what comes next.
func (k *kubelet) report(state *pod, phase corev1.PodPhase, ready bool) {
	var p corev1.Pod
	if state.stopping || !actor.Get(k, state.path, &p) {
		return
	}
	k.describe(&p, state, phase, ready)
	err := actor.Do(k, http.MethodPut, state.path+"/status", &p, nil)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		k.After(time.Second, key(&p), func() { k.report(state, phase, ready) })
	case phase == corev1.PodRunning && state.plan.Run > 0 && !state.waiting:
		k.After(state.plan.Run, key(&p), func() { k.end(&p, state) })
	}
	if err == nil && phase == corev1.PodRunning && ready && k.life != nil {
		k.life.running(&p)
	}
}

// end ends the containers; by its restart policy the pod is over, or starts again after a back-off.
func (k *kubelet) end(p *corev1.Pod, state *pod) {
	state.ended = &corev1.ContainerStateTerminated{ExitCode: state.plan.Exit, Reason: state.plan.Reason,
		StartedAt: state.at, FinishedAt: metav1.NewTime(k.Clock())}
	if state.ended.Reason == "" {
		state.ended.Reason = map[bool]string{true: "Completed", false: "Error"}[state.plan.Exit == 0]
	}
	again := p.Spec.RestartPolicy == corev1.RestartPolicyAlways ||
		p.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && state.plan.Exit != 0
	if !again {
		phase := corev1.PodSucceeded
		if state.plan.Exit != 0 {
			phase = corev1.PodFailed
		}
		k.report(state, phase, false)
		if p.Spec.ActiveDeadlineSeconds != nil {
			k.After(0, deadline(p), func() {}) // Settle does not wait for it
		}
		return
	}
	if k.Now()-state.began >= wellAfter {
		state.inARow = 0
	}
	var wait time.Duration // none after the first end: doBackOff in pkg/kubelet/kuberuntime/kuberuntime_manager.go
	if state.inARow > 0 {
		wait = min(firstRestart<<min(state.inARow-1, 10), lastRestart)
	}
	state.inARow++
	state.waiting = wait > 0
	k.report(state, corev1.PodRunning, false)
	k.After(wait, key(p), func() {
		state.waiting = false
		state.restarts++
		k.start(p, state)
	})
}
