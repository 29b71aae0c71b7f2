package controller

import (
	"context"
	"fmt"
	"maps"
	"sort"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ref "k8s.io/client-go/tools/reference"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	batch "tutorial.example.com/project/api/v1"
)

// CronJobReconciler reconciles a CronJob object.
type CronJobReconciler struct {
	client.Client
	Scheme *runtime.Scheme
	Clock
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

// Clock knows how to get the current time. It can be used to fake out timing for testing.
type Clock interface {
	Now() time.Time
}

var (
	scheduledTimeAnnotation = "batch.tutorial.example.com/scheduled-at"

	jobOwnerKey = ".metadata.controller"
	apiGVStr    = batch.GroupVersion.String()
)

// +kubebuilder:rbac:groups=batch.tutorial.example.com,resources=cronjobs,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=batch.tutorial.example.com,resources=cronjobs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=batch.tutorial.example.com,resources=cronjobs/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs/status,verbs=get

// Reconcile starts jobs when they are due, and removes old ones.
func (r *CronJobReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	var cronJob batch.CronJob
	if err := r.Get(ctx, req.NamespacedName, &cronJob); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	var childJobs batchv1.JobList
	if err := r.List(ctx, &childJobs, client.InNamespace(req.Namespace), client.MatchingFields{jobOwnerKey: req.Name}); err != nil {
		return ctrl.Result{}, err
	}

	var active, successful, failed []*batchv1.Job
	var mostRecent *time.Time
	for i, job := range childJobs.Items {
		switch finished(&job) {
		case "":
			active = append(active, &childJobs.Items[i])
		case batchv1.JobFailed:
			failed = append(failed, &childJobs.Items[i])
		case batchv1.JobComplete:
			successful = append(successful, &childJobs.Items[i])
		}
		scheduled, err := scheduledTime(&job)
		if err != nil {
			log.Error(err, "unable to parse schedule time for child job", "job", &job)
			continue
		}
		if scheduled != nil && (mostRecent == nil || mostRecent.Before(*scheduled)) {
			mostRecent = scheduled
		}
	}

	cronJob.Status.LastScheduleTime = nil
	if mostRecent != nil {
		cronJob.Status.LastScheduleTime = &metav1.Time{Time: *mostRecent}
	}
	cronJob.Status.Active = nil
	for _, job := range active {
		jobRef, err := ref.GetReference(r.Scheme, job)
		if err != nil {
			log.Error(err, "unable to make reference to active job", "job", job)
			continue
		}
		cronJob.Status.Active = append(cronJob.Status.Active, *jobRef)
	}
	if err := r.Status().Update(ctx, &cronJob); err != nil {
		return ctrl.Result{}, err
	}

	r.removeOld(ctx, failed, cronJob.Spec.FailedJobsHistoryLimit)
	r.removeOld(ctx, successful, cronJob.Spec.SuccessfulJobsHistoryLimit)

	if cronJob.Spec.Suspend != nil && *cronJob.Spec.Suspend {
		log.V(1).Info("cronjob suspended, skipping")
		return ctrl.Result{}, nil
	}

	missedRun, nextRun, err := r.nextSchedule(&cronJob, r.Now())
	if err != nil {
		// Wait for an update that fixes the schedule.
		log.Error(err, "unable to figure out CronJob schedule")
		return ctrl.Result{}, nil
	}
	scheduledResult := ctrl.Result{RequeueAfter: nextRun.Sub(r.Now())}
	if missedRun.IsZero() {
		return scheduledResult, nil
	}

	tooLate := false
	if s := cronJob.Spec.StartingDeadlineSeconds; s != nil {
		tooLate = missedRun.Add(time.Duration(*s) * time.Second).Before(r.Now())
	}
	if tooLate {
		log.V(1).Info("missed starting deadline for last run, sleeping till next")
		return scheduledResult, nil
	}
	if cronJob.Spec.ConcurrencyPolicy == batch.ForbidConcurrent && len(active) > 0 {
		return scheduledResult, nil
	}
	if cronJob.Spec.ConcurrencyPolicy == batch.ReplaceConcurrent {
		for _, job := range active {
			err := r.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))
			if client.IgnoreNotFound(err) != nil {
				return ctrl.Result{}, err
			}
		}
	}

	job, err := r.constructJob(&cronJob, missedRun)
	if err != nil {
		log.Error(err, "unable to construct job from template")
		return scheduledResult, nil
	}
	if err := r.Create(ctx, job); err != nil {
		return ctrl.Result{}, err
	}
	return scheduledResult, nil
}

