// This file is the handler that the scenario uses.

package throttle

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// Children is what [Provision] makes, and labels that say of what.
var Children = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// The labels of a child.
const (
	ParentLabel = Domain + "/parent" // the object's UID
	ChangeLabel = Domain + "/change" // its generation
	SerialLabel = Domain + "/serial" // of the handler, as Provision was given
)

// Provision makes a child of the object, and shows in the object's status that it is there: the
// latter if echo.
func Provision(serial int, echo bool) func(context.Context, Task) (any, error) {
	return func(ctx context.Context, t Task) (any, error) {
		meta := map[string]any{
			"labels": map[string]any{
				ParentLabel: string(t.Object.GetUID()),
				ChangeLabel: strconv.FormatInt(t.Object.GetGeneration(), 10),
				SerialLabel: strconv.Itoa(serial),
			},
		}
		if t.Token == "" {
			meta["generateName"] = t.Object.GetName() + "-"
		} else {
			meta["name"] = t.Object.GetName() + "-" + t.Token
		}
		child := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": meta}}
		made, err := t.Client.Resource(Children).Namespace(t.Object.GetNamespace()).Create(ctx, child,
			metav1.CreateOptions{})
		switch {
		case t.Token != "" && apierrors.IsAlreadyExists(err):
			made = child
		case err != nil:
			return nil, err
		}
		if echo && !t.Mute {
			state := fmt.Appendf(nil, `{"status":{"child":%q}}`, made.GetName())
			_, err := t.Client.Resource(Examples).Namespace(t.Object.GetNamespace()).
				Patch(ctx, t.Object.GetName(), types.MergePatchType, state, metav1.PatchOptions{}, "status")
			if err != nil && !apierrors.IsNotFound(err) {
				return nil, err
			}
		}
		return made.GetName(), nil
	}
}

//go:embed crds/kopfexamples.yaml
var crdFile []byte

// CRD returns the kind that the operator serves. Every call returns a fresh copy.
func CRD() *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(crdFile, crd); err != nil {
		panic(fmt.Sprintf("throttle: the embedded crds/kopfexamples.yaml is not a CustomResourceDefinition: %v", err))
	}
	return crd
}
