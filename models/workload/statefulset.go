package workload

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

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
	history         []appsv1.ControllerRevision
	wait            time.Duration
	waits           bool // for a pod, in order: nothing else is done meanwhile
}

// syncStatefulSet follows pkg/controller/statefulset/stateful_set_control.go: one pod after the
// other, in order, unless podManagementPolicy is Parallel; then down from the highest; then updates
// from the highest to the partition.
func syncStatefulSet(c *controller, namespace, name string) (time.Duration, error) {
	s := &series{controller: c, path: actor.Path("apps", "v1", namespace, "statefulsets", name),
		pods: map[int]*corev1.Pod{}}
	if s.set = read[appsv1.StatefulSet](c, s.path); s.set == nil {
		return 0, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s.set.Spec.Selector)
	if err != nil {
		return 0, nil
	}
	pods, wrote, err := claim(c, s.set, s.ref(), selector, s.member)
	if wrote || err != nil {
		return 0, err
	}
	for i := range pods {
		if n, err := strconv.Atoi(strings.TrimPrefix(pods[i].Name, name+"-")); err == nil {
			s.pods[n] = &pods[i]
		}
	}
	revisions := actor.Path("apps", "v1", namespace, "controllerrevisions", "")
	if s.history, wrote, err = claimed[appsv1.ControllerRevision](c, s.set, s.ref(), selector, revisions); wrote ||
		err != nil {
		return 0, err
	}
	if s.set.DeletionTimestamp == nil {
		if wrote, err := s.revisions(revisions); wrote || err != nil {
			return 0, err
		}
		for _, act := range []func() (bool, error){s.up, s.keep, s.down, s.roll} {
			if s.waits {
				break
			}
			if wrote, err := act(); err != nil {
				return 0, errors.Join(err, s.tell())
			} else if wrote {
				return 0, nil
			}
		}
	}
	if err := s.tell(); err != nil || c.wrote {
		return s.wait, err
	}
	return s.wait, s.forget(revisions)
}

func (s *series) ref() metav1.OwnerReference {
	return *metav1.NewControllerRef(s.set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
}

// ordinals is what the names of pods end with (stateful_set_utils.go, statefulPodRegex).
var ordinals = regexp.MustCompile(`^(.*)-([0-9]+)$`)

// member reports whether a pod of that name can be one of the set's (stateful_set_utils.go,
// isMemberOf).
func (s *series) member(pod string) bool {
	m := ordinals.FindStringSubmatch(pod)
	return m != nil && m[1] == s.set.Name
}

// revisions makes sure that the present template is kept as the newest ControllerRevision.
func (s *series) revisions(collection string) (bool, error) {
	s.update = s.set.Name + "-" + hash(s.set.Spec.Template)
	s.current, s.old = cmp.Or(s.set.Status.CurrentRevision, s.update), &s.set.Spec.Template
	data, err := replacement(s.set.Spec.Template)
	if err != nil {
		return false, err
	}
	var present *appsv1.ControllerRevision
	newest := int64(0)
	for i, r := range s.history {
		newest = max(newest, r.Revision)
		if r.Name == s.update {
			present = &s.history[i]
		}
		if r.Name == s.current && s.current != s.update {
			var kept appsv1.StatefulSet
			if err := json.Unmarshal(r.Data.Raw, &kept); err != nil {
				return false, err
			}
			s.old = &kept.Spec.Template
		}
	}
	switch {
	case present == nil:
		return true, actor.Do(s, http.MethodPost, collection, &appsv1.ControllerRevision{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevision"},
			ObjectMeta: metav1.ObjectMeta{Namespace: s.set.Namespace, Name: s.update,
				Labels:          s.set.Spec.Template.Labels,
				OwnerReferences: []metav1.OwnerReference{s.ref()}},
			Data: runtime.RawExtension{Raw: data}, Revision: newest + 1,
		}, nil)
	case present.Revision < newest: // back to an earlier template
		return true, actor.Do(s, http.MethodPatch, collection+"/"+present.Name, map[string]any{"revision": newest + 1},
			nil)
	}
	return false, nil
}

// replacement is the patch that gives a set this template again, as a ControllerRevision keeps it
// (getPatch). Its fields are in the order of their names: the API server compares data byte by
// byte, and a patch of the revision encodes it in that order.
func replacement(template corev1.PodTemplateSpec) ([]byte, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&template)
	if err != nil {
		return nil, err
	}
	fields["$patch"] = "replace"
	return json.Marshal(map[string]any{"spec": map[string]any{"template": fields}})
}

