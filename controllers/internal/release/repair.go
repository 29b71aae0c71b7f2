// This file writes the objects of a release outside Helm's actions. It restores objects that have
// drifted, deletes objects that no record mentions, and continues actions whose process has died.

package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Helm's label and annotations of the objects of a release.
const (
	managedBy        = "app.kubernetes.io/managed-by"
	releaseName      = "meta.helm.sh/release-name"
	releaseNamespace = "meta.helm.sh/release-namespace"
)

// Build returns the objects of a record's manifest.
func (c *Client) Build(of *release.Release) (kube.ResourceList, error) {
	return c.Config.KubeClient.Build(bytes.NewBufferString(of.Manifest), false)
}

// Reconcile restores what has drifted from the release. It creates objects that are gone, and sets
// the fields that the manifest sets. It calls first before each write, and does not write if first
// fails.
func (c *Client) Reconcile(of *release.Release, first func() error) error {
	infos, err := c.Build(of)
	if err != nil {
		return err
	}
	for _, info := range infos {
		if err := putBack(info, first); err != nil {
			return err
		}
	}
	return nil
}

func putBack(expected *resource.Info, first func() error) error {
	helper := resource.NewHelper(expected.Client, expected.Mapping).WithFieldManager(fieldManager)
	existing, err := helper.Get(expected.Namespace, expected.Name)
	if apierrors.IsNotFound(err) {
		if err := first(); err != nil {
			return err
		}
		if _, err := helper.Create(expected.Namespace, true, expected.Object); err != nil {
			return fmt.Errorf("create error: %w", err)
		}
		return nil
	} else if err != nil {
		return fmt.Errorf("could not get object: %w", err)
	}
	patch, kind, err := difference(existing, expected)
	if err != nil {
		return fmt.Errorf("error creating patch: %w", err)
	}
	if string(patch) == "{}" {
		return nil
	}
	if err := first(); err != nil {
		return err
	}
	if _, err := helper.Patch(expected.Namespace, expected.Name, kind, patch, &metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("patch error: %w", err)
	}
	return nil
}

// difference returns the patch that sets the fields of the manifest, or {} if the object has all of
// them. Known types are patched as kubectl apply does, all others by a merge patch, which replaces
// whole lists.
func difference(existing runtime.Object, expected *resource.Info) ([]byte, types.PatchType, error) {
	is, e1 := json.Marshal(existing)
	should, e2 := json.Marshal(expected.Object)
	if err := errors.Join(e1, e2); err != nil {
		return nil, "", err
	}
	typed := kube.AsVersioned(expected)
	switch typed.(type) {
	case runtime.Unstructured, *apiextensionsv1.CustomResourceDefinition:
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(should, should, is)
		return patch, types.MergePatchType, err
	}
	fields, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return nil, "", err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(should, should, is, fields, true)
	return patch, types.StrategicMergePatchType, err
}

// Prune deletes objects of other records that the deployed one does not have, unless they belong to
// another release or ask to be kept. It does not wait until they are gone. Helm deletes objects
// that an upgrade drops, but it only logs a failure to do so, and compares with one record only.
func (c *Client) Prune(deployed *release.Release) error {
	history, err := c.Config.Releases.History(c.Name)
	if err != nil {
		return err
	}
	keep, err := c.Build(deployed)
	if err != nil {
		return err
	}
	mine := func(o metav1.Object) bool { return belongs(o, deployed) && !Kept(o) }
	for _, r := range history {
		if r.Version == deployed.Version {
			continue
		}
		made, err := c.Build(r)
		if err != nil && strings.Contains(err.Error(), "no matches for kind") {
			continue // some kind is not served any more, and Helm does not name it
		} else if err != nil {
			return fmt.Errorf("revision %d: %w", r.Version, err)
		}
		for _, info := range made.Difference(keep) {
			if _, err := Remove(info, mine, func() error { return nil }); err != nil {
				return fmt.Errorf("deleting what revision %d has made: %w", r.Version, err)
			}
		}
	}
	return nil
}

// belongs reports whether an object is marked as one of a release.
func belongs(o metav1.Object, to *release.Release) bool {
	a := o.GetAnnotations()
	return a[releaseName] == to.Name && a[releaseNamespace] == to.Namespace
}

