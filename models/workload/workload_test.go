package workload_test

import (
	"fmt"
	"net/http"
	"sort"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/garbage"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
)

// cluster has workloads, garbage collection and a kubelet.
func cluster(opts ...kubelet.Option) *actortest.Cluster {
	actors := append(workload.New(), garbage.New())
	return actortest.New(append(actors, kubelet.New(opts...)...)...)
}

func path(group, resource, name string) string {
	return actor.Path(group, "v1", "default", resource, name)
}

// do performs a request that must succeed.
func do(t *testing.T, c *actortest.Cluster, method, path string, in, out any) {
	t.Helper()
	if code := c.Do(method, path, in, out); code >= 300 {
		t.Fatalf("%s %s: %d", method, path, code)
	}
}

func read[T any](t *testing.T, c *actortest.Cluster, path string) *T {
	t.Helper()
	o := new(T)
	do(t, c, http.MethodGet, path, nil, o)
	return o
}

func pods(t *testing.T, c *actortest.Cluster) []corev1.Pod {
	t.Helper()
	return read[corev1.PodList](t, c, path("", "pods", "")).Items
}

// running are the names of the pods that are ready, ordered.
func running(t *testing.T, c *actortest.Cluster) (names []string) {
	for _, p := range pods(t, c) {
		for _, cond := range p.Status.Conditions {
			if cond.Type == corev1.PodReady && cond.Status == corev1.ConditionTrue {
				names = append(names, p.Name)
			}
		}
	}
	sort.Strings(names)
	return names
}

var labelled = map[string]string{"app": "web"}

func template(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labelled},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}},
	}
}

func meta(kind string, name string) (metav1.TypeMeta, metav1.ObjectMeta) {
	group := map[string]string{"Job": "batch/v1", "Service": "v1"}[kind]
	if group == "" {
		group = "apps/v1"
	}
	return metav1.TypeMeta{APIVersion: group, Kind: kind}, metav1.ObjectMeta{Namespace: "default", Name: name}
}

func deployment(replicas int32, image string) *appsv1.Deployment {
	d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &replicas,
		Selector: &metav1.LabelSelector{MatchLabels: labelled}, Template: template(image)}}
	d.TypeMeta, d.ObjectMeta = meta("Deployment", "web")
	return d
}

