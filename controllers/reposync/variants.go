// This file holds the variants: one policy each, and a line for each step from the operator as it
// was to the fixed one.

package reposync

import (
	"fmt"
	"time"
)

// Variant names one policy. The zero value is V10, the one to use.
type Variant string

// The variants, as the thread has them, and V10.
const (
	// V0 leaves the reconciler's finalizer to the reconciler.
	V0 Variant = "V0"
	// V1 has the manager take it off as soon as a RepoSync is being deleted.
	V1 Variant = "V1"
	// V2 takes it off when the namespace of a RepoSync terminates, as far as the cache knows: pull
	// request 1191, as merged.
	V2 Variant = "V2"
	// V2w reads the namespace live, and comes back.
	V2w Variant = "V2w"
	// V3 refuses to delete a namespace while a RepoSync is in it.
	V3 Variant = "V3"
	// V4 has the reconciler leave what it manages to the namespace controller, unless an order was
	// asked for.
	V4 Variant = "V4"
	// V5 is V4, and a finalizer keeps the RoleBinding for as long as the reconciler needs it.
	V5 Variant = "V5"
	// V6n is V4, and a webhook keeps the RoleBinding for as long as the reconciler needs it.
	V6n Variant = "V6n"
	// V6g is V6n, and the webhook keeps whatever something else depends on.
	V6g Variant = "V6g"
	// V7 is V0, and the manager has a finalizer on the Namespace. When that is deleted, it deletes
	// the RepoSyncs in it first.
	V7 Variant = "V7"
	// V9 gives reconcilers their rights by a ClusterRoleBinding.
	V9 Variant = "V9"
	// V10c is V10 with a reconciler that reads its RepoSync from the cache.
	V10c Variant = "V10c"
	// V10d is V10 that deletes a CustomResourceDefinition after its custom resources.
	V10d Variant = "V10d"
	// V10f is V10 that removes the finalizers of other controllers from what it deletes.
	V10f Variant = "V10f"
	// V10 is fixed: the webhook of V6g, and a manager that says what a deletion waits for
	// and in the end does the reconciler's work itself.
	V10 Variant = "V10"
)

// policy is the set of decisions in which the variants differ. The zero policy is V0.
type policy struct {
	// release decides, while a RepoSync is being deleted, whether the manager continues in spite of
	// the reconciler's finalizer.
	release release
	// patience is how long a deletion may take before the manager does it itself; it is for
	// lastResort.
	patience time.Duration
	// skips has the reconciler destroy nothing in a terminating namespace if no managed object
	// depends on another.
	skips bool
	// keepsBinding keeps the RoleBinding by a finalizer until the reconciler's Deployment has gone.
	keepsBinding bool
	// ahead has the manager keep the Namespace by a finalizer, and delete the RepoSyncs in it when
	// it terminates.
	ahead bool
	// patches takes finalizers off by a patch that no other writer can come before.
	patches bool
	// clusterWide gives rights by a ClusterRoleBinding.
	clusterWide bool
	// sweeps has the manager delete what it made for a sync whose finalizers a user removed.
	sweeps bool
	// minds has the manager restore the settings of its reconcilers when they are changed or
	// deleted.
	minds bool
	// avoids has a reconciler create nothing in a namespace that is being deleted, where that is
	// refused: for RootSyncs that is pull request 1194.
	avoids bool
	// cached has a reconciler read its sync from the cache.
	cached bool
	// definitionsLast has a CustomResourceDefinition wait for its custom resources.
	definitionsLast bool
	// forces removes all finalizers from what is deleted.
	forces bool
	// refuses are the deletions that the webhook refuses.
	refuses []refusal
}

func policies() map[Variant]policy {
	v0 := policy{release: never}
	v1, v2, v2w, v3, v4, v7, v9 := v0, v0, v0, v0, v0, v0, v0
	v1.release = always
	v2.release = whenTerminating
	v2w.release = whenTerminatingLive
	v3.refuses = []refusal{inhabited}
	v4.skips = true
	v5, v6n, v6g := v4, v4, v4
	v5.keepsBinding = true
	v6n.refuses = []refusal{bindingInUse}
	v6g.refuses = []refusal{bindingInUse, inventoryInUse, dependedOn}
	v7.ahead = true
	v9.clusterWide = true
	v10 := policy{release: lastResort, patience: 30 * time.Second, refuses: v6g.refuses}
	v10.patches, v10.sweeps, v10.minds, v10.avoids = true, true, true, true

	v10c, v10d, v10f := v10, v10, v10
	v10c.cached = true
	v10d.definitionsLast = true
	v10f.forces = true

	return map[Variant]policy{
		V0: v0, V1: v1, V2: v2, V2w: v2w, V3: v3, V4: v4, V5: v5, V6n: v6n, V6g: v6g, V7: v7, V9: v9, V10c: v10c,
		V10d: v10d, V10f: v10f, V10: v10, "": v10,
	}
}

// Variants lists every variant.
func Variants() []Variant {
	return []Variant{V0, V1, V2, V2w, V3, V4, V5, V6n, V6g, V7, V9, V10c, V10d, V10f, V10}
}

func (v Variant) policy() (policy, error) {
	p, ok := policies()[v]
	if !ok {
		return policy{}, fmt.Errorf("reposync: there is no variant %q; the variants are %v", string(v), Variants())
	}
	return p, nil
}
