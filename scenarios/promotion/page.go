// This file holds the predictions and situations of the page.

package promotion

import (
	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

// predictions were made in the thread, or from reading the code, before anything ran.
func predictions() (out []matrix.Prediction[promotion.Variant]) {
	for _, p := range [][3]string{
		{"an edit of the spec during a promotion repeats it", "an edit wakes it", "V3"},
		{"so does an event of an application, through the channel", "app burst", "V3"},
		{"so does an event of a GitopsCluster", "a cluster's event wakes it", "V3"},
		{"so does a leftover timer, in the classic queue", "a leftover timer wakes it, classic queue", "V3"},
		{"so does a leftover timer, in the priority queue", "a leftover timer wakes it, priority queue", "V3"},
		{"so does a last patch that fails", "the last patch fails", "V3"},
		{"so does a crash between promoting and recording", "crash window", "V3"},
		{"so do an old leader and a new one", "two leaders", "V3"},
		{"reading one's own writes helps against neither of the last two", "two leaders", "V5"},
		{"without a requeue a cache that was not in sync is not asked again, if the target does not exist",
			"says that a target does not exist", "V2"},
		{"the same holds for the cache of another cluster", "says that a target elsewhere does not exist", "V2"},
		{"a conflict with its own earlier write delays an intent, and no more", "arrives everywhere", "V6"},
		{"a time in the status makes that conflict return for ever", "no livelock", "V6t"},
		{"a guard without episodes blocks the return to a revision", "comes back", "V7"},
		{"an error of the set-up is swallowed: the operator runs on and does nothing", "its kinds are installed late",
			"V0"},
		{"a policy that only the environment has makes the original panic", "a policy only on the environment", "V0"},
	} {
		v := promotion.Variant(p[2])
		out = append(out, matrix.Prediction[promotion.Variant]{Says: p[0], Case: p[1], Variant: v, Fails: v != "V6"})
	}
	return out
}

var covered, tested, open = matrix.Covered, matrix.Tested, matrix.Open

// situations were to be covered beside the variants.
var situations = []matrix.Situation{
	covered("a revision comes 5 ms to 5 s before readiness, and an application flaps meanwhile",
		"ready some time after the revision", "dev flaps"),
	covered("three environments with two targets each, of which one is late", late),
	covered("another cluster: its cache is not in sync at first, its GitopsCluster comes late, its Secret changes",
		"says that a target elsewhere does not exist", "a late cluster is seen", "a cluster moves"),
	covered("an edit adds an environment, or reorders them", "an environment is added", "environments change places"),
	covered("dev moves on while a promotion is in flight, and back", "dev moves on and back", "comes back once"),
	covered("promoting takes 1 ms, 30 s, 10 min", "promoting takes 1ms", "promoting takes 30s",
		"promoting takes 10m0s"),
	covered("an order fails, and the next one does not", "arrives in spite of a failing forge"),
	covered("the last write of the status fails", "the last patch fails", "lost patch reply"),
	covered("a pipeline is deleted and made again; two are over one application", madeAgain,
		"made again, it is promoted", "two pipelines over one application"),
	covered("leaders overlap", "two leaders"),
	covered("a policy only on the environment; a target that is ready without a revision", ownPolicy,
		"ready without a revision"),
	covered("orders are refused while faults wake or interrupt it, and from then on", refusals()...),
	tested("a restart with many pipelines in the midst of promotion", "TestPromotion"),
	tested("repositories that fail or move for good", "TestFixedVariantLeavesNothingUndone"),
	open("at most so many retries", "V8 tries again, ever more seldom, until the order is confirmed or outdone: to "+
		"give up would lose a promotion, and its status says what it waits for. So only the spacing is checked"),
	open("a pipeline without environments, which makes the original panic, and a policy without a strategy or no "+
		"policy, which it records as promoted",
		"the variants do not have these faults, which have nothing to do with how often a promotion happens"),
	open("a status that begins with an empty map of environments, and so loses the record",
		"before the pull request there is no record to lose, and with it a pass keeps what the map holds. With both, "+
			"every pass would promote again, as V0 and V1a do"),
}

// refusals are the names of the cases about orders that are refused.
func refusals() (names []string) {
	for _, c := range refusedUnderFaults() {
		names = append(names, c.Name)
	}
	return names
}
