package workload

import (
	"net/http"
	"reflect"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
)

// fail finds out whether the Job must fail: then it gets the condition FailureTarget, its pods are
// deleted, and when the last has gone the condition Failed.
func (w *work) fail() (bool, error) {
	if over(w.job) != "" {
		return false, nil
	}
	s := w.job.Status.DeepCopy()
	if target := is(w.job, batchv1.JobFailureTarget); target != nil {
		if len(w.active) == 0 && w.terminating == 0 {
			w.condition(s, batchv1.JobFailed, target.Reason, target.Message)
		}
		return w.write(s)
	}
	spec := &w.job.Spec
	if spec.BackoffLimit != nil && (s.Failed > *spec.BackoffLimit || w.restartedTooOften()) {
		w.condition(s, batchv1.JobFailureTarget, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
		return w.write(s)
	}
	if spec.ActiveDeadlineSeconds == nil || s.StartTime == nil || suspended(w.job) {
		return false, nil
	}
	left := s.StartTime.Add(time.Duration(*spec.ActiveDeadlineSeconds) * time.Second).Sub(w.Clock())
	if left <= 0 {
		w.condition(s, batchv1.JobFailureTarget, "DeadlineExceeded", "Job was active longer than specified deadline")
		return w.write(s)
	}
	w.wait = soonest(w.wait, left)
	return false, nil
}

// restartedTooOften counts the restarts of containers where pods restart on failure
// (pastBackoffLimitOnFailure).
func (w *work) restartedTooOften() bool {
	if w.job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	n := int32(0)
	for _, p := range w.active {
		for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
			n += c.RestartCount
		}
	}
	return n > 0 && n >= *w.job.Spec.BackoffLimit
}

// complete finds out whether the Job has succeeded.
func (w *work) complete() (bool, error) {
	s, spec := w.job.Status.DeepCopy(), &w.job.Spec
	if over(w.job) != "" || is(w.job, batchv1.JobFailureTarget) != nil || len(w.active) > 0 || w.terminating > 0 {
		return false, nil
	}
	if spec.Completions != nil && s.Succeeded >= *spec.Completions || spec.Completions == nil && s.Succeeded > 0 {
		now := metav1.NewTime(w.Clock())
		s.CompletionTime = &now
		w.condition(s, batchv1.JobSuccessCriteriaMet, "CompletionsReached", "Reached expected number of succeeded pods")
		w.condition(s, batchv1.JobComplete, "CompletionsReached", "Reached expected number of succeeded pods")
	}
	return w.write(s)
}

// pause sets the condition Suspended. The start time is set again when the Job is resumed.
func (w *work) pause() (bool, error) {
	s, was := w.job.Status.DeepCopy(), is(w.job, batchv1.JobSuspended)
	switch {
	case over(w.job) != "" || is(w.job, batchv1.JobFailureTarget) != nil || (was != nil) == suspended(w.job):
	case suspended(w.job):
		w.condition(s, batchv1.JobSuspended, "JobSuspended", "Job suspended")
		s.StartTime = nil
	default:
		w.condition(s, batchv1.JobSuspended, "JobResumed", "Job resumed")
		s.Conditions[len(s.Conditions)-1].Status = corev1.ConditionFalse
		now := metav1.NewTime(w.Clock())
		s.StartTime = &now
	}
	return w.write(s)
}

// expire deletes a Job whose time to live after its end has passed
// (pkg/controller/ttlafterfinished).
func (w *work) expire() (bool, error) {
	if over(w.job) == "" || w.job.Spec.TTLSecondsAfterFinished == nil || w.job.DeletionTimestamp != nil {
		return false, nil
	}
	var ended time.Time
	for _, c := range w.job.Status.Conditions {
		if c.Type == over(w.job) {
			ended = c.LastTransitionTime.Time
		}
	}
	left := ended.Add(time.Duration(*w.job.Spec.TTLSecondsAfterFinished) * time.Second).Sub(w.Clock())
	if left > 0 {
		w.wait = soonest(w.wait, left)
		return false, nil
	}
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &w.job.UID},
		PropagationPolicy: new(metav1.DeletePropagationForeground)}
	return true, gone(actor.Do(w, http.MethodDelete, w.path, options, nil))
}

func (w *work) condition(s *batchv1.JobStatus, kind batchv1.JobConditionType, reason, message string) {
	now := metav1.NewTime(w.Clock())
	set := batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now,
		Reason: reason, Message: message}
	s.Conditions = append(slices.DeleteFunc(s.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind }),
		set)
}

func (w *work) write(s *batchv1.JobStatus) (bool, error) {
	if reflect.DeepEqual(*s, w.job.Status) {
		return false, nil
	}
	w.job.Status = *s
	return true, actor.Do(w, http.MethodPut, w.path+"/status", w.job, nil)
}
