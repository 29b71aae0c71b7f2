package workload

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/models/actor"
)

// series is a StatefulSet and its pods, at one look.
type series struct {
	*controller
	set  *appsv1.StatefulSet
	path string
	pods map[int]*corev1.Pod // by ordinal
	// current and update are the names of the revisions that pods are made from and moved to.
	current, update string
	old             *corev1.PodTemplateSpec // the template of current
	wait            time.Duration
}

// syncStatefulSet follows pkg/controller/statefulset/stateful_set_control.go: one pod after the other, in order, unless
// podManagementPolicy is Parallel; then down from the highest; then updates from the highest to the partition.
func syncStatefulSet(c *controller, namespace, name string) (time.Duration, error) {
	s := &series{controller: c, path: actor.Path("apps", "v1", namespace, "statefulsets", name), pods: map[int]*corev1.Pod{}}
	if s.set = read[appsv1.StatefulSet](c, s.path); s.set == nil {
		return 0, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s.set.Spec.Selector)
	if err != nil {
		return 0, nil
	}
	pods, wrote, err := claim(c, s.set, s.ref(), selector)
	if wrote || err != nil {
		return 0, err
	}
	for i := range pods {
		if n, err := strconv.Atoi(strings.TrimPrefix(pods[i].Name, name+"-")); err == nil {
			s.pods[n] = &pods[i]
		}
	}
	if s.set.DeletionTimestamp == nil {
		for _, act := range []func() (bool, error){s.revisions, s.up, s.down, s.roll} {
			if wrote, err := act(); wrote || err != nil {
				return 0, err
			}
		}
	}
	return s.wait, s.tell()
}

func (s *series) ref() metav1.OwnerReference {
	return *metav1.NewControllerRef(s.set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
}

// revisions makes sure that the present template is kept as a ControllerRevision.
func (s *series) revisions() (bool, error) {
	s.update = s.set.Name + "-" + hash(s.set.Spec.Template)
	s.current, s.old = s.set.Status.CurrentRevision, &s.set.Spec.Template
	if s.current == "" {
		s.current = s.update
	}
	data, err := json.Marshal(s.set.Spec.Template)
	if err != nil {
		return false, err
	}
	collection := actor.Path("apps", "v1", s.set.Namespace, "controllerrevisions", "")
	if read[appsv1.ControllerRevision](s.controller, collection+"/"+s.update) == nil {
		all, err := actor.List[appsv1.ControllerRevision](s, collection)
		if err != nil {
			return false, err
		}
		number := int64(1)
		for _, r := range all {
			if metav1.IsControlledBy(&r, s.set) {
				number = max(number, r.Revision+1)
			}
		}
		return true, actor.Do(s, http.MethodPost, collection, &appsv1.ControllerRevision{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevision"},
			ObjectMeta: metav1.ObjectMeta{Namespace: s.set.Namespace, Name: s.update, Labels: s.set.Spec.Template.Labels,
				OwnerReferences: []metav1.OwnerReference{s.ref()}},
			Data: runtime.RawExtension{Raw: data}, Revision: number,
		}, nil)
	}
	if s.current != s.update {
		if r := read[appsv1.ControllerRevision](s.controller, collection+"/"+s.current); r != nil {
			s.old = &corev1.PodTemplateSpec{}
			if err := json.Unmarshal(r.Data.Raw, s.old); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

func (s *series) first() int {
	if s.set.Spec.Ordinals != nil {
		return int(s.set.Spec.Ordinals.Start)
	}
	return 0
}

func (s *series) end() int { return s.first() + int(*s.set.Spec.Replicas) }

func (s *series) parallel() bool {
	return s.set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
}

// well says whether a pod is there, ready for long enough, and not on its way out.
func (s *series) well(p *corev1.Pod) bool {
	if p == nil || p.DeletionTimestamp != nil || p.Status.Phase != corev1.PodRunning {
		return false
	}
	ok, left := available(s.controller, p, s.set.Spec.MinReadySeconds)
	s.wait = soonest(s.wait, left)
	return ok
}

// up makes the first pod that is missing, or replaces one that has ended; in order, each waits for the one before.
func (s *series) up() (bool, error) {
	for n := s.first(); n < s.end(); n++ {
		p := s.pods[n]
		if p == nil {
			return s.make(n)
		}
		if (p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded) && p.DeletionTimestamp == nil {
			return true, remove(s.controller, p)
		}
		if !s.parallel() && !s.well(p) {
			return false, nil
		}
	}
	return false, nil
}

// make creates a pod, its claims first.
func (s *series) make(n int) (bool, error) {
	partition := 0
	if u := s.set.Spec.UpdateStrategy.RollingUpdate; u != nil && u.Partition != nil {
		partition = int(*u.Partition)
	}
	template, rev := &s.set.Spec.Template, s.update
	if n < partition {
		template, rev = s.old, s.current
	}
	p := podOf(s.set.Namespace, template, s.ref())
	p.Name = fmt.Sprintf("%s-%d", s.set.Name, n)
	p.Labels[appsv1.StatefulSetPodNameLabel], p.Labels[appsv1.StatefulSetRevisionLabel] = p.Name, rev
	p.Labels[appsv1.PodIndexLabel] = strconv.Itoa(n)
	p.Spec.Hostname, p.Spec.Subdomain = p.Name, s.set.Spec.ServiceName
	for _, t := range s.set.Spec.VolumeClaimTemplates {
		c := t.DeepCopy()
		c.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
		c.Namespace, c.Name = s.set.Namespace, t.Name+"-"+p.Name
		c.Labels = s.set.Spec.Selector.MatchLabels
		c.Status = corev1.PersistentVolumeClaimStatus{}
		claims := actor.Path("", "v1", s.set.Namespace, "persistentvolumeclaims", "")
		if read[corev1.PersistentVolumeClaim](s.controller, claims+"/"+c.Name) == nil {
			err := actor.Do(s, http.MethodPost, claims, c, nil)
			if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
				err = nil
			}
			return true, err
		}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: t.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name}}})
	}
	return true, create(s.controller, p)
}

