// This file holds the odd corners and the wrong moments: what environments, people, strategies and
// installers may do while a promotion is under way.

package promotion

import (
	"context"
	"time"

	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
)

// corner is something that happens between a quiet opening, with dev and staging at v1, and a
// delivery to everywhere.
type corner struct {
	name    string
	happens func(*World)
}

// turn plays a corner and lets everything be delivered.
func (c corner) turn(s *World) {
	c.happens(s)
	s.Settle()
	s.delivers(len(s.Environments) - 1)
}

// anyCorner draws one of them.
func anyCorner(s *World) {
	corners[sim.Draw(s.World, "corner", rapid.IntRange(0, len(corners)-1))].turn(s)
}

// Names of corners that the table has to tell from the others.
const (
	late      = "two targets each, one late"
	ownPolicy = "a policy only on the environment"
	madeAgain = "made again under its name"
)

var corners = []corner{
	{"nothing out of the ordinary", func(s *World) { s.Runs("dev", "v2") }},
	{"ready some time after the revision", func(s *World) {
		s.Struggles("dev", "v2")
		s.Sleep(sim.Draw(s.World, "ready after",
			rapid.SampledFrom([]time.Duration{5 * time.Millisecond, time.Second, 5 * time.Second})))
		s.Runs("dev", "v2")
	}},
	{"dev flaps", func(s *World) {
		s.Runs("dev", "v2")
		s.Sleep(soon)
		s.Struggles("dev", "v2")
		s.Sleep(soon)
		s.Runs("dev", "v2")
	}},
	{"ready without a revision", func(s *World) {
		s.Runs("staging", "")
		s.Runs("dev", "v2")
	}},
	{"dev moves on and back", func(s *World) {
		s.Runs("dev", "v2")
		s.Sleep(soon)
		s.Runs("dev", "v3")
		s.Settle()
		s.Runs("dev", "v2")
	}},
	{"an environment is added", func(s *World) {
		s.Apply(worlds.Namespace("canary"), App("canary"))
		s.Runs("dev", "v2")
		s.Sleep(soon)
		s.Environments = []string{"dev", "canary", "staging"}
		s.Apply(Pipeline(s.Environments...))
	}},
	{"environments change places", func(s *World) {
		s.Apply(worlds.Namespace("prod"), App("prod"))
		s.Environments = []string{"dev", "staging", "prod"}
		s.Apply(Pipeline(s.Environments...))
		s.Settle()
		s.Runs("dev", "v2")
		s.Sleep(soon)
		s.Apply(Pipeline("dev", "prod", "staging"))
	}},
	reborn,
	{"two pipelines over one application", func(s *World) {
		s.Apply(named("twin", s.Environments...))
		s.Runs("dev", "v2")
	}},
	{late, func(s *World) {
		s.Environments = []string{"dev", "staging", "prod"}
		for _, env := range s.Environments {
			s.Apply(worlds.Namespace(second(env)))
		}
		s.Apply(worlds.Namespace("prod"), App("prod"), App("dev-2"), App("prod-2"),
			doubled(Pipeline(s.Environments...), nil))
		s.Runs("dev", "v2")
		s.Runs("dev-2", "v2")
		s.Sleep(time.Minute)
		s.Apply(App("staging-2"))
		s.Settle()
		s.delivers(1)
		s.Runs("staging-2", "v2")
	}},
	{ownPolicy, func(s *World) {
		p := Pipeline(s.Environments...)
		p.Spec.Environments[1].Promotion, p.Spec.Promotion = p.Spec.Promotion, nil
		s.Apply(p)
		s.Runs("dev", "v2")
	}},
}

// reborn deletes the pipeline, and makes it again under its name, while it is being promoted.
var reborn = corner{madeAgain, func(s *World) {
	s.Runs("dev", "v2")
	s.Sleep(soon)
	s.Remove(Pipeline())
	s.Apply(Pipeline(s.Environments...))
}}

// named is a pipeline of another name.
func named(name string, environments ...string) *v1alpha1.Pipeline {
	p := Pipeline(environments...)
	p.Name = name
	return p
}

// isTold promotes by workload a CI, which acts on every Event that it sees.
func isTold(s *World) {
	s.Runs("dev", "v1")
	s.Sleep(dwell)
}

func isToldAndSettles(s *World) {
	isTold(s)
	s.Settle()
}

// moves has people move the repository while it is not known what became of an order.
func moves(s *World) {
	s.Runs("dev", "v2")
	s.Sleep(soon)
	s.Apply(in("shop-moved", Pipeline("dev", "staging")))
	s.Sleep(dwell)
}

// isCorrected names a repository that the forge does not have, and corrects it when the first order
// has been refused.
func isCorrected(s *World) {
	s.outages.missing = "/repos/acme/shpo/"
	s.Apply(worlds.Namespace("shop"), worlds.Namespace("dev"), worlds.Namespace("staging"), App("dev"), App("staging"),
		in("shpo", Pipeline("dev", "staging")))
	s.Runs("dev", "v1")
	s.Sleep(time.Minute)
	s.Apply(Pipeline("dev", "staging"))
	s.Settle()
}

// losesForge takes the forge away for an hour while a promotion is under way.
func losesForge(s *World) {
	s.Runs("dev", "v2")
	s.Sleep(soon)
	s.outages.down = true
	s.Sleep(time.Hour)
	s.outages.down = false
	s.Settle()
}

// goesThrough has dev run revisions before anybody has merged the first.
func goesThrough(revisions ...string) func(*World) {
	return func(s *World) {
		for _, revision := range revisions {
			s.Runs("dev", revision)
			s.Settle()
		}
	}
}

// outdoes goes on to further revisions, and rollsBack takes dev back to what staging runs.
var outdoes, rollsBack = goesThrough("v2", "v3", "v4"), goesThrough("v2", "v1")

// anyMoment draws one of the wrong moments.
func anyMoment(s *World) {
	moments := []func(*World){outdoes, rollsBack, moves, losesForge}
	moments[sim.Draw(s.World, "moment", rapid.IntRange(0, len(moments)-1))](s)
	s.Settle()
}

// unprepared opens with an operator that is started before its kinds are there, as by an installer
// that is in no particular order.
func unprepared(w *sim.World, v promotion.Variant) *World {
	s := empty(w, func(*ctrl.Options) {}, "dev", "staging")
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
}

func kindsAreInstalled(s *World) {
	s.Sleep(15 * time.Second)
	s.Install(crds)
	s.Open()
	s.Runs("dev", "v1")
	s.Sleep(dwell)
	s.Settle()
}

// isRefused has the forge refuse every order, while faults are injected and when they have ended:
// for so many periods of back-off as are judged, at most as long as those of the work queue may be.
func isRefused(s *World) {
	s.outages.failing = "/repos/acme/shop/"
	s.faulty = true
	s.Runs("dev", "v2")
	s.Sleep(10 * time.Minute)
	s.EndFaults()
	s.Sleep(time.Minute) // the last fault may have an effect
	s.faulty, s.from = false, s.History().Now()
	for range periods + 1 {
		s.Sleep(longestBackOff)
		s.read(s.History())
		if len(s.restingOrders()) > periods {
			break
		}
	}
	s.over = true
	s.Apply(worlds.Namespace("the-end")) // a step, after which properties are judged
}
