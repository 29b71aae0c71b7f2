package upstream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/controller/cronjob"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

// cronjobs is the real controller of CronJobs.
var cronjobs = program("cronjob-controller",
	func(ctx context.Context, c *connected) (func(context.Context, int), error) {
		j, err := cronjob.NewControllerV2(ctx, c.typed.Batch().V1().Jobs(), c.typed.Batch().V1().CronJobs(), c.client)
		return j.Run, err
	})

// minutes shows a time to the minute: within one, the order of things may differ.
func minutes(t *metav1.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format("02 15:04")
}

// schedules tells of CronJobs, their Jobs, and what Events say of them, whatever their number.
func schedules(h *history.History) string {
	var out []string
	for _, o := range h.Objects("batch", "CronJob") {
		var c batchv1.CronJob
		must(o.Into(&c))
		var active []string
		for _, r := range c.Status.Active {
			active = append(active, r.Kind+" "+r.APIVersion+" "+r.Name)
		}
		out = append(out, fmt.Sprintf("%s: last %s, success %s, active %v", c.Name, minutes(c.Status.LastScheduleTime),
			minutes(c.Status.LastSuccessfulTime), active))
	}
	for _, o := range h.Objects("batch", "Job") {
		var j batchv1.Job
		must(o.Into(&j))
		line := fmt.Sprintf("job %s %v %v", j.Name, j.Labels, j.Annotations)
		for _, r := range j.OwnerReferences {
			line += fmt.Sprintf(" of %s %s, blocks %v", r.Kind, r.Name, *r.BlockOwnerDeletion)
		}
		for _, c := range j.Status.Conditions {
			line += fmt.Sprintf(", %s", c.Type)
		}
		out = append(out, line)
	}
	return strings.Join(append(out, stories(h, "CronJob")...), "\n")
}

// stories are the Events about objects of a kind, whatever their number. The real recorder names
// them by the time, so of two at one instant of virtual time one is lost: that is the one about a
// Job's end, after the one about a deletion.
func stories(h *history.History, kind string) (out []string) {
	for _, o := range h.Objects("", "Event") {
		var e corev1.Event
		must(o.Into(&e))
		if e.InvolvedObject.Kind == kind && e.Reason != "SawCompletedJob" {
			out = append(out, fmt.Sprintf("%s about %s %s by %s: %s %s", e.Type, e.InvolvedObject.APIVersion,
				e.InvolvedObject.Name, e.Source.Component, e.Reason, e.Message))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func tick(schedule, image string, change ...func(*batchv1.CronJobSpec)) *batchv1.CronJob {
	c := &batchv1.CronJob{ObjectMeta: in("shop", "tick"), Spec: batchv1.CronJobSpec{Schedule: schedule}}
	c.Spec.JobTemplate.Labels = labelled
	c.Spec.JobTemplate.Spec = work(image).Spec
	c.Spec.JobTemplate.Spec.BackoffLimit = new(int32(0))
	for _, f := range change {
		f(&c.Spec)
	}
	return c
}

func TestCronJobs(t *testing.T) {
	with := func(policy batchv1.ConcurrencyPolicy) func(*batchv1.CronJobSpec) {
		return func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = policy }
	}
	suspended := func(s *batchv1.CronJobSpec) { s.Suspend = new(true) }
	const some = 4*time.Minute + 30*time.Second
	runs := func(c *batchv1.CronJob) func(*sim.World) { return func(w *sim.World) { w.Apply(c); w.Sleep(some) } }
	for name, scenario := range map[string]func(*sim.World){
		"that succeeds": runs(tick("* * * * *", "ends")),
		"that fails":    runs(tick("*/2 * * * *", "fails")),
		"that is slow":  runs(tick("* * * * *", "web")),
		"that forbids":  runs(tick("* * * * *", "web", with(batchv1.ForbidConcurrent))),
		"that replaces": runs(tick("* * * * *", "web", with(batchv1.ReplaceConcurrent))),
		"of another zone": runs(
			tick("3 9 * * *", "ends", func(s *batchv1.CronJobSpec) { s.TimeZone = new("Asia/Tokyo") })),
		"that never comes": runs(tick("59 23 31 2 *", "ends")),
		"every while":      runs(tick("@every 100s", "ends")),
		"that is suspended and resumed": func(w *sim.World) {
			w.Apply(tick("* * * * *", "ends", suspended))
			w.Sleep(102*time.Minute + 30*time.Second)
			alter(w, tick("", ""), `{"spec":{"suspend":false}}`)
			w.Sleep(10 * time.Second)
		},
		"that is late": func(w *sim.World) {
			w.Apply(tick("*/5 * * * *", "ends", suspended,
				func(s *batchv1.CronJobSpec) { s.StartingDeadlineSeconds = new(int64(100)) }))
			w.Sleep(7 * time.Minute)
			alter(w, tick("", ""), `{"spec":{"suspend":false}}`)
			w.Sleep(some)
		},
		"that gets another schedule": func(w *sim.World) {
			w.Apply(tick("0 0 1 7 *", "ends"))
			w.Sleep(7*time.Minute + 30*time.Second)
			alter(w, tick("", ""), `{"spec":{"schedule":"*/5 * * * *"}}`)
			w.Sleep(some)
		},
		"whose Job is deleted": func(w *sim.World) {
			w.Apply(tick("0 * * * *", "web"))
			w.Sleep(time.Hour + 10*time.Second)
			var jobs batchv1.JobList
			must(w.Client().List(w.Context(), &jobs))
			for i := range jobs.Items {
				w.Remove(&jobs.Items[i])
			}
			w.Sleep(some)
		},
	} {
		t.Run(name, func(t *testing.T) { told(t, []controller{cronjobs}, scenario, schedules) })
	}
}
