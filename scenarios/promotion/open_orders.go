// This file exists for what the fixed variant still owes to people when something else that it has
// to do fails, or when they have told it to do something else meanwhile.

package promotion

import (
	"fmt"
	"strings"
	"time"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/forge"
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
func askElsewhere(s *World) {
	askTakesEffectOnce(s)
	askEverywhere(s)
}

// movesForGood has a repository fail to carry out an order, so that nobody knows what became of it,
// and has people give the pipeline another one for that.
func movesForGood(s *World) {
	s.door.deaf = "/repos/acme/shop/"
	s.Runs("dev", "v2")
	s.Sleep(time.Minute)
	s.Apply(moved("shop-moved", "dev", "staging"))
	s.Settle()
}

// movesAtOnce has people give the pipeline another repository while an order may be on its way to
// the first: another replica may go on with what one has begun that froze.
func movesAtOnce(s *World) {
	s.Replica("second", promotion.V8, 1)
	movesHouse(s)
	s.Settle()
}

// cleared is what people expect whose forge can be reached, whatever becomes of others.
const cleared = "nothing is open but what is to be merged"

func askCleared(s *World) {
	s.Always(cleared, func(*history.History) error {
		for _, pr := range s.Git.PullRequests() {
			missing := s.door.without != "" && strings.HasPrefix("/repos/"+pr.Repository+"/", s.door.without)
			if s.only != "" && pr.State == forge.Open && pr.Order.Revision != s.only && !missing {
				return fmt.Errorf("pull request %d, the %s, is open", pr.Number, pr.Order)
			}
		}
		return nil
	})
}

// isCleared looks at that now.
func (s *World) isCleared(only string) {
	s.only = only
	s.Apply(Namespace("a-step-that-lets-properties-look"))
	s.only = ""
}

// outdoesElsewhere has the repository go in which a pull request is open, and dev go on by way of
// another one.
func outdoesElsewhere(s *World) {
	s.Runs("dev", "v2")
	s.Settle()
	s.door.without = "/repos/acme/shop/"
	s.Apply(moved("shop-moved", "dev", "staging"))
	for _, revision := range []string{"v3", "v4", "v5", "v6", "v7"} {
		s.Runs("dev", revision)
		s.Sleep(time.Minute)
	}
	s.isCleared("v7")
}

// onlyOneComesBack has a forge fail, and what prod is promoted by go for good, while somebody
// brings staging by hand to what dev runs, so that the pull request to what it ran before is
// outdone.
func onlyOneComesBack(s *World) {
	p := Pipeline("dev", "staging", "prod")
	p.Spec.Environments[2].Promotion = moved("prod").Spec.Promotion
	s.Apply(Namespace("prod"), App("prod"))
	s.Runs("prod", "v1")
	s.Apply(p)
	s.Runs("dev", "v2")
	s.Settle()
	s.door.shut = true
	s.Runs("staging", "v3")
	s.Runs("dev", "v3")
	s.Sleep(time.Minute)
	s.door.shut, s.door.without = false, "/repos/acme/prod/"
	s.Sleep(time.Hour)
	s.isCleared("v3")
}

// takenOut has people take an environment out for which a pull request is open.
func takenOut(s *World) {
	s.Runs("dev", "v2")
	s.Settle()
	s.Apply(Namespace("prod"), App("prod"))
	s.Runs("prod", "v1")
	s.Apply(Pipeline("dev", "prod"))
	s.Runs("dev", "v3")
	s.Settle()
	s.isCleared("v3")
}