func TestDeploymentRollsOut(t *testing.T) {
	c := cluster()
	do(t, c, http.MethodPost, path("apps", "deployments", ""), deployment(4, "web:1"), nil)
	c.Run(time.Minute)
	d := read[appsv1.Deployment](t, c, path("apps", "deployments", "web"))
	if d.Status.AvailableReplicas != 4 || d.Status.ObservedGeneration != d.Generation ||
		progressing(d) != "NewReplicaSetAvailable" {
		t.Fatalf("after a minute: %+v", d.Status)
	}
	// Now another image: never fewer than 3 are available (25 % of 4), and never more than 5 exist.
	least, most := 4, 0
	watchPods(c, func(total, ready int) { least, most = min(least, ready), max(most, total) })
	do(t, c, http.MethodPatch, path("apps", "deployments", "web"),
		map[string]any{"spec": map[string]any{"template": map[string]any{
			"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "web:2"}}}}}}, nil)
	c.Run(5 * time.Minute)
	d = read[appsv1.Deployment](t, c, path("apps", "deployments", "web"))
	if d.Status.UpdatedReplicas != 4 || d.Status.AvailableReplicas != 4 || d.Status.Replicas != 4 ||
		d.Annotations["deployment.kubernetes.io/revision"] != "2" {
		t.Errorf("after the rollout: %+v, revision %s", d.Status, d.Annotations["deployment.kubernetes.io/revision"])
	}
	if least < 3 || most > 5 {
		t.Errorf("during the rollout between %d ready and %d pods; want at least 3 and at most 5", least, most)
	}
	for _, p := range pods(t, c) {
		if p.Spec.Containers[0].Image != "web:2" {
			t.Errorf("%s still runs %s", p.Name, p.Spec.Containers[0].Image)
		}
	}
	do(t, c, http.MethodDelete, path("apps", "deployments", "web"), nil, nil)
	c.Run(5 * time.Minute)
	if left := pods(t, c); len(left) != 0 {
		t.Errorf("%d pods outlive their Deployment", len(left))
	}
}

// watchPods looks at the pods after each change; it replays what the cluster has recorded when it
// is asked.
func watchPods(c *actortest.Cluster, look func(total, ready int)) {
	c.Watch = func() {
		var list corev1.PodList
		c.Do(http.MethodGet, path("", "pods", ""), nil, &list)
		ready, total := 0, 0
		for _, p := range list.Items {
			if p.DeletionTimestamp != nil {
				continue
			}
			total++
			for _, cond := range p.Status.Conditions {
				if cond.Type == corev1.PodReady && cond.Status == corev1.ConditionTrue {
					ready++
				}
			}
		}
		look(total, ready)
	}
}

func progressing(d *appsv1.Deployment) string {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing {
			return c.Reason
		}
	}
	return ""
}

func TestDeploymentThatNeverComesUp(t *testing.T) {
	c := cluster(kubelet.Plans(func(_ *corev1.Pod, _ int, p kubelet.Plan) kubelet.Plan {
		p.Ready = -1
		return p
	}))
	do(t, c, http.MethodPost, path("apps", "deployments", ""), deployment(2, "web:1"), nil)
	c.Run(9 * time.Minute)
	if d := read[appsv1.Deployment](t, c,
		path("apps", "deployments", "web")); progressing(d) == "ProgressDeadlineExceeded" {
		t.Errorf("the deadline is 10 minutes; after 9: %+v", d.Status)
	}
	c.Run(2 * time.Minute)
	if d := read[appsv1.Deployment](t, c, path("apps", "deployments", "web")); progressing(
		d) != "ProgressDeadlineExceeded" || d.Status.AvailableReplicas != 0 {
		t.Errorf("after 11 minutes: %+v", d.Status)
	}
}

func TestRecreateNeverMixes(t *testing.T) {
	c := cluster()
	d := deployment(3, "web:1")
	d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
	do(t, c, http.MethodPost, path("apps", "deployments", ""), d, nil)
	c.Run(time.Minute)
	mixed := false
	c.Watch = func() {
		images := map[string]bool{}
		for _, p := range pods(t, c) {
			images[p.Spec.Containers[0].Image] = true
		}
		mixed = mixed || len(images) > 1
	}
	do(t, c, http.MethodPatch, path("apps", "deployments", "web"),
		map[string]any{"spec": map[string]any{"template": map[string]any{
			"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "web:2"}}}}}}, nil)
	c.Run(5 * time.Minute)
	if mixed || len(running(t, c)) != 3 {
		t.Errorf("mixed: %v; running: %v", mixed, running(t, c))
	}
}

func TestReplicaSetAdoptsAndLetsGo(t *testing.T) {
	c := cluster()
	orphan := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "orphan", Labels: labelled},
		Spec: template("web:1").Spec}
	orphan.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	do(t, c, http.MethodPost, path("", "pods", ""), orphan, nil)
	two := int32(2)
	rs := &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: &two,
		Selector: &metav1.LabelSelector{MatchLabels: labelled}, Template: template("web:1")}}
	rs.TypeMeta, rs.ObjectMeta = meta("ReplicaSet", "web")
	do(t, c, http.MethodPost, path("apps", "replicasets", ""), rs, nil)
	c.Run(time.Minute)
	if p := read[corev1.Pod](t, c, path("", "pods", "orphan")); len(p.OwnerReferences) != 1 || len(pods(t, c)) != 2 {
		t.Errorf("the orphan should have been adopted, and one pod made: %v of %d", p.OwnerReferences, len(pods(t, c)))
	}
	do(t, c, http.MethodPatch, path("", "pods", "orphan"),
		map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "other"}}}, nil)
	c.Run(time.Minute)
	if p := read[corev1.Pod](t, c, path("", "pods", "orphan")); len(p.OwnerReferences) != 0 || len(pods(t, c)) != 3 {
		t.Errorf("the pod should have been let go, and replaced: %v of %d", p.OwnerReferences, len(pods(t, c)))
	}
}

