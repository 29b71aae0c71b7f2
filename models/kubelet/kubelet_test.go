package kubelet_test

import (
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
// follow.
func pod(t *testing.T, policy corev1.RestartPolicy, plans ...kubelet.Plan) *actortest.Cluster {
	t.Helper()
	c := actortest.New(kubelet.New(kubelet.Plans(func(_ *corev1.Pod, restarts int, _ kubelet.Plan) kubelet.Plan {
		return plans[min(restarts, len(plans)-1)]
	}))...)
	create(t, c, corev1.PodSpec{RestartPolicy: policy})
	return c
}

func create(t *testing.T, c *actortest.Cluster, spec corev1.PodSpec) {
	t.Helper()
	spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
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

func TestRestartPolicies(t *testing.T) {
	fails, ends := kubelet.Plan{Run: time.Second, Exit: 3}, kubelet.Plan{Run: time.Second}
	for _, row := range []struct {
		policy   corev1.RestartPolicy
		plans    []kubelet.Plan
		phase    corev1.PodPhase
		restarts int32
	}{
		{corev1.RestartPolicyNever, []kubelet.Plan{fails}, corev1.PodFailed, 0},
		{corev1.RestartPolicyNever, []kubelet.Plan{ends}, corev1.PodSucceeded, 0},
		{corev1.RestartPolicyOnFailure, []kubelet.Plan{ends}, corev1.PodSucceeded, 0},
		{corev1.RestartPolicyOnFailure, []kubelet.Plan{fails, fails, ends}, corev1.PodSucceeded, 2},
		{corev1.RestartPolicyAlways, []kubelet.Plan{ends, {}}, corev1.PodRunning, 1},
	} {
		c := pod(t, row.policy, row.plans...)
		c.Run(5 * time.Minute)
		s := read(t, c).Status
		if s.Phase != row.phase || s.ContainerStatuses[0].RestartCount != row.restarts {
			t.Errorf("%s: the pod is %s after %d restarts, not %s after %d", row.policy, s.Phase,
				s.ContainerStatuses[0].RestartCount, row.phase, row.restarts)
		}
		if ended := s.ContainerStatuses[0].State.Terminated; row.phase == corev1.PodFailed &&
			(ended == nil || ended.ExitCode != 3 || ended.Reason != "Error") {
			t.Errorf("%s: the container ended with %+v", row.policy, ended)
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

// A fault decides how the containers of a Pod end, unless its plan does.
func TestAFaultFailsPods(t *testing.T) {
	succeeds := kubelet.Plans(func(_ *corev1.Pod, _ int, p kubelet.Plan) kubelet.Plan {
		p.Exit, p.Reason = 0, ""
		return p
	})
	for _, row := range []struct {
		policy   corev1.RestartPolicy
		codes    []int32 // of the starts
		opts     []kubelet.Option
		phase    corev1.PodPhase
		restarts int32
		reason   string
	}{
		{corev1.RestartPolicyNever, []int32{0}, nil, corev1.PodSucceeded, 0, "Completed"},
		{corev1.RestartPolicyNever, []int32{1}, nil, corev1.PodFailed, 0, "Error"},
		{corev1.RestartPolicyNever, []int32{137}, nil, corev1.PodFailed, 0, "OOMKilled"},
		{corev1.RestartPolicyNever, []int32{137}, []kubelet.Option{succeeds}, corev1.PodSucceeded, 0, "Completed"},
		{corev1.RestartPolicyOnFailure, []int32{1, 0}, nil, corev1.PodSucceeded, 1, "Completed"},
		{corev1.RestartPolicyAlways, []int32{1, 0}, nil, corev1.PodRunning, 1, ""},
	} {
		c := actortest.New(kubelet.New(row.opts...)...)
		starts := 0
		c.Exit = func(*corev1.Pod) int32 { starts++; return row.codes[min(starts, len(row.codes))-1] }
		create(t, c, corev1.PodSpec{RestartPolicy: row.policy})
		c.Run(5 * time.Minute)
		s, reason := read(t, c).Status, ""
		if ended := s.ContainerStatuses[0].State.Terminated; ended != nil {
			reason = ended.Reason
		}
		if s.Phase != row.phase || s.ContainerStatuses[0].RestartCount != row.restarts || reason != row.reason {
			t.Errorf("%s, %v: the pod is %s after %d restarts because of %q, not %s after %d because of %q", row.policy,
				row.codes, s.Phase, s.ContainerStatuses[0].RestartCount, reason, row.phase, row.restarts, row.reason)
		}
	}
}
