// This file holds the variants: one policy each, and a line for each step from the controller as it
// was to the fixed one.

package clusterextension

import (
	"context"
	"fmt"

	helmrelease "helm.sh/helm/v3/pkg/release"
)

// Variant names one policy. The zero value is V6, the one to use.
type Variant string

// The variants, in the order of the thread, and V6.
const (
	// V0 has no answer to a pending record: Helm refuses, and it tries again. As reported, and what
	// upstream ships.
	V0 Variant = "V0"
	// V1 undoes what was interrupted: an install by an uninstall, an upgrade by a rollback. The
	// author's first version.
	V1 Variant = "V1"
	// V2 deletes the pending record and nothing else, and lets the next pass decide. The pull
	// request.
	V2 Variant = "V2"
	// V2b deletes it and continues in the same pass, with the bundle that was resolved before.
	V2b Variant = "V2b"
	// V2Waits is V2 for a record that was begun a minute ago or longer: until then its process may
	// be alive. A reviewer's question.
	V2Waits Variant = "V2-waits"
	// V3 marks the record as failed.
	V3 Variant = "V3"
	// V3Limit is V3 until three attempts in a row were interrupted. Then it gives up. A reviewer's
	// question.
	V3Limit Variant = "V3-limit"
	// V3b marks it as deployed.
	V3b Variant = "V3b"
	// V4 deletes the Secrets of a record that is pending or cannot be read, without looking into
	// them.
	V4 Variant = "V4"
	// V5 finishes what was interrupted, from the manifest in its record, before it decides anything
	// else.
	V5 Variant = "V5"
	// V6 is the fixed variant: see fix.go.
	V6 Variant = "V6"
)

// policy is the set of decisions in which the variants differ. The zero policy is V0.
type policy struct {
	// first is done before anything is read or resolved. If it fails, or has to wait, the pass is
	// over.
	first func(*pass, context.Context) error
	// pending is done when Helm would refuse because the newest record is pending.
	pending func(*pass, *helmrelease.Release) error
	// goOn continues in the same pass after that.
	goOn bool
	// fenced gives attempts a holder and an end, and has records written so that they cannot be
	// torn.
	fenced bool
}

// policies are those of the variants.
func policies() map[Variant]policy {
	v0 := policy{}
	v1 := policy{pending: (*pass).undo}
	v2 := policy{pending: (*pass).deleteRecord}
	v2b := v2
	v2b.goOn = true
	v2Waits := policy{pending: (*pass).deleteOldRecord}
	v3 := policy{pending: (*pass).markFailed}
	v3Limit := v3
	v3Limit.first = (*pass).giveUp
	v3b := policy{pending: (*pass).markDeployed}
	v4 := policy{first: (*pass).deleteRaw}
	v5 := policy{first: (*pass).resume}
	v6 := policy{first: (*pass).finish, fenced: true}

	return map[Variant]policy{V0: v0, V1: v1, V2: v2, V2b: v2b, V2Waits: v2Waits, V3: v3, V3Limit: v3Limit, V3b: v3b,
		V4: v4, V5: v5, V6: v6, "": v6}
}

// Variants lists every variant.
func Variants() []Variant {
	return []Variant{V0, V1, V2, V2b, V2Waits, V3, V3Limit, V3b, V4, V5, V6}
}

func (v Variant) policy() (policy, error) {
	p, ok := policies()[v]
	if !ok {
		return policy{}, fmt.Errorf("clusterextension: there is no variant %q; the variants are %v", string(v),
			Variants())
	}
	return p, nil
}