func TestStatefulSetKeepsOrder(t *testing.T) {
	c := cluster()
	three := int32(3)
	s := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{
		Replicas: &three, ServiceName: "web", Selector: &metav1.LabelSelector{MatchLabels: labelled},
		Template: template("web:1"),
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				}},
		}},
	}}
	s.TypeMeta, s.ObjectMeta = meta("StatefulSet", "web")
	var order []string
	c.Watch = func() {
		if now := strings.Join(running(t, c), " "); len(order) == 0 || order[len(order)-1] != now {
			order = append(order, now)
		}
	}
	do(t, c, http.MethodPost, path("apps", "statefulsets", ""), s, nil)
	c.Run(time.Minute)
	if got, want := fmt.Sprintf("%q", order), `["" "web-0" "web-0 web-1" "web-0 web-1 web-2"]`; got != want {
		t.Errorf("pods came up as %s, want %s", got, want)
	}
	claim := read[corev1.PersistentVolumeClaim](t, c, path("", "persistentvolumeclaims", "data-web-2"))
	if claim.Status.Phase != corev1.ClaimBound || claim.Spec.VolumeName == "" {
		t.Errorf("the claim is not bound: %+v", claim.Status)
	}
	order = nil
	do(t, c, http.MethodPatch, path("apps", "statefulsets", "web"),
		map[string]any{"spec": map[string]any{"template": map[string]any{
			"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "web:2"}}}}}}, nil)
	c.Run(5 * time.Minute)
	got := read[appsv1.StatefulSet](t, c, path("apps", "statefulsets", "web")).Status
	if got.UpdatedReplicas != 3 || got.CurrentRevision != got.UpdateRevision || got.AvailableReplicas != 3 {
		t.Errorf("after the update: %+v", got)
	}
	if got, want := fmt.Sprintf("%q", order), `["web-0 web-1 web-2" "web-0 web-1" "web-0 web-1 web-2" "web-0 web-2" `+
		`"web-0 web-1 web-2" "web-1 web-2" "web-0 web-1 web-2"]`; got != want {
		t.Errorf("the update went\n%s, want\n%s", got, want)
	}
}

func TestDaemonSetFollowsNodes(t *testing.T) {
	c := cluster(kubelet.Nodes("a", "b"))
	ds := &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labelled},
		Template: template("web:1")}}
	ds.TypeMeta, ds.ObjectMeta = meta("DaemonSet", "web")
	do(t, c, http.MethodPost, path("apps", "daemonsets", ""), ds, nil)
	c.Run(time.Minute)
	if s := read[appsv1.DaemonSet](t, c, path("apps", "daemonsets", "web")).Status; s.NumberAvailable != 2 ||
		s.DesiredNumberScheduled != 2 {
		t.Errorf("with two nodes: %+v", s)
	}
	do(t, c, http.MethodDelete, "/api/v1/nodes/b", nil, nil)
	c.Run(time.Minute)
	if s := read[appsv1.DaemonSet](t, c, path("apps", "daemonsets", "web")).Status; s.NumberAvailable != 1 ||
		len(pods(t, c)) != 1 {
		t.Errorf("with one node: %+v, %d pods", s, len(pods(t, c)))
	}
}

func job(completions, backoff int32) *batchv1.Job {
	j := &batchv1.Job{Spec: batchv1.JobSpec{Completions: &completions, Parallelism: new(int32(2)),
		BackoffLimit: &backoff, Template: template("work:1")}}
	j.TypeMeta, j.ObjectMeta = meta("Job", "work")
	j.Spec.Template.Labels = nil
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return j
}

