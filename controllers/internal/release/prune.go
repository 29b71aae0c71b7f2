// This file exists for what no record mentions any more: Helm deletes what an upgrade drops, but only logs it when it could
// not, and compares with one record only.

package release

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/resource"
)

// Prune deletes what the other records of a release have made and the deployed one does not have, unless it belongs to another
// release or asks to be kept. It does not wait for it to be gone.
func (c *Client) Prune(deployed *release.Release) error {
	history, err := c.Config.Releases.History(c.Name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	keep, err := c.Config.KubeClient.Build(bytes.NewBufferString(deployed.Manifest), false)
	if err != nil {
		return err
	}
	for _, r := range history {
		if r.Version == deployed.Version {
			continue
		}
		made, err := c.Config.KubeClient.Build(bytes.NewBufferString(r.Manifest), false)
		if err != nil && strings.Contains(err.Error(), "no matches for kind") {
			continue // nobody serves some of it any more, and Helm does not say which
		} else if err != nil {
			return fmt.Errorf("revision %d: %w", r.Version, err)
		}
		for _, info := range made.Difference(keep) {
			if err := remove(info, deployed); err != nil {
				return fmt.Errorf("deleting what revision %d has made: %w", r.Version, err)
			}
		}
	}
	return nil
}

// remove deletes one object, if it is of a release.
func remove(info *resource.Info, of *release.Release) error {
	helper := resource.NewHelper(info.Client, info.Mapping)
	object, err := helper.Get(info.Namespace, info.Name)
	if apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return err
	}
	m, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	a := m.GetAnnotations()
	if a["meta.helm.sh/release-name"] != of.Name || a["meta.helm.sh/release-namespace"] != of.Namespace ||
		a[kube.ResourcePolicyAnno] == kube.KeepPolicy || m.GetDeletionTimestamp() != nil {
		return nil
	}
	uid, background := m.GetUID(), metav1.DeletePropagationBackground
	_, err = helper.DeleteWithOptions(info.Namespace, info.Name, &metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
