package workload

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// What a Deployment writes on its ReplicaSets: which template they are, which they were before, and
// how many pods it wanted and allowed when it scaled them last (deployment_util.go).
const (
	revisionAnnotation = "deployment.kubernetes.io/revision"
	historyAnnotation  = "deployment.kubernetes.io/revision-history"
	desiredAnnotation  = "deployment.kubernetes.io/desired-replicas"
	maxAnnotation      = "deployment.kubernetes.io/max-replicas"
)

// rollout is a Deployment and its ReplicaSets, at one look. It owns which ReplicaSets there are,
// their revisions, and the Deployment's status.
type rollout struct {
	*controller
	*replicaSets
	d    *appsv1.Deployment
	path string
}

// syncDeployment follows pkg/controller/deployment: sync.go, rolling.go, recreate.go, progress.go.
// While it is paused, and when it has been scaled, its ReplicaSets are scaled in proportion and
// nothing is rolled out.
func syncDeployment(c *controller, namespace, name string) (time.Duration, error) {
	r := &rollout{controller: c, replicaSets: &replicaSets{},
		path: actor.Path("apps", "v1", namespace, "deployments", name)}
	if r.d = read[appsv1.Deployment](c, r.path); r.d == nil {
		return 0, nil
	}
	if wrote, err := r.find(); wrote || err != nil {
		return 0, err
	}
	var acts []func() (bool, error)
	rolls, scale := false, &scaling{r}
	switch {
	case r.d.DeletionTimestamp != nil:
	case r.d.Spec.Paused:
		acts = []func() (bool, error){r.pause, r.number, scale.spread, r.clean}
	case r.scaled(r.d):
		acts = []func() (bool, error){r.pause, r.number, scale.spread}
	case recreates(r.d):
		rolls, acts = true, []func() (bool, error){r.pause, r.number, scale.replace, r.cleanUp}
	default:
		rolls, acts = true, []func() (bool, error){r.pause, r.number, r.makeNew, scale.grow, scale.shrink, r.cleanUp}
	}
	for _, act := range acts {
		if wrote, err := act(); wrote || err != nil {
			return 0, err
		}
	}
	return r.tell(rolls)
}

func recreates(d *appsv1.Deployment) bool {
	return d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
}

// find looks up the ReplicaSets, oldest first. Where one should be adopted or let go, it does that
// and says so.
func (r *rollout) find() (wrote bool, err error) {
	selector, err := metav1.LabelSelectorAsSelector(r.d.Spec.Selector)
	if err != nil {
		return false, nil // the API server refuses those
	}
	all, wrote, err := claimed[appsv1.ReplicaSet](r.controller, r.d, deploymentRef(r.d), selector,
		actor.Path("apps", "v1", r.d.Namespace, "replicasets", ""))
	if wrote || err != nil {
		return wrote, err
	}
	slices.SortStableFunc(all,
		func(a, b appsv1.ReplicaSet) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	for _, rs := range all {
		if r.now == nil && sameTemplate(&rs.Spec.Template, &r.d.Spec.Template) {
			r.now = rs.DeepCopy()
		} else {
			r.before = append(r.before, rs)
		}
	}
	return false, nil
}

func deploymentRef(d *appsv1.Deployment) metav1.OwnerReference {
	return *metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))
}

// sameTemplate compares templates without the hash that tells ReplicaSets apart.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	delete(a.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(b.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return equality.Semantic.DeepEqual(a, b)
}

func revision(rs *appsv1.ReplicaSet) int {
	n, _ := strconv.Atoi(rs.Annotations[revisionAnnotation])
	return n
}

// pause says in the status that the Deployment was paused, or resumed (sync.go,
// checkPausedConditions).
func (r *rollout) pause() (bool, error) {
	if !hasDeadline(r.d) {
		return false, nil
	}
	last := progressing(&r.d.Status)
	paused := last != nil && last.Reason == "DeploymentPaused"
	switch {
	case last != nil && last.Reason == "ProgressDeadlineExceeded", paused == r.d.Spec.Paused:
		return false, nil
	case paused:
		r.condition(&r.d.Status, appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentResumed",
			"Deployment is resumed")
	default:
		r.condition(&r.d.Status, appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentPaused",
			"Deployment is paused")
	}
	return true, r.record()
}

// record writes the status, and with it annotations.
func (r *rollout) record() error { return actor.Do(r, http.MethodPut, r.path+"/status", r.d, nil) }

// annotate gives a ReplicaSet the Deployment's annotations and a revision (deployment_util.go,
// SetNewReplicaSetAnnotations).
func annotate(d *appsv1.Deployment, rs *appsv1.ReplicaSet, number int) {
	if rs.Annotations == nil {
		rs.Annotations = map[string]string{}
	}
	own := []string{revisionAnnotation, historyAnnotation, desiredAnnotation, maxAnnotation,
		corev1.LastAppliedConfigAnnotation, appsv1.DeprecatedRollbackTo}
	for k, v := range d.Annotations {
		if !slices.Contains(own, k) {
			rs.Annotations[k] = v
		}
	}
	if was, known := rs.Annotations[revisionAnnotation]; revision(rs) < number {
		rs.Annotations[revisionAnnotation] = strconv.Itoa(number)
		if known {
			rs.Annotations[historyAnnotation] = strings.TrimPrefix(rs.Annotations[historyAnnotation]+","+was, ",")
		}
	}
}

