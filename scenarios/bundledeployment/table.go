// This file exists to hold the whole story as a table: for each variant, which question it fails
// under which faults.

package bundledeployment

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/scenarios/internal/faults"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Row is a variant as the table has it: "V2-slow" is V2 where namespaces take longer to go than it
// waits.
type Row string

// slow is V2 in a world that is slower than it.
const slow Row = "V2-slow"

// Rows are all of them, in the order of the story.
func Rows() []Row { return []Row{"V0", "V0-status-filter", "V1", "V2", slow, "V3", "V4"} }

// setting is the world of a row: namespaces take 7 s to go, unless that is the question.
func (r Row) setting() Setting {
	if r == slow {
		return Setting{Variant: bundledeployment.V2, Terminates: 45 * time.Second}
	}
	return Setting{Variant: bundledeployment.Variant(r), Terminates: 7 * time.Second}
}

// delays are times at which something may happen in the course of a failing deployment.
var delays = rapid.SampledFrom([]time.Duration{0, 10 * time.Millisecond, time.Second, 10 * time.Second, 100 * time.Second, 2000 * time.Second})

// shortly is in the middle of an attempt, of a clean-up, or between two.
var shortly = rapid.SampledFrom([]time.Duration{20 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second})

// notAsked is why a cell is there of which the dossier says nothing; silent is that for whole
// columns.
const notAsked = "it does not say"

// oneWorker and inItsOwnWay are why the dossier is corrected more than once.
const (
	ofInstalls    = "its cells are of installs; a rollback waits for nothing that it removes"
	purgesNothing = "it removes no record there"
	oneWorker     = "its 1 s needs a second worker: while requests are slow, those of one failing attempt alone were seen to hold one for 4 s"
	inItsTime     = "it has no cell, and allows 1 s besides the wait; while requests are slow, two hand-outs of 5 s are part of that"
	metRemains    = "it does not say; the attempt for the mended deployment meets what is being removed, and the next one waits for the back-off of all failures before"
	oldNews       = "it does not say; the repair that succeeds finds the status in the cache as it wants it, from before the one that failed, and of its own write nobody tells it"
	deletesTwice  = "its prediction P4 is of the operator as reported, and holds for whoever deletes again what still terminates"
	inItsOwnWay   = "it does not say; the status names neither the cause nor the other owner, but the namespace that its own clean-up is removing"
)

var silent = map[Row]string{"": notAsked}

// fails are the variants that do not settle, failHeld those that do not where another controller
// holds the namespace for longer than they wait; undoes are those that undo what has failed.
var (
	fails    = []Row{"V0", slow}
	failHeld = []Row{"V0", "V1", "V2", slow}
	undoes   = []Row{"V0", "V0-status-filter", "V1", "V2", slow}
)

// Table is what the story says of every row.
func Table() matrix.Table[Row] {
	return matrix.Table[Row]{Variants: Rows(), Fixed: "V4",
		Shows: settled, About: map[Row]string{slow: "is V2 where namespaces take longer to go than it waits."}, Predictions: predictions(), Situations: wanted(),
		Cases: slices.Concat(settling(), undoing(), crowds(), deaths(), mends(), sharing())}
}

// Scenes of which several things are asked.
var (
	failing      = scene(Fails)
	failsHeld    = scene(Fails, held)
	upgradeFails = scene(FailsToUpgrade)
	failsForLong = scene(FailsToUpgradeForLong)
)

func scene(t func(sentences ...string) Telling, changes ...func(*Setting)) *matrix.Workload[Row] {
	return &matrix.Workload[Row]{New: func(r Row, sentences []string, faults ...fault.Fault) func(*sim.World) {
		return in(t(sentences...), changes...)(r, faults...)
	}}
}

// settling asks whether failures settle.
func settling() []matrix.Case[Row] {
	return []matrix.Case[Row]{
		{Name: "it settles", Workload: failing, Property: settles, Fail: fails},
		{Name: "back-off grows", Workload: failing, Property: backoffGrows, Fail: fails},
		{Name: "the status names the cause", Workload: failing, Property: actionable, Fail: fails},
		{Name: "the status is quiet", Workload: failing, Property: quiet, Fail: fails},
		{Name: "it settles with the classic queue", New: in(Fails(settles), classic), Property: settles, Fail: fails},
		{Name: "it settles reading its own writes", New: in(Fails(settles), ownWrites), Property: settles, Fail: fails},
		{Name: "it settles beside watched kinds", New: in(FailsWatched(settles)), Property: settles, Fail: undoes},
		{Name: "it settles, a namespace is held for a minute", Workload: failsHeld, Property: settles, Fail: failHeld,
			Notes: silent},
		{Name: "the status names the cause, a namespace is held for a minute", Workload: failsHeld, Property: actionable, Fail: []Row{"V1", "V2", slow},
			Notes: map[Row]string{"": notAsked,
				"V0": "it does not say; the next attempt comes at once, adopts what is still held, and meets the cause again"}},
		{Name: "it settles although the refusal varies", New: in(FailsVarying(settles)), Property: settles,
			Fail: []Row{"V0", "V1", "V2", slow, "V3"}, Notes: map[Row]string{
				"V0-status-filter": notAsked, "V4": notAsked,
				"V3": "each refusal is news to the status, and the event of writing it starts the next attempt"}},
	}
}

