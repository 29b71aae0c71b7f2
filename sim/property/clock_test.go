package property_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

// Backups makes a Job in each hour after a schedule was created. It deletes old Jobs. The schedule
// is a ConfigMap.
type Backups struct {
	client.Client
	forgetful bool // it does not look whether the newer Jobs succeeded
}

func (b *Backups) SetupWithManager(mgr ctrl.Manager) error {
	b.Client = mgr.GetClient()
	return ctrl.NewControllerManagedBy(mgr).Named("backups").For(&corev1.ConfigMap{}).Complete(b)
}

func (b *Backups) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var s corev1.ConfigMap
	if err := b.Get(ctx, req.NamespacedName, &s); err != nil || s.Data["suspend"] == "yes" {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	made, _ := strconv.Atoi(s.Annotations["made"])
	due := func() time.Duration { return time.Duration(made)*time.Hour - time.Since(s.CreationTimestamp.Time) }
	for ; due() <= 0; made++ { // what was missed is made up for
		if err := client.IgnoreAlreadyExists(b.Create(ctx, backup(made))); err != nil {
			return reconcile.Result{}, err
		}
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"made":"%d"}}}`, made)
	if err := b.Patch(ctx, &s, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: due()}, b.prune(ctx, made)
}

// prune deletes the Jobs before the newest one. It keeps the last that succeeded. A Job that was
// pruned before it was recorded would be made again after a crash.
func (b *Backups) prune(ctx context.Context, made int) error {
	var jobs batchv1.JobList
	if err := b.List(ctx, &jobs); err != nil {
		return err
	}
	slices.SortFunc(jobs.Items, func(x, y batchv1.Job) int { return cmp.Compare(y.Name, x.Name) }) // newest first
	kept := b.forgetful
	for _, j := range jobs.Items {
		if good := j.Status.Succeeded > 0; j.Name == backup(made-1).Name || good && !kept {
			kept = kept || good
			continue
		}
		err := b.Delete(ctx, &j, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func backup(number int) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: named(fmt.Sprintf("backup-%d", number))}
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	j.Spec.Template.Spec.Containers = []corev1.Container{{Name: "backup", Image: "backup"}}
	return j
}

func schedule(suspend string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: named("hourly"), Data: map[string]string{"suspend": suspend}}
}

func TestHourlyBackups(t *testing.T) {
	sim.Check(t, func(w *sim.World) { hourlyBackups(w, &Backups{}) }, sim.Runs(20), sim.For(0))
	r := sim.Explore(t, func(w *sim.World) { hourlyBackups(w, &Backups{forgetful: true}) }, sim.Runs(300), sim.For(0),
		sim.Shrink(0))
	if r.Failure == nil || r.Failure.Property != "a good backup is left" {
		t.Fatalf("the operator that deletes the last good backup is not found in %d runs: %+v", r.Runs, r.Failure)
	}
	t.Logf("run %d: %s", r.Runs, r.Failure.Text())
}

// The scenario of docs/clock.md, which shows everything from here on.
func hourlyBackups(w *sim.World, operator *Backups) {
	w.Builtin(append(workload.New(), kubelet.New()...)...)
	w.Start("backups", operator.SetupWithManager)
	jobs := history.Ref{Kind: "Job"}
	w.Always("a backup each hour", property.CreatedEachPeriod(jobs, time.Hour, 6*time.Minute, suspended))
	w.Eventually("three backups in all", property.CreatedExactly(jobs, 3))
	w.Eventually("a good backup is left", func(h *history.History) error {
		for _, job := range history.List[batchv1.Job](h) {
			if job.Status.Succeeded > 0 {
				return nil
			}
		}
		return errors.New("no Job that exists has succeeded")
	})

	w.Apply(schedule("no"))
	w.Sleep(30 * time.Minute) // the first backup succeeds: no faults have been declared
	w.Inject(fault.Crash("backups"), fault.StaleCache(30*time.Second), fault.FailedPod())
	w.Sleep(2 * time.Hour) // two backups under faults
	w.EndFaults()
	w.Sleep(20 * time.Minute) // what a crash has delayed is made up for before the next period
	w.Apply(schedule("yes"))
	w.Settle()
}

// suspended reports whether no backup is expected now.
func suspended(h *history.History) bool {
	s, exists := history.Get[corev1.ConfigMap](h, "default", "hourly")
	return !exists || s.Data["suspend"] == "yes"
}
