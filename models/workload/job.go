package workload

import (
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wavetank/wavetank/models/actor"
)

// work is a Job and its pods, at one look.
type work struct {
	*controller
	job               *batchv1.Job
	path              string
	active            []corev1.Pod
	succeeded, failed []corev1.Pod
	leaving           []corev1.Pod // deleted after the Job was over
	terminating       int32        // pods that were deleted and have not ended
	wait              time.Duration
}

// syncJob follows pkg/controller/job/job_controller.go. A pod keeps the finalizer
// batch.kubernetes.io/job-tracking until it has been counted in the status. A real controller
// counts and takes the finalizers off in requests of their own, with status.uncountedTerminatedPods
// as its memory; here that is one step.
func syncJob(c *controller, namespace, name string) (time.Duration, error) {
	w := &work{controller: c, path: actor.Path("batch", "v1", namespace, "jobs", name)}
	w.job = read[batchv1.Job](c, w.path)
	if freed, err := freeOrphan(c, w.job, namespace, name); freed || err != nil || w.job == nil {
		return 0, err
	}
	if by := w.job.Spec.ManagedBy; by != nil && *by != batchv1.JobControllerName {
		_, err := w.expire() // another controller's; but ttlafterfinished handles every Job
		return w.wait, err
	}
	selector, err := metav1.LabelSelectorAsSelector(w.job.Spec.Selector)
	if err != nil {
		return 0, nil
	}
	pods, wrote, err := claim(c, w.job, jobRef(w.job), selector)
	if wrote || err != nil {
		return 0, err
	}
	sort.SliceStable(pods, func(i, j int) bool { return pods[i].CreationTimestamp.Before(&pods[j].CreationTimestamp) })
	for _, p := range pods {
		if p.DeletionTimestamp != nil && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			w.terminating++
		}
		switch {
		case p.Status.Phase == corev1.PodSucceeded:
			w.succeeded = append(w.succeeded, p)
		case p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil && over(w.job) == "":
			w.failed = append(w.failed, p)
		case p.DeletionTimestamp != nil:
			w.leaving = append(w.leaving, p)
		default:
			w.active = append(w.active, p)
		}
	}
	for _, act := range []func() (bool, error){w.start, w.count, w.fail, w.shrink, w.complete, w.pause, w.grow,
		w.expire} {
		if wrote, err := act(); wrote || err != nil {
			return 0, err
		}
	}
	return w.wait, nil
}

func jobRef(job *batchv1.Job) metav1.OwnerReference {
	return *metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))
}

// over is the type of the condition with which the Job has ended, "" if it has not.
func over(job *batchv1.Job) batchv1.JobConditionType {
	for _, kind := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if is(job, kind) != nil {
			return kind
		}
	}
	return ""
}

