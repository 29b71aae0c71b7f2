// This file holds what happens: each workload is a beginning, and what Flux, people and time do
// from there on, while faults are injected.

package promotion

import (
	"context"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

const (
	// dwell is how long a workload watches where it must not ask the world to settle, because one
	// of its variants never does.
	dwell = 3 * time.Minute
	// soon is how long after an application's event the next thing happens: the pass that the event
	// causes is under way, or has just ended.
	soon = 20 * time.Millisecond
	// longAbsent is how long a target does not exist.
	longAbsent = 30 * time.Minute
)

type (
	// opening is how a workload begins, and step something that happens then.
	opening func(*sim.World, promotion.Variant) *World
	step    = func(*World)

	workload = matrix.Workload[promotion.Variant]
)

// scenario opens a world, declares properties, lets faults be injected from there on, and lets
// something happen.
func scenario(open opening, happens step, v promotion.Variant, properties []string,
	faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := open(w, v)
		w.Inject(faults...)
		s.declare(properties...)
		happens(s)
	}
}

// of is that as a workload of cases.
func of(open opening, happens step) *workload {
	return &workload{New: func(v promotion.Variant, properties []string, faults ...fault.Fault) func(*sim.World) {
		return scenario(open, happens, v, properties, faults...)
	}}
}

// between opens with the operator alone; nothing is applied yet.
func between(environments ...string) opening { return tuned(func(*ctrl.Options) {}, environments...) }

// tuned is between for an operator whose main sets more options.
func tuned(tune func(*ctrl.Options), environments ...string) opening {
	return func(w *sim.World, v promotion.Variant) *World {
		s := empty(w, tune, environments...)
		w.Install(crds)
		s.Replica(Operator, v, 1)
		return s
	}
}

// after opens, and lets more happen before faults are injected.
func after(open opening, steps ...step) opening {
	return func(w *sim.World, v promotion.Variant) *World {
		s := open(w, v)
		inTurn(steps...)(s)
		return s
	}
}

// Openings of several cases.
var (
	two, three, far = between("dev", "staging"), between("dev", "staging", "prod"), between("dev", "prod")
	// quietly opens with everything at v1 before the operator has anything to do, so that what
	// follows is the only reason to run.
	quietly = after(two, namespaces("shop", "dev"), appears("dev"), runs("dev", "v1"),
		namespaces("staging"), appears("staging"), runs("staging", "v1"), applies(Pipeline("dev", "staging")),
		sleep(dwell))
	// remotely opens with everything at v1, and prod in another cluster.
	remotely = after(far, opensFar, sleep(dwell))
	// notifying opens with a pipeline that promotes by Events.
	notifying = after(two, opensWith(edited(func(p *v1alpha1.PipelineSpec) {
		p.Promotion.Strategy = v1alpha1.Strategy{Notification: &v1alpha1.NotificationStrategy{}}
	}), "dev", "staging"), sleep(dwell))
)

// replicated opens with two replicas, of which one leads.
func replicated(w *sim.World, v promotion.Variant) *World {
	s := tuned(func(o *ctrl.Options) {
		o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, Operator, "default"
	}, "dev", "staging")(w, v)
	s.Replica("second", v, 1)
	return s
}

// leftover opens with a missing target. An operator that comes back for it with back-off has a
// timer pending when the target appears: the classic queue keeps it, the priority queue does not.
func leftover(priority bool) opening {
	return after(tuned(func(o *ctrl.Options) { o.Controller.UsePriorityQueue = ptr.To(priority) }, "dev", "staging"),
		opensWithoutStaging, runs("dev", "v1"), sleep(75*time.Second))
}

// Steps of others. The applied objects never change, so runs share them.
var (
	opens, settle, deliver = (*World).Open, (*World).Settle, (*World).Deliver
	inTurn, sleep          = worlds.InTurn[*World], worlds.Sleep[*World]
)

func runs(env, revision string) step      { return func(s *World) { s.Runs(env, revision) } }
func struggles(env, revision string) step { return func(s *World) { s.Struggles(env, revision) } }
func applies(objs ...client.Object) step  { return func(s *World) { s.Apply(objs...) } }

