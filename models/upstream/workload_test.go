package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/statefulset"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
)

// workloads are the real controllers of workloads, with the defaults of their component configs.
var workloads = []controller{
	program("deployment-controller",
		func(ctx context.Context, c *connected) (run func(context.Context, int), err error) {
			apps := c.typed.Apps().V1()
			d, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(),
				c.typed.Core().V1().Pods(), c.client)
			return d.Run, err
		}),
	program("replicaset-controller", func(ctx context.Context, c *connected) (func(context.Context, int), error) {
		return replicaset.NewReplicaSetController(ctx, c.typed.Apps().V1().ReplicaSets(), c.typed.Core().V1().Pods(),
			c.client, replicaset.BurstReplicas).Run, nil
	}),
	program("statefulset-controller", func(ctx context.Context, c *connected) (func(context.Context, int), error) {
		apps, core := c.typed.Apps().V1(), c.typed.Core().V1()
		return statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(),
			core.PersistentVolumeClaims(), apps.ControllerRevisions(), c.client).Run, nil
	}),
	program("job-controller", func(ctx context.Context, c *connected) (func(context.Context, int), error) {
		j, err := job.NewController(ctx, c.client, c.typed.Core().V1().Pods(), c.typed.Batch().V1().Jobs(), nil, nil)
		return j.Run, err
	}),
}

// program is a controller that is one of kube-controller-manager's loops, with five workers.
func program(name string, make func(context.Context, *connected) (func(context.Context, int), error)) controller {
	return controller{name, func(w *sim.World, name string) {
		w.Run(name, func(ctx context.Context, cfg *rest.Config) error {
			c, err := connect(cfg)
			if err != nil {
				return err
			}
			run, err := make(ctx, c)
			if err != nil {
				return err
			}
			defer c.start(ctx)()
			run(ctx, 5)
			return nil
		})
	}}
}

// plan is what becomes of a container, by its image: "fails" ends with 1, "ends" with 0, "hangs"
// never is ready.
func plan(p *corev1.Pod, _ int, otherwise kubelet.Plan) kubelet.Plan {
	out := kubelet.Plan{Ready: 2 * time.Second, Stop: time.Second}
	switch image := p.Spec.Containers[0].Image; {
	case strings.HasPrefix(image, "fails"):
		out.Run, out.Exit = 3*time.Second, 1
	case strings.HasPrefix(image, "ends"):
		out.Run = 3 * time.Second
	case strings.HasPrefix(image, "hangs"):
		out.Ready = -1
	}
	return out
}

// equally runs a scenario with the models of workloads and with the real controllers, and asks that
// what the real ones leave is among what the models leave.
func equally(t *testing.T, scenario func(*sim.World)) {
	t.Helper()
	arm := func(real []controller) []string {
		return ends(t, real, func(w *sim.World) {
			for _, a := range slices.Concat(workload.New(),
				kubelet.New(kubelet.Plans(plan), kubelet.Nodes("n1", "n2"))) {
				if !slices.ContainsFunc(real, func(c controller) bool { return c.name == a.Name() }) {
					w.Builtin(a)
				}
			}
			w.Apply(shop())
			scenario(w)
		}, remains)
	}
	ours := arm(nil)
	for i, left := range arm(workloads) {
		if !slices.Contains(ours, left) {
			t.Errorf("the real controllers, run %d, leave otherwise than the models (-):\n%s", i, diff(ours[0], left))
		}
	}
	slices.Sort(ours)
	if ours = slices.Compact(ours); len(ours) > 1 {
		t.Logf("the models leave %d different things", len(ours))
	}
	t.Logf("left in the end:\n%s", ours[0])
}

// given matches generated names.
var given = regexp.MustCompile(`-[a-z0-9]{5,10}(-[a-z0-9]{5})?$`)

