// This file exists for the full cure: how a release comes to be applied so that failures settle,
// interruptions heal and no worker ever waits. It is meant to be copied.
//
// The release records say all that it needs to know, so that it may die anywhere and go on:
//
//   - The newest record says who may write, and until when: whoever wants to install, upgrade,
//     repair or remove holds it before, and writes nothing after that time. So of two processes
//     that both believe that they are the leader only one does anything, and the other one waits.
//   - It says how the last attempt ended. An attempt whose record is still pending, or half undone,
//     although the time for it is over, was made by a process that is gone. It counts as failed.
//   - A label on the record counts the attempts that have failed in a row. It, and the time of the
//     attempt, say when the next one is due. Nothing but a change of what is wanted makes it come
//     sooner: neither events of the objects that are being removed nor a restart, which would empty
//     the work queue's memory of failures; nor a chart that renders something else each time, which
//     is known by its content.
//   - Another label says whether the release was ever whole. While it was not, what a failed
//     attempt has made is removed before the next one. Afterwards nothing is removed or rolled
//     back: an upgrade may have done what cannot be undone.
//   - An attempt that needs more time than one pass has is gone on with by the next one, which
//     finds less to do; one of a chart with hooks is made anew instead, as to go on would leave
//     them out.
//   - What failed upgrades have made and nobody wants any more is deleted when one has succeeded;
//     Helm compares with one record only.
//
// Hooks are the one thing that a worker waits for, and no longer than a pass may write. What asks
// to be kept (helm.sh/resource-policy) is kept.
//
// A failed attempt is not an error to the work queue, which would count failures of its own: it
// ends in a status that names the cause, and in a RequeueAfter.
//
// Deployments are read from the server, not from the cache. As the events of the operator's own
// status writes are dropped, a pass that finds in an old status what it was about to write would
// write nothing, and nobody would tell it that the newest one says something else. Whose a
// deployment is, is looked at here as well: the predicate drops events of those that are another
// provisioner's, but not timers, nor events of what has been installed.

package bundledeployment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/controllers/internal/release"
)

// Labels of the release records. Helm hands those of one revision on to the next.
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
	// firstDelay and longestDelay bound the time between two attempts, as in the work queue's
	// default.
	firstDelay, longestDelay = 5 * time.Millisecond, 1000 * time.Second
	// lookAgain is how soon to see whether what is being removed is gone.
	lookAgain = 5 * time.Second
)

// applyWhenDue does what the release needs, or says when. No release and no error means that it has
// to wait.
func (p *pass) applyWhenDue(ctx context.Context) (*helmrelease.Release, ctrl.Result, error) {
	last, err := p.client.Get()
	if err != nil {
		return nil, ctrl.Result{}, p.failed(v1alpha1.ErrorGettingReleaseState, err)
	}
	installed, result, err := p.whenDue(ctx, last)
	if err == nil && installed != nil {
		err = p.prune(installed)
	}
	if wait := release.Later(0); errors.As(err, &wait) {
		if silent := apimeta.FindStatusCondition(p.bd.Status.Conditions, v1alpha1.Installed) == nil; silent || wait > release.AtOnce && unfinished(last) {
			_ = p.failed(v1alpha1.ReconcileFailed, errors.New("the last attempt was interrupted, or another process is still at it; it is given time to stop"))
		}
		return nil, ctrl.Result{RequeueAfter: time.Duration(wait)}, nil
	}
	return installed, result, err
}

func (p *pass) whenDue(ctx context.Context, last *helmrelease.Release) (*helmrelease.Release, ctrl.Result, error) {
	if last == nil {
		return p.attempt(ctx, nil)
	}
	if last.Info.Status.IsPending() && p.held.Mine(recordOf(last)) && !release.Hooked(last) {
		return p.goOn(ctx, last)
	}
	if err := p.settleRecord(last); err != nil {
		return nil, ctrl.Result{}, p.failed(v1alpha1.ReconcileFailed, err)
	}
	if last.Info.Status == helmrelease.StatusDeployed {
		return p.keep(ctx, last)
	}
	wait, err := p.wait(last)
	if err != nil {
		return nil, ctrl.Result{}, err
	}
	if wait > 0 {
		return nil, ctrl.Result{RequeueAfter: wait}, nil
	}
	return p.attempt(ctx, last)
}

