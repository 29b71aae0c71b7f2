// This file holds names that users of the operator need.

package promotion

import (
	"github.com/wavetank/wavetank/controllers/promotion/orders"
	"github.com/wavetank/wavetank/controllers/promotion/targets"
)

// GitopsCluster is the kind that stands for a cluster.
var GitopsCluster = targets.GitopsCluster

// Of an Event that asks a CI for a promotion.
const (
	PromoteReason         = orders.PromoteReason
	EnvironmentAnnotation = orders.EnvironmentAnnotation
	RevisionAnnotation    = orders.RevisionAnnotation
)
