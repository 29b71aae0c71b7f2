// This file holds the odd corners and the wrong moments: what environments, people, strategies and
// installers may do while a promotion is under way.

package promotion

import (
	"context"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/sim"
)

// corner is something that happens between a quiet opening, with dev and staging at v1, and a
// delivery to everywhere.
type corner struct {
	name    string
	fails   string // the variants by which a revision then takes effect too often
	happens step
}

// turn plays a corner and lets everything be delivered.
func (c corner) turn(s *World) {
	c.happens(s)
	s.Settle()
	delivers(len(s.Environments) - 1)(s)
}

// anyCorner draws one of them.
func anyCorner(s *World) {
	corners[sim.Draw(s.World, "corner", rapid.IntRange(0, len(corners)-1))].turn(s)
}

func cornerOf(name string) corner {
	return corners[slices.IndexFunc(corners, func(c corner) bool { return c.name == name })]
}

// Names of corners that the table has to tell from the others.
const (
	late      = "two targets each, one late"
	ownPolicy = "a policy only on the environment"
	madeAgain = "made again under its name"
)

var corners = []corner{
	{"nothing out of the ordinary", "", runs("dev", "v2")},
	{"ready some time after the revision", "V3", inTurn(struggles("dev", "v2"), func(s *World) {
		s.Sleep(sim.Draw(s.World, "ready after",
			rapid.SampledFrom([]time.Duration{5 * time.Millisecond, time.Second, 5 * time.Second})))
	}, runs("dev", "v2"))},
	{"dev flaps", "V3", inTurn(runs("dev", "v2"), sleep(soon), struggles("dev", "v2"), sleep(soon), runs("dev", "v2"))},
	{"ready without a revision", "V3", inTurn(runs("staging", ""), runs("dev", "v2"))},
	{"dev moves on and back", "V3", inTurn(runs("dev", "v2"), sleep(soon), runs("dev", "v3"), settle,
		runs("dev", "v2"))},
	{"an environment is added", "V3", inTurn(namespaces("canary"), appears("canary"), runs("dev", "v2"), sleep(soon),
		goesThrough("dev", "canary", "staging"))},
	{"environments change places", "", inTurn(namespaces("prod"), appears("prod"),
		goesThrough("dev", "staging", "prod"), settle, runs("dev", "v2"), sleep(soon),
		applies(Pipeline("dev", "prod", "staging")))},
	{madeAgain, "V3 V7", inTurn(runs("dev", "v2"), sleep(soon), func(s *World) { s.Remove(Pipeline()) },
		applies(Pipeline("dev", "staging")))},
	{"two pipelines over one application", "", inTurn(applies(named("twin", "dev", "staging")), runs("dev", "v2"))},
	{late, "V3 V7", inTurn(func(s *World) { s.Environments = []string{"dev", "staging", "prod"} },
		namespaces("dev-2", "staging-2", "prod-2", "prod"), appears("prod", "dev-2", "prod-2"),
		applies(doubled(Pipeline("dev", "staging", "prod"), nil)), runs("dev", "v2"), runs("dev-2", "v2"),
		sleep(time.Minute), appears("staging-2"), settle, delivers(1), runs("staging-2", "v2"))},
	{ownPolicy, "", inTurn(applies(edited(func(p *v1alpha1.PipelineSpec) {
		p.Environments[1].Promotion, p.Promotion = p.Promotion, nil
	})), runs("dev", "v2"))},
}

// goesThrough gives the pipeline other environments.
func goesThrough(environments ...string) step {
	return func(s *World) {
		s.Environments = environments
		s.Apply(Pipeline(environments...))
	}
}

var (
	// isTold promotes by workload a CI, which acts on every Event that it sees.
	isTold           = inTurn(runs("dev", "v1"), sleep(dwell))
	isToldAndSettles = inTurn(isTold, settle)

	// moves has people move the repository while it is not known what became of an order.
	moves = inTurn(runs("dev", "v2"), sleep(soon), applies(in("shop-moved", Pipeline("dev", "staging"))), sleep(dwell))
	// losesForge takes the forge away for an hour while a promotion is under way.
	losesForge = inTurn(runs("dev", "v2"), sleep(soon), func(s *World) { s.outages.down = true }, sleep(time.Hour),
		func(s *World) { s.outages.down = false }, settle)
	// outdoes moves dev on to further revisions before the first is merged, and rollsBack takes dev
	// back to what staging runs.
	outdoes   = inTurn(runs("dev", "v2"), settle, runs("dev", "v3"), settle, runs("dev", "v4"), settle)
	rollsBack = inTurn(runs("dev", "v2"), settle, runs("dev", "v1"), settle)
	// isCorrected names a repository that the forge does not have, and corrects it when the first
	// order has been refused.
	isCorrected = inTurn(func(s *World) { s.outages.missing = "/repos/acme/shpo/" },
		opensWith(in("shpo", Pipeline("dev", "staging")), "dev", "staging"), runs("dev", "v1"), sleep(time.Minute),
		applies(Pipeline("dev", "staging")), settle)

	kindsAreInstalled = inTurn(sleep(15*time.Second), func(s *World) { s.Install(crds) }, opens, runs("dev", "v1"),
		sleep(dwell), settle)
)

// anyMoment draws one of the wrong moments.
func anyMoment(s *World) {
	moments := []step{outdoes, rollsBack, moves, losesForge}
	moments[sim.Draw(s.World, "moment", rapid.IntRange(0, len(moments)-1))](s)
	s.Settle()
}

// unprepared opens with an operator that is started before its kinds are there, as by an installer
// that is in no particular order.
func unprepared(w *sim.World, v promotion.Variant) *World {
	s := empty(w, func(*ctrl.Options) {}, "dev", "staging")
	w.Run(Operator, func(ctx context.Context, cfg *rest.Config) error {
		mgr, err := sim.NewManager(cfg, s.options(v))
		if err == nil {
			err = setup(v, 1)(mgr)
		}
		if err == nil {
			err = mgr.Start(ctx)
		}
		return err
	}, sim.Options(ctrl.Options{Scheme: scheme}))
	return s
}
