package sim

import "fmt"

// FaultCount says what became of a declared fault, over all runs of a campaign.
type FaultCount struct {
	Fault string
	// Opportunities counts the points of the runs at which the fault could have been injected: a
	// request that it may fail, an event that it may delay. What is outside its scope is none.
	Opportunities int
	// Injected counts those of the opportunities at which choices did inject it.
	Injected int
	// Observed counts those of the injections whose effect was observed before the run ended: a
	// request got the injected answer, a reconcile began with the stale cache, the next incarnation
	// reconciled after a crash. However many requests one injection fails, it counts once; so
	// Observed is at most Injected.
	Observed int
}

// idle says, in a sentence, that a fault was never injected in a campaign and why that may be. It
// is "" if the fault was injected, or if there is too little evidence.
func (c FaultCount) idle(runs int) string {
	switch {
	case c.Injected > 0, c.Opportunities > 0 && c.Opportunities < enoughOpportunities && runs < enoughRuns:
		return ""
	case c.Opportunities == 0:
		return fmt.Sprintf("fault %s had no opportunity in %d runs: look at its scope, or do not declare it",
			c.Fault, runs)
	}
	return fmt.Sprintf("fault %s was never injected in %d runs, at %d opportunities: make more runs",
		c.Fault, runs, c.Opportunities)
}
