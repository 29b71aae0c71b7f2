// This file repairs the objects of a release outside Helm's actions: it puts back what has drifted.

package release

import (
	"bytes"
	"encoding/json"
	"fmt"

	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/release"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/cli-runtime/pkg/resource"
)

// Reconcile puts back what has drifted from the release: objects that are gone are made again, and
// fields that the manifest sets get its values. Fields that it does not set are left alone. What is
// to be done before anything is written, first does, if it is not nil; nothing is written if it
// fails.
func (c *Client) Reconcile(of *release.Release, first func() error) error {
	if first == nil {
		first = func() error { return nil }
	}
	infos, err := c.Config.KubeClient.Build(bytes.NewBufferString(of.Manifest), false)
	if err != nil {
		return err
	}
	return infos.Visit(func(expected *resource.Info, err error) error {
		if err != nil {
			return err
		}
		helper := resource.NewHelper(expected.Client, expected.Mapping).WithFieldManager(FieldManager)
		existing, err := helper.Get(expected.Namespace, expected.Name)
		switch {
		case apierrors.IsNotFound(err):
			if err := first(); err != nil {
				return err
			}
			if _, err := helper.Create(expected.Namespace, true, expected.Object); err != nil {
				return fmt.Errorf("create error: %w", err)
			}
			return nil
		case err != nil:
			return fmt.Errorf("could not get object: %w", err)
		}
		patch, kind, err := difference(existing, expected)
		if err != nil {
			return fmt.Errorf("error creating patch: %w", err)
		}
		if patch == nil {
			return nil
		}
		if err := first(); err != nil {
			return err
		}
		if _, err := helper.Patch(expected.Namespace, expected.Name, kind, patch, &metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("patch error: %w", err)
		}
		return nil
	})
}

// difference is the patch that sets what the manifest sets; nil if the object has all of it. Types
// that this program knows are patched as kubectl apply patches them, all others by a merge patch,
// which replaces lists as a whole.
func difference(existing runtime.Object, expected *resource.Info) ([]byte, types.PatchType, error) {
	is, err := json.Marshal(existing)
	if err != nil {
		return nil, "", err
	}
	should, err := json.Marshal(expected.Object)
	if err != nil {
		return nil, "", err
	}
	var patch []byte
	kind := types.MergePatchType
	switch typed := kube.AsVersioned(expected).(type) {
	case runtime.Unstructured, *apiextensionsv1.CustomResourceDefinition:
		patch, err = jsonmergepatch.CreateThreeWayJSONMergePatch(should, should, is)
	default:
		var meta strategicpatch.PatchMetaFromStruct
		if meta, err = strategicpatch.NewPatchMetaFromStruct(typed); err != nil {
			return nil, "", err
		}
		kind = types.StrategicMergePatchType
		patch, err = strategicpatch.CreateThreeWayMergePatch(should, should, is, meta, true)
	}
	if err != nil || string(patch) == "{}" {
		return nil, "", err
	}
	return patch, kind, nil
}
