// This file exists so that whoever installs the operator gets its kinds from the same place as its
// code.

package promotion

import (
	"embed"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wavetank/wavetank/controllers/internal/crds"
	"github.com/wavetank/wavetank/controllers/promotion/orders"
	"github.com/wavetank/wavetank/controllers/promotion/targets"
)

//go:embed crds/*.yaml
var crdFiles embed.FS

// CRDs returns the kinds that the operator works with: Pipeline, Promotion, GitopsCluster, and the
// Kustomization that stands for any application. Every call returns fresh copies, in the order of
// their names.
func CRDs() []*apiextensionsv1.CustomResourceDefinition {
	return crds.Read("promotion", crdFiles)
}

// GitopsCluster is the kind that stands for a cluster.
var GitopsCluster = targets.GitopsCluster

// Of an Event that asks a CI for a promotion.
const (
	PromoteReason         = orders.PromoteReason
	EnvironmentAnnotation = orders.EnvironmentAnnotation
	RevisionAnnotation    = orders.RevisionAnnotation
)
