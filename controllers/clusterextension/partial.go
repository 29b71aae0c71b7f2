// This file holds the partial fixes, V1 to V5: how each treats a record whose process has died. All
// of them assume that the process of a pending record is dead, V2-waits after some time.

package clusterextension

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"

	"github.com/wavetank/wavetank/controllers/internal/release"
)

// clear applies the variant's policy for a pending record. It returns an error if the next pass
// continues.
func (p *pass) clear(pending *helmrelease.Release) (newest *helmrelease.Release, err error) {
	if err := p.policy.pending(p, pending); err != nil {
		return nil, err
	}
	if !p.policy.goOn {
		return nil, fmt.Errorf("%s was interrupted while %s; trying again", bundleOf(pending.Labels),
			pending.Info.Status)
	}
	return p.client.Get()
}

// undo (V1) undoes the attempt.
func (p *pass) undo(pending *helmrelease.Release) error { return p.client.Undo(pending) }

// deleteRecord (V2) makes the record before it the newest again. The objects stay.
func (p *pass) deleteRecord(pending *helmrelease.Release) error {
	_, err := p.client.Config.Releases.Delete(pending.Name, pending.Version)
	return err
}

// patience is how long V2-waits assumes that the process of a pending record is alive.
const patience = time.Minute

// deleteOldRecord (V2-waits) is deleteRecord for a record that was begun some time ago.
func (p *pass) deleteOldRecord(pending *helmrelease.Release) error {
	until := pending.Info.LastDeployed.Add(patience)
	if left := time.Until(until.Time); left > 0 {
		_ = p.retrying(bundleOf(pending.Labels), fmt.Errorf("it is still under way, or was interrupted, "+
			"which is assumed from %s on", until.UTC().Format(time.RFC3339)))
		return release.Later(left)
	}
	return p.deleteRecord(pending)
}

// interruptedWhile begins the description of records that were marked as failed.
const interruptedWhile = "interrupted while "

// markFailed (V3) marks the record as failed, which a dying process could not.
func (p *pass) markFailed(pending *helmrelease.Release) error {
	pending.SetStatus(helmrelease.StatusFailed, interruptedWhile+string(pending.Info.Status))
	return p.client.Config.Releases.Update(pending)
}

// maxTries is after how many interruptions in a row V3-limit gives up.
const maxTries = 3

// giveUp (V3-limit) makes no attempt while the newest records are all of interrupted attempts. A
// user has to remove them.
func (p *pass) giveUp(context.Context) error {
	history, err := p.client.Config.Releases.History(p.ext.Name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil
	} else if err != nil {
		return p.retrying(nil, err)
	}
	slices.SortFunc(history, func(a, b *helmrelease.Release) int { return b.Version - a.Version })
	for i, r := range history {
		if r.Info.Status != helmrelease.StatusFailed || !strings.HasPrefix(r.Info.Description, interruptedWhile) {
			return nil
		}
		if i+1 == maxTries {
			return p.blocked(bundleOf(r.Labels), fmt.Errorf("it was interrupted %d times, and is not tried again",
				maxTries))
		}
	}
	return nil
}

// markDeployed (V3b) marks the record as deployed without a check.
func (p *pass) markDeployed(pending *helmrelease.Release) error {
	pending.SetStatus(helmrelease.StatusDeployed, interruptedWhile+string(pending.Info.Status))
	return p.client.Config.Releases.Update(pending)
}

// deleteRaw (V4) removes records that stand in the way, whether or not they can be read.
func (p *pass) deleteRaw(context.Context) error {
	indices, err := p.records.Indices(map[string]string{"name": p.ext.Name})
	if err != nil {
		return p.retrying(nil, err)
	}
	for i := range indices {
		index := &indices[i]
		_, torn := p.records.Decode(index)
		if torn == nil && !release.Status(index).IsPending() {
			continue
		}
		if err := p.records.DeleteRaw(index.Name); err != nil {
			return p.retrying(nil, err)
		}
		return p.retrying(nil,
			fmt.Errorf("%s was interrupted while %s; trying again", bundleOf(index.Annotations), release.Status(index)))
	}
	return nil
}

// resume (V5) finishes the version that was begun, even if the catalog has changed.
func (p *pass) resume(context.Context) error {
	newest, err := p.client.Get()
	if err != nil {
		return p.retrying(nil, err)
	}
	if newest == nil || !newest.Info.Status.IsPending() {
		return nil
	}
	if err := p.client.Resume(newest); err != nil {
		return p.retrying(nil,
			fmt.Errorf("%s was interrupted, and resuming it failed: %w", bundleOf(newest.Labels), err))
	}
	return nil
}
