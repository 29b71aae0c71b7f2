package kubelet_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/kubelet"
)

var path = actor.Path("", "v1", "default", "pods", "p")

// pod makes a pod and lets the plans of its starts be as they are given; the last goes for all that
// follow. Without plans they are those that the run chooses.
func pod(t *testing.T, policy corev1.RestartPolicy, plans ...kubelet.Plan) *actortest.Cluster {
	t.Helper()
	c := actortest.New(kubelet.New(kubelet.Plans(func(_ *corev1.Pod, restarts int, p kubelet.Plan) kubelet.Plan {
		if len(plans) > 0 {
			p = plans[min(restarts, len(plans)-1)]
		}
		return p
	}))...)
	create(t, c, corev1.PodSpec{RestartPolicy: policy})
	return c
}

func create(t *testing.T, c *actortest.Cluster, spec corev1.PodSpec) {
	t.Helper()
	if spec.Containers == nil {
		spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	}
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: spec}
	if code := c.Do(http.MethodPost, actor.Path("", "v1", "default", "pods", ""), p, nil); code != http.StatusCreated {
		t.Fatalf("the pod cannot be made: %d", code)
	}
}

func read(t *testing.T, c *actortest.Cluster) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	if code := c.Do(http.MethodGet, path, nil, p); code != http.StatusOK {
		t.Fatalf("the pod cannot be read: %d", code)
	}
	return p
}

// waits are the times between an end and the next start, as the restart count shows them.
func waits(t *testing.T, c *actortest.Cluster, n int) (out []time.Duration) {
	t.Helper()
	var ended time.Duration
	count := int32(0)
	for len(out) < n && c.Now() < 24*time.Hour {
		c.Run(time.Second)
		s := read(t, c).Status.ContainerStatuses
		switch {
		case len(s) == 0:
		case s[0].State.Waiting != nil && ended == 0:
			ended = c.Now()
		case s[0].RestartCount > count && ended == 0: // at once
			out, count = append(out, 0), s[0].RestartCount
		case s[0].RestartCount > count:
			out, count, ended = append(out, c.Now()-ended), s[0].RestartCount, 0
		}
	}
	return out
}

// TestRestartsBackOff asks for a restart at once, then after 10 s, doubling to 5 min, and at once
// again after the container has run for 10 minutes. The start itself takes nothing here.
func TestRestartsBackOff(t *testing.T) {
	short, long := kubelet.Plan{Run: 2 * time.Second, Exit: 1}, kubelet.Plan{Run: 11 * time.Minute, Exit: 1}
	got := waits(t, pod(t, corev1.RestartPolicyAlways, short, short, short, short, short, short, short, long, short), 9)
	for i, want := range []time.Duration{0, 10, 20, 40, 80, 160, 300, 0, 10} {
		if i >= len(got) || got[i] < max(0, want-1)*time.Second || got[i] > (want+1)*time.Second {
			t.Fatalf("the waits are %v; number %d should be %d s", got, i+1, want)
		}
	}
}

// Plans or faults decide how containers end, and the plan has the last word.
func TestRestartPolicies(t *testing.T) {
	fails, ends := kubelet.Plan{Run: time.Second, Exit: 3}, kubelet.Plan{Run: time.Second}
	for _, row := range []struct {
		policy   corev1.RestartPolicy
		plans    []kubelet.Plan
		codes    []int32 // of a fault, by start
		phase    corev1.PodPhase
		restarts int32
		ended    string // with which code, and why; "" if it runs
	}{
		{corev1.RestartPolicyNever, []kubelet.Plan{fails}, nil, corev1.PodFailed, 0, "3 Error"},
		{corev1.RestartPolicyNever, []kubelet.Plan{ends}, nil, corev1.PodSucceeded, 0, "0 Completed"},
		{corev1.RestartPolicyOnFailure, []kubelet.Plan{ends}, nil, corev1.PodSucceeded, 0, "0 Completed"},
		{corev1.RestartPolicyOnFailure, []kubelet.Plan{fails, fails, ends}, nil, corev1.PodSucceeded, 2, "0 Completed"},
		{corev1.RestartPolicyAlways, []kubelet.Plan{ends, {}}, nil, corev1.PodRunning, 1, ""},
		{corev1.RestartPolicyNever, nil, []int32{0}, corev1.PodSucceeded, 0, "0 Completed"},
		{corev1.RestartPolicyNever, nil, []int32{1}, corev1.PodFailed, 0, "1 Error"},
		{corev1.RestartPolicyNever, nil, []int32{137}, corev1.PodFailed, 0, "137 OOMKilled"},
		{corev1.RestartPolicyNever, []kubelet.Plan{ends}, []int32{137}, corev1.PodSucceeded, 0, "0 Completed"},
		{corev1.RestartPolicyOnFailure, nil, []int32{1, 0}, corev1.PodSucceeded, 1, "0 Completed"},
		{corev1.RestartPolicyAlways, nil, []int32{1, 0}, corev1.PodRunning, 1, ""},
	} {
		c := pod(t, row.policy, row.plans...)
		c.Exit = func(*corev1.Pod) (code int32) {
			if len(row.codes) > 0 {
				code, row.codes = row.codes[0], row.codes[1:]
			}
			return code
		}
		c.Run(5 * time.Minute)
		s, ended := read(t, c).Status, ""
		if of := s.ContainerStatuses[0].State.Terminated; of != nil {
			ended = fmt.Sprint(of.ExitCode, " ", of.Reason)
		}
		if s.Phase != row.phase || s.ContainerStatuses[0].RestartCount != row.restarts || ended != row.ended {
			t.Errorf("%+v: the pod is %s after %d restarts, its container ended with %q", row, s.Phase,
				s.ContainerStatuses[0].RestartCount, ended)
		}
	}
}

// TestGrace deletes a pod whose containers take an hour to stop.
func TestGrace(t *testing.T) {
	c := pod(t, corev1.RestartPolicyAlways, kubelet.Plan{Stop: time.Hour})
	c.Run(time.Minute)
	seconds := int64(20)
	c.Do(http.MethodDelete, path, metav1.DeleteOptions{GracePeriodSeconds: &seconds}, nil)
	c.Run(19 * time.Second)
	if read(t, c).DeletionTimestamp == nil {
		t.Error("the pod is not being deleted")
	}
	c.Run(2 * time.Second)
	if code := c.Do(http.MethodGet, path, nil, nil); code != http.StatusNotFound {
		t.Errorf("after its grace period the pod is still there: %d", code)
	}
}

func TestScheduling(t *testing.T) {
	c := actortest.New(kubelet.New(kubelet.Nodes("n1", "n2"))...)
	create(t, c, corev1.PodSpec{NodeSelector: map[string]string{"disk": "fast"}})
	c.Run(time.Minute)
	p := read(t, c)
	if p.Spec.NodeName != "" || len(p.Status.Conditions) != 1 ||
		p.Status.Conditions[0].Reason != corev1.PodReasonUnschedulable || p.Status.Phase != corev1.PodPending {
		t.Fatalf("a pod that no node may run: on %q, %+v", p.Spec.NodeName, p.Status)
	}
	node := map[string]any{"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": "n3", "labels": map[string]string{"disk": "fast"}}}
	c.Do(http.MethodPost, actor.Path("", "v1", "", "nodes", ""), node, nil)
	c.Run(time.Minute)
	if p := read(t, c); p.Spec.NodeName != "n3" || p.Status.Phase != corev1.PodRunning {
		t.Errorf("when there is a node for it, the pod is on %q and %s", p.Spec.NodeName, p.Status.Phase)
	}
}
