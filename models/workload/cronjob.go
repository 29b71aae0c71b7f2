package workload

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// timetable is a CronJob and its Jobs, at one look.
type timetable struct {
	*controller
	cj      *batchv1.CronJob
	path    string
	jobs    []batchv1.Job
	changed bool // the status is to be written
}

// aboutCronJobs is how Events refer to a CronJob.
var aboutCronJobs = corev1.ObjectReference{APIVersion: "batch/v1", Kind: "CronJob"}

// syncCronJob follows pkg/controller/cronjob/cronjob_controllerv2.go, sync. What upstream does in
// one pass is one step here: old Jobs go, one is made, and the status says so.
func syncCronJob(c *controller, namespace, name string) (time.Duration, error) {
	t := &timetable{controller: c, path: actor.Path("batch", "v1", namespace, "cronjobs", name)}
	if t.cj = read[batchv1.CronJob](c, t.path); t.cj == nil {
		return 0, nil
	}
	all, err := actor.List[batchv1.Job](c, jobPath(namespace, ""))
	if err != nil {
		return 0, err
	}
	for i := range all {
		if metav1.IsControlledBy(&all[i], t.cj) {
			t.jobs = append(t.jobs, all[i])
		}
	}
	t.deleteFinished()
	wait, failed := t.run()
	if t.changed {
		if err := actor.Do(c, http.MethodPut, t.path+"/status", t.cj, nil); err != nil {
			return 0, err
		}
	}
	if failed == nil && wait != nil {
		c.schedule(namespace+"/"+name, *wait)
	}
	return 0, failed
}

func jobPath(namespace, name string) string {
	return actor.Path("batch", "v1", namespace, "jobs", name)
}

func (t *timetable) event(kind, reason, format string, args ...any) {
	t.tell(t.cj, aboutCronJobs, kind, reason, format, args...)
}

// deleteFinished deletes the Jobs that exceed the history (cleanupFinishedJobs).
func (t *timetable) deleteFinished() {
	t.keep(batchv1.JobComplete, t.cj.Spec.SuccessfulJobsHistoryLimit)
	t.keep(batchv1.JobFailed, t.cj.Spec.FailedJobsHistoryLimit)
}

// keep deletes the oldest Jobs that ended in one way and keeps as many as the limit allows
// (removeOldestJobs).
func (t *timetable) keep(kind batchv1.JobConditionType, limit *int32) {
	if limit == nil {
		return
	}
	var ended []*batchv1.Job
	for i := range t.jobs {
		if outcome(&t.jobs[i]) == kind {
			ended = append(ended, &t.jobs[i])
		}
	}
	slices.SortStableFunc(ended, func(a, b *batchv1.Job) int { // byJobStartTime: one that never started is the youngest
		x, y := a.Status.StartTime, b.Status.StartTime
		switch {
		case x == nil && y != nil:
			return 1
		case x != nil && y == nil:
			return -1
		case x.Equal(y):
			return strings.Compare(a.Name, b.Name)
		}
		return x.Compare(y.Time)
	})
	for _, j := range ended[:max(len(ended)-int(*limit), 0)] {
		t.changed = t.drop(j) || t.changed
	}
}