// undoing asks what becomes of objects and records when an action fails.
func undoing() []matrix.Case[Row] {
	return []matrix.Case[Row]{
		{Name: "no overlap after an install", Workload: failing, Property: noOverlap, Fail: []Row{"V0", "V0-status-filter", slow}},
		{Name: "no overlap after an upgrade", Workload: upgradeFails, Property: noOverlap, Fail: undoes},
		{Name: "a failing upgrade keeps the old", Workload: upgradeFails, Property: keepsOld},
		{Name: "it settles, an upgrade fails", Workload: failsForLong, Property: settles, Fail: undoes,
			Notes: map[Row]string{"": ofInstalls}},
		{Name: "back-off grows, an upgrade fails", Workload: failsForLong, Property: backoffGrows, Fail: undoes,
			Notes: map[Row]string{"": ofInstalls}},
		{Name: "the status names the cause, an upgrade fails", Workload: failsForLong, Property: actionable, Fail: undoes,
			Notes: map[Row]string{"": ofInstalls}},
		{Name: "the status is quiet, an upgrade fails", Workload: failsForLong, Property: quiet, Fail: undoes,
			Notes: map[Row]string{"": ofInstalls}},
		{Name: "records are bounded", Workload: upgradeFails, Property: bounded, Fail: undoes},
		{Name: "a failing upgrade is given up", New: in(Abandoned), Property: noOrphans, Fail: []Row{"V3"},
			Notes: map[Row]string{"": notAsked, "V3": "it does not say; Helm compares with what is deployed, which never had what the failed upgrade made"}},
		{Name: "a record cannot be purged for a while", New: in(InterruptedFailing), Faults: purgeFails, Property: installed, Fail: undoes,
			NotRun: map[Row]string{"V3": purgesNothing, "V4": purgesNothing}, Notes: map[Row]string{"": notAsked}},
	}
}

// crowds asks what deployments have to do with each other.
func crowds() []matrix.Case[Row] {
	return []matrix.Case[Row]{
		{Name: "one fails beside a healthy one", New: in(Starved(1, 0)), Property: prompt,
			Fail: []Row{"V0", "V0-status-filter", "V1", "V3"}, Notes: map[Row]string{
				"V0": oneWorker, "V0-status-filter": oneWorker, "V3": oneWorker,
				slow: "one of four workers waits, the others are free"}},
		{Name: "four fail beside a healthy one", New: in(Starved(4, labour)), Property: prompt, Fail: []Row{"V1", "V2", slow}},
		{Name: "several are installed at once", New: in(Several(oneHand, watchedOnce)), Faults: crash, Property: watchedOnce, Notes: silent},
	}
}

// deaths asks what becomes of a deployment whose operator dies, or whose cache trails.
func deaths() []matrix.Case[Row] {
	return []matrix.Case[Row]{
		{Name: "dies in the clean-up", New: in(Fails(noWedge)), Faults: crashInCleanUp, Property: noWedge, Fail: undoes,
			NotRun: map[Row]string{"V3": "it cleans nothing up, so it cannot die in that"}},
		{Name: "dies anywhere", New: in(Interrupted), Faults: crash, Property: installed,
			Fail: []Row{"V0", "V0-status-filter", "V1", "V2", slow, "V3"}, Notes: silent},
		{Name: "dies anywhere while it fails", New: in(InterruptedFailing), Faults: crash, Property: installed,
			Fail: []Row{"V0", "V0-status-filter", "V1", "V2", slow, "V3"}, Notes: silent},
		{Name: "the cache trails", New: in(Interrupted), Faults: statusTrails, Property: installed, Fail: []Row{"V0-status-filter"},
			Notes: map[Row]string{"": notAsked, "V0-status-filter": oldNews}},
		{Name: "the cache trails, own writes are waited for", New: in(Interrupted, ownWrites), Faults: statusTrails, Property: installed,
			Notes: silent},
		{Name: "two leaders", New: in(TwoLeaders(false)), Faults: overlap, Property: fenced,
			Fail: undoes, Notes: map[Row]string{"": notAsked + "; who comes second undoes what the first one is at, and who undoes nothing does not"}},
		{Name: "two leaders while it fails", New: in(TwoLeaders(true)), Faults: overlap, Property: fenced,
			NotRun: matrix.OnlyFixed(Rows(), "V4")},
		{Name: "every fault", New: in(InterruptedFailing), Faults: everyFault, Property: installed, NotRun: matrix.OnlyFixed(Rows(), "V4")},
	}
}

