package workload_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/kubelet"
)

// cron is a CronJob whose Jobs take a while each.
func cron(schedule string, change ...func(*batchv1.CronJobSpec)) *batchv1.CronJob {
	c := &batchv1.CronJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tick"},
		Spec:       batchv1.CronJobSpec{Schedule: schedule},
	}
	c.Spec.JobTemplate.Labels, c.Spec.JobTemplate.Annotations = labelled, map[string]string{"a": "b"}
	c.Spec.JobTemplate.Spec = job(1, 0).Spec
	for _, f := range change {
		f(&c.Spec)
	}
	return c
}

// taking has containers run for so long.
func taking(d time.Duration) kubelet.Option {
	return kubelet.Plans(func(p *corev1.Pod, _ int, plan kubelet.Plan) kubelet.Plan {
		plan.Run = d
		if p.Spec.Containers[0].Image == "fails" {
			plan.Exit = 1
		}
		return plan
	})
}

// ticks are the times of a CronJob's Jobs that are there, and how each stands.
func ticks(t *testing.T, c *actortest.Cluster) string {
	t.Helper()
	var out []string
	for _, j := range read[batchv1.JobList](t, c, path("batch", "jobs", "")).Items {
		how := "runs"
		for _, cond := range j.Status.Conditions {
			if cond.Status == corev1.ConditionTrue &&
				(cond.Type == batchv1.JobComplete || cond.Type == batchv1.JobFailed) {
				how = string(cond.Type)
			}
		}
		at, err := time.Parse(time.RFC3339, j.Annotations[batchv1.CronJobScheduledTimestampAnnotation])
		if err != nil || j.Name != fmt.Sprintf("tick-%d", at.Unix()/60) || j.Annotations["a"] != "b" ||
			j.Labels["app"] != "web" {
			t.Errorf("Job %s for %v: %+v", j.Name, err, j.ObjectMeta)
		}
		out = append(out, at.Format("15:04")+" "+how)
	}
	return strings.Join(out, ", ")
}

// events are the reasons of the Events there are, each with how often it was told.
func events(t *testing.T, c *actortest.Cluster) []string {
	t.Helper()
	count := map[string]int32{}
	for _, e := range read[corev1.EventList](t, c, path("", "events", "")).Items {
		count[e.Reason] += e.Count
	}
	var out []string
	for reason, n := range count {
		out = append(out, fmt.Sprint(reason, " ", n))
	}
	slices.Sort(out)
	return out
}

func patchCron(t *testing.T, c *actortest.Cluster, spec map[string]any) {
	t.Helper()
	do(t, c, http.MethodPatch, path("batch", "cronjobs", "tick"), map[string]any{"spec": spec}, nil)
}

func TestCronJobMakesJobs(t *testing.T) {
	c := cluster(taking(3 * time.Second))
	do(t, c, http.MethodPost, path("batch", "cronjobs", ""),
		cron("*/5 * * * *", func(s *batchv1.CronJobSpec) { s.SuccessfulJobsHistoryLimit = new(int32(2)) }), nil)
	c.Run(5*time.Minute + 2*time.Second)
	s := read[batchv1.CronJob](t, c, path("batch", "cronjobs", "tick")).Status
	if got := ticks(t, c); got != "00:05 runs" || len(s.Active) != 1 || s.Active[0].Kind != "Job" ||
		s.LastScheduleTime.UTC().Format("15:04:05") != "00:05:00" {
		t.Fatalf("after five minutes: %s, %+v", got, s)
	}
	c.Run(20 * time.Minute)
	s = read[batchv1.CronJob](t, c, path("batch", "cronjobs", "tick")).Status
	if got := ticks(t, c); got != "00:15 Complete, 00:20 Complete, 00:25 runs" {
		t.Errorf("after 25 minutes: %s", got)
	}
	if s.LastSuccessfulTime.UTC().Format("15:04") != "00:20" {
		t.Errorf("after 25 minutes: %+v", s)
	}
	if got, want := events(t, c),
		[]string{"SawCompletedJob 4", "SuccessfulCreate 5", "SuccessfulDelete 2"}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	do(t, c, http.MethodDelete, path("batch", "cronjobs", "tick"),
		metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}, nil)
	c.Run(time.Hour)
	if got := ticks(t, c); got != "" || len(pods(t, c)) > 0 {
		t.Errorf("of a CronJob that has gone there are left %s", got)
	}
}

func TestCronJobConcurrency(t *testing.T) {
	for policy, want := range map[batchv1.ConcurrencyPolicy]string{
		batchv1.AllowConcurrent:   "00:01 runs, 00:02 runs, 00:03 runs",
		batchv1.ForbidConcurrent:  "00:01 runs",
		batchv1.ReplaceConcurrent: "00:03 runs",
	} {
		t.Run(string(policy), func(t *testing.T) {
			c := cluster(taking(time.Hour))
			do(t, c, http.MethodPost, path("batch", "cronjobs", ""),
				cron("* * * * *", func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = policy }), nil)
			c.Run(3*time.Minute + 50*time.Second)
			if got := ticks(t, c); got != want {
				t.Errorf("there are %s, want %s; events %v", got, want, events(t, c))
			}
			active := read[batchv1.CronJob](t, c, path("batch", "cronjobs", "tick")).Status.Active
			if len(active) != strings.Count(want, "runs") {
				t.Errorf("%d active", len(active))
			}
		})
	}
}