// is returns the condition of a type if it is true, else nil.
func is(job *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i, c := range job.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

func suspended(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend }

// indexed reports whether each pod has a number of its own.
func indexed(job *batchv1.Job) bool {
	return job.Spec.CompletionMode != nil && *job.Spec.CompletionMode == batchv1.IndexedCompletion
}

// start stamps the beginning, and refuses what is not modelled.
func (w *work) start() (bool, error) {
	s := w.job.Status.DeepCopy()
	spec := &w.job.Spec
	switch {
	case over(w.job) != "":
	case spec.PodFailurePolicy != nil || spec.SuccessPolicy != nil || spec.BackoffLimitPerIndex != nil:
		w.condition(s, batchv1.JobFailed, "NotModelled",
			"podFailurePolicy, successPolicy and backoffLimitPerIndex are not modelled")
	case suspended(w.job) && s.StartTime != nil:
		s.StartTime = nil
	case !suspended(w.job) && s.StartTime == nil:
		now := metav1.NewTime(w.Clock())
		s.StartTime = &now
	}
	return w.write(s)
}

// count takes ended pods into the status, then takes their finalizer off.
func (w *work) count() (bool, error) {
	s := w.job.Status.DeepCopy()
	s.Active, s.Ready = int32(len(w.active)), new(int32)
	s.Terminating = &w.terminating
	if s.UncountedTerminatedPods == nil {
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	for i := range w.active {
		if ready(&w.active[i]) {
			*s.Ready++
		}
	}
	s.Succeeded += fresh(w.succeeded)
	s.Failed += fresh(w.failed)
	if indexed(w.job) {
		done := w.doneIndexes()
		s.CompletedIndexes, s.Succeeded = indexes(done), int32(len(done))
	}
	wrote, err := w.write(s)
	if err == nil {
		w.remember()
	}
	for _, pods := range [][]corev1.Pod{w.succeeded, w.failed, w.leaving} {
		for i := range pods {
			if err == nil && tracked(&pods[i]) {
				wrote, err = true, free(w.controller, &pods[i])
			}
		}
	}
	return wrote, err
}

// fresh is how many of the pods have not been counted yet.
func fresh(pods []corev1.Pod) (n int32) {
	for i := range pods {
		if tracked(&pods[i]) {
			n++
		}
	}
	return n
}

// tracked reports whether a pod has not been counted yet.
func tracked(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer) }

// free takes the finalizer off a pod.
func free(c *controller, p *corev1.Pod) error {
	kept := slices.DeleteFunc(slices.Clone(p.Finalizers),
		func(f string) bool { return f == batchv1.JobTrackingFinalizer })
	patch := map[string]any{"metadata": map[string]any{"finalizers": kept}}
	return gone(actor.Do(c, http.MethodPatch, podsPath(p.Namespace, p.Name), patch, nil))
}

// freeOrphan lets one pod go whose Job is no more, though there may be another of its name
// (job_controller.go, handleSingleOrphanPod). It reports whether it has.
func freeOrphan(c *controller, job *batchv1.Job, namespace, name string) (freed bool, err error) {
	all, err := actor.List[corev1.Pod](c, podsPath(namespace, ""))
	for i := range all {
		if tracked(&all[i]) && orphaned(&all[i], job, name) {
			return true, free(c, &all[i])
		}
	}
	return false, err
}

// orphaned reports whether a pod belonged to a Job of the name other than the one that is there,
// which may be nil. A pod without an owner may yet be adopted by the one that is there.
func orphaned(p *corev1.Pod, job *batchv1.Job, name string) bool {
	if ref := metav1.GetControllerOf(p); ref != nil {
		return ref.Kind == "Job" && ref.Name == name && (job == nil || ref.UID != job.UID)
	}
	if p.Labels[batchv1.JobNameLabel] != name || job == nil {
		return p.Labels[batchv1.JobNameLabel] == name
	}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	return p.DeletionTimestamp != nil || err == nil && !selector.Matches(labels.Set(p.Labels))
}

// shrink deletes pods that are not needed: all when the Job is over or suspended, else those beyond
// its parallelism.
func (w *work) shrink() (bool, error) {
	keep := w.wanted()
	if len(w.active) <= keep {
		return false, nil
	}
	one := dispensable(w.active, nothing, nil, exactly)
	if tracked(one) && is(w.job, batchv1.JobFailureTarget) == nil { // it is not to be counted as a failure
		return true, free(w.controller, one)
	}
	return true, remove(w.controller, one)
}

// wanted is how many pods should be active.
func (w *work) wanted() int {
	spec := &w.job.Spec
	if over(w.job) != "" || is(w.job, batchv1.JobFailureTarget) != nil || suspended(w.job) {
		return 0
	}
	if w.job.DeletionTimestamp != nil {
		return len(w.active)
	}
	n := int(*spec.Parallelism)
	if spec.Completions != nil {
		n = min(n, int(*spec.Completions-w.job.Status.Succeeded))
	} else if w.job.Status.Succeeded > 0 {
		n = len(w.active) // a work queue: once one has succeeded no more are made
	}
	return max(n, 0)
}

// grow makes one pod, but after a failure only when the back-off has passed.
func (w *work) grow() (bool, error) {
	if len(w.active) >= w.wanted() {
		return false, nil
	}
	if left := w.backOff(); left > 0 {
		w.wait = soonest(w.wait, left)
		return false, nil
	}
	p := podOf(w.job.Namespace, &w.job.Spec.Template, jobRef(w.job))
	p.GenerateName = w.job.Name + "-"
	p.Finalizers = append(p.Finalizers, batchv1.JobTrackingFinalizer)
	if indexed(w.job) {
		index := w.freeIndex()
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[batchv1.JobCompletionIndexAnnotation] = index
		p.Labels[batchv1.JobCompletionIndexAnnotation] = index
		p.GenerateName += index + "-"
		p.Spec.Hostname = w.job.Name + "-" + index
	}
	return true, create(w.controller, p)
}

// doneIndexes are the indexes that the status has, whose pods may have gone, and those of pods that
// have not been counted yet (indexed_job_utils.go, calculateSucceededIndexes).
func (w *work) doneIndexes() map[int]bool {
	done := map[int]bool{}
	add := func(first, last string) {
		n, err := strconv.Atoi(first)
		end, endErr := strconv.Atoi(last)
		for ; err == nil && endErr == nil && n <= end && n < int(*w.job.Spec.Completions); n++ {
			done[n] = true
		}
	}
	for _, part := range strings.Split(w.job.Status.CompletedIndexes, ",") {
		first, last, several := strings.Cut(part, "-")
		if !several {
			last = first
		}
		add(first, last)
	}
	for i := range w.succeeded {
		if index := w.succeeded[i].Annotations[batchv1.JobCompletionIndexAnnotation]; tracked(&w.succeeded[i]) {
			add(index, index)
		}
	}
	return done
}

func (w *work) freeIndex() string {
	taken := w.doneIndexes()
	for _, p := range w.active {
		if n, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation]); err == nil {
			taken[n] = true
		}
	}
	n := 0
	for taken[n] {
		n++
	}
	return strconv.Itoa(n)
}

// indexes writes a set of numbers as Jobs do: "1,3-5".
func indexes(set map[int]bool) string {
	var all []int
	for n := range set {
		all = append(all, n)
	}
	sort.Ints(all)
	out := ""
	for i := 0; i < len(all); {
		j := i
		for j+1 < len(all) && all[j+1] == all[j]+1 {
			j++
		}
		if out != "" {
			out += ","
		}
		switch {
		case j == i:
			out += strconv.Itoa(all[i])
		case j == i+1:
			out += fmt.Sprintf("%d,%d", all[i], all[j])
		default:
			out += fmt.Sprintf("%d-%d", all[i], all[j])
		}
		i = j + 1
	}
	return out
}