func namespaces(names ...string) step {
	return func(s *World) {
		for _, name := range names {
			s.Apply(worlds.Namespace(name))
		}
	}
}

// appears creates the applications of environments.
func appears(environments ...string) step {
	return func(s *World) {
		for _, env := range environments {
			s.Apply(App(env))
		}
	}
}

// elsewhere adds the cluster of prod, with or without its application.
func elsewhere(host string, apps ...client.Object) step {
	return func(s *World) { s.Elsewhere(host, "prod").Apply(apps...) }
}

// beats reports, as cluster-controller would, that the other cluster is ready.
func beats(message string) step {
	return func(s *World) { s.setStatus(s.Client(), gitopsCluster(), true, "Found", message, map[string]any{}) }
}

// times is some steps again and again.
func times(n int, steps ...step) step { return inTurn(slices.Repeat(steps, n)...) }

// delivers has people merge what is open, so many times.
func delivers(n int) step { return times(n, deliver, settle) }

// opensWith begins with dev, staging, and a pipeline.
func opensWith(p *v1alpha1.Pipeline, apps ...string) step {
	return inTurn(namespaces("shop", "dev", "staging"), appears(apps...), applies(p))
}

var (
	// opensWithoutStaging is Open, but the application of staging is missing.
	opensWithoutStaging = opensWith(Pipeline("dev", "staging"), "dev")
	// isKnown makes dev, and makes the other cluster known. opensFar adds everything at v1.
	isKnown = inTurn(namespaces("shop"), applies(gitopsCluster(), kubeconfig("prod.example")), namespaces("dev"),
		appears("dev"), beats("connected"))
	opensFar = inTurn(isKnown, elsewhere("prod.example", App("prod")), runs("dev", "v1"), runs("prod", "v1"),
		applies(farPipeline()))
	// opensUnknown has a pipeline with an environment in a cluster that is not known yet.
	opensUnknown = inTurn(namespaces("shop", "dev"), appears("dev"), applies(farPipeline()), runs("dev", "v1"))
)

