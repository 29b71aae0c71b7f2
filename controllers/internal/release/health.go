// This file says whether what a release has made is healthy, where its chart says what that means.

package release

import (
	"context"
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// HealthKey is the annotation by which a chart says when an object is healthy. An object without it
// is healthy once it is there.
const HealthKey = "wavetank.example/health"

// Available is the value of [HealthKey] for a Deployment that is healthy when its rollout is
// complete, as kubectl rollout status sees it (kubectl/pkg/polymorphichelpers/rollout_status.go).
const Available = "available"

// Ill names the first object of a release that is not healthy, and says why. It is "" if all are.
func Ill(ctx context.Context, reader client.Reader, of *release.Release) (string, error) {
	objects, err := Objects(strings.NewReader(of.Manifest))
	if err != nil {
		return "", err
	}
	for _, o := range objects {
		want, asked := o.GetAnnotations()[HealthKey]
		if !asked {
			continue
		}
		name := o.GetKind() + " " + o.GetName()
		if want != Available || o.GetKind() != "Deployment" {
			return "", fmt.Errorf("%s says that it is healthy when it is %q; only a Deployment can say so, and only %q",
				name, want, Available)
		}
		is := &unstructured.Unstructured{}
		is.SetGroupVersionKind(o.GroupVersionKind())
		if err := reader.Get(ctx, client.ObjectKeyFromObject(o), is); apierrors.IsNotFound(err) {
			return name + " is gone", nil
		} else if err != nil {
			return "", err
		}
		var d appsv1.Deployment
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(is.Object, &d); err != nil {
			return "", err
		}
		if !rolledOut(&d) {
			return name + " is not available", nil
		}
	}
	return "", nil
}

// rolledOut says whether a rollout is complete.
func rolledOut(d *appsv1.Deployment) bool {
	s, want := d.Status, int32(1)
	if d.Spec.Replicas != nil {
		want = *d.Spec.Replicas
	}
	return d.Generation <= s.ObservedGeneration && s.UpdatedReplicas >= want && s.Replicas <= s.UpdatedReplicas &&
		s.AvailableReplicas >= s.UpdatedReplicas
}
