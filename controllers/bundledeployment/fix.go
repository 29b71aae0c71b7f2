// This file holds the fixed variant, V4: how a release is applied so that failures settle,
// interruptions heal and no worker ever waits. It is meant to be copied, with controller.go and
// bundle.go.
//
// The release records say all that it needs to know, so that it may die anywhere and continue:
//
//   - The newest record names the process that may write, and until when. A process holds the
//     record before it installs, upgrades, repairs or removes, and writes nothing after that time.
//     If two processes believe that they are the leader, one of them acts and the other one waits.
//   - The record says how the last attempt ended. One that is pending or half undone, although the
//     time for it is over, was made by a process that is gone. It counts as failed.
//   - A label counts the attempts that have failed in a row. With the time of the attempt it says
//     when the next one is due. Only a change of what is wanted makes that sooner. Events of
//     objects that are being removed do not, nor does a restart, which would empty the work queue's
//     memory of failures. Nor does a chart that renders something else each time: it is known by
//     its content. Reconciles that failed before they came to an attempt count as well.
//   - Another label records whether the release was ever deployed. As long as it was not, what a
//     failed attempt has made is removed before the next one. Afterwards nothing is removed or
//     rolled back: an upgrade may have done what cannot be undone.
//   - An attempt that needs more time than one reconcile has is resumed by the next one. An attempt
//     with a chart that has hooks is repeated instead, because resuming would leave them out.
//   - Objects of failed upgrades that are not wanted any more are deleted when one has succeeded,
//     because Helm compares with one record only.
//
// Hooks are the one thing that a worker waits for, and no longer than a reconcile may write. What
// asks to be kept (helm.sh/resource-policy) is kept.
//
// A failed attempt is not an error to the work queue, which would count failures of its own: it
// ends in a status that names the cause, and in a RequeueAfter.
//
// Deployments are read from the server, not from the cache. Events of the operator's own status
// writes are dropped. So a reconcile that finds in an old status what it was about to write would
// write nothing, although the newest status says something else, and no event would tell it. Whose
// a deployment is, is looked at here as well: the predicate drops events of those that are another
// provisioner's, but not timers, nor events of what has been installed.

package bundledeployment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/controllers/internal/release"
)

// Labels of the release records. Helm copies those of one revision to the next.
const (
	// FailuresLabel counts the attempts up to this one that have failed, or will have when it
	// fails.
	FailuresLabel = "core.rukpak.io/failures"
	// GenerationLabel is the generation of the deployment that an attempt was made for.
	GenerationLabel = "core.rukpak.io/generation"
	// ChartLabel is the digest of the chart and the values that an attempt was made with.
	ChartLabel = "core.rukpak.io/chart"
	// WholeLabel says that some revision before this one was deployed.
	WholeLabel = "core.rukpak.io/was-deployed"
	// PrunedLabel says that nothing is left of what revisions before this one have made and it does
	// not have.
	PrunedLabel = "core.rukpak.io/pruned"
)

const (
	// firstDelay and maxDelay bound the time between two attempts, as in the work queue's
	// default.
	firstDelay, maxDelay = 5 * time.Millisecond, 1000 * time.Second
	// lookAgain is how soon to see whether what is being removed is gone.
	lookAgain = 5 * time.Second
)

// applyWhenDue installs, upgrades or repairs the release, or returns when that is due. If it
// returns no release and no error, the deployment has to wait.
func (p *pass) applyWhenDue(ctx context.Context) (*helmrelease.Release, ctrl.Result, error) {
	last, err := p.client.Get()
	if err != nil {
		return nil, ctrl.Result{}, p.failed(v1alpha1.ErrorGettingReleaseState, err)
	}
	installed, result, err := p.whenDue(ctx, last)
	if err == nil && installed != nil {
		err = p.prune(installed)
	}
	wait := release.Later(0)
	if !errors.As(err, &wait) {
		return installed, result, err
	}
	unfinished := last != nil && (last.Info.Status.IsPending() || last.Info.Status == helmrelease.StatusUninstalling)
	silent := apimeta.FindStatusCondition(p.bd.Status.Conditions, v1alpha1.Installed) == nil
	if silent || wait > release.AtOnce && unfinished {
		_ = p.failed(v1alpha1.ReconcileFailed, errors.New(
			"the last attempt was interrupted, or another process is still at it; it is given time to stop"))
	}
	return nil, ctrl.Result{RequeueAfter: time.Duration(wait)}, nil
}