// The workloads.
var (
	// movesOn has dev report a new revision once, in a world that is otherwise quiescent.
	movesOn = inTurn(runs("dev", "v2"), sleep(dwell))
	// comesInABurst is what Flux really does around a rollout: it writes the application's status
	// several times.
	comesInABurst = inTurn(struggles("dev", "v2"),
		times(3, runs("dev", "v2"), sleep(5*time.Millisecond), struggles("dev", "v2")), movesOn)
	// isEdited has a user edit the pipeline, harmlessly, while it is being promoted.
	isEdited = inTurn(runs("dev", "v2"), sleep(soon), applies(edited(func(p *v1alpha1.PipelineSpec) {
		p.Promotion.Strategy.PullRequest.BaseBranch = "release"
	})), sleep(dwell))
	// clusterBeats has the other cluster's object change, as it does with each of its heartbeats.
	clusterBeats   = inTurn(runs("dev", "v2"), sleep(soon), beats("connected, and still so"), sleep(dwell))
	stagingAppears = inTurn(appears("staging"), sleep(dwell))
	// leadersOverlap settles in the end, or a process that is still starting would be stopped.
	leadersOverlap = inTurn(opens, runs("staging", "v1"), sleep(time.Minute), runs("dev", "v1"), sleep(time.Second),
		movesOn, settle)
	// bursts is a burst, after which the status must become true. A variant that ignores its own
	// status writes may compare with a stale copy of its status, find no difference, and never be
	// woken again. The runs found this; it is not in the thread.
	bursts = inTurn(times(3, struggles("dev", "v2"), runs("dev", "v2")), settle)

	// namespaceGoes has a user delete the pipeline's namespace during a promotion.
	namespaceGoes = inTurn(runs("dev", "v2"), sleep(soon), func(s *World) { s.Remove(worlds.Namespace("shop")) },
		sleep(dwell), settle)

	// rollsOut delivers to staging, then to prod.
	rollsOut = inTurn(opens, runs("dev", "v1"), settle, delivers(2))
	// rollsOutForAWhile is rollsOut where the world need not settle.
	rollsOutForAWhile = inTurn(opens, runs("dev", "v1"), times(2, sleep(dwell), deliver), sleep(dwell))
	// comesBack rolls dev back to what it ran before.
	comesBack = inTurn(opens, runs("dev", "v1"), settle, deliver, runs("dev", "v2"), settle, deliver,
		runs("dev", "v1"), settle, deliver, runs("dev", "v2"), settle, deliver, settle)

	appearsLate = inTurn(opensWithoutStaging, sleep(time.Minute), appears("staging"), settle)
	// hastens has dev ready with a revision while staging is missing. hastensThere has it while the
	// cluster of prod is not known, then cannot be reached, then has nothing in it.
	hastens      = inTurn(opensWithoutStaging, runs("dev", "v1"), sleep(time.Minute), appears("staging"), settle)
	hastensThere = inTurn(elsewhere("prod.example"), opensUnknown, sleep(20*time.Second), applies(gitopsCluster()),
		sleep(20*time.Second), beats("connected"), sleep(20*time.Second), applies(kubeconfig("prod.example")),
		sleep(20*time.Second), func(s *World) { s.remote["prod"].Apply(App("prod")) }, settle)
	// waits lets a pipeline wait: for a target, for dev to become ready, for people or the forge.
	waits = inTurn(opensWithoutStaging, sleep(dwell), appears("staging"), runs("staging", "v1"),
		struggles("dev", "v2"), sleep(dwell), movesOn, settle)
	// isAbsent has a target that does not exist, as the thread reports. isAbsentThere has it in
	// another cluster, which is known from the start.
	isAbsent      = inTurn(namespaces("shop", "dev"), applies(Pipeline("dev")), sleep(longAbsent), settle)
	isAbsentThere = inTurn(isKnown, elsewhere("prod.example"), runs("dev", "v1"), applies(farPipeline()),
		sleep(longAbsent), settle)
	// becomesKnown has the other cluster made known after the pipeline. Its cache is not in sync
	// when it is first asked.
	becomesKnown = inTurn(elsewhere("prod.example", App("prod")), runs("prod", "v1"), opensUnknown, sleep(time.Minute),
		applies(gitopsCluster()), beats("connected"), sleep(time.Minute), applies(kubeconfig("prod.example")), settle)
	// clusterMoves has a cluster go to another host: its Secret changes, and nothing else shows it.
	clusterMoves = inTurn(opensFar, settle, elsewhere("new.example", App("prod")), runs("prod", "v1"),
		applies(kubeconfig("new.example")), runs("prod", "v2"), settle)
	// farAway takes revisions to another cluster and back again.
	farAway = inTurn(opensFar, settle,
		runs("dev", "v2"), beats("still connected while dev runs v2"), settle, delivers(1),
		runs("dev", "v1"), beats("still connected while dev runs v1"), settle, delivers(1))

	// backAndForth is a rollout through three environments, with a burst, a rollback while a pull
	// request is open, and a revision that comes and goes at once.
	backAndForth = inTurn(opens, runs("dev", "v1"), runs("staging", "v1"), runs("prod", "v1"), settle,
		struggles("dev", "v1"), bursts, delivers(1), runs("dev", "v1"), settle,
		runs("dev", "v3"), sleep(time.Second), runs("dev", "v1"), delivers(1))
)

// staysRefused has the forge refuse every order for as long as others watch.
var staysRefused = inTurn(func(s *World) { s.outages.failing = "/repos/acme/shop/" }, runs("dev", "v2"), sleep(dwell),
	func(s *World) { s.Apply(worlds.Namespace("the-end")) }) // a step, after which properties are judged

// isRefused has the forge refuse every order, while faults are injected and when they have ended:
// for five of the longest periods of the work queue's back-off.
func isRefused(s *World) {
	s.outages.failing = "/repos/acme/shop/"
	s.Runs("dev", "v2")
	s.Sleep(10 * time.Minute)
	s.EndFaults()
	s.ended = s.History().Now()
	s.Sleep(5 * longestBackOff)
	s.Apply(worlds.Namespace("the-end")) // a step, after which properties are judged
}

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
