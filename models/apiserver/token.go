package apiserver

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// issuer issues the tokens of ServiceAccounts, and is their audience unless a request names others.
const issuer = "https://kubernetes.default.svc.cluster.local"

// serveToken issues a token for a ServiceAccount
// (pkg/registry/core/serviceaccount/storage/token.go). Its claims are those of a real one, but its
// signature is not: no server of a world checks it.
func serveToken(r *request) (*Response, error) {
	w, err := r.createWrite()
	if err != nil {
		return nil, err
	}
	var t authenticationv1.TokenRequest
	if err := json.Unmarshal(w.body, &t); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	kind := authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")
	if err := w.info.matchNamespace(&t.ObjectMeta); err != nil {
		return nil, err
	}
	if t.Name != "" && t.Name != w.info.Name {
		return nil, apierrors.NewInvalid(kind.GroupKind(), w.info.Name, field.ErrorList{field.Invalid(
			field.NewPath("metadata", "name"), t.Name, "must match the service account name if specified")})
	}
	account, err := r.stored()
	if err != nil {
		return nil, err
	}
	if bound := t.Spec.BoundObjectRef; bound != nil {
		return nil, NotModelled("a token that is bound to %s %q", bound.Kind, bound.Name)
	}
	if t.Spec.ExpirationSeconds == nil {
		t.Spec.ExpirationSeconds = new(int64(3600))
	}
	if len(t.Spec.Audiences) == 0 {
		t.Spec.Audiences = []string{issuer}
	}
	if err := validLifetime(kind.GroupKind(), *t.Spec.ExpirationSeconds); err != nil {
		return nil, err
	}
	now := r.s.now()
	expires := now.Add(time.Duration(*t.Spec.ExpirationSeconds) * time.Second)
	t.SetGroupVersionKind(kind)
	t.Name, t.Namespace, t.UID = account.Meta.Name, account.Meta.Namespace, r.s.generator.uid()
	t.CreationTimestamp = metav1.NewTime(now)
	t.Status = authenticationv1.TokenRequestStatus{
		ExpirationTimestamp: metav1.NewTime(expires),
		Token: signed(map[string]any{
			"iss": issuer, "aud": t.Spec.Audiences, "iat": now.Unix(), "nbf": now.Unix(), "exp": expires.Unix(),
			"jti": r.s.generator.uid(), "sub": "system:serviceaccount:" + t.Namespace + ":" + t.Name,
			"kubernetes.io": map[string]any{
				"namespace":      t.Namespace,
				"serviceaccount": map[string]any{"name": t.Name, "uid": account.Meta.UID},
			},
		}),
	}
	return jsonResponse(http.StatusCreated, object.Marshal(t)), nil
}

// validLifetime follows pkg/apis/authentication/validation.
func validLifetime(kind schema.GroupKind, seconds int64) error {
	path, why := field.NewPath("spec", "expirationSeconds"), ""
	switch {
	case seconds < 600:
		why = "may not specify a duration less than 10 minutes"
	case seconds > 1<<32:
		why = "may not specify a duration larger than 2^32 seconds"
	default:
		return nil
	}
	return apierrors.NewInvalid(kind, "", field.ErrorList{field.Invalid(path, seconds, why)})
}

// signed is a JSON Web Token with a signature that is none.
func signed(claims map[string]any) string {
	parts := [][]byte{[]byte(`{"alg":"RS256","kid":"simulated"}`), object.Marshal(claims), []byte("simulated")}
	var out []string
	for _, p := range parts {
		out = append(out, base64.RawURLEncoding.EncodeToString(p))
	}
	return strings.Join(out, ".")
}
