package workload_test

// What the controllers do in corners: each was found by comparison with upstream.

import (
	"net/http"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/kubelet"
)

// made are the times at which pods were made.
func made(t *testing.T, c *actortest.Cluster) (out []time.Time) {
	seen := map[string]bool{}
	for _, ch := range c.Changes {
		if ch.Kind == "Pod" && ch.Type == "ADDED" && !seen[ch.UID] {
			var p corev1.Pod
			if !actor.Decode(ch.Object, &p) {
				t.Fatal("a pod that cannot be decoded")
			}
			seen[ch.UID] = true
			out = append(out, p.CreationTimestamp.Time)
		}
	}
	return out
}

// TestJobBacksOff asks that a Job waits 10 s after a failure, be it a pod that was deleted and has
// gone, or the first one after a success.
func TestJobBacksOff(t *testing.T) {
	c := cluster(kubelet.Plans(
		func(*corev1.Pod, int, kubelet.Plan) kubelet.Plan { return kubelet.Plan{Stop: time.Second} }))
	do(t, c, http.MethodPost, path("batch", "jobs", ""), job(1, 5), nil)
	c.Run(100 * time.Second)
	do(t, c, http.MethodDelete, path("", "pods", pods(t, c)[0].Name), nil, nil)
	c.Run(100 * time.Second)
	if at := made(t, c); len(at) != 2 || at[1].Sub(at[0]) < 110*time.Second || at[1].Sub(at[0]) > 111*time.Second {
		t.Errorf("the pod is deleted after 100 s; pods were made at %v", at)
	}

	n := 0
	c = cluster(kubelet.Plans(func(*corev1.Pod, int, kubelet.Plan) kubelet.Plan {
		n++
		return kubelet.Plan{Run: 2 * time.Second, Exit: int32(n % 2)} // every other one fails
	}))
	j := job(3, 5)
	j.Spec.Parallelism = new(int32(1))
	do(t, c, http.MethodPost, path("batch", "jobs", ""), j, nil)
	c.Run(5 * time.Minute)
	at := made(t, c)
	for i := 1; i < len(at); i++ {
		if want := time.Duration(2+10*(i%2)) * time.Second; at[i].Sub(at[i-1]) != want {
			t.Errorf("between pods %d and %d are %v, not %v", i-1, i, at[i].Sub(at[i-1]), want)
		}
	}
}

// TestRecreatedJobLetsOldPodsGo deletes a Job and makes it again at once, so that its pods outlive
// it. A pod that had been left behind without an owner goes, too.
func TestRecreatedJobLetsOldPodsGo(t *testing.T) {
	c := cluster(kubelet.Plans(
		func(*corev1.Pod, int, kubelet.Plan) kubelet.Plan { return kubelet.Plan{Run: time.Hour} }))
	do(t, c, http.MethodPost, path("batch", "jobs", ""), job(1, 2), nil)
	c.Run(10 * time.Second)
	first := pods(t, c)
	background := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
	do(t, c, http.MethodDelete, path("batch", "jobs", "work"), background, nil)
	do(t, c, http.MethodPost, path("batch", "jobs", ""), job(1, 2), nil)
	c.Run(5 * time.Minute)
	second := pods(t, c)
	if len(first) != 1 || len(second) != 1 || second[0].UID == first[0].UID {
		t.Fatalf("the second Job has the pods %v, and the first had %v; expected one each", second, first)
	}
	left := &corev1.Pod{TypeMeta: first[0].TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: "left", Labels: first[0].Labels, Finalizers: first[0].Finalizers}, Spec: template("work:1").Spec}
	left.APIVersion, left.Kind = "v1", "Pod"
	do(t, c, http.MethodPost, path("", "pods", ""), left, nil)
	c.Run(time.Minute)
	if p := read[corev1.Pod](t, c, path("", "pods", "left")); len(p.Finalizers) > 0 || len(left.Finalizers) == 0 {
		t.Errorf("a pod of no Job keeps %v of %v", p.Finalizers, left.Finalizers)
	}
}

// TestManagedJobExpires sets a time to live on a Job that another controller manages.
func TestManagedJobExpires(t *testing.T) {
	c := cluster()
	j := job(1, 1)
	j.Spec.ManagedBy, j.Spec.TTLSecondsAfterFinished = new("x.example/queue"), new(int32(60))
	do(t, c, http.MethodPost, path("batch", "jobs", ""), j, nil)
	j = read[batchv1.Job](t, c, path("batch", "jobs", "work"))
	at := j.CreationTimestamp
	j.Status.StartTime, j.Status.CompletionTime = &at, &at
	j.Status.Conditions = []batchv1.JobCondition{
		{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue, LastTransitionTime: at},
		{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: at},
	}
	do(t, c, http.MethodPut, path("batch", "jobs", "work")+"/status", j, nil)
	c.Run(2 * time.Minute)
	if code := c.Do(http.MethodGet, path("batch", "jobs", "work"), nil, nil); code != http.StatusNotFound {
		t.Errorf("long after its time the Job is still there: %d", code)
	}
}

// TestEndpoints looks at the slices of a headless Service that names a port that some of its pods
// do not have.
func TestEndpoints(t *testing.T) {
	c := cluster()
	s := &corev1.Service{Spec: corev1.ServiceSpec{Selector: labelled, ClusterIP: "None",
		Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}}}}
	s.TypeMeta, s.ObjectMeta = meta("Service", "web")
	s.Labels = map[string]string{"monitored": "yes"}
	do(t, c, http.MethodPost, path("", "services", ""), s, nil)
	for name, port := range map[string]int32{"a": 0, "b": 8080, "c": 9090} {
		p := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labelled},
			Spec:       template("web:1").Spec}
		p.Spec.Hostname, p.Spec.Subdomain = name, "web"
		if port > 0 {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: port}}
		}
		do(t, c, http.MethodPost, path("", "pods", ""), p, nil)
	}
	c.Run(5 * time.Minute)
	do(t, c, http.MethodPatch, path("", "services", "web"),
		map[string]any{"metadata": map[string]any{"labels": map[string]any{"team": "shop"}}}, nil)
	c.Run(time.Minute)
	told := map[string]int32{}
	for _, e := range read[discoveryv1.EndpointSliceList](t, c, path("discovery.k8s.io", "endpointslices", "")).Items {
		_, headless := e.Labels[corev1.IsHeadlessService]
		if e.Labels["monitored"] != "yes" || e.Labels["team"] != "shop" || !headless || len(e.Endpoints) != 1 ||
			len(e.Ports) > 1 {
			t.Errorf("a slice of %v with ports %v and %d endpoints", e.Labels, e.Ports, len(e.Endpoints))
			continue
		}
		port := int32(0)
		if len(e.Ports) == 1 {
			port = *e.Ports[0].Port
		}
		if host := e.Endpoints[0].Hostname; host != nil {
			told[*host] = port
		}
	}
	if len(told) != 3 || told["a"] != 0 || told["b"] != 8080 || told["c"] != 9090 {
		t.Errorf("the slices tell %v", told)
	}
	name := read[discoveryv1.EndpointSliceList](t, c, path("discovery.k8s.io", "endpointslices", "")).Items[0].Name
	do(t, c, http.MethodDelete, path("discovery.k8s.io", "endpointslices", name), nil, nil)
	c.Run(time.Minute)
	if n := len(read[discoveryv1.EndpointSliceList](t, c,
		path("discovery.k8s.io", "endpointslices", "")).Items); n != 3 {
		t.Errorf("after one was deleted there are %d slices", n)
	}
}