// mends asks how soon a deployment is installed once the cause of its failure is gone.
func mends() []matrix.Case[Row] {
	return []matrix.Case[Row]{
		{Name: "the environment is mended", New: in(Recovered(Environment)), Property: recovers, Notes: silent},
		{Name: "the environment is mended, and nothing is deleted twice", New: in(Recovered(Environment), oldServer), Property: recovers,
			Fail: []Row{"V0", "V0-status-filter", slow}, Notes: map[Row]string{"": notAsked,
				"V0-status-filter": deletesTwice, slow: deletesTwice}},
		{Name: "the deployment is mended", New: in(Recovered(Values)), Property: recovers, Fail: []Row{"V0", "V0-status-filter"},
			Notes: map[Row]string{"": inItsTime, "V0": metRemains, "V0-status-filter": metRemains}},
		{Name: "the content is mended", New: in(Recovered(Content)), Property: recovers, Fail: []Row{"V0", "V0-status-filter", slow},
			Notes: map[Row]string{"": inItsTime, "V0": metRemains, "V0-status-filter": metRemains, slow: metRemains}},
		{Name: "it is another's for a while", New: in(Disowned), Property: handsOff, Fail: []Row{"V0", "V0-status-filter", "V1", "V2", slow, "V3"},
			Notes: map[Row]string{"": notAsked + "; events of what is another's are dropped, timers are not", "V4": notAsked}},
	}
}

// sharing asks what becomes of what two deployments want.
func sharing() []matrix.Case[Row] {
	return []matrix.Case[Row]{
		{Name: "two want one namespace", New: in(Shared("app", false)), Property: oneOwner, Notes: silent},
		{Name: "two want one kind", New: in(Shared("kinds", false)), Property: oneOwner, Notes: silent},
		{Name: "two want one kind, one is refused", New: in(Shared("kinds", true)), Property: oneOwner, Fail: []Row{"V0"},
			Notes: map[Row]string{"": notAsked, "V0": inItsOwnWay}},
		{Name: "two want one namespace, one is refused", New: in(Shared("app", true)), Property: oneOwner, Fail: fails,
			Notes: map[Row]string{"": notAsked,
				"V0": inItsOwnWay, slow: inItsOwnWay}},
	}
}

// in puts a telling into the world of a row, changed.
func in(t Telling, changes ...func(*Setting)) func(Row, ...fault.Fault) func(*sim.World) {
	return func(r Row, faults ...fault.Fault) func(*sim.World) {
		s := r.setting()
		for _, change := range changes {
			change(&s)
		}
		return t(s, faults...)
	}
}

func classic(s *Setting)   { s.Classic = true }
func ownWrites(s *Setting) { s.ReadYourWrites = true }
func oldServer(s *Setting) { s.OldServer = true }
func held(s *Setting)      { s.Held = time.Minute }

func everyFault() []fault.Fault { return faults.OfHelm(Operator, "ConfigMap", "create", "update") }

func overlap() []fault.Fault {
	return []fault.Fault{
		fault.LeaderOverlap(), fault.Pause(Operator, 8*time.Second), fault.Pause(Second, 8*time.Second),
	}
}

func crash() []fault.Fault { return []fault.Fault{fault.Crash(Operator)} }

// crashInCleanUp kills the operator around one of the deletions of a clean-up.
func crashInCleanUp() []fault.Fault {
	return []fault.Fault{fault.Crash(Operator, fault.OnVerb("delete"), fault.OfKind("Namespace"))}
}

// purgeFails keeps release records from being removed.
func purgeFails() []fault.Fault {
	return []fault.Fault{fault.ServerError(fault.OfKind("Secret"), fault.OnVerb("delete"))}
}

// statusTrails lets events of deployments come late, and a repair fail now and then.
func statusTrails() []fault.Fault {
	return []fault.Fault{fault.StaleCache(time.Minute, fault.OfKind("BundleDeployment")), fault.ServerError(fault.OfKind("Namespace"), fault.OnVerb("create"))}
}