// unfinished says of a record that somebody may be at it, or that nobody is any more.
func unfinished(r *helmrelease.Release) bool {
	return r != nil && (r.Info.Status.IsPending() || r.Info.Status == helmrelease.StatusUninstalling)
}

// wait says of what an attempt has failed, as its record does, removes what it must not leave, and
// says how long the next one has to wait.
func (p *pass) wait(failed *helmrelease.Release) (time.Duration, error) {
	_ = p.failed(reasonOf(wasDeployed(failed)), errors.New(failed.Info.Description))
	left, err := p.removeRemains(failed)
	if err != nil {
		return 0, p.failed(v1alpha1.ReconcileFailed, fmt.Errorf("removing what a failed attempt has made: %w", err))
	}
	return p.next(failed, left), nil
}

// prune makes up for what Helm has not deleted.
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
	deployed.Labels = release.With(deployed.Labels, PrunedLabel, "true")
	if err := p.client.Config.Releases.Update(deployed); err != nil {
		return p.failed(v1alpha1.ReconcileFailed, fmt.Errorf("writing down that nothing is left of what was there before: %w", err))
	}
	return nil
}

// keep upgrades what is deployed if something else is wanted, and repairs it if not.
func (p *pass) keep(ctx context.Context, deployed *helmrelease.Release) (*helmrelease.Release, ctrl.Result, error) {
	if deployed.Labels[ChartLabel] != release.Digest(p.chart, p.values) {
		desired, err := p.client.DryRun(p.chart, p.values)
		if err != nil {
			return nil, ctrl.Result{}, p.failed(v1alpha1.ErrorGettingReleaseState, err)
		}
		if desired.Manifest != deployed.Manifest {
			return p.attempt(ctx, deployed)
		}
	}
	if err := p.client.Reconcile(deployed, p.hold(deployed)); err != nil {
		return nil, ctrl.Result{}, p.failed(v1alpha1.ReconcileFailed, err)
	}
	return deployed, ctrl.Result{}, nil
}

// hold makes this process the one that may write, by the newest record as this pass has read it
// first.
func (p *pass) hold(newest *helmrelease.Release) func() error {
	return func() error { return p.held.Hold(recordOf(newest)) }
}

// recordOf is the name of Helm's Secret.
func recordOf(r *helmrelease.Release) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", r.Name, r.Version)
}

// attempt installs or upgrades, and counts.
func (p *pass) attempt(ctx context.Context, last *helmrelease.Release) (*helmrelease.Release, ctrl.Result, error) {
	failures := 1
	whole := p.bd.Status.ActiveBundle != "" // it was installed, whatever has become of its records
	if last != nil {
		whole = whole || wasDeployed(last)
		if last.Info.Status != helmrelease.StatusDeployed && last.Labels[GenerationLabel] == p.generation() {
			failures += failuresOf(last)
		}
	}
	p.client.Labels = map[string]string{
		FailuresLabel: strconv.Itoa(failures), WholeLabel: strconv.FormatBool(whole), GenerationLabel: p.generation(),
		ChartLabel: release.Digest(p.chart, p.values), PrunedLabel: strconv.FormatBool(last == nil)}
	run := p.client.Install
	if last != nil {
		if err := p.hold(last)(); err != nil {
			return nil, ctrl.Result{}, err
		}
		run = p.client.Upgrade
	}
	made, err := run(p.chart, p.values)
	if err == nil {
		return made, ctrl.Result{}, nil
	}
	log.FromContext(ctx).Error(err, "the attempt failed", "release", p.bd.Name, "failures", failures)
	return p.fell(reasonOf(whole), err, last)
}

func reasonOf(whole bool) string {
	if whole {
		return v1alpha1.UpgradeFailed
	}
	return v1alpha1.InstallFailed
}

