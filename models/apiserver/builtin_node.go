package apiserver

import (
	"encoding/pem"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nodeStrategy follows pkg/registry/core/node and the TaintNodesByCondition admission plugin.
var nodeStrategy = builtin{
	unconditional: true, status: true, unmodelled: []string{"proxy"},
	prepareCreate: func(_ *call, o runtime.Object) {
		n := o.(*corev1.Node)
		for _, taint := range n.Spec.Taints {
			if taint.Key == corev1.TaintNodeNotReady && taint.Effect == corev1.TaintEffectNoSchedule {
				return
			}
		}
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	},
}

// certificateStrategy follows pkg/registry/certificates.
var certificateStrategy = builtin{
	unconditional: true, status: true, unmodelled: []string{"approval"},
	validate: checks(func(r *certificatesv1.CertificateSigningRequest) field.ErrorList {
		block, _ := pem.Decode(r.Spec.Request)
		if block == nil || block.Type != "CERTIFICATE REQUEST" {
			return field.ErrorList{field.Invalid(field.NewPath("spec", "request"), r.Spec.Request, "PEM block type must be CERTIFICATE REQUEST")}
		}
		return nil
	}),
}
