package workload

import (
	"net/http"
	"reflect"
	"sort"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// revisionAnnotation numbers the templates that a Deployment has had.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// rollout is a Deployment and its ReplicaSets, at one look.
type rollout struct {
	*controller
	d      *appsv1.Deployment
	path   string
	now    *appsv1.ReplicaSet // of the present template; nil if there is none yet
	before []appsv1.ReplicaSet
}

// syncDeployment follows pkg/controller/deployment: sync.go, rolling.go, recreate.go, progress.go.
func syncDeployment(c *controller, namespace, name string) (time.Duration, error) {
	r := rollout{controller: c, path: actor.Path("apps", "v1", namespace, "deployments", name)}
	if r.d = read[appsv1.Deployment](c, r.path); r.d == nil {
		return 0, nil
	}
	all, err := actor.List[appsv1.ReplicaSet](c, actor.Path("apps", "v1", namespace, "replicasets", ""))
	if err != nil {
		return 0, err
	}
	for _, rs := range all {
		if ref := metav1.GetControllerOf(&rs); ref == nil || ref.UID != r.d.UID {
			continue
		}
		if r.now == nil && sameTemplate(&rs.Spec.Template, &r.d.Spec.Template) {
			r.now = rs.DeepCopy()
		} else {
			r.before = append(r.before, rs)
		}
	}
	sort.SliceStable(r.before, func(i, j int) bool { return revision(&r.before[i]) < revision(&r.before[j]) })
	if r.d.DeletionTimestamp == nil {
		for _, act := range []func() (bool, error){r.makeNew, r.number, r.scale, r.clean} {
			if r.d.Spec.Paused && r.now == nil {
				break
			}
			if wrote, err := act(); wrote || err != nil {
				return 0, err
			}
		}
	}
	return r.tell()
}

// sameTemplate compares templates but for the hash that tells ReplicaSets apart.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	delete(a.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(b.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return reflect.DeepEqual(a, b)
}

func revision(rs *appsv1.ReplicaSet) int {
	n, _ := strconv.Atoi(rs.Annotations[revisionAnnotation])
	return n
}

func (r *rollout) latest() int {
	n := 0
	for i := range r.before {
		n = max(n, revision(&r.before[i]))
	}
	return n
}

// makeNew makes the ReplicaSet of the present template; with strategy Recreate only once the old pods have gone.
func (r *rollout) makeNew() (bool, error) {
	if r.d.Spec.Paused {
		return false, nil
	}
	if r.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		if wrote, err := r.scaleAllOld(); wrote || err != nil {
			return wrote, err
		}
		if left, err := r.oldPods(); left || err != nil {
			return false, err
		}
	}
	if r.now != nil {
		return false, nil
	}
	template := r.d.Spec.Template.DeepCopy()
	id := hash(template)
	label := func(m map[string]string) map[string]string {
		out := map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: id}
		for k, v := range m {
			out[k] = v
		}
		return out
	}
	template.Labels = label(template.Labels)
	selector := r.d.Spec.Selector.DeepCopy()
	selector.MatchLabels = label(selector.MatchLabels)
	annotations := map[string]string{revisionAnnotation: strconv.Itoa(r.latest() + 1)}
	for k, v := range r.d.Annotations {
		if k != revisionAnnotation && k != corev1.LastAppliedConfigAnnotation {
			annotations[k] = v
		}
	}
	replicas := r.room()
	rs := &appsv1.ReplicaSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.d.Namespace, Name: r.d.Name + "-" + id, Labels: template.Labels, Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(r.d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: selector, Template: *template, MinReadySeconds: r.d.Spec.MinReadySeconds},
	}
	return true, actor.Do(r, http.MethodPost, actor.Path("apps", "v1", r.d.Namespace, "replicasets", ""), rs, nil)
}

// oldPods says whether a pod of an earlier template is still there (recreate.go, oldPodsRunning).
func (r *rollout) oldPods() (bool, error) {
	pods, err := actor.List[corev1.Pod](r, podsPath(r.d.Namespace, ""))
	for i := range pods {
		over := pods[i].Status.Phase == corev1.PodSucceeded || pods[i].Status.Phase == corev1.PodFailed
		for j := range r.before {
			if metav1.IsControlledBy(&pods[i], &r.before[j]) && !over {
				return true, nil
			}
		}
	}
	return false, err
}

// deploymentsOfPods makes Deployments look when a pod has gone: one with strategy Recreate may wait for it.
func deploymentsOfPods(c *controller, ch apiserver.Change) []string {
	if ch.Kind != "Pod" || ch.Type != "DELETED" {
		return nil
	}
	return c.keys("apps", "v1", "deployments", ch.Namespace)
}