// outcome is the condition with which a Job has ended, "" if it has not.
func outcome(j *batchv1.Job) batchv1.JobConditionType {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

// drop deletes a Job and its pods (deleteJob).
func (t *timetable) drop(j *batchv1.Job) bool {
	options := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
	if err := actor.Do(t, http.MethodDelete, jobPath(j.Namespace, j.Name), options, nil); err != nil {
		t.event(corev1.EventTypeWarning, "FailedDelete", "Deleted job: %v", err)
		return false
	}
	t.forget(j.UID)
	t.event(corev1.EventTypeNormal, "SuccessfulDelete", "Deleted job %v", j.Name)
	return true
}

func (t *timetable) lists(uid types.UID) bool {
	return slices.ContainsFunc(t.cj.Status.Active, func(r corev1.ObjectReference) bool { return r.UID == uid })
}

func (t *timetable) forget(uid types.UID) {
	t.cj.Status.Active = slices.DeleteFunc(slices.Clone(t.cj.Status.Active),
		func(r corev1.ObjectReference) bool { return r.UID == uid })
}

// count brings the active Jobs and the last success up to date (the first part of upstream's
// syncCronJob).
func (t *timetable) count() {
	known := map[types.UID]bool{}
	for i := range t.jobs {
		j := &t.jobs[i]
		known[j.UID] = true
		end, listed := outcome(j), t.lists(j.UID)
		if end == "" {
			if !listed {
				t.event(corev1.EventTypeWarning, "UnexpectedJob",
					"Saw a job that the controller did not create or forgot: %s", j.Name)
			}
			continue
		}
		if listed {
			t.forget(j.UID)
			t.event(corev1.EventTypeNormal, "SawCompletedJob", "Saw completed job: %s, condition: %v", j.Name, end)
			t.changed = true
		}
		s, at := &t.cj.Status, j.Status.CompletionTime
		if end == batchv1.JobComplete &&
			(s.LastSuccessfulTime == nil || at != nil && at.After(s.LastSuccessfulTime.Time)) {
			s.LastSuccessfulTime, t.changed = at, true
		}
	}
	for _, r := range t.cj.Status.Active {
		if known[r.UID] || read[batchv1.Job](t.controller, jobPath(r.Namespace, r.Name)) != nil {
			continue
		}
		t.event(corev1.EventTypeNormal, "MissingJob", "Active job went missing: %v", r.Name)
		t.forget(r.UID)
		t.changed = true
	}
}

// run starts the Job whose time has come, if there is one, and says when to look again; nil is
// never (upstream's syncCronJob).
func (t *timetable) run() (*time.Duration, error) {
	if t.count(); t.cj.DeletionTimestamp != nil {
		return nil, nil
	}
	if t.cj.Spec.Suspend != nil && *t.cj.Spec.Suspend {
		return nil, nil
	}
	times, err := parse(t.cj)
	if err != nil {
		return nil, err
	}
	now := t.Clock().UTC()
	_, due, missed, err := latest(t.cj, now, times, true)
	switch {
	case due != nil && !t.season: // whatever made us look, what is begun is begun in a step that no world waits for
		return new(time.Duration(0)), nil
	case due == nil && err != nil:
		t.event(corev1.EventTypeWarning, "InvalidSchedule", "invalid schedule: %s : %s", t.cj.Spec.Schedule, err)
		return nil, nil
	case due != nil && missed > tooMany:
		t.event(corev1.EventTypeWarning, "TooManyMissedTimes",
			"too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
	if due != nil {
		if looks, err := t.start(*due, now); !looks || err != nil {
			return nil, err
		}
	}
	return new(untilNext(t.cj, now, times)), nil
}

// start makes the Job of one scheduled time, unless something is against it. It reports whether the
// next time is to be waited for.
func (t *timetable) start(due, now time.Time) (bool, error) {
	name := t.cj.Name + "-" + strconv.FormatInt(due.Unix()/60, 10) // getJobName: so that none is made twice
	s, active := &t.cj.Spec, t.cj.Status.Active
	switch {
	case s.StartingDeadlineSeconds != nil && due.Add(time.Duration(*s.StartingDeadlineSeconds)*time.Second).Before(now):
		t.event(corev1.EventTypeWarning, "MissSchedule", "Missed scheduled time to start a job: %s",
			due.UTC().Format(time.RFC1123Z))
		return true, nil
	case slices.ContainsFunc(active,
		func(r corev1.ObjectReference) bool { return r.Name == name && r.Namespace == t.cj.Namespace }) ||
		t.cj.Status.LastScheduleTime.Equal(&metav1.Time{Time: due}):
		return true, nil
	case s.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(active) > 0:
		t.event(corev1.EventTypeNormal, "JobAlreadyActive",
			"Not starting job because prior execution is running and concurrency policy is Forbid")
		return true, nil
	case s.ConcurrencyPolicy == batchv1.ReplaceConcurrent:
		for _, r := range active {
			var j batchv1.Job
			if !actor.Get(t, jobPath(r.Namespace, r.Name), &j) {
				t.event(corev1.EventTypeWarning, "FailedGet", "Get job: %v", r.Name)
				return false, apierrors.NewNotFound(batchv1.Resource("jobs"), r.Name)
			}
			if !t.drop(&j) {
				return false, errors.New("could not replace job " + r.Namespace + "/" + r.Name)
			}
			t.changed = true
		}
	}
	j, err := jobOf(t.cj, name, due)
	if err != nil {
		return false, err
	}
	var made batchv1.Job
	err = actor.Do(t, http.MethodPost, jobPath(t.cj.Namespace, ""), j, &made)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return false, err
	case apierrors.IsAlreadyExists(err): // made earlier, but the status could not be written; or another owner's
		if !actor.Get(t, jobPath(t.cj.Namespace, name), &made) || !metav1.IsControlledBy(&made, t.cj) ||
			t.lists(made.UID) {
			return false, nil
		}
	case err != nil:
		t.event(corev1.EventTypeWarning, "FailedCreate", "Error creating job: %v", err)
		return false, err
	default:
		t.event(corev1.EventTypeNormal, "SuccessfulCreate", "Created job %v", made.Name)
	}
	t.cj.Status.Active = append(t.cj.Status.Active, corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job",
		Namespace: made.Namespace, Name: made.Name, UID: made.UID, ResourceVersion: made.ResourceVersion})
	t.cj.Status.LastScheduleTime, t.changed = &metav1.Time{Time: due}, true
	return true, nil
}

// reschedule takes in a change that gives a CronJob another schedule: it is looked at when that
// comes round, so that what the new one would have had done before is not made up for. It reports
// whether the change was one (updateCronJob).
func reschedule(c *controller, ch apiserver.Change) bool {
	var now, before batchv1.CronJob
	if ch.Type != "MODIFIED" || !actor.Decode(ch.Object, &now) || !actor.Decode(ch.Previous, &before) ||
		now.Spec.Schedule == before.Spec.Schedule && same(now.Spec.TimeZone, before.Spec.TimeZone) {
		return false
	}
	if times, err := parse(&now); err == nil {
		c.schedule(now.Namespace+"/"+now.Name, max(untilNext(&now, c.Clock().UTC(), times), 0))
	}
	return true
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
