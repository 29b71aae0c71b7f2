// This file exists for what the full cure still owes to people when something else that it has to do fails, or when they have
// told it to do something else meanwhile.

package promotion

import (
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// at is the URL of a repository of the forge.
func at(repository string) string { return "https://" + gitHost + "/acme/" + repository }

// moved is the pipeline with another repository.
func moved(repository string, environments ...string) *v1alpha1.Pipeline {
	p := Pipeline(environments...)
	p.Spec.Promotion.Strategy.PullRequest.URL = at(repository)
	return p
}

// askElsewhere asks whether a promotion takes effect once and arrives, wherever that is.
func askElsewhere(s *Story) {
	askTakesEffectOnce(s)
	askEverywhere(s)
}

// movesForGood has a repository fail to carry out an order, so that nobody knows what became of it, and has people give the
// pipeline another one for that.
func movesForGood(s *Story) {
	s.door.deaf = "/repos/acme/shop/"
	s.Runs("dev", "v2")
	s.Sleep(time.Minute)
	s.Apply(moved("shop-moved", "dev", "staging"))
	s.Settle()
}

// movesAtOnce has people give the pipeline another repository while an order may be on its way to the first: another replica may
// go on with what one has begun that froze.
func movesAtOnce(s *Story) {
	s.Replica("second", promotion.V8, 1)
	movesHouse(s)
	s.Settle()
}