// goOn finishes an attempt of this very process, which ran out of time, or could not write down how
// it ended.
func (p *pass) goOn(ctx context.Context, begun *helmrelease.Release) (*helmrelease.Release, ctrl.Result, error) {
	_ = p.failed(v1alpha1.ReconcileFailed, errors.New("the last attempt was not finished in time; it is gone on with"))
	if err := p.hold(begun)(); err != nil {
		return nil, ctrl.Result{}, err
	}
	if err := p.client.Resume(begun); err != nil {
		log.FromContext(ctx).Error(err, "going on with the attempt failed", "release", p.bd.Name)
		return p.fell(reasonOf(wasDeployed(begun)), err, nil)
	}
	return nil, ctrl.Result{}, release.AtOnce // something else may be wanted by now
}

// fell is what follows a failed attempt, which was made upon a record if there was one.
func (p *pass) fell(reason string, err error, last *helmrelease.Release) (*helmrelease.Release, ctrl.Result, error) {
	if errors.Is(err, release.ErrTooLate) {
		return nil, ctrl.Result{}, release.AtOnce
	}
	_ = p.failed(reason, err)
	failed, err := p.client.Get()
	if err != nil {
		return nil, ctrl.Result{}, err
	}
	if failed == nil || last != nil && failed.Version == last.Version {
		// It did not get as far as making a record, so nothing was touched, and only the queue can
		// count.
		return nil, ctrl.Result{}, fmt.Errorf("%s: see the condition %s", reason, v1alpha1.Installed)
	}
	if err := p.settleRecord(failed); err != nil {
		return nil, ctrl.Result{}, p.failed(v1alpha1.ReconcileFailed, err)
	}
	wait, err := p.wait(failed)
	return nil, ctrl.Result{RequeueAfter: max(wait, time.Millisecond)}, err
}

// next says how long to wait before the attempt after a failed one. Where something else is wanted
// than it was made for, only what is left of it has to be waited for.
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

// settleRecord turns the record of an attempt that nobody is making any more into that of a failed
// one.
func (p *pass) settleRecord(last *helmrelease.Release) error {
	s := last.Info.Status
	if !s.IsPending() && s != helmrelease.StatusUninstalling {
		return nil
	}
	if err := p.hold(last)(); err != nil {
		return err
	}
	last.SetStatus(helmrelease.StatusFailed, "interrupted while "+string(s))
	if err := p.client.Config.Releases.Update(last); err != nil {
		return fmt.Errorf("writing down that revision %d was interrupted: %w", last.Version, err)
	}
	return nil
}

// removeRemains removes what attempts before the first success have made, and says whether anything
// of it is left. Only objects that this deployment owns are touched; it does not wait for them.
func (p *pass) removeRemains(last *helmrelease.Release) (left bool, err error) {
	if p.KeepRemains || wasDeployed(last) || p.bd.Status.ActiveBundle != "" {
		return false, nil
	}
	infos, err := p.client.Config.KubeClient.Build(bytes.NewBufferString(last.Manifest), false)
	if err != nil {
		return false, err
	}
	mine := func(o metav1.Object) bool {
		return !release.Kept(o) && slices.ContainsFunc(o.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == p.bd.UID })
	}
	for i := len(infos) - 1; i >= 0; i-- { // what was made last goes first
		there, err := release.Remove(infos[i], mine, p.hold(last))
		if err != nil {
			return false, err
		}
		left = left || there
	}
	return left, nil
}

// wasDeployed says whether this revision or one before it was ever deployed. Of a record that an
// earlier release of this operator made nobody knows, and then nothing is removed.
func wasDeployed(r *helmrelease.Release) bool {
	return r.Labels[WholeLabel] != "false" || r.Info.Status == helmrelease.StatusDeployed || r.Info.Status == helmrelease.StatusSuperseded
}

func failuresOf(r *helmrelease.Release) int {
	n, err := strconv.Atoi(r.Labels[FailuresLabel])
	if err != nil {
		return 0 // an earlier release of this operator made the record
	}
	return n
}

// due is when the attempt after a failed one may be made.
func due(failed *helmrelease.Release) time.Time {
	delay := firstDelay
	for range failuresOf(failed) - 1 {
		if delay = 2 * delay; delay >= longestDelay {
			delay = longestDelay
			break
		}
	}
	return failed.Info.LastDeployed.Time.Add(delay)
}
