// Package result holds what sim.Explore returns: the [Report] of a campaign, its first [Failure],
// and how a run ends.
package result