// Kept reports whether an object asks to be kept when its release no longer has it.
func Kept(o metav1.Object) bool {
	return o.GetAnnotations()[kube.ResourcePolicyAnno] == kube.KeepPolicy
}

// Remove deletes an object if mine reports true, and reports whether the object exists. It calls
// first before, and deletes nothing if first fails. It does not wait until the object is gone.
func Remove(info *resource.Info, mine func(metav1.Object) bool, first func() error) (left bool, err error) {
	o, err := get(info)
	if o == nil || err != nil || !mine(o) {
		return false, err
	}
	if o.GetDeletionTimestamp() != nil {
		return true, nil
	}
	if err := first(); err != nil {
		return true, err
	}
	uid, background := o.GetUID(), metav1.DeletePropagationBackground
	_, err = resource.NewHelper(info.Client, info.Mapping).DeleteWithOptions(info.Namespace, info.Name,
		&metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background})
	return true, client.IgnoreNotFound(err)
}

// get returns an object as the server has it, or nil if there is none.
func get(info *resource.Info) (metav1.Object, error) {
	object, err := resource.NewHelper(info.Client, info.Mapping).Get(info.Namespace, info.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return meta.Accessor(object)
}

// Resume finishes an install, upgrade or rollback from the manifest in its record, as Helm does
// once it has made the record. Objects that are as they should be are not written. It may be called
// any number of times. A failure is recorded, as Helm does. An object that is not of the release is
// a failure. Hooks are not run; see [Hooked].
func (c *Client) Resume(begun *release.Release) error {
	deployed, err := c.Config.Releases.Deployed(c.Name)
	if err != nil && !errors.Is(err, driver.ErrNoDeployedReleases) {
		return err
	}
	target, err := c.Build(begun)
	if err != nil {
		return err
	}
	var before kube.ResourceList
	if deployed != nil {
		if before, err = c.Build(deployed); err != nil {
			return err
		}
	}
	if err := c.apply(before, target, begun); err != nil {
		begun.SetStatus(release.StatusFailed, fmt.Sprintf("resuming revision %d failed: %v", begun.Version, err))
		return errors.Join(err, c.Record(begun, "failed"))
	}
	if deployed != nil && deployed.Version != begun.Version {
		deployed.Info.Status = release.StatusSuperseded
		if err := c.Record(deployed, "is superseded"); err != nil {
			return err
		}
	}
	begun.SetStatus(release.StatusDeployed, "Resumed, and complete")
	return c.Record(begun, "is deployed")
}

// Record overwrites the record of a revision. says describes the record in an error.
func (c *Client) Record(r *release.Release, says string) error {
	if err := c.Config.Releases.Update(r); err != nil {
		return fmt.Errorf("writing down that revision %d %s: %w", r.Version, says, err)
	}
	return nil
}

// apply writes the objects of a release. An object that the record before does not have must belong
// to the release already if it exists: Helm's own condition (action/validate.go).
func (c *Client) apply(before, target kube.ResourceList, of *release.Release) (err error) {
	made := before
	for _, info := range target {
		o, e := meta.Accessor(info.Object)
		if e != nil {
			return e
		}
		o.SetLabels(labels.Merge(o.GetLabels(), labels.Set{managedBy: "Helm"}))
		o.SetAnnotations(labels.Merge(o.GetAnnotations(),
			labels.Set{releaseName: of.Name, releaseNamespace: of.Namespace}))
		if before.Get(info) != nil {
			continue
		}
		made.Append(info)
		is, e := get(info)
		if is != nil && (is.GetLabels()[managedBy] != "Helm" || !belongs(is, of)) {
			kind := info.Mapping.GroupVersionKind.Kind
			e = fmt.Errorf("%s %q exists and is not of this release", kind, info.ObjectName())
		}
		err = errors.Join(err, e)
	}
	if err == nil {
		_, err = c.Config.KubeClient.Update(made, target, false)
	}
	return err
}

// Hooked reports whether a chart has hooks for the action of a record.
func Hooked(r *release.Release) bool {
	return slices.ContainsFunc(r.Hooks, func(h *release.Hook) bool {
		return slices.ContainsFunc(h.Events, func(e release.HookEvent) bool {
			return e != release.HookTest && !strings.HasSuffix(e.String(), "delete")
		})
	})
}
