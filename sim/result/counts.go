package result

import "github.com/wavetank/wavetank/internal/story"

// FaultCount counts what became of a declared fault, over all runs of a campaign.
type FaultCount struct {
	Fault string
	// Opportunities counts the points of the runs at which the fault could have been injected: a
	// request that it may fail, an event that it may delay. What is outside its scope is none.
	Opportunities int
	// Injected counts the opportunities at which choices did inject it.
	Injected int
	// Observed counts the injections whose effect was observed before the run ended: a request got
	// the injected answer, a reconcile began with the stale cache, the next incarnation reconciled
	// after a crash. However many requests one injection fails, it counts once; so Observed is at
	// most Injected.
	Observed int
	// Classes are the same by class of requests and watch events.
	Classes []ClassCount
}

// ClassCount counts the injections of a fault at requests of one class: those with the same verb
// and kind.
type ClassCount = story.ClassTotal

// ObjectCount counts how the reconciles of an object that a user made ended.
type ObjectCount = story.ObjectTotal

// SiteCount counts what a line of the program sent, and the faults that were injected there.
type SiteCount = story.SiteTotal

// SourceCall is a write in the source of a program.
type SourceCall = story.SourceCall

// Story is a shrunk run as its file holds it: the choices that replay it, and what happened.
type Story = story.Story

// Finding is one cause of failures of a campaign, with its shortest story.
type Finding = story.Finding

// Probe says in how many runs a Sometimes property was true.
type Probe struct {
	Sentence string
	Site     string
	Reached  int // runs in which it was
}

// StrategyCount says how many runs of a campaign a strategy made, and how many of them failed.
type StrategyCount struct {
	Name  string
	Runs  int
	Finds int
}