func TestCronJobSuspended(t *testing.T) {
	c := cluster(taking(3 * time.Second))
	do(t, c, http.MethodPost, path("batch", "cronjobs", ""),
		cron("* * * * *", func(s *batchv1.CronJobSpec) { s.Suspend = new(true) }), nil)
	c.Run(130 * time.Minute)
	if got := ticks(t, c); got != "" {
		t.Fatalf("while it was suspended: %s", got)
	}
	patchCron(t, c, map[string]any{"suspend": false})
	c.Run(2 * time.Second)
	if got := ticks(t, c); got != "02:10 runs" {
		t.Errorf("the latest of those that were missed should have been made up for: %s", got)
	}
	if got := strings.Join(events(t, c), " "); !strings.Contains(got, "TooManyMissedTimes") {
		t.Errorf("events %s", got)
	}
}

func TestCronJobDeadline(t *testing.T) {
	c := cluster(taking(3 * time.Second))
	do(t, c, http.MethodPost, path("batch", "cronjobs", ""), cron("*/10 * * * *", func(s *batchv1.CronJobSpec) {
		s.Suspend, s.StartingDeadlineSeconds = new(true), new(int64(30))
	}), nil)
	c.Run(11 * time.Minute)
	patchCron(t, c, map[string]any{"suspend": false})
	c.Run(2 * time.Second)
	if got := ticks(t, c); got != "" {
		t.Errorf("too late, and still there are %s", got)
	}
	c.Run(9*time.Minute + 30*time.Second)
	if got := ticks(t, c); got != "00:20 Complete" {
		t.Errorf("after 20 minutes: %s", got)
	}
}

func TestCronJobIsRescheduled(t *testing.T) {
	c := cluster(taking(3 * time.Second))
	do(t, c, http.MethodPost, path("batch", "cronjobs", ""), cron("0 0 1 7 *"), nil)
	c.Run(12*time.Minute + 30*time.Second)
	patchCron(t, c, map[string]any{"schedule": "*/5 * * * *"})
	c.Run(time.Minute)
	if got := ticks(t, c); got != "" {
		t.Errorf("what the new schedule would have had done before was made up for: %s", got)
	}
	c.Run(2 * time.Minute)
	if got := ticks(t, c); got != "00:15 Complete" {
		t.Errorf("after a quarter: %s", got)
	}
}

func TestCronJobTimeZone(t *testing.T) {
	c := cluster(taking(3 * time.Second))
	do(t, c, http.MethodPost, path("batch", "cronjobs", ""),
		cron("30 3 * * *", func(s *batchv1.CronJobSpec) { s.TimeZone = new("Europe/Helsinki") }), nil)
	c.Run(24 * time.Hour)
	jobs := read[batchv1.JobList](t, c, path("batch", "jobs", "")).Items
	const at = batchv1.CronJobScheduledTimestampAnnotation
	if len(jobs) != 1 || jobs[0].Annotations[at] != "2000-01-01T03:30:00+02:00" {
		t.Errorf("jobs %+v", jobs)
	}
}

// TestCronJobNever has schedules of which nothing comes, and says why.
func TestCronJobNever(t *testing.T) {
	for want, change := range map[string]func(*batchv1.CronJobSpec){
		"InvalidSchedule 1": func(s *batchv1.CronJobSpec) { s.Schedule = "59 23 31 2 *" },
	} {
		t.Run(want, func(t *testing.T) {
			c := cluster()
			do(t, c, http.MethodPost, path("batch", "cronjobs", ""), cron("* * * * *", change), nil)
			c.Run(time.Hour)
			if got := events(t, c); !slices.Equal(got, []string{want}) || ticks(t, c) != "" {
				t.Errorf("events %v and Jobs %s, want %s", got, ticks(t, c), want)
			}
		})
	}
}

func TestCronJobHistory(t *testing.T) {
	c := cluster(taking(3 * time.Second))
	do(t, c, http.MethodPost, path("batch", "cronjobs", ""), cron("* * * * *", func(s *batchv1.CronJobSpec) {
		s.FailedJobsHistoryLimit, s.JobTemplate.Spec.Template.Spec.Containers[0].Image = new(int32(2)), "fails"
	}), nil)
	c.Run(5*time.Minute + 30*time.Second)
	if got := ticks(t, c); got != "00:04 Failed, 00:05 Failed" {
		t.Errorf("kept: %s", got)
	}
	if s := read[batchv1.CronJob](t, c, path("batch", "cronjobs", "tick")).Status; s.LastSuccessfulTime != nil ||
		len(s.Active) > 0 {
		t.Errorf("status: %+v", s)
	}
}
