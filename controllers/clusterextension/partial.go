// This file exists for the partial fixes, V1 to V5: what each of them does about a record whose
// process has died. All of them take a pending record for that of a dead process.

package clusterextension

import (
	"context"
	"fmt"

	helmrelease "helm.sh/helm/v3/pkg/release"

	"github.com/wavetank/wavetank/controllers/internal/release"
)

// undo (V1) goes back to where it was before.
func (p *pass) undo(pending *helmrelease.Release) error { return p.client.Undo(pending) }

// deleteRecord (V2) makes the record before it the newest again. The objects stay.
func (p *pass) deleteRecord(pending *helmrelease.Release) error {
	_, err := p.client.Config.Releases.Delete(pending.Name, pending.Version)
	return err
}

// markFailed (V3) says what a dying process could not.
func (p *pass) markFailed(pending *helmrelease.Release) error {
	pending.SetStatus(helmrelease.StatusFailed, "interrupted while "+string(pending.Info.Status))
	return p.client.Config.Releases.Update(pending)
}

// markDeployed (V3b) says what nobody has looked at.
func (p *pass) markDeployed(pending *helmrelease.Release) error {
	pending.SetStatus(helmrelease.StatusDeployed, "interrupted while "+string(pending.Info.Status))
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

// resume (V5) finishes the version that was begun, whatever the catalog has meanwhile.
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