func (p *pass) whenDue(ctx context.Context, last *helmrelease.Release) (*helmrelease.Release, ctrl.Result, error) {
	if last == nil {
		return p.attempt(ctx, nil)
	}
	if last.Info.Status.IsPending() && p.held.Mine(recordOf(last)) && !release.Hooked(last) {
		return p.resume(ctx, last)
	}
	if err := p.closeRecord(last); err != nil {
		return nil, ctrl.Result{}, p.failed(v1alpha1.ReconcileFailed, err)
	}
	if last.Info.Status == helmrelease.StatusDeployed {
		return p.keep(ctx, last)
	}
	wait, err := p.wait(last)
	if err != nil || wait > 0 {
		return nil, ctrl.Result{RequeueAfter: wait}, err
	}
	return p.attempt(ctx, last)
}

// wait writes into the status why an attempt has failed, removes what it must not leave, and
// returns how long the next one has to wait.
func (p *pass) wait(failed *helmrelease.Release) (time.Duration, error) {
	_ = p.failed(reasonOf(wasDeployed(failed)), errors.New(failed.Info.Description))
	left, err := p.removeRemains(failed)
	if err != nil {
		return 0, p.failed(v1alpha1.ReconcileFailed, fmt.Errorf("removing what a failed attempt has made: %w", err))
	}
	return p.next(failed, left), nil
}

// prune deletes objects of failed upgrades that Helm has not deleted.
func (p *pass) prune(deployed *helmrelease.Release) error {
	if deployed.Labels[PrunedLabel] == "true" {
		return nil
	}
	if err := p.hold(deployed)(); err != nil {
		return err
	}
	if err := p.client.Prune(deployed); err != nil {
		return p.failed(v1alpha1.ReconcileFailed, err)
	}
	deployed.Labels = labels.Merge(deployed.Labels, labels.Set{PrunedLabel: "true"})
	if err := p.client.Config.Releases.Update(deployed); err != nil {
		return p.failed(v1alpha1.ReconcileFailed, fmt.Errorf("noting that nothing is left of older objects: %w", err))
	}
	return nil
}

// keep upgrades a deployed release if the deployment wants other content, and repairs it if not.
func (p *pass) keep(ctx context.Context, deployed *helmrelease.Release) (*helmrelease.Release, ctrl.Result, error) {
	if deployed.Labels[ChartLabel] != release.Digest(p.chart, p.values) {
		upgrade, err := p.client.NeedsUpgrade(deployed, p.chart, p.values)
		if err != nil {
			return nil, ctrl.Result{}, p.failed(v1alpha1.ErrorGettingReleaseState, err)
		}
		if upgrade {
			return p.attempt(ctx, deployed)
		}
	}
	if err := p.client.Reconcile(deployed, p.hold(deployed)); err != nil {
		return nil, ctrl.Result{}, p.failed(v1alpha1.ReconcileFailed, err)
	}
	return deployed, ctrl.Result{}, nil
}

// hold makes this process the one that may write, by the newest record as this reconcile has read
// it first.
func (p *pass) hold(newest *helmrelease.Release) func() error {
	return func() error { return p.held.Hold(recordOf(newest)) }
}

// recordOf is the name of Helm's Secret.
func recordOf(r *helmrelease.Release) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", r.Name, r.Version)
}

// attempt installs or upgrades, and counts the attempt as a failure until it succeeds.
func (p *pass) attempt(ctx context.Context, last *helmrelease.Release) (*helmrelease.Release, ctrl.Result, error) {
	failures := 1
	whole := p.bd.Status.ActiveBundle != "" // it was installed, whatever has become of its records
	run := p.client.Install
	if last != nil {
		whole = whole || wasDeployed(last)
		if last.Info.Status != helmrelease.StatusDeployed && last.Labels[GenerationLabel] == p.generation() {
			failures += failuresOf(last)
		}
		if err := p.hold(last)(); err != nil {
			return nil, ctrl.Result{}, err
		}
		run = p.client.Upgrade
	}
	failures = max(failures, p.requeues.NumRequeues(p.req)+1)
	p.client.Labels = map[string]string{
		FailuresLabel: strconv.Itoa(failures), WholeLabel: strconv.FormatBool(whole), GenerationLabel: p.generation(),
		ChartLabel: release.Digest(p.chart, p.values), PrunedLabel: strconv.FormatBool(last == nil)}
	made, err := run(p.chart, p.values)
	if err == nil {
		return made, ctrl.Result{}, nil
	}
	log.FromContext(ctx).Error(err, "the attempt failed", "release", p.bd.Name, "failures", failures)
	return p.afterFailure(reasonOf(whole), err, last)
}

func reasonOf(whole bool) string {
	if whole {
		return v1alpha1.UpgradeFailed
	}
	return v1alpha1.InstallFailed
}

