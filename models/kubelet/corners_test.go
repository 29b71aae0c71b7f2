package kubelet_test

// What the kubelet and the scheduler do in corners: each was found by comparison with upstream.

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/kubelet"
)

// patch changes something by a merge patch.
func patch(t *testing.T, c *actortest.Cluster, path string, change map[string]any) {
	t.Helper()
	if code := c.Do(http.MethodPatch, path, change, nil); code != http.StatusOK {
		t.Fatalf("%s cannot be changed: %d", path, code)
	}
}

// is returns a condition of a pod; an empty one if it has none.
func is(p *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	if i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind }); i >= 0 {
		return p.Status.Conditions[i]
	}
	return corev1.PodCondition{}
}

func node(name string) string { return actor.Path("", "v1", "", "nodes", name) }

// TestNodeBecomesFit has a pod wait for a node to be uncordoned, or labelled.
func TestNodeBecomesFit(t *testing.T) {
	for name, row := range map[string]struct {
		selector     map[string]string
		before, then map[string]any
	}{
		"uncordoned": {nil, map[string]any{"spec": map[string]any{"unschedulable": true}},
			map[string]any{"spec": map[string]any{"unschedulable": nil}}},
		"labelled": {map[string]string{"disk": "fast"}, map[string]any{},
			map[string]any{"metadata": map[string]any{"labels": map[string]string{"disk": "fast"}}}},
	} {
		c := actortest.New(kubelet.New()...)
		c.Run(time.Second)
		patch(t, c, node("node-1"), row.before)
		create(t, c, corev1.PodSpec{NodeSelector: row.selector})
		c.Run(time.Minute)
		if p := read(t, c); p.Spec.NodeName != "" {
			t.Errorf("%s: the pod is bound before", name)
		}
		patch(t, c, node("node-1"), row.then)
		c.Run(10 * time.Minute)
		if p := read(t, c); p.Spec.NodeName != "node-1" || p.Status.Phase != corev1.PodRunning {
			t.Errorf("%s: the pod is on %q and %s", name, p.Spec.NodeName, p.Status.Phase)
		}
	}
}

// TestReadyNodeHasNoTaint asks for what the node lifecycle controller does when a node has become
// ready.
func TestReadyNodeHasNoTaint(t *testing.T) {
	c := actortest.New(kubelet.New(kubelet.Nodes("n1", "n2"))...)
	mine := map[string]any{"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": "n2", "labels": map[string]string{"disk": "fast"}}}
	c.Do(http.MethodPost, node(""), mine, nil)
	c.Run(time.Second)
	for _, name := range []string{"n1", "n2"} {
		var n corev1.Node
		c.Do(http.MethodGet, node(name), nil, &n)
		if len(n.Spec.Taints) > 0 || len(n.Status.Conditions) == 0 {
			t.Errorf("%s has the taints %v and the conditions %v", name, n.Spec.Taints, n.Status.Conditions)
		}
	}
}

// TestHeldPodEnds deletes a pod that a finalizer holds: its containers end all the same.
func TestHeldPodEnds(t *testing.T) {
	c := pod(t, corev1.RestartPolicyAlways, kubelet.Plan{Stop: time.Second})
	c.Run(time.Minute)
	patch(t, c, path, map[string]any{"metadata": map[string]any{"finalizers": []string{"x.example/held"}}})
	c.Do(http.MethodDelete, path, nil, nil)
	c.Run(time.Minute)
	p := read(t, c)
	if s := p.Status.ContainerStatuses[0]; p.Status.Phase != corev1.PodFailed ||
		is(p, corev1.PodReady).Status != corev1.ConditionFalse || s.State.Terminated == nil {
		t.Errorf("a minute after it was deleted: %s, ready: %s, %+v", p.Status.Phase, is(p, corev1.PodReady).Status,
			s.State)
	}
}

// closed refuses the kubelet's deletions until a time; it is a webhook that cannot be reached.
type closed struct {
	c     *actortest.Cluster
	until time.Duration
}

func (*closed) Active() bool                    { return true }
func (*closed) Mutate(*apiserver.Attempt) error { return nil }
func (c *closed) Validate(a *apiserver.Attempt) error {
	if a.Operation == "DELETE" && c.c.Now() > time.Minute && c.c.Now() < c.until {
		return errors.New("webhook cannot be reached")
	}
	return nil
}

// TestDeletionIsTriedAgain has the kubelet's last deletion of a pod fail for a while.
func TestDeletionIsTriedAgain(t *testing.T) {
	c := pod(t, corev1.RestartPolicyAlways, kubelet.Plan{Stop: 10 * time.Second})
	c.Server.SetAdmission(&closed{c, 2 * time.Minute})
	c.Run(time.Minute)
	c.Do(http.MethodDelete, path, nil, nil)
	c.Run(10 * time.Minute)
	if code := c.Do(http.MethodGet, path, nil, nil); code != http.StatusNotFound {
		t.Errorf("long after the webhook has come back the pod is still there: %d", code)
	}
}

