// This file holds the variants: one policy each, and a line for each step from the controller as it
// was to the fixed one.

package promotion

import (
	"context"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// Variant names one stage of the story. The zero value is V8, the one to use.
type Variant string

// The variants, in the order of the story.
const (
	// V0 has no memory: while no target shows the revision, every pass promotes it again.
	V0 Variant = "V0"
	// V1a writes down what it promoted and does not look at it.
	V1a Variant = "V1a"
	// V1 also consults that record, as it stands in the cache.
	V1 Variant = "V1"
	// V2 also ignores its own status writes as a reason to run.
	V2 Variant = "V2"
	// V3 also comes back by itself while a target cannot be read, and until then decides nothing.
	// The end of the thread.
	V3 Variant = "V3"
	// V4 is V3 with a live read of the record just before promoting.
	V4 Variant = "V4"
	// V5 is V3 with a manager whose client reads its own writes.
	V5 Variant = "V5"
	// V6 is V3 with the record written before promoting, at the resourceVersion that was read.
	V6 Variant = "V6"
	// V6t is V6 with a time in the status that every pass writes.
	V6t Variant = "V6t"
	// V7 is V3 with a guard object that must be created before promoting.
	V7 Variant = "V7"
	// V8s is V8 with a status that says succeeded as soon as a promotion is attempted.
	V8s Variant = "V8s"
	// V8u is V8 that takes the pull request from the reply to its own order alone.
	V8u Variant = "V8u"
	// V8 is the fixed variant: see fix.go.
	V8 Variant = "V8"
)

// policy is the set of decisions in which the variants differ. The zero policy is of no variant.
type policy struct {
	// done reports whether an environment that does not run the revision yet needs no promotion any
	// more.
	done    done
	promote func(context.Context, *pass, decision) (ctrl.Result, error)
	// gate is asked between deciding and promoting, ended what becomes of the outcome. They are for
	// promoteOnce.
	gate  gate
	ended outcome
	// setUp makes something of an error while the operator sets itself up.
	setUp func(error) error
	// events selects the events of Pipelines.
	events []predicate.Predicate
	// requeueUnread ends a pass that could not read every target: nothing is decided, and it comes
	// back with back-off.
	requeueUnread bool
	// stamp puts the time of the pass into the first status write.
	stamp bool
	// guarded makes two looks of a pass: one at the cache, one live.
	guarded bool
	// succeeded reports whether the status calls a promotion in a phase a success. found returns
	// what is kept of a pull request that the forge has. Both are for promoteGuarded.
	succeeded func(v1alpha1.Phase) bool
	found     func(*v1alpha1.PullRequest) *v1alpha1.PullRequest
	// timeout bounds one call to the forge; zero waits for as long as it takes.
	timeout time.Duration
}

func policies() map[Variant]policy {
	v0 := policy{done: anyTargetRuns, promote: promoteOnce, ended: forget, setUp: swallow}
	v1a := v0
	v1a.ended = record
	v1 := v1a
	v1.done = recorded
	v2 := v1
	v2.events = []predicate.Predicate{predicate.GenerationChangedPredicate{}}
	v3 := v2
	v3.requeueUnread = true
	v4, v6, v7 := v3, v3, v3
	v4.gate, v6.gate, v7.gate = readRecordLive, recordIntent, createGuardOnce
	v6t := v6
	v6t.stamp = true
	v8 := policy{done: never, promote: promoteGuarded, setUp: func(err error) error { return err },
		requeueUnread: true, guarded: true, timeout: 30 * time.Second,
		succeeded: func(p v1alpha1.Phase) bool { return p == v1alpha1.PhasePromoted },
		found:     func(pr *v1alpha1.PullRequest) *v1alpha1.PullRequest { return pr }}
	v8s, v8u := v8, v8
	v8s.succeeded = func(v1alpha1.Phase) bool { return true }
	v8u.found = func(*v1alpha1.PullRequest) *v1alpha1.PullRequest { return nil }

	return map[Variant]policy{
		V0: v0, V1a: v1a, V1: v1, V2: v2, V3: v3, V4: v4, V5: v3, V6: v6, V6t: v6t, V7: v7, V8s: v8s, V8u: v8u,
		V8: v8, "": v8,
	}
}

// Variants lists every variant in the order of the story.
func Variants() []Variant {
	return []Variant{V0, V1a, V1, V2, V3, V4, V5, V6, V6t, V7, V8s, V8u, V8}
}

func (v Variant) policy() (policy, error) {
	p, ok := policies()[v]
	if !ok {
		return policy{}, fmt.Errorf("promotion: there is no variant %q; the variants are %v", string(v), Variants())
	}
	return p, nil
}
