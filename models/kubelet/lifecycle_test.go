package kubelet_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/kubelet"
)

// losing is a cluster whose node is lost for d when the first pod has become ready.
func losing(t *testing.T, d time.Duration) *actortest.Cluster {
	t.Helper()
	c := actortest.New(kubelet.New(kubelet.Lifecycle(nil))...)
	c.Down = func(string) time.Duration {
		once := d
		d = 0
		return once
	}
	c.Run(time.Second)
	create(t, c, corev1.PodSpec{})
	c.Run(10 * time.Second)
	return c
}

// state tells the status of the node's condition Ready and its taints, and of the pod whether it is
// ready and whether it is being deleted.
func state(t *testing.T, c *actortest.Cluster) string {
	t.Helper()
	var n corev1.Node
	c.Do(http.MethodGet, node("node-1"), nil, &n)
	out := string(n.Status.Conditions[0].Status)
	for _, taint := range n.Spec.Taints {
		out += " " + taint.ToString()
	}
	if code := c.Do(http.MethodGet, path, nil, nil); code != http.StatusOK {
		return out + ", no pod"
	}
	p := read(t, c)
	out += ", ready " + string(is(p, corev1.PodReady).Status)
	if p.DeletionTimestamp != nil {
		out += ", going"
	}
	return out
}

func TestALostNode(t *testing.T) {
	const lost = "Unknown node.kubernetes.io/unreachable:NoSchedule node.kubernetes.io/unreachable:NoExecute"
	for _, row := range []struct {
		down time.Duration
		want []string // after 10 s, 70 s, seven minutes and twenty minutes
	}{
		{30 * time.Second, []string{"True, ready True", "True, ready True", "True, ready True", "True, ready True"}},
		{3 * time.Minute, []string{"True, ready True", lost + ", ready False", "True, ready True", "True, ready True"}},
		{15 * time.Minute, []string{"True, ready True", lost + ", ready False", lost + ", ready False, going",
			"True, no pod"}},
	} {
		c := losing(t, row.down)
		var got []string
		for _, wait := range []time.Duration{0, time.Minute, 6 * time.Minute, 13 * time.Minute} {
			c.Run(wait)
			got = append(got, state(t, c))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("lost for %v:\n%q, want\n%q", row.down, got, row.want)
		}
	}
}

// A pod that is deleted while its node is lost stays until the node is back, or goes by force.
func TestAPodOfALostNodeStays(t *testing.T) {
	for _, force := range []bool{false, true} {
		c := losing(t, 10*time.Minute)
		c.Do(http.MethodDelete, path, nil, nil)
		c.Run(5 * time.Minute)
		if code := c.Do(http.MethodGet, path, nil, nil); code != http.StatusOK {
			t.Fatalf("the pod is gone: %d", code)
		}
		if force {
			c.Do(http.MethodDelete, path, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}, nil)
		} else {
			c.Run(6 * time.Minute)
		}
		if code := c.Do(http.MethodGet, path, nil, nil); code != http.StatusNotFound {
			t.Errorf("by force %v: the pod is still there: %d", force, code)
		}
	}
}

func TestTaintsAndRequestsKeepPodsOff(t *testing.T) {
	cpu := func(q string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(q)}
	}
	spec := func(q string) corev1.PodSpec {
		return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i",
			Resources: corev1.ResourceRequirements{Requests: cpu(q)}}}}
	}
	taint := func(effect corev1.TaintEffect) map[string]any {
		return map[string]any{"spec": map[string]any{"taints": []corev1.Taint{{Key: "x.example/y", Effect: effect}}}}
	}
	clean := map[string]any{"spec": map[string]any{"taints": nil}}
	c := actortest.New(kubelet.New(kubelet.Lifecycle(cpu("1")))...)
	c.Run(time.Second)
	create(t, c, spec("1100m"))
	c.Run(time.Minute)
	if s := is(read(t, c), corev1.PodScheduled); s.Reason != corev1.PodReasonUnschedulable {
		t.Errorf("too large: %+v", s)
	}
	c.Do(http.MethodDelete, path, nil, nil)
	patch(t, c, node("node-1"), taint(corev1.TaintEffectNoSchedule))
	create(t, c, spec("600m"))
	c.Run(time.Minute)
	if p := read(t, c); p.Spec.NodeName != "" {
		t.Error("the pod is on a node with a taint")
	}
	patch(t, c, node("node-1"), clean)
	c.Run(time.Minute)
	if p := read(t, c); p.Status.Phase != corev1.PodRunning {
		t.Errorf("without the taint the pod is %s", p.Status.Phase)
	}
	second := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: spec("600m")}
	c.Do(http.MethodPost, "/api/v1/namespaces/default/pods", second, nil)
	c.Run(time.Minute)
	if c.Do(http.MethodGet, "/api/v1/namespaces/default/pods/q", nil, second); second.Spec.NodeName != "" {
		t.Error("two pods of 600m are on a node of 1")
	}
	patch(t, c, node("node-1"), taint(corev1.TaintEffectNoExecute))
	c.Run(time.Minute)
	if code := c.Do(http.MethodGet, path, nil, nil); code != http.StatusNotFound {
		t.Errorf("the pod is not evicted: %d", code)
	}
	patch(t, c, node("node-1"), clean)
	c.Run(time.Minute)
	if c.Do(http.MethodGet, "/api/v1/namespaces/default/pods/q", nil, second); second.Spec.NodeName == "" {
		t.Error("the second pod does not get the room of the first")
	}
}