// TestLastState looks for how a container ended before it was started again, as one looks for
// OOMKilled.
func TestLastState(t *testing.T) {
	killed := kubelet.Plan{Run: time.Minute, Exit: 137, Reason: "OOMKilled"}
	for restarts, plans := range map[int32][]kubelet.Plan{1: {killed, {}}, 3: {killed, killed, killed, {}}} {
		c := pod(t, corev1.RestartPolicyAlways, plans...)
		c.Run(time.Hour)
		s := read(t, c).Status.ContainerStatuses[0]
		if last := s.LastTerminationState.Terminated; s.RestartCount != restarts || s.State.Running == nil ||
			last == nil || last.Reason != "OOMKilled" || last.ExitCode != 137 ||
			last.FinishedAt.Sub(last.StartedAt.Time) != time.Minute {
			t.Errorf("after %d restarts (of %d): %+v, before: %+v", s.RestartCount, restarts, s.State.Running, last)
		}
	}
}

// TestConditionsSayWhy reads the reasons that status/generate.go gives.
func TestConditionsSayWhy(t *testing.T) {
	for reason, plan := range map[string]kubelet.Plan{
		"PodFailed": {Run: time.Second, Exit: 1}, "PodCompleted": {Run: time.Second}, "ContainersNotReady": {Ready: -1},
	} {
		c := pod(t, corev1.RestartPolicyNever, plan)
		c.Run(time.Minute)
		for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
			if got := is(read(t, c), kind); got.Reason != reason ||
				(reason == "ContainersNotReady") != strings.Contains(got.Message, "unready status: [c]") {
				t.Errorf("%s of a pod with %+v: %q (%s), not %q", kind, plan, got.Reason, got.Message, reason)
			}
		}
	}
}

// A pod with a readiness gate is ready only after a client has set that condition.
func TestReadinessGates(t *testing.T) {
	c := actortest.New(kubelet.New()...)
	create(t, c, corev1.PodSpec{ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "x.example/ready"}}})
	c.Run(time.Minute)
	p := read(t, c)
	if got := is(p, corev1.PodReady); got.Status != corev1.ConditionFalse || got.Reason != "ReadinessGatesNotReady" ||
		is(p, corev1.ContainersReady).Status != corev1.ConditionTrue {
		t.Errorf("before: %+v", p.Status.Conditions)
	}
	for _, says := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse} {
		p := read(t, c)
		p.Status.Conditions = append(slices.DeleteFunc(p.Status.Conditions,
			func(cond corev1.PodCondition) bool { return cond.Type == "x.example/ready" }),
			corev1.PodCondition{Type: "x.example/ready", Status: says})
		c.Do(http.MethodPut, path+"/status", p, nil)
		c.Run(time.Minute)
		if got := is(read(t, c), corev1.PodReady); got.Status != says {
			t.Errorf("after %s: %+v", says, got)
		}
	}
}

// TestDeadline gives a pod half a minute.
func TestDeadline(t *testing.T) {
	for name, want := range map[string]corev1.PodPhase{"runs": corev1.PodFailed, "ends": corev1.PodSucceeded} {
		plan := kubelet.Plan{Ready: time.Second}
		if name == "ends" {
			plan.Run = time.Second
		}
		c := actortest.New(kubelet.New(
			kubelet.Plans(func(*corev1.Pod, int, kubelet.Plan) kubelet.Plan { return plan }))...)
		create(t, c, corev1.PodSpec{ActiveDeadlineSeconds: new(int64(30)), RestartPolicy: corev1.RestartPolicyNever})
		c.Run(29 * time.Second)
		early := read(t, c).Status
		c.Run(time.Minute)
		late := read(t, c).Status
		if late.Phase != want || early.Phase == corev1.PodFailed ||
			(want == corev1.PodFailed) != (late.Reason == "DeadlineExceeded") {
			t.Errorf("a pod that %s is %s after 29 s, then %s (%s: %s)", name, early.Phase, late.Phase, late.Reason,
				late.Message)
		}
	}
}

// TestStatusOfWhat asks that the status says of which spec it is, and what became of init
// containers.
func TestStatusOfWhat(t *testing.T) {
	c := actortest.New(kubelet.New()...)
	create(t, c, corev1.PodSpec{InitContainers: []corev1.Container{{Name: "first", Image: "i"}}})
	c.Run(time.Minute)
	p := read(t, c)
	if s := p.Status; s.ObservedGeneration != p.Generation || len(s.InitContainerStatuses) != 1 ||
		!s.InitContainerStatuses[0].Ready || s.InitContainerStatuses[0].State.Terminated == nil {
		t.Errorf("generation %d, seen %d; init containers: %+v", p.Generation, s.ObservedGeneration,
			s.InitContainerStatuses)
	}
}
