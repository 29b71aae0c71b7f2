package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/models/apiserver"
)

// response is what a webhook says; v1 and v1beta1 say it alike.
type response = admissionv1.AdmissionResponse

// version is the first version of AdmissionReview that a webhook takes and the server knows.
func (h *hook) version() string {
	for _, v := range h.AdmissionReviewVersions {
		if v == "v1" || v == "v1beta1" {
			return v
		}
	}
	return ""
}

// review is the body of a call (request/admissionreview.go).
func (h *hook) review(a *apiserver.Attempt, uid string) ([]byte, error) {
	version := h.version()
	if version == "" {
		return nil, errors.New("webhook does not accept known AdmissionReview versions (v1, v1beta1)")
	}
	return json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/" + version, Kind: "AdmissionReview"},
		Request:  request(a, uid),
	})
}

// request describes an attempt to a webhook.
func request(a *apiserver.Attempt, uid string) *admissionv1.AdmissionRequest {
	kind := metav1.GroupVersionKind(a.Kind)
	resource := metav1.GroupVersionResource(a.Resource())
	asked, askedOf := kind, resource
	asked.Version, askedOf.Version = a.Requested, a.Requested
	r := &admissionv1.AdmissionRequest{
		UID: types.UID(uid), Kind: kind, Resource: resource, SubResource: a.Info.Subresource,
		RequestKind: &asked, RequestResource: &askedOf, RequestSubResource: a.Info.Subresource,
		Name: a.Name, Namespace: a.Namespace, Operation: admissionv1.Operation(a.Operation),
		UserInfo: authenticationv1.UserInfo{Username: a.Request.User, UID: a.Request.UID, Groups: a.Request.Groups},
		Object:   runtime.RawExtension{Raw: a.Object}, OldObject: runtime.RawExtension{Raw: a.Old},
		DryRun: &a.DryRun, Options: runtime.RawExtension{Raw: a.Options},
	}
	for key, values := range a.Request.Extra {
		if r.UserInfo.Extra == nil {
			r.UserInfo.Extra = map[string]authenticationv1.ExtraValue{}
		}
		r.UserInfo.Extra[key] = values
	}
	return r
}

// verify checks an answer (request/admissionreview.go, VerifyAdmissionResponse).
func (h *hook) verify(t metav1.TypeMeta, r *response, uid string) error {
	if r == nil {
		return errors.New("webhook response was absent")
	}
	if h.version() == "v1beta1" {
		if len(r.Patch) > 0 {
			json := admissionv1.PatchTypeJSONPatch
			r.PatchType = &json
		}
		return nil
	}
	want := admissionv1.SchemeGroupVersion.WithKind("AdmissionReview")
	switch got := t.GroupVersionKind(); {
	case string(r.UID) != uid:
		return fmt.Errorf("expected response.uid=%q, got %q", uid, r.UID)
	case got != want:
		return fmt.Errorf("expected webhook response of %v, got %v", want.String(), got.String())
	case !h.mutating && len(r.Patch) > 0:
		return errors.New("validating webhook may not return response.patch")
	case !h.mutating && r.PatchType != nil:
		return errors.New("validating webhook may not return response.patchType")
	case len(r.Patch) > 0 && r.PatchType == nil:
		return errors.New("webhook returned response.patch but not response.patchType")
	case len(r.Patch) == 0 && r.PatchType != nil:
		return errors.New("webhook returned response.patchType but not response.patch")
	case r.PatchType != nil && *r.PatchType == "":
		return fmt.Errorf("webhook returned invalid response.patchType of %q", *r.PatchType)
	}
	return nil
}

// bodyText is an error's body as client-go shows it.
func bodyText(body []byte) string {
	if text := strings.TrimSpace(string(body)); text != "" {
		return text
	}
	return "unknown"
}