func finished(job *batchv1.Job) batchv1.JobConditionType {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

func scheduledTime(job *batchv1.Job) (*time.Time, error) {
	raw := job.Annotations[scheduledTimeAnnotation]
	if raw == "" {
		return nil, nil
	}
	parsed, err := time.Parse(time.RFC3339, raw)
	return &parsed, err
}

// removeOld deletes the oldest jobs on a best effort basis.
func (r *CronJobReconciler) removeOld(ctx context.Context, jobs []*batchv1.Job, limit *int32) {
	if limit == nil {
		return
	}
	sort.Slice(jobs, func(i, j int) bool {
		if jobs[i].Status.StartTime == nil {
			return jobs[j].Status.StartTime != nil
		}
		return jobs[i].Status.StartTime.Before(jobs[j].Status.StartTime)
	})
	for i, job := range jobs {
		if int32(i) >= int32(len(jobs))-*limit {
			break
		}
		err := r.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			logf.FromContext(ctx).Error(err, "unable to delete old job", "job", job)
		}
	}
}

func (r *CronJobReconciler) nextSchedule(cronJob *batch.CronJob, now time.Time) (lastMissed, next time.Time, err error) {
	sched, err := cron.ParseStandard(cronJob.Spec.Schedule)
	if err != nil {
		return time.Time{}, time.Time{}, fmt.Errorf("unparseable schedule %q: %w", cronJob.Spec.Schedule, err)
	}
	earliest := cronJob.CreationTimestamp.Time
	if cronJob.Status.LastScheduleTime != nil {
		earliest = cronJob.Status.LastScheduleTime.Time
	}
	if s := cronJob.Spec.StartingDeadlineSeconds; s != nil {
		if deadline := now.Add(-time.Second * time.Duration(*s)); deadline.After(earliest) {
			earliest = deadline
		}
	}
	if earliest.After(now) {
		return time.Time{}, sched.Next(now), nil
	}
	starts := 0
	for t := sched.Next(earliest); !t.After(now); t = sched.Next(t) {
		lastMissed = t
		if starts++; starts > 100 {
			return time.Time{}, time.Time{}, fmt.Errorf("too many missed start times (> 100)")
		}
	}
	return lastMissed, sched.Next(now), nil
}

func (r *CronJobReconciler) constructJob(cronJob *batch.CronJob, scheduled time.Time) (*batchv1.Job, error) {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			// The name is the same for one nominal start time, so that a job is not made twice.
			Name:        fmt.Sprintf("%s-%d", cronJob.Name, scheduled.Unix()),
			Namespace:   cronJob.Namespace,
			Labels:      map[string]string{},
			Annotations: map[string]string{},
		},
		Spec: *cronJob.Spec.JobTemplate.Spec.DeepCopy(),
	}
	maps.Copy(job.Annotations, cronJob.Spec.JobTemplate.Annotations)
	maps.Copy(job.Labels, cronJob.Spec.JobTemplate.Labels)
	job.Annotations[scheduledTimeAnnotation] = scheduled.Format(time.RFC3339)
	return job, ctrl.SetControllerReference(cronJob, job, r.Scheme)
}

// SetupWithManager sets up the controller with the Manager.
func (r *CronJobReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Clock == nil {
		r.Clock = realClock{}
	}
	index := func(o client.Object) []string {
		owner := metav1.GetControllerOf(o.(*batchv1.Job))
		if owner == nil || owner.APIVersion != apiGVStr || owner.Kind != "CronJob" {
			return nil
		}
		return []string{owner.Name}
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &batchv1.Job{}, jobOwnerKey, index); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&batch.CronJob{}).
		Owns(&batchv1.Job{}).
		Named("cronjob").
		Complete(r)
}