// measure notes on a ReplicaSet how many pods are wanted and allowed.
func measure(d *appsv1.Deployment, rs *appsv1.ReplicaSet) {
	if rs.Annotations == nil {
		rs.Annotations = map[string]string{}
	}
	surge, _ := fence(d)
	rs.Annotations[desiredAnnotation] = strconv.Itoa(int(*d.Spec.Replicas))
	rs.Annotations[maxAnnotation] = strconv.Itoa(int(*d.Spec.Replicas + surge))
}

// number gives the present ReplicaSet the highest revision, and the Deployment the same (sync.go,
// getNewReplicaSet).
func (r *rollout) number() (bool, error) {
	if r.now == nil {
		return false, nil
	}
	rs := r.now.DeepCopy()
	annotate(r.d, rs, r.latest()+1)
	rs.Spec.MinReadySeconds = r.d.Spec.MinReadySeconds
	if !maps.Equal(rs.Annotations, r.now.Annotations) || rs.Spec.MinReadySeconds != r.now.Spec.MinReadySeconds {
		return true, r.put(rs)
	}
	return r.remember(rs, progressing(&r.d.Status) == nil, "FoundNewReplicaSet",
		"Found new replica set "+strconv.Quote(rs.Name))
}

// remember writes the revision on the Deployment, and a condition if it is to.
func (r *rollout) remember(rs *appsv1.ReplicaSet, tell bool, reason, message string) (bool, error) {
	n := rs.Annotations[revisionAnnotation]
	tell = tell && hasDeadline(r.d)
	if r.d.Annotations[revisionAnnotation] == n && !tell {
		return false, nil
	}
	if r.d.Annotations == nil {
		r.d.Annotations = map[string]string{}
	}
	r.d.Annotations[revisionAnnotation] = n
	if tell {
		r.condition(&r.d.Status, appsv1.DeploymentProgressing, corev1.ConditionTrue, reason, message)
	}
	return true, r.record()
}

func (r *rollout) put(rs *appsv1.ReplicaSet) error {
	rs.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}
	return actor.Do(r, http.MethodPut, actor.Path("apps", "v1", rs.Namespace, "replicasets", rs.Name), rs, nil)
}

// makeNew makes the ReplicaSet of the present template, and in the same step records that.
func (r *rollout) makeNew() (bool, error) {
	if r.now != nil {
		return false, nil
	}
	template := r.d.Spec.Template.DeepCopy()
	id := hash(template)
	if n := r.d.Status.CollisionCount; n != nil && *n > 0 {
		id = hash([]any{template, *n})
	}
	label := func(m map[string]string) map[string]string {
		out := map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: id}
		maps.Copy(out, m)
		return out
	}
	template.Labels = label(template.Labels)
	selector := r.d.Spec.Selector.DeepCopy()
	selector.MatchLabels = label(selector.MatchLabels)
	replicas := r.room(r.d)
	rs := &appsv1.ReplicaSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: r.d.Namespace, Name: r.d.Name + "-" + id, Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{deploymentRef(r.d)}},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: selector, Template: *template,
			MinReadySeconds: r.d.Spec.MinReadySeconds},
	}
	annotate(r.d, rs, r.latest()+1)
	measure(r.d, rs)
	if err := actor.Do(r, http.MethodPost, actor.Path("apps", "v1", r.d.Namespace, "replicasets", ""), rs,
		nil); err != nil {
		return r.refused(rs, err)
	}
	_, err := r.remember(rs, true, "NewReplicaSetCreated", "Created new replica set "+strconv.Quote(rs.Name))
	return true, err
}

// refused reports in the status why the current ReplicaSet could not be created. If another object
// has its name, it chooses another name (sync.go, getNewReplicaSet).
func (r *rollout) refused(rs *appsv1.ReplicaSet, why error) (bool, error) {
	switch {
	case apierrors.IsAlreadyExists(why):
		if r.d.Status.CollisionCount == nil {
			r.d.Status.CollisionCount = new(int32)
		}
		*r.d.Status.CollisionCount++
		return true, r.record()
	case hasDeadline(r.d) && !apierrors.HasStatusCause(why, corev1.NamespaceTerminatingCause):
		r.condition(&r.d.Status, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ReplicaSetCreateError",
			fmt.Sprintf("Failed to create new replica set %q: %v", rs.Name, why))
		_ = r.record()
	}
	return false, why
}

// deploymentsOfPods makes Deployments look when a pod has gone: one with strategy Recreate may wait
// for it.
func deploymentsOfPods(c *controller, ch apiserver.Change) []string {
	if ch.Kind != "Pod" || ch.Type != "DELETED" {
		return nil
	}
	return c.keys("apps", "v1", "deployments", ch.Namespace)
}

// cleanUp is clean for a rollout that is complete.
func (r *rollout) cleanUp() (bool, error) {
	if !complete(r.d, &r.d.Status) {
		return false, nil
	}
	return r.clean()
}

// clean deletes the oldest ReplicaSets without pods that are more than the history keeps.
func (r *rollout) clean() (bool, error) {
	if r.d.Spec.RevisionHistoryLimit == nil {
		return false, nil
	}
	old := slices.DeleteFunc(slices.Clone(r.before),
		func(rs appsv1.ReplicaSet) bool { return rs.DeletionTimestamp != nil })
	sort.SliceStable(old, func(i, j int) bool { return revision(&old[i]) < revision(&old[j]) })
	for _, rs := range old[:max(len(old)-int(*r.d.Spec.RevisionHistoryLimit), 0)] {
		if rs.Status.Replicas == 0 && *rs.Spec.Replicas == 0 && rs.Generation <= rs.Status.ObservedGeneration {
			return true, gone(actor.Do(r, http.MethodDelete,
				actor.Path("apps", "v1", rs.Namespace, "replicasets", rs.Name), nil, nil))
		}
	}
	return false, nil
}
