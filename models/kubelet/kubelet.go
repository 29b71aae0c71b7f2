// Package kubelet is a model of what runs pods: a scheduler that binds them to nodes, and one kubelet for all nodes that
// reports what containers do. Nothing runs; a pod does what its [Plan] says, at times that the run chooses.
//
// What an operator sees follows the documentation of the pod lifecycle
// (https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/): phases, the conditions PodScheduled, Initialized,
// ContainersReady and Ready, container states with restart counts, restarts at once, then after 10 s, 20 s, … 300 s, which
// begins anew once a container has run for 10 minutes, and graceful termination within the pod's grace period.
//
// # What is different
//
// All containers of a pod share its fate; init containers take no time of their own. A pod is ready as soon as it is Running,
// unless its plan says that it never is. Probes, resources, taints and
// affinity are not looked at. A node never fails.
package kubelet

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// Plan is what becomes of a pod once it is bound.
type Plan struct {
	// Ready is how long after it was bound, or restarted, its containers are ready. Negative: never.
	Ready time.Duration
	// Run is how long after that they end; 0 for never.
	Run time.Duration
	// Exit is the code with which they end. Reason is the state's reason; empty for Completed or Error.
	Exit   int32
	Reason string
	// Stop is how long they take to end when the pod is deleted; no longer than the grace period.
	Stop time.Duration
}

// Option changes how pods fare.
type Option func(*kubelet)

// Nodes sets the names of the nodes; there is one, "node-1", otherwise.
func Nodes(names ...string) Option { return func(k *kubelet) { k.nodes = names } }

// Plans decides what becomes of pods. It is asked for each start of each pod (restarts is how many there have been), and
// gets what would happen otherwise: pods become ready after a time between 1 s and 2 min that the run chooses; those that
// restart always run for ever, the others run for as long again and exit with 0; they stop within a second.
func Plans(plan func(pod *corev1.Pod, restarts int, otherwise Plan) Plan) Option {
	return func(k *kubelet) { k.plan = plan }
}

// New returns the scheduler ("scheduler") and the kubelet ("kubelet").
func New(opts ...Option) []actor.Actor {
	k := &kubelet{nodes: []string{"node-1"}, plan: func(_ *corev1.Pod, _ int, p Plan) Plan { return p }, pods: map[string]*pod{}}
	for _, o := range opts {
		o(k)
	}
	return []actor.Actor{&scheduler{}, k}
}

// The times between restarts (pkg/kubelet/kubelet.go, MaxContainerBackOff and backOffPeriod).
const firstRestart, lastRestart, wellAfter = 10 * time.Second, 300 * time.Second, 10 * time.Minute

// starts are the times that containers take to become ready; the first is the dull one.
var starts = []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second, 2 * time.Minute}

type kubelet struct {
	actor.Cluster
	nodes     []string
	plan      func(*corev1.Pod, int, Plan) Plan
	pods      map[string]*pod // by UID, those that are being looked after
	addresses int
}

// pod is what the kubelet knows of a pod.
type pod struct {
	path     string
	plan     Plan
	restarts int
	inARow   int           // failures without a long run between them
	began    time.Duration // when the containers were last started
	waiting  bool          // between two starts
	stopping bool
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

func (k *kubelet) register(name string) {
	now := metav1.NewTime(k.Clock())
	node := &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}},
	}
	if err := actor.Do(k, http.MethodPost, "/api/v1/nodes", node, node); err != nil {
		return // it is there already
	}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: now, LastTransitionTime: now,
		Reason: "KubeletReady", Message: "kubelet is posting ready status"}}
	_ = actor.Do(k, http.MethodPut, "/api/v1/nodes/"+name+"/status", node, nil)
}

// Observe implements [actor.Actor].
func (k *kubelet) Observe(ch apiserver.Change) {
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
		known = &pod{path: actor.Path("", "v1", p.Namespace, "pods", p.Name)}
		k.pods[string(p.UID)] = known
		k.start(p, known)
	case p.DeletionTimestamp != nil && (known == nil || !known.stopping):
		if known == nil {
			known = &pod{path: actor.Path("", "v1", p.Namespace, "pods", p.Name)}
			k.pods[string(p.UID)] = known
		}
		known.stopping = true
		wait := known.plan.Stop
		if grace := p.DeletionGracePeriodSeconds; grace != nil {
			wait = min(wait, time.Duration(*grace)*time.Second)
		}
		uid := p.UID
		k.After(wait, key(p), func() {
			zero := int64(0)
			_ = actor.Do(k, http.MethodDelete, known.path, metav1.DeleteOptions{GracePeriodSeconds: &zero, Preconditions: &metav1.Preconditions{UID: &uid}}, nil)
		})
	}
}

