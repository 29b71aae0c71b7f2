package registry

import (
	"encoding/pem"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

var certificateKind = builtin{
	group: "certificates.k8s.io", version: "v1", kind: "CertificateSigningRequest",
	plural: "certificatesigningrequests",
	short:  []string{"csr"}, cluster: true,
	object:       func() runtime.Object { return &certificatesv1.CertificateSigningRequest{} },
	strategy:     certificateStrategy,
	fields:       certificateFields,
	resets:       []string{"spec"},
	statusResets: []string{"status.conditions"},
}

// certificateStrategy follows pkg/registry/certificates.
var certificateStrategy = strategy{
	Unconditional: true, status: true, Unmodelled: []string{"approval"},
	Validate: checks(func(r *certificatesv1.CertificateSigningRequest) field.ErrorList {
		block, _ := pem.Decode(r.Spec.Request)
		if block == nil || block.Type != "CERTIFICATE REQUEST" {
			return field.ErrorList{field.Invalid(field.NewPath("spec", "request"), r.Spec.Request,
				"PEM block type must be CERTIFICATE REQUEST")}
		}
		return nil
	}),
}

var certificateFields = map[string]func(*object.Object) string{
	"spec.signerName": selects(func(r *certificatesv1.CertificateSigningRequest) string { return r.Spec.SignerName }),
}