func TestJobCompletes(t *testing.T) {
	c := cluster()
	j := job(3, 2)
	j.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	do(t, c, http.MethodPost, path("batch", "jobs", ""), j, nil)
	c.Run(5 * time.Minute)
	s := read[batchv1.Job](t, c, path("batch", "jobs", "work")).Status
	if s.Succeeded != 3 || s.CompletedIndexes != "0-2" || len(s.Conditions) == 0 ||
		s.Conditions[len(s.Conditions)-1].Type != batchv1.JobComplete {
		t.Errorf("after five minutes: %+v", s)
	}
	for _, p := range pods(t, c) {
		if len(p.Finalizers) > 0 {
			t.Errorf("%s keeps %v", p.Name, p.Finalizers)
		}
	}
}

func TestJobGivesUp(t *testing.T) {
	c := cluster(kubelet.Plans(func(_ *corev1.Pod, _ int, p kubelet.Plan) kubelet.Plan {
		p.Exit = 1
		return p
	}))
	do(t, c, http.MethodPost, path("batch", "jobs", ""), job(1, 2), nil)
	c.Run(5 * time.Minute)
	s := read[batchv1.Job](t, c, path("batch", "jobs", "work")).Status
	if s.Failed != 3 || len(s.Conditions) == 0 || s.Conditions[0].Reason != "BackoffLimitExceeded" {
		t.Errorf("after five minutes: %+v", s)
	}
	do(t, c, http.MethodDelete, path("batch", "jobs", "work"),
		metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}, nil)
	c.Run(5 * time.Minute)
	if left := pods(t, c); len(left) > 0 {
		t.Errorf("%d pods outlive their Job: %v", len(left), left[0].Finalizers)
	}
}

func TestServiceGetsEndpoints(t *testing.T) {
	c := cluster()
	s := &corev1.Service{Spec: corev1.ServiceSpec{Selector: labelled,
		Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}}}}
	s.TypeMeta, s.ObjectMeta = meta("Service", "web")
	do(t, c, http.MethodPost, path("", "services", ""), s, nil)
	do(t, c, http.MethodPost, path("apps", "deployments", ""), deployment(2, "web:1"), nil)
	c.Run(time.Minute)
	slices := read[discoveryv1.EndpointSliceList](t, c, path("discovery.k8s.io", "endpointslices", "")).Items
	if len(slices) != 1 || len(slices[0].Endpoints) != 2 || !*slices[0].Endpoints[0].Conditions.Ready ||
		*slices[0].Ports[0].Port != 8080 {
		t.Errorf("slices: %+v", slices)
	}
}

func TestCrashLoopBacksOff(t *testing.T) {
	c := cluster(kubelet.Plans(func(_ *corev1.Pod, restarts int, p kubelet.Plan) kubelet.Plan {
		if restarts < 3 {
			p.Run, p.Exit = time.Second, 137
		}
		return p
	}))
	one := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}, Spec: template("web:1").Spec}
	one.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	do(t, c, http.MethodPost, path("", "pods", ""), one, nil)
	c.Run(5 * time.Second)
	p := read[corev1.Pod](t, c, path("", "pods", "one"))
	if cs := p.Status.ContainerStatuses; len(cs) != 1 || cs[0].State.Waiting == nil ||
		cs[0].State.Waiting.Reason != "CrashLoopBackOff" || cs[0].LastTerminationState.Terminated.ExitCode != 137 {
		t.Fatalf("after the second crash: %+v", cs)
	}
	c.Run(20 * time.Second) // 10 s of waiting have passed, 20 more have not
	if cs := read[corev1.Pod](t, c, path("", "pods", "one")).Status.ContainerStatuses; cs[0].RestartCount != 2 {
		t.Errorf("after 25 s: %d restarts, want 2", cs[0].RestartCount)
	}
	c.Run(100 * time.Second)
	if cs := read[corev1.Pod](t, c, path("", "pods", "one")).Status.ContainerStatuses; cs[0].RestartCount != 3 ||
		!cs[0].Ready {
		t.Errorf("after two minutes: %+v", cs[0])
	}
}