// key names the step of a pod.
func key(p *corev1.Pod) string { return "run of Pod " + p.Namespace + "/" + p.Name }

// start begins the containers and says when they will be ready.
func (k *kubelet) start(p *corev1.Pod, state *pod) {
	class := p.Namespace + "/" + strings.TrimSuffix(p.GenerateName+p.Name, p.Name)
	if p.GenerateName == "" {
		class = p.Namespace + "/" + p.Name
	}
	otherwise := Plan{Ready: starts[k.Choose("start of "+class, len(starts))], Stop: time.Second}
	if p.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		otherwise.Run = otherwise.Ready
	}
	state.plan, state.began = k.plan(p, state.restarts, otherwise), k.Now()
	ready := max(state.plan.Ready, 0)
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
}

// end ends the containers; by its restart policy the pod is over, or starts again after a back-off.
func (k *kubelet) end(p *corev1.Pod, state *pod) {
	again := p.Spec.RestartPolicy == corev1.RestartPolicyAlways || p.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && state.plan.Exit != 0
	if !again {
		phase := corev1.PodSucceeded
		if state.plan.Exit != 0 {
			phase = corev1.PodFailed
		}
		k.report(state, phase, false)
		return
	}
	if k.Now()-state.began >= wellAfter {
		state.inARow = 0
	}
	wait := time.Duration(0) // at once after the first end, as doBackOff has it (pkg/kubelet/kuberuntime/kuberuntime_manager.go)
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

// describe fills in the status.
func (k *kubelet) describe(p *corev1.Pod, state *pod, phase corev1.PodPhase, ready bool) {
	now := metav1.NewTime(k.Clock())
	s := &p.Status
	s.Phase, s.HostIP = phase, "192.0.2.1"
	if s.PodIP == "" {
		k.addresses++
		s.PodIP = fmt.Sprintf("10.244.%d.%d", k.addresses/250, k.addresses%250+2)
	}
	if s.StartTime == nil {
		s.StartTime = &now
	}
	over := phase == corev1.PodSucceeded || phase == corev1.PodFailed
	reason := map[bool]string{true: "PodCompleted", false: ""}[phase == corev1.PodSucceeded]
	k.condition(p, corev1.PodInitialized, true, reason)
	if !ready && reason == "" {
		reason = "ContainersNotReady"
	}
	k.condition(p, corev1.ContainersReady, ready, reason)
	k.condition(p, corev1.PodReady, ready, reason)
	s.ContainerStatuses = nil
	for _, c := range p.Spec.Containers {
		cs := corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: ready, RestartCount: int32(state.restarts), Started: &ready}
		ended := &corev1.ContainerStateTerminated{ExitCode: state.plan.Exit, Reason: state.plan.Reason, FinishedAt: now}
		if ended.Reason == "" {
			ended.Reason = map[bool]string{true: "Completed", false: "Error"}[state.plan.Exit == 0]
		}
		switch {
		case over:
			cs.State.Terminated = ended
		case state.waiting:
			cs.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off restarting failed container " + c.Name}
			cs.LastTerminationState.Terminated = ended
		default:
			cs.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
		}
		s.ContainerStatuses = append(s.ContainerStatuses, cs)
	}
}

func (k *kubelet) condition(p *corev1.Pod, kind corev1.PodConditionType, is bool, reason string) {
	set := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, LastTransitionTime: metav1.NewTime(k.Clock())}
	if is {
		set.Status = corev1.ConditionTrue
	}
	for i, c := range p.Status.Conditions {
		if c.Type == kind {
			if c.Status == set.Status {
				set.LastTransitionTime = c.LastTransitionTime
			}
			p.Status.Conditions[i] = set
			return
		}
	}
	p.Status.Conditions = append(p.Status.Conditions, set)
}
