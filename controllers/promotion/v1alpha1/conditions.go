// This file exists to name, once, the conditions and reasons that people and properties look for in
// a status.

package v1alpha1

const (
	// ReadyCondition reports whether every target of a Pipeline could be read. It is also the
	// condition that an application must carry to count as ready.
	ReadyCondition = "Ready"
	// PromotionPendingCondition is present while something stands between a revision and its
	// promotion.
	PromotionPendingCondition = "PromotionPending"

	// ReconciliationSucceededReason means that every target was read.
	ReconciliationSucceededReason = "ReconciliationSucceeded"
	// TargetNotReadableReason means that a target is missing, unreachable or not yet in the cache.
	TargetNotReadableReason = "TargetNotReadable"
	// EnvironmentNotReadyReason means that the first environment has no common revision yet, or is
	// not ready with it.
	EnvironmentNotReadyReason = "EnvironmentNotReady"
	// PromotionFailedReason is ours: the last attempt failed and another one is due. The original
	// forgets the error.
	PromotionFailedReason = "PromotionFailed"
)
