package workload

import (
	"errors"
	"maps"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Upstream looks a moment after the scheduled time, for clocks that differ (nextScheduleDelta), and
// warns when more than so many times have been missed (mostRecentScheduleTime).
const (
	scheduleSlack = 100 * time.Millisecond
	tooMany       = 100
)

// parse reads a CronJob's schedule, with the parser that upstream uses (formatSchedule). The API
// server has refused what cannot be read. Without a time zone it is UTC, where most control planes
// run.
func parse(cj *batchv1.CronJob) (cron.Schedule, error) {
	schedule := cj.Spec.Schedule
	if zone := cj.Spec.TimeZone; zone != nil {
		schedule = "TZ=" + *zone + " " + schedule
	}
	return cron.ParseStandard(schedule)
}

// latest looks from one time on for the most recent time at which a Job should have been made, nil
// if there is none, and says roughly how many have been missed (utils.go, mostRecentScheduleTime).
func latest(
	cj *batchv1.CronJob, now time.Time, times cron.Schedule, deadline bool,
) (from time.Time, due *time.Time, missed int64, err error) {
	from = cj.CreationTimestamp.UTC()
	if last := cj.Status.LastScheduleTime; last != nil {
		from = last.UTC()
	}
	if seconds := cj.Spec.StartingDeadlineSeconds; deadline && seconds != nil {
		from = later(from, now.Add(-time.Duration(*seconds)*time.Second))
	}
	first := times.Next(from)
	second := times.Next(first)
	if now.Before(first) {
		return from, nil, 0, nil
	}
	if now.Before(second) {
		return from, &first, 0, nil
	}
	// A schedule like "59 23 31 2 *" can be parsed and never comes.
	between := int64(second.Sub(first).Round(time.Second).Seconds())
	if between < 1 {
		return from, nil, 0, errors.New("time difference between two schedules is less than 1 second")
	}
	missed = int64(now.Sub(first).Seconds())/between + 1
	// One time unit further back than the last by this count, as the times need not be equally far
	// from each other.
	for t := times.Next(first.Add(time.Duration((missed-2)*between) * time.Second)); !t.After(now); t = times.Next(t) {
		due = &t
	}
	return from, due, missed, nil
}

// untilNext is how long it is until the schedule comes round (nextScheduleTimeDuration).
func untilNext(cj *batchv1.CronJob, now time.Time, times cron.Schedule) time.Duration {
	from, due, missed, err := latest(cj, now, times, false)
	switch {
	case err != nil || due == nil && missed > 0:
		due = &now
	case due == nil:
		due = &from
	}
	return times.Next(*due).Add(scheduleSlack).Sub(now)
}

// jobOf is the Job of one scheduled time (getJobFromTemplate2).
func jobOf(cj *batchv1.CronJob, name string, due time.Time) (*batchv1.Job, error) {
	zone := ""
	if cj.Spec.TimeZone != nil {
		zone = *cj.Spec.TimeZone
	}
	where, err := time.LoadLocation(zone)
	if err != nil {
		return nil, err
	}
	template := cj.Spec.JobTemplate.DeepCopy()
	annotations := map[string]string{}
	maps.Copy(annotations, template.Annotations)
	annotations[batchv1.CronJobScheduledTimestampAnnotation] = due.In(where).Format(time.RFC3339)
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Namespace: cj.Namespace, Name: name, Labels: template.Labels,
			Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cj,
				batchv1.SchemeGroupVersion.WithKind("CronJob"))}},
		Spec: template.Spec,
	}, nil
}

// schedule looks at an object in a while, or earlier if that has been asked for, as a delaying
// queue does (client-go/util/workqueue/delaying_queue.go). A world does not wait for it in order to
// settle.
func (c *controller) schedule(key string, wait time.Duration) {
	due := c.Now() + wait
	if before, waits := c.due[key]; waits && before <= due {
		return
	}
	c.due[key] = due
	c.Later(wait, "schedule of "+c.kind+" "+key, func() {
		delete(c.due, key)
		c.season = true
		c.step(key)
		c.season = false
	})
}