// forget deletes the oldest revisions that no pod has and that are more than the history keeps
// (truncateHistory).
func (s *series) forget(collection string) error {
	if s.update == "" || s.set.Spec.RevisionHistoryLimit == nil {
		return nil
	}
	old := slices.DeleteFunc(s.history, func(r appsv1.ControllerRevision) bool {
		if r.Name == s.current || r.Name == s.update {
			return true
		}
		for _, p := range s.pods {
			if p.Labels[appsv1.StatefulSetRevisionLabel] == r.Name {
				return true
			}
		}
		return false
	})
	slices.SortStableFunc(old, func(a, b appsv1.ControllerRevision) int { return cmp.Compare(a.Revision, b.Revision) })
	if len(old) <= int(*s.set.Spec.RevisionHistoryLimit) {
		return nil
	}
	return gone(actor.Do(s, http.MethodDelete, collection+"/"+old[0].Name, nil, nil))
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

// well reports whether a pod is there, ready for long enough, and not on its way out.
func (s *series) well(p *corev1.Pod) bool {
	if p == nil || p.DeletionTimestamp != nil || p.Status.Phase != corev1.PodRunning {
		return false
	}
	ok, left := available(s.controller, p, s.set.Spec.MinReadySeconds)
	s.wait = soonest(s.wait, left)
	return ok
}

// up makes the first pod that is missing, or replaces one that has ended; in order, each waits for
// the one before.
func (s *series) up() (bool, error) {
	for n := s.first(); n < s.end(); n++ {
		p := s.pods[n]
		switch {
		case p == nil && s.stale(n) && s.parallel():
			continue
		case p == nil && s.stale(n):
			s.waits = true
			return false, nil
		case p == nil:
			return s.make(n)
		}
		if (p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded) && p.DeletionTimestamp == nil {
			return true, remove(s.controller, p)
		}
		if p.Status.Phase == corev1.PodPending { // its claims may have gone (processReplica)
			if wrote, err := s.claims(p.Name); wrote || err != nil {
				return wrote, err
			}
		}
		if !s.parallel() && !s.well(p) {
			s.waits = true
			return false, nil
		}
	}
	return false, nil
}

// down removes the pod with the highest ordinal beyond the last, one at a time. In order, it waits
// until that one is well, unless it is the first that is not.
func (s *series) down() (bool, error) {
	highest, sick := -1, -1
	for _, n := range slices.Sorted(maps.Keys(s.pods)) {
		p := s.pods[n]
		if n >= s.first() && n < s.end() {
			continue
		}
		if p.DeletionTimestamp != nil {
			s.waits = s.waits || !s.parallel()
			continue
		}
		highest = n
		if sick < 0 && !s.well(p) {
			sick = n
		}
	}
	if highest < 0 || s.waits {
		return false, nil
	}
	if !s.parallel() && sick != highest && !s.well(s.pods[highest]) {
		s.waits = true
		return false, nil
	}
	return true, remove(s.controller, s.pods[highest])
}

// roll replaces pods of an old revision from the highest to the partition, which counts from the
// first ordinal, as long as no more than maxUnavailable are not available. In parallel, those that
// are not available go first, whatever the others do (updateStatefulSetAfterInvariantEstablished).
// What goes together is one step.
func (s *series) roll() (bool, error) {
	if s.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return false, nil
	}
	spare := s.spare()
	var up, sick []*corev1.Pod // of an old revision
	for n := s.end() - 1; n >= s.first(); n-- {
		p := s.pods[n]
		if p == nil {
			return false, nil
		}
		well := s.well(p)
		if !well {
			spare--
		}
		switch {
		case n < s.first()+s.partition() || p.DeletionTimestamp != nil ||
			p.Labels[appsv1.StatefulSetRevisionLabel] == s.update:
		case well:
			up = append(up, p)
		case s.parallel():
			sick = append(sick, p)
		}
	}
	outdated := append(sick, up[:min(max(spare, 0), len(up))]...)
	for _, p := range outdated {
		if err := remove(s.controller, p); err != nil {
			return true, err
		}
	}
	return len(outdated) > 0, nil
}

// partition is how many pods, from the first, stay at the current revision.
func (s *series) partition() int {
	if u := s.set.Spec.UpdateStrategy.RollingUpdate; u != nil && u.Partition != nil {
		return int(*u.Partition)
	}
	return 0
}

// spare is how many pods an update may take away (getStatefulSetMaxUnavailable).
func (s *series) spare() int {
	if u := s.set.Spec.UpdateStrategy.RollingUpdate; u != nil && u.MaxUnavailable != nil {
		n, _ := intstr.GetScaledValueFromIntOrPercent(u.MaxUnavailable, int(*s.set.Spec.Replicas), false)
		return max(n, 1)
	}
	return 1
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
	if st.UpdatedReplicas == *s.set.Spec.Replicas && st.ReadyReplicas == *s.set.Spec.Replicas &&
		st.Replicas == *s.set.Spec.Replicas {
		st.CurrentRevision, st.CurrentReplicas = s.update, st.UpdatedReplicas // the rollout is complete
	}
	if reflect.DeepEqual(st, s.set.Status) || s.update == "" {
		return nil
	}
	s.set.Status = st
	return actor.Do(s, http.MethodPut, s.path+"/status", s.set, nil)
}