// resume finishes an attempt of this process that ran out of time, or whose end could not be
// recorded.
func (p *pass) resume(ctx context.Context, begun *helmrelease.Release) (*helmrelease.Release, ctrl.Result, error) {
	_ = p.failed(v1alpha1.ReconcileFailed, errors.New("the last attempt was not finished in time; it is resumed"))
	if err := p.hold(begun)(); err != nil {
		return nil, ctrl.Result{}, err
	}
	if err := p.client.Resume(begun); err != nil {
		log.FromContext(ctx).Error(err, "resuming the attempt failed", "release", p.bd.Name)
		return p.afterFailure(reasonOf(wasDeployed(begun)), err, nil)
	}
	return nil, ctrl.Result{}, release.AtOnce // something else may be wanted by now
}

// afterFailure closes the record of a failed attempt and returns when the next one is due. last is
// the record before it, if there was one.
func (p *pass) afterFailure(
	reason string, err error, last *helmrelease.Release,
) (*helmrelease.Release, ctrl.Result, error) {
	if errors.Is(err, release.ErrTooLate) {
		return nil, ctrl.Result{}, release.AtOnce
	}
	_ = p.failed(reason, err)
	failed, err := p.client.Get()
	if err != nil {
		return nil, ctrl.Result{}, err
	}
	if failed == nil || last != nil && failed.Version == last.Version {
		// No record was made, so nothing was touched, and only the queue can count.
		return nil, ctrl.Result{}, fmt.Errorf("%s: see the condition %s", reason, v1alpha1.Installed)
	}
	if err := p.closeRecord(failed); err != nil {
		return nil, ctrl.Result{}, p.failed(v1alpha1.ReconcileFailed, err)
	}
	wait, err := p.wait(failed)
	return nil, ctrl.Result{RequeueAfter: max(wait, time.Millisecond)}, err
}

// next returns how long the attempt after a failed one has to wait. If the deployment has changed
// meanwhile, it only waits for the remains of the failed one.
func (p *pass) next(failed *helmrelease.Release, left bool) (wait time.Duration) {
	if failed.Labels[GenerationLabel] == p.generation() {
		wait = time.Until(due(failed))
	}
	if left {
		wait = max(wait, lookAgain)
	}
	return wait
}

func (p *pass) generation() string { return strconv.FormatInt(p.bd.Generation, 10) }

// closeRecord marks the record of an attempt whose process is gone as failed.
func (p *pass) closeRecord(last *helmrelease.Release) error {
	s := last.Info.Status
	if !s.IsPending() && s != helmrelease.StatusUninstalling {
		return nil
	}
	if err := p.hold(last)(); err != nil {
		return err
	}
	last.SetStatus(helmrelease.StatusFailed, "interrupted while "+string(s))
	return p.client.Record(last, "was interrupted")
}

// removeRemains removes what attempts before the first success have made, and reports whether
// anything of it is left. Only objects that this deployment owns are touched; it does not wait for
// them.
func (p *pass) removeRemains(last *helmrelease.Release) (left bool, err error) {
	if p.KeepRemains || wasDeployed(last) || p.bd.Status.ActiveBundle != "" {
		return false, nil
	}
	infos, err := p.client.Build(last)
	if err != nil {
		return false, err
	}
	mine := func(o metav1.Object) bool {
		owner := func(o metav1.OwnerReference) bool { return o.UID == p.bd.UID }
		return !release.Kept(o) && slices.ContainsFunc(o.GetOwnerReferences(), owner)
	}
	for _, info := range slices.Backward(infos) { // what was made last goes first
		there, err := release.Remove(info, mine, p.hold(last))
		if err != nil {
			return false, err
		}
		left = left || there
	}
	return left, nil
}

// wasDeployed reports whether this revision or one before it was ever deployed. It counts as
// deployed, and nothing is removed, if an earlier version of this operator made the record.
func wasDeployed(r *helmrelease.Release) bool {
	return r.Labels[WholeLabel] != "false" || r.Info.Status == helmrelease.StatusDeployed ||
		r.Info.Status == helmrelease.StatusSuperseded
}

func failuresOf(r *helmrelease.Release) int {
	n, err := strconv.Atoi(r.Labels[FailuresLabel])
	if err != nil {
		return 0 // an earlier version of this operator made the record
	}
	return n
}

// due is when the attempt after a failed one may be made.
func due(failed *helmrelease.Release) time.Time {
	delay := firstDelay
	for n := failuresOf(failed); n > 1 && delay < maxDelay; n-- {
		delay *= 2
	}
	return failed.Info.LastDeployed.Time.Add(min(delay, maxDelay))
}
