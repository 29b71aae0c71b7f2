// This file continues actions whose process has died, for which Helm has no action.

package release

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/resource"
)

// Resume finishes what a record of an install, upgrade or rollback began, from the manifest in it:
// what Helm does once it has made the record. Objects that are there already as they should be are
// not written. It may be called again as often as it takes. A failure is recorded, as Helm does: to
// meet an object that is not of the release is one. Hooks are not run; see [Hooked].
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
	made, err := before, error(nil)
	for _, info := range target {
		if before.Get(info) == nil {
			made.Append(info)
			err = errors.Join(err, adoptable(info, begun))
		}
	}
	if err == nil {
		_, err = c.Config.KubeClient.Update(made, target, false)
	}
	if err != nil {
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

// Hooked says whether a chart wants something done before or after what a record is of, besides its
// objects.
func Hooked(r *release.Release) bool {
	return slices.ContainsFunc(r.Hooks, func(h *release.Hook) bool {
		return slices.ContainsFunc(h.Events, func(e release.HookEvent) bool {
			return e != release.HookTest && !strings.HasSuffix(e.String(), "delete")
		})
	})
}

// adoptable is an error if an object is there and not marked as one of the release: Helm's own
// condition (action/validate.go).
func adoptable(info *resource.Info, of *release.Release) error {
	object, err := resource.NewHelper(info.Client, info.Mapping).Get(info.Namespace, info.Name)
	if apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return err
	}
	o, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	a := o.GetAnnotations()
	if o.GetLabels()[managedBy] != "Helm" || a[releaseName] != of.Name || a[releaseNamespace] != of.Namespace {
		kind := info.Mapping.GroupVersionKind.Kind
		return fmt.Errorf("%s %q exists and is not of this release", kind, info.ObjectName())
	}
	return nil
}

// What Helm marks objects with as those of a release.
const (
	managedBy        = "app.kubernetes.io/managed-by"
	releaseName      = "meta.helm.sh/release-name"
	releaseNamespace = "meta.helm.sh/release-namespace"
)

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
		o.SetLabels(With(o.GetLabels(), managedBy, "Helm"))
		o.SetAnnotations(With(With(o.GetAnnotations(), releaseName, of.Name), releaseNamespace, of.Namespace))
		return nil
	}
}

// With sets a key of a map, and makes one if there is none.
func With(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// Undo takes back what a pending record began: an install by an uninstall, anything else by a
// rollback to the revision before.
func (c *Client) Undo(pending *release.Release) error {
	if pending.Info.Status == release.StatusPendingInstall {
		return c.uninstall()
	}
	return c.rollback()
}

// DryInstall is the release that an install would make. Unlike an install it does not mind records
// of that name.
func (c *Client) DryInstall(ch *chart.Chart, values map[string]any) (*release.Release, error) {
	i := action.NewInstall(c.Config)
	i.ReleaseName, i.Namespace, i.PostRenderer, i.Labels = c.Name, c.Namespace, c.Marks, c.Labels
	i.DisableOpenAPIValidation, i.DryRun, i.DryRunOption = true, true, "server"
	return i.Run(own(ch), values)
}
