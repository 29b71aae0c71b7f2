// This file deletes what no record mentions any more. Helm deletes what an upgrade drops, but
// only logs it when it could not, and compares with one record only.

package release

import (
	"bytes"
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/resource"
)

// Prune deletes what the other records of a release have made and the deployed one does not have,
// unless it belongs to another release or asks to be kept. It does not wait for it to be gone.
func (c *Client) Prune(deployed *release.Release) error {
	history, err := c.Config.Releases.History(c.Name)
	if err != nil {
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
			if _, err := Remove(info, droppable(deployed), nil); err != nil {
				return fmt.Errorf("deleting what revision %d has made: %w", r.Version, err)
			}
		}
	}
	return nil
}

// droppable says of an object whether it is of a release and does not ask to be kept.
func droppable(of *release.Release) func(metav1.Object) bool {
	return func(o metav1.Object) bool {
		a := o.GetAnnotations()
		return a[releaseName] == of.Name && a[releaseNamespace] == of.Namespace && !Kept(o)
	}
}

// Kept says whether an object asks to be kept when its release no longer has it.
func Kept(o metav1.Object) bool {
	return o.GetAnnotations()[kube.ResourcePolicyAnno] == kube.KeepPolicy
}

// Remove deletes an object if it is mine, and says whether it is there, being deleted or not. What
// is to be done before that, first does, if it is not nil; nothing is deleted if it fails. It does
// not wait for it to be gone.
func Remove(info *resource.Info, mine func(metav1.Object) bool, first func() error) (left bool, err error) {
	helper := resource.NewHelper(info.Client, info.Mapping)
	object, err := helper.Get(info.Namespace, info.Name)
	if apierrors.IsNotFound(err) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	m, err := meta.Accessor(object)
	if err != nil || !mine(m) {
		return false, err
	}
	if m.GetDeletionTimestamp() != nil {
		return true, nil
	}
	if first != nil {
		if err := first(); err != nil {
			return true, err
		}
	}
	uid, background := m.GetUID(), metav1.DeletePropagationBackground
	_, err = helper.DeleteWithOptions(info.Namespace, info.Name, &metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background})
	if apierrors.IsNotFound(err) {
		err = nil
	}
	return true, err
}
