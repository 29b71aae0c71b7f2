// This file exists for what Helm has no action for: going on with an action whose process has died.

package release

import (
	"bytes"
	"errors"
	"fmt"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/resource"
)

// Resume finishes what a record of an install, upgrade or rollback began, from the manifest in it: what Helm does once
// it has made the record. Objects that are there already as they should be are not written. It may be called again as
// often as it takes. A failure is recorded, as Helm does. Hooks are not run.
func (c *Client) Resume(begun *release.Release) error {
	deployed, err := c.Config.Releases.Deployed(c.Name)
	if err != nil && !errors.Is(err, driver.ErrNoDeployedReleases) {
		return err
	}
	target, err := c.Config.KubeClient.Build(bytes.NewBufferString(begun.Manifest), false)
	if err != nil {
		return err
	}
	if err := target.Visit(owned(begun)); err != nil {
		return err
	}
	var before kube.ResourceList
	if deployed != nil {
		if before, err = c.Config.KubeClient.Build(bytes.NewBufferString(deployed.Manifest), false); err != nil {
			return err
		}
	}
	for _, info := range target {
		if before.Get(info) == nil {
			before.Append(info)
		}
	}
	if _, err := c.Config.KubeClient.Update(before, target, false); err != nil {
		begun.SetStatus(release.StatusFailed, fmt.Sprintf("resuming revision %d failed: %v", begun.Version, err))
		if e := c.Config.Releases.Update(begun); e != nil {
			return errors.Join(err, fmt.Errorf("writing down that it failed: %w", e))
		}
		return err
	}
	if deployed != nil && deployed.Version != begun.Version {
		deployed.Info.Status = release.StatusSuperseded
		if err := c.Config.Releases.Update(deployed); err != nil {
			return fmt.Errorf("writing down that revision %d is superseded: %w", deployed.Version, err)
		}
	}
	begun.SetStatus(release.StatusDeployed, "Resumed, and complete")
	if err := c.Config.Releases.Update(begun); err != nil {
		return fmt.Errorf("writing down that revision %d is deployed: %w", begun.Version, err)
	}
	return nil
}

// owned marks objects as those of a release, by which Helm knows them again.
func owned(of *release.Release) resource.VisitorFunc {
	return func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		o, err := meta.Accessor(info.Object)
		if err != nil {
			return err
		}
		o.SetLabels(with(o.GetLabels(), "app.kubernetes.io/managed-by", "Helm"))
		o.SetAnnotations(with(with(o.GetAnnotations(), "meta.helm.sh/release-name", of.Name), "meta.helm.sh/release-namespace", of.Namespace))
		return nil
	}
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// Undo takes back what a pending record began: an install by an uninstall, anything else by a rollback to the revision before.
func (c *Client) Undo(pending *release.Release) error {
	if pending.Info.Status == release.StatusPendingInstall {
		return c.uninstall()
	}
	return c.rollback()
}

// DryInstall is the release that an install would make. Unlike an install it does not mind records of that name.
func (c *Client) DryInstall(ch *chart.Chart, values map[string]any) (*release.Release, error) {
	i := action.NewInstall(c.Config)
	i.ReleaseName, i.Namespace, i.PostRenderer, i.Labels = c.Name, c.Namespace, c.Marks, c.Labels
	i.DisableOpenAPIValidation, i.DryRun, i.DryRunOption = true, true, "server"
	return i.Run(own(ch), values)
}
