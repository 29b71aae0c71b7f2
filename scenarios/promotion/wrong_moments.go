// This file exists for what people and installers do at the wrong moment: they move a repository,
// take a forge away, go on before anybody has merged, roll back, or install the kinds after the
// operator.

package promotion

import (
	"context"
	"time"

	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/sim"
)

// Rehoused moves the repository while it is not known what became of an order.
var Rehoused = workload(quietly, askTakesEffectOnce, movesHouse)

func movesHouse(s *World) {
	s.Runs("dev", "v2")
	s.Sleep(soon)
	s.Apply(moved("shop-moved", "dev", "staging"))
	s.Sleep(dwell)
}

// Mistyped names a repository that the forge does not have, and corrects it when the first order
// has been refused.
var Mistyped = workload(between("dev", "staging"), askEverywhere, func(s *World) {
	s.door.without = "/repos/acme/shpo/"
	mistyped := Pipeline("dev", "staging")
	mistyped.Spec.Promotion.Strategy.PullRequest.URL = "https://" + gitHost + "/acme/shpo"
	s.Apply(Namespace("shop"), Namespace("dev"), Namespace("staging"), App("dev"), App("staging"), mistyped)
	s.Runs("dev", "v1")
	s.Sleep(time.Minute)
	s.Apply(Pipeline("dev", "staging"))
	s.Settle()
})

// ForgeDown takes the forge away for an hour while a promotion is under way.
var ForgeDown = workload(quietly, askActionable, losesForge)

func losesForge(s *World) {
	s.Runs("dev", "v2")
	s.Sleep(soon)
	s.door.shut = true
	s.Sleep(time.Hour)
	s.door.shut = false
	s.Settle()
}

// outdoes goes on to further revisions before anybody has merged the first.
func outdoes(s *World) {
	for _, revision := range []string{"v2", "v3", "v4"} {
		s.Runs("dev", revision)
		s.Settle()
	}
}

// rollsBack takes dev back to what staging runs, before anybody has merged what it ran meanwhile.
func rollsBack(s *World) {
	for _, revision := range []string{"v2", "v1"} {
		s.Runs("dev", revision)
		s.Settle()
	}
}

var (
	// Outdone asks what people find at the forge after that.
	Outdone = workload(quietly, askOneOpen, outdoes)
	// RolledBack asks the same after a rollback.
	RolledBack = workload(quietly, askNoneBack, rollsBack)
)

// InstalledLate starts the operator before its kinds are there, as an installer does that is in no
// particular order.
var InstalledLate = workload(func(w *sim.World, v promotion.Variant) *World {
	s := set(w, func(*ctrl.Options) {}, "dev", "staging")
	w.Run(Operator, func(ctx context.Context, cfg *rest.Config) error {
		mgr, err := sim.NewManager(cfg, s.options(v))
		if err != nil {
			return err
		}
		if err := setup(v, 1)(mgr); err != nil {
			return err
		}
		return mgr.Start(ctx)
	}, sim.Options(ctrl.Options{Scheme: scheme}))
	return s
}, askEverywhere, func(s *World) {
	s.Sleep(15 * time.Second)
	s.Install(crds)
	s.Open()
	s.Runs("dev", "v1")
	s.Sleep(dwell)
	s.Settle()
})

// WrongMoments draws one of the wrong moments and asks for everything that must hold of the fixed
// variant.
var WrongMoments = workload(quietly, (*World).holds, func(s *World) {
	moments := []func(*World){outdoes, rollsBack, movesHouse, losesForge}
	moments[sim.Draw(s.World, "moment", rapid.IntRange(0, len(moments)-1))](s)
	s.Settle()
})