// number gives the present ReplicaSet the highest revision, and the Deployment the same.
func (r *rollout) number() (bool, error) {
	if r.now == nil {
		return false, nil
	}
	n := revision(r.now)
	if n <= r.latest() {
		n = r.latest() + 1
	}
	set := map[string]any{"metadata": map[string]any{"annotations": map[string]string{revisionAnnotation: strconv.Itoa(n)}}}
	if n != revision(r.now) {
		return true, actor.Do(r, http.MethodPatch, actor.Path("apps", "v1", r.now.Namespace, "replicasets", r.now.Name), set, nil)
	}
	if r.d.Annotations[revisionAnnotation] != strconv.Itoa(n) {
		return true, actor.Do(r, http.MethodPatch, r.path, set, nil)
	}
	return false, nil
}

// room is how many pods the present ReplicaSet may have now (deployment_util.go, NewRSNewReplicas).
func (r *rollout) room() int32 {
	want := *r.d.Spec.Replicas
	if r.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return want
	}
	have := int32(0)
	if r.now != nil {
		have = *r.now.Spec.Replicas
	}
	surge, _ := r.fence()
	return max(have, min(want, have+want+surge-r.total()))
}

// total is how many pods all ReplicaSets ask for.
func (r *rollout) total() int32 {
	n := int32(0)
	if r.now != nil {
		n = *r.now.Spec.Replicas
	}
	for i := range r.before {
		n += *r.before[i].Spec.Replicas
	}
	return n
}

// fence is maxSurge and maxUnavailable in pods (deployment_util.go, ResolveFenceposts).
func (r *rollout) fence() (surge, unavailable int32) {
	u := r.d.Spec.Strategy.RollingUpdate
	if u == nil {
		return 0, 0
	}
	want := int(*r.d.Spec.Replicas)
	s, _ := intstr.GetScaledValueFromIntOrPercent(u.MaxSurge, want, true)
	a, _ := intstr.GetScaledValueFromIntOrPercent(u.MaxUnavailable, want, false)
	if s == 0 && a == 0 {
		a = 1
	}
	return int32(s), int32(min(a, want))
}

// scale moves one ReplicaSet a bit nearer to what is wanted.
func (r *rollout) scale() (bool, error) {
	if r.now == nil {
		return false, nil
	}
	want := *r.d.Spec.Replicas
	if have := *r.now.Spec.Replicas; have > want {
		return r.resize(r.now, want)
	} else if have < want {
		if to := r.room(); to > have {
			return r.resize(r.now, to)
		}
	}
	if r.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType || r.d.Spec.Paused {
		return false, nil
	}
	_, unavailable := r.fence()
	spare := r.total() - (want - unavailable) - (*r.now.Spec.Replicas - r.now.Status.AvailableReplicas)
	if spare <= 0 {
		return false, nil
	}
	for i := range r.before { // those that do not work go first
		rs := &r.before[i]
		if sick := *rs.Spec.Replicas - rs.Status.AvailableReplicas; sick > 0 {
			return r.resize(rs, *rs.Spec.Replicas-min(sick, spare))
		}
	}
	up := r.now.Status.AvailableReplicas
	for i := range r.before {
		up += r.before[i].Status.AvailableReplicas
	}
	for i := range r.before {
		rs := &r.before[i]
		if n := min(*rs.Spec.Replicas, up-(want-unavailable)); n > 0 {
			return r.resize(rs, *rs.Spec.Replicas-n)
		}
	}
	return false, nil
}

func (r *rollout) scaleAllOld() (bool, error) {
	for i := range r.before {
		if *r.before[i].Spec.Replicas > 0 {
			return r.resize(&r.before[i], 0)
		}
	}
	return false, nil
}

func (r *rollout) resize(rs *appsv1.ReplicaSet, to int32) (bool, error) {
	patch := map[string]any{"spec": map[string]any{"replicas": to}}
	return true, actor.Do(r, http.MethodPatch, actor.Path("apps", "v1", rs.Namespace, "replicasets", rs.Name), patch, nil)
}

// clean deletes the oldest ReplicaSets without pods that are more than the history keeps.
func (r *rollout) clean() (bool, error) {
	if r.d.Spec.RevisionHistoryLimit == nil || len(r.before) <= int(*r.d.Spec.RevisionHistoryLimit) {
		return false, nil
	}
	for _, rs := range r.before[:len(r.before)-int(*r.d.Spec.RevisionHistoryLimit)] {
		if rs.Status.Replicas == 0 && *rs.Spec.Replicas == 0 && rs.Generation <= rs.Status.ObservedGeneration && rs.DeletionTimestamp == nil {
			return true, gone(actor.Do(r, http.MethodDelete, actor.Path("apps", "v1", rs.Namespace, "replicasets", rs.Name), nil, nil))
		}
	}
	return false, nil
}
