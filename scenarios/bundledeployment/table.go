// This file holds the table: for each variant, which cases it fails under which faults.

package bundledeployment

import (
	"maps"
	"slices"
	"time"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Row is a variant as the table has it: "V2-slow" is V2 where namespaces take longer to go than it
// waits.
type Row string

// slow is V2 in a world that is slower than it.
const slow Row = "V2-slow"

// Rows are all of them.
func Rows() []Row { return []Row{"V0", "V0-status-filter", "V1", "V2", slow, "V3", "V4"} }

// setting is the world of a row: namespaces take 7 s to go, unless that is the point.
func (r Row) setting() Setting {
	if r == slow {
		return Setting{Variant: bundledeployment.V2, Terminates: 45 * time.Second}
	}
	return Setting{Variant: bundledeployment.Variant(r), Terminates: 7 * time.Second}
}

type (
	cases    = []matrix.Case[Row]
	notes    = map[Row]string
	workload = *matrix.Workload[Row]
)

// Table is the matrix of the scenario. A variant that is in neither Fail nor NotRun must pass.
func Table() matrix.Table[Row] {
	return matrix.Table[Row]{Variants: Rows(), Fixed: "V4", Cases: Cases(),
		About:       notes{slow: "is V2 where namespaces take 45 s to go, longer than it waits."},
		Predictions: predictions(), Situations: situations()}
}

// Cases are the cases of the table.
func Cases() cases {
	return slices.Concat(settling(), settlingUnderFaults(), undoing(), crowds(), deaths(), mends(), sharing())
}

// of is a workload in the world of a row, changed.
func of(happen func(*World), changes ...func(*Setting)) workload {
	return &matrix.Workload[Row]{New: func(r Row, properties []string, faults ...fault.Fault) func(*sim.World) {
		s := r.setting()
		for _, change := range changes {
			change(&s)
		}
		return scenario(s, happen, properties, faults...)
	}}
}

func classic(s *Setting)   { s.Classic = true }
func ownWrites(s *Setting) { s.ReadYourWrites = true }
func oldServer(s *Setting) { s.OldServer = true }
func held(s *Setting)      { s.Held = time.Minute }
func varies(s *Setting)    { s.Varies = true }
func replicas(s *Setting)  { s.Replicas = 2 }
func slower(s *Setting)    { s.Slower = 90 * time.Second }
func workers(s *Setting)   { s.Workers = 3 }

// visible has namespaces take so long that whoever waits for them is seen to wait.
func visible(s *Setting) { s.Terminates = max(s.Terminates, 28*time.Second) }

// only are the rows of these names, and except all others.
func only(names string) []Row { return matrix.Names[Row](names) }

func except(names string) []Row { return matrix.Except(Rows(), names) }

// because gives several rows the same note.
func because(text, names string) notes { return matrix.Because(text, only(names)...) }

// merge joins notes.
func merge(all ...notes) notes {
	out := notes{}
	for _, n := range all {
		maps.Copy(out, n)
	}
	return out
}

// undoes are the variants that undo what has failed.
const undoes = "V0 V0-status-filter V1 V2 V2-slow"

// Workloads of several cases.
var (
	failing      = of(fails)
	failsHeld    = of(fails, held)
	upgradeFails = of(failsToUpgrade(briefly))
	failsForLong = of(failsToUpgrade(longEnough))
)

// settling are the cases about whether failures settle (S0-L1, S0-L2, S0-A1 and S0-A2).
func settling() cases {
	return cases{
		{Name: "it settles", Workload: failing, Property: settles, Fail: only("V0 V2-slow")},
		{Name: "back-off grows", Workload: failing, Property: backoffGrows, Fail: only("V0 V2-slow")},
		{Name: "the status names the cause", Workload: failing, Property: actionable, Fail: only("V0 V2-slow")},
		{Name: "the status is quiet", Workload: failing, Property: quiet, Fail: only("V0 V2-slow")},
		{Name: "it settles with the classic queue", Workload: of(fails, classic), Property: settles,
			Fail: only("V0 V2-slow")},
		{Name: "it settles reading its own writes", Workload: of(fails, ownWrites), Property: settles,
			Fail: only("V0 V2-slow")},
		{Name: "it settles beside watched kinds", Workload: of(failsWatched), Property: settles, Fail: only(undoes)},
		{Name: "it settles, a namespace is held for a minute", Workload: failsHeld, Property: settles,
			Fail: only("V0 V1 V2 V2-slow")},
		{Name: "the status names the cause, a namespace is held for a minute", Workload: failsHeld,
			Property: actionable, Fail: only("V1 V2 V2-slow"),
			Notes: because("the next attempt comes at once, adopts what is held, and meets the cause again", "V0")},
		{Name: "it settles although the refusal varies", Workload: of(fails, varies), Property: settles,
			Fail: only("V0 V1 V2 V2-slow V3"), Notes: because(
				"each refusal is news to the status, and the event of writing it starts the next attempt", "V3")},
	}
}

// undoing are the cases about what becomes of objects and records when an action fails (S0-S1,
// S0-S2 and S0-R1).
func undoing() cases {
	return cases{
		{Name: "no overlap after an install", Workload: failing, Property: noOverlap,
			Fail: only("V0 V0-status-filter V2-slow")},
		{Name: "no overlap after an upgrade", Workload: upgradeFails, Property: noOverlap, Fail: only(undoes)},
		{Name: "a failing upgrade keeps the old", Workload: upgradeFails, Property: keepsOld},
		{Name: "it settles, an upgrade fails", Workload: failsForLong, Property: settles, Fail: only(undoes)},
		{Name: "back-off grows, an upgrade fails", Workload: failsForLong, Property: backoffGrows, Fail: only(undoes)},
		{Name: "the status names the cause, an upgrade fails", Workload: failsForLong, Property: actionable,
			Fail: only(undoes)},
		{Name: "the status is quiet, an upgrade fails", Workload: failsForLong, Property: quiet, Fail: only(undoes)},
		{Name: "records are bounded", Workload: upgradeFails, Property: bounded, Fail: only(undoes)},
		{Name: "a failing upgrade is given up", Workload: of(abandoned), Property: noOrphans, Fail: only("V3"),
			Notes: because("Helm compares with what is deployed, which never had what the failed upgrade made", "V3")},
		{Name: "a record cannot be purged for a while", Workload: of(interruptedFailing), Faults: purgeFails,
			Property: installed, Fail: only(undoes), NotRun: because("it removes no record there", "V3 V4")},
	}
}

// crowds are the cases about what deployments have to do with each other (S0-F1 and S0-T1).
func crowds() cases {
	return cases{
		{Name: "one fails beside a healthy one", Workload: of(starved(1, 0), visible), Property: prompt,
			Fail: only("V0 V0-status-filter V1 V3"), Notes: merge(
				because("while requests are slow, one failing attempt was seen to hold the only worker for 4 s",
					"V0 V0-status-filter V3"),
				because("one of four workers waits, the others are free", "V2-slow"))},
		{Name: "four fail beside a healthy one", Workload: of(starved(4, slowRequests), visible), Property: prompt,
			Fail: only("V1 V2 V2-slow")},
		{Name: "several are installed at once", Workload: of(several, workers), Faults: crash, Property: watchedOnce},
	}
}

// deaths are the cases about a deployment whose operator dies, or whose cache is behind.
func deaths() cases {
	return cases{
		{Name: "dies in the clean-up", Workload: of(fails), Faults: crashInCleanUp, Property: noWedge,
			Fail: only(undoes), NotRun: because("it cleans nothing up, so it cannot die in that", "V3")},
		{Name: "dies anywhere", Workload: of(interrupted), Faults: crash, Property: installed, Fail: except("V4")},
		{Name: "dies anywhere while it fails", Workload: of(interruptedFailing), Faults: crash, Property: installed,
			Fail: except("V4")},
		{Name: "is asked to stop anywhere", Workload: of(interrupted), Faults: restarted, Property: installed},
		{Name: "is asked to stop anywhere while it fails", Workload: of(interruptedFailing), Faults: restarted,
			Property: installed, Fail: only("V2-slow"),
			Notes: because("it still waits after the 30 s that it has to stop, and is killed", "V2-slow")},
		{Name: "the cache trails", Workload: of(interrupted), Faults: statusTrails, Property: installed,
			Fail: only("V0-status-filter"), Notes: because("the repair that succeeds finds the status in the cache as "+
				"it wants it, from before the one that failed, and no event tells it of its own write",
				"V0-status-filter")},
		{Name: "the cache trails, own writes are waited for", Workload: of(interrupted, ownWrites),
			Faults: statusTrails, Property: installed},
		{Name: "two leaders", Workload: of(twoLeaders(false), replicas), Faults: overlap, Property: fenced,
			Fail: only(undoes), Notes: because("it undoes nothing of what the other one has begun", "V3")},
		{Name: "two leaders while it fails", Workload: of(twoLeaders(true), replicas), Faults: overlap,
			Property: fenced, NotRun: matrix.OnlyFixed(Rows(), "V4")},
		{Name: "every fault", Workload: of(interruptedFailing), Faults: everyFault, Property: installed,
			NotRun: matrix.OnlyFixed(Rows(), "V4")},
	}
}

// mends are the cases about how soon a deployment is installed once the cause of its failure is
// gone (S0-L3).
func mends() cases {
	const (
		deletesTwice = "so does whoever deletes again what still terminates"
		metRemains   = "the attempt for the mended deployment meets what is being removed, and the next one waits " +
			"for the back-off of all failures before"
	)
	return cases{
		{Name: "the environment is mended", Workload: of(environmentMended), Property: recovers},
		{Name: "the environment is mended, and nothing is deleted twice", Workload: of(environmentMended, oldServer),
			Property: recovers, Fail: only("V0 V0-status-filter V2-slow"),
			Notes: because(deletesTwice, "V0-status-filter V2-slow")},
		{Name: "the deployment is mended", Workload: of(deploymentMended), Property: recovers,
			Fail: only("V0 V0-status-filter"), Notes: because(metRemains, "V0 V0-status-filter")},
		{Name: "the content is mended", Workload: of(contentMended), Property: recovers,
			Fail: only("V0 V0-status-filter V2-slow"), Notes: because(metRemains, "V0 V0-status-filter V2-slow")},
		{Name: "it is another's for a while", Workload: of(disowned), Property: handsOff, Fail: except("V4"),
			Notes: because("events of what is another's are dropped, timers are not", undoes+" V3")},
	}
}

// sharing are the cases about what two deployments want (S0-T1).
func sharing() cases {
	const inItsOwnWay = "the status names neither the cause nor the other owner, but the namespace that its own " +
		"clean-up is removing"
	return cases{
		{Name: "two want one namespace", Workload: of(shared("app", "apps", "")), Property: oneOwner},
		{Name: "two want one kind", Workload: of(shared("kinds", "seconds", "")), Property: oneOwner},
		{Name: "two want one kind, one is refused", Workload: of(shared("kinds", "seconds", refused)),
			Property: oneOwner, Fail: only("V0"), Notes: because(inItsOwnWay, "V0")},
		{Name: "two want one namespace, one is refused", Workload: of(shared("app", "apps", refused)),
			Property: oneOwner, Fail: only("V0 V2-slow"), Notes: because(inItsOwnWay, "V0 V2-slow")},
	}
}