// down removes the pod with the highest ordinal beyond the last, one at a time.
func (s *series) down() (bool, error) {
	highest := -1
	for n, p := range s.pods {
		if n >= s.end() || n < s.first() {
			if p.DeletionTimestamp != nil && !s.parallel() {
				return false, nil
			}
			if p.DeletionTimestamp == nil {
				highest = max(highest, n)
			}
		}
	}
	if highest < 0 {
		return false, nil
	}
	return true, remove(s.controller, s.pods[highest])
}

// roll replaces the highest pod of an old revision, if all above it are well.
func (s *series) roll() (bool, error) {
	if s.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return false, nil
	}
	partition := 0
	if u := s.set.Spec.UpdateStrategy.RollingUpdate; u != nil && u.Partition != nil {
		partition = int(*u.Partition)
	}
	for n := s.end() - 1; n >= max(s.first(), partition); n-- {
		p := s.pods[n]
		if p == nil {
			return false, nil
		}
		if p.Labels[appsv1.StatefulSetRevisionLabel] != s.update && p.DeletionTimestamp == nil {
			return true, remove(s.controller, p)
		}
		if !s.well(p) {
			return false, nil
		}
	}
	return false, nil
}

func (s *series) tell() error {
	st := *s.set.Status.DeepCopy()
	st.ObservedGeneration = s.set.Generation
	st.Replicas, st.ReadyReplicas, st.AvailableReplicas, st.CurrentReplicas, st.UpdatedReplicas = 0, 0, 0, 0, 0
	st.CurrentRevision, st.UpdateRevision = s.current, s.update
	if st.CollisionCount == nil {
		st.CollisionCount = new(int32)
	}
	for _, p := range s.pods {
		st.Replicas++
		if ready(p) {
			st.ReadyReplicas++
		}
		if s.well(p) {
			st.AvailableReplicas++
		}
		if p.DeletionTimestamp == nil && p.Labels[appsv1.StatefulSetRevisionLabel] == s.current {
			st.CurrentReplicas++
		}
		if p.DeletionTimestamp == nil && p.Labels[appsv1.StatefulSetRevisionLabel] == s.update {
			st.UpdatedReplicas++
		}
	}
	if st.UpdatedReplicas == *s.set.Spec.Replicas && st.ReadyReplicas == *s.set.Spec.Replicas && st.Replicas == *s.set.Spec.Replicas {
		st.CurrentRevision, st.CurrentReplicas = s.update, st.UpdatedReplicas // the rollout is complete
	}
	if reflect.DeepEqual(st, s.set.Status) || s.update == "" {
		return nil
	}
	s.set.Status = st
	return actor.Do(s, http.MethodPut, s.path+"/status", s.set, nil)
}