// remains describes workloads at the end: status, conditions, and the number of pods by owner and
// state.
func remains(h *history.History) string {
	names := map[string]string{} // by UID
	var all []history.Object
	for _, kind := range []string{"Deployment", "ReplicaSet", "StatefulSet", "ControllerRevision"} {
		all = append(all, h.Objects("apps", kind)...)
	}
	all = append(append(append(all, h.Objects("batch", "Job")...), h.Objects("", "Pod")...),
		h.Objects("", "PersistentVolumeClaim")...)
	metas := map[string]*metav1.PartialObjectMetadata{}
	for _, o := range all {
		var m metav1.PartialObjectMetadata
		must(o.Into(&m))
		metas[o.UID] = &m
		names[o.UID] = o.Ref.Kind + " " + o.Ref.Name
		if n := m.Annotations["deployment.kubernetes.io/revision"]; o.Ref.Kind == "ReplicaSet" && n != "" {
			names[o.UID] = "ReplicaSet at revision " + n
		}
	}
	count := map[string]int{}
	for _, o := range all {
		m := metas[o.UID]
		line := names[o.UID]
		if o.Ref.Kind == "Pod" || o.Ref.Kind == "ControllerRevision" {
			line = given.ReplaceAllString(line, "-…")
		}
		for _, r := range m.OwnerReferences {
			line += " owned by " + names[string(r.UID)]
			if names[string(r.UID)] == "" {
				line += "an owner that is gone"
			}
		}
		if m.DeletionTimestamp != nil {
			line += " being deleted"
		}
		if len(m.Finalizers) > 0 {
			line += fmt.Sprint(" held by ", m.Finalizers)
		}
		count[line+" "+inside(o, m)]++
	}
	var out []string
	for line, n := range count {
		out = append(out, fmt.Sprintf("%d × %s", n, line))
	}
	sort.Strings(out)
	return strings.Join(out, "\n")
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// inside tells an object's numbers and conditions.
func inside(o history.Object, m *metav1.PartialObjectMetadata) string {
	var v struct {
		Revision int64
		Spec     struct {
			Replicas   *int32
			Suspend    *bool
			Containers []struct{ Image string }
		}
		Status map[string]any
	}
	must(o.Into(&v))
	var parts []string
	if o.Ref.Kind == "ControllerRevision" {
		return fmt.Sprint("revision ", v.Revision)
	}
	if v.Spec.Replicas != nil {
		parts = append(parts, fmt.Sprint("wants ", *v.Spec.Replicas))
	}
	if o.Ref.Kind == "Pod" {
		var p corev1.Pod
		must(o.Into(&p))
		ready := slices.ContainsFunc(p.Status.Conditions,
			func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
		return fmt.Sprint(v.Spec.Containers[0].Image, " ", v.Status["phase"], " ready: ", ready)
	}
	for _, k := range slices.Sorted(maps.Keys(v.Status)) {
		switch x := v.Status[k].(type) {
		case float64, string:
			if k == "observedGeneration" {
				parts = append(parts, fmt.Sprint("observed: ", int64(x.(float64)) == m.Generation))
			} else if !strings.Contains(k, "Time") && !strings.HasSuffix(k, "Revision") {
				parts = append(parts, fmt.Sprintf("%s=%v", k, x))
			}
		}
	}
	if a, ok := v.Status["currentRevision"]; ok {
		parts = append(parts, fmt.Sprint("at its newest revision: ", a == v.Status["updateRevision"]))
	}
	conditions, err := json.Marshal(v.Status["conditions"])
	must(err)
	var told []struct{ Type, Status, Reason string }
	must(json.Unmarshal(conditions, &told))
	sort.Slice(told, func(i, j int) bool { return told[i].Type < told[j].Type })
	for _, c := range told {
		parts = append(parts, fmt.Sprintf("\n\t%v", c))
	}
	return strings.Join(parts, " ")
}

var labelled = map[string]string{"app": "web"}

func template(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labelled},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}}}
}

func web(replicas int32, change ...func(*appsv1.DeploymentSpec)) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: in("shop", "web"), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labelled}, Template: template("web:1")}}
	for _, f := range change {
		f(&d.Spec)
	}
	return d
}

func db(replicas int32, change ...func(*appsv1.StatefulSetSpec)) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{ObjectMeta: in("shop", "db"), Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, ServiceName: "db", Selector: &metav1.LabelSelector{MatchLabels: labelled},
		Template: template("db:1")}}
	for _, f := range change {
		f(&s.Spec)
	}
	return s
}

func work(image string, change ...func(*batchv1.JobSpec)) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: in("shop", "sum"), Spec: batchv1.JobSpec{Template: template(image)}}
	j.Spec.Template.Labels = nil
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	for _, f := range change {
		f(&j.Spec)
	}
	return j
}
