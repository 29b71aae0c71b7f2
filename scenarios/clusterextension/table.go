// This file holds the table: for each variant, which cases it fails under which faults.

package clusterextension

import (
	"slices"
	"time"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	"github.com/wavetank/wavetank/scenarios/internal/faults"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

type (
	variant  = clusterextension.Variant
	cases    = []matrix.Case[variant]
	workload = *matrix.Workload[variant]
)

// Table is what the story says of every variant.
func Table() matrix.Table[variant] {
	return matrix.Table[variant]{Variants: clusterextension.Variants(), Fixed: clusterextension.V6,
		Cases: slices.Concat(versions, records, others)}
}

// Remarks on a row of the table.
var note, omit = matrix.Note, matrix.Omit

// only are the variants that are run: for the others the case makes no sense.
func only(names string) matrix.Remark { return omit("all but "+names, "") }

// row is a case. Two variants are only in the cases that they fail, because otherwise they do what
// another one does: V2-waits what V2 does, later, and V3-limit what V3 does, until it gives up.
func row(name string, w workload, faults func() []fault.Fault, property, fail string,
	remarks ...matrix.Remark) matrix.Case[variant] {
	return matrix.NewCase(name, w, faults, property, fail, append(remarks, omit("V2-waits V3-limit", ""))...)
}

// The edges to version 3, and what they are called.
var (
	noThree  = Setting{}
	fromOne  = Setting{Edges: []string{one}}
	fromTwo  = Setting{Edges: []string{two}}
	fromBoth = Setting{Edges: []string{one, two}}
	fromNone = Setting{Edges: []string{"0.9.0"}}
	fromSlow = Setting{Edges: []string{one, slow, broken}}
	leaders  = Setting{Edges: []string{one, two}, Replicas: 2}
	inShards = Setting{Edges: []string{one, two}, ChunkSize: small}
)

// small makes records of three Secrets, as large ones are.
const small = 900

// of is a workload in the world of a variant. More properties than that of the case may be asked.
func of(w Workload, s Setting, also ...string) workload {
	return &matrix.Workload[variant]{New: func(v variant, asked []string, faults ...fault.Fault) func(*sim.World) {
		t := s
		t.Variant = v
		return w.in(t, slices.Concat(asked, also), faults...)
	}}
}

// Scenes of which several things are asked.
var (
	anInstall    = of(installs, noThree)
	anUpgrade    = of(upgrades, noThree)
	upgradesTwo  = of(upgrades, fromTwo)
	upgradesBoth = of(upgrades, fromBoth)
	aWayBack     = of(pinsBack, noThree)
	aRefusal     = of(refuses, noThree)
	aMigration   = of(migrates, fromSlow)
	forGood      = of(refusesForGood, noThree)
)

func crash() []fault.Fault { return []fault.Fault{fault.Crash(Operator)} }

// often kills it at nearly every attempt, before or after it has written an object.
func often() (faults []fault.Fault) {
	for range 12 {
		faults = append(faults, fault.Crash(Operator, fault.OfKind("ConfigMap")),
			fault.Crash(Operator, fault.OfKind("Deployment")))
	}
	return faults
}

// onRecords are release records, when the operator uses a verb on them.
func onRecords(verb string) []fault.Scope {
	return []fault.Scope{fault.In(Operator), fault.OfKind("Secret"), fault.OnVerb(verb)}
}

// unrecorded answers writes of release records with an error, whether or not they have taken
// effect.
func unrecorded() []fault.Fault {
	return []fault.Fault{fault.ServerError(onRecords("update")...), fault.LostReply(onRecords("update")...)}
}

// noChunks takes the right to create Secrets away for a while: a record's index may still be
// overwritten and its chunks deleted, and no chunk can be made.
func noChunks() []fault.Fault {
	return []fault.Fault{fault.Forbidden(time.Minute, onRecords("create")...)}
}

func everyFault() []fault.Fault {
	return faults.OfHelm(Operator, "Deployment", "create", "update", "patch")
}

// overlap has two replicas lead at once, because one is frozen for a time.
func overlap(frozen time.Duration, as ...fault.ProcessScope) func() []fault.Fault {
	return func() []fault.Fault {
		return []fault.Fault{fault.LeaderOverlap(), fault.Pause(Operator, frozen, as...),
			fault.Pause(Second, frozen, as...)}
	}
}

// stopped asks the operator to stop, and freezes it for longer than it then has.
func stopped() []fault.Fault {
	return []fault.Fault{fault.Restart(Operator), fault.Pause(Operator, 40*time.Second)}
}

// wakingAndInterrupting lets events come late and keys be queued again, and interrupts it in all
// ways.
func wakingAndInterrupting() []fault.Fault {
	return []fault.Fault{fault.StaleCache(30*time.Second, fault.HardLimit()),
		fault.RacingRequeue(), fault.Crash(Operator),
		fault.Restart(Operator), fault.LostReply(fault.In(Operator))}
}

// Names and reasons that stand for several cells.
const (
	unfenced   = "V1 V2 V2b V3 V3b V4 V5" // who frees a pending record, whoever writes it
	tornBy     = "V0 V1 V2 V2b V3 V3b V5" // who does not get past a torn record
	reResolves = "V1 V2 V2b V3 V4"        // who asks the catalog again in the middle of version 2

	wayBack = "a rollback applies a version, too, and no edge leads back to it"
	reused  = "a record that is forgotten gives its number away again"
)

// versions are the cases about which version is applied: whether it goes on, and where to.
var versions = cases{
	matrix.NewCase("progress after an interrupted upgrade", anUpgrade, crash, progress, "V0", omit("V3-limit", "")),
	row("progress after an interrupted install", anInstall, crash, progress, "V0 V1", note("V1",
		"its uninstall can be interrupted, too, and leaves a record that says uninstalling: not pending, and "+
			"Helm refuses it")),
	row("finish first", upgradesBoth, crash, finishFirst, reResolves+" V2-waits V3-limit",
		note("V3b", "its record says deployed, and by the letter nothing is unfinished")),
	row("finish first what is refused", of(refuses, fromBoth), nil, finishFirst, "V0 "+unfenced),
	row("edges, 3 from 1 only", of(upgrades, fromOne), crash, validEdges, reResolves, note("V1", wayBack),
		note("V3b", "from what it calls installed there is no edge here; see the next question")),
	row("edges, 3 from 2 only", upgradesTwo, crash, validEdges, "V1 V3b", note("V1", wayBack)),
	row("edges, 3 from neither", of(upgrades, fromNone), crash, validEdges, reResolves, note("V1", wayBack)),
	row("never backwards", upgradesBoth, crash, forwards, "V1"),
	row("data at one level", upgradesBoth, crash, together, reResolves+" V3b V2-waits V3-limit"),
	row("no orphans", upgradesBoth, crash, noOrphans, reResolves+" V3b",
		note("V0", "it never gets to another version"),
		note("V1", "two interruptions: the rollback that follows an interrupted rollback goes to the half of a "+
			"version, and calls it deployed"),
		note("V3b", "what an upgrade has to delete it deletes last; nobody makes up for that once the record says "+
			"deployed")),
}

// records are the cases about release records, what users have, what it costs, and what the user is
// told.
var records = cases{
	row("user data", anInstall, crash, userData, "V1"),
	matrix.NewCase("two leaders", of(upgrades, leaders), overlap(8*time.Second), fenced, unfenced,
		omit("V3-limit", "")),
	row("two leaders, all questions", of(upgrades, leaders, fenced, installed, finishFirst, validEdges, together,
		saneRecords, noOrphans, userData), overlap(8*time.Second), forwards, "",
		matrix.OnlyFixed(clusterextension.V6)),
	row("torn records", of(upgrades, inShards), crash, installed, tornBy),
	row("torn records, chunks are refused", of(upgrades, inShards), noChunks, installed, tornBy),
	row("interruptions cost one attempt each", upgradesTwo, crash, fewAttempts, "V0 V1"),
	row("the status says what was interrupted", anUpgrade, crash, actionable, "V0 V1", note("V1",
		"it states the property, and nothing of this variant; a rollback that follows interrupted rollbacks "+
			"finds what the record that it begins at does not name, and Helm's error for that takes the place "+
			"of the interruption in the status")),
	row("interrupted for hours", of(interrupts, noThree), often, perpetual, "V1 V2b V5",
		only("V1 V2 V2b V3 V3b V4 V5 V6")),
	row("a failure is not masked", aRefusal, crash, unmasked, "V0 V1"),
	row("a success is not masked by a lost record", of(upgrades, noThree), unrecorded, progress, "V0"),
	row("installed is true", upgradesBoth, crash, installTruth, "V3b"),
	row("sane records", upgradesBoth, crash, saneRecords, "V2 V2b V3b V4", note("V2 V2b V4", reused),
		note("V3b", "what it calls deployed is so beside the one before")),
	row("sane records, a write is lost", of(upgrades, noThree), unrecorded, saneRecords, "V0 "+unfenced),
}

// others are the cases about other ways in which things may go: users and catalogs change their
// minds, migrations take time, other ends than that of a process that is killed, refusals for good.
var others = cases{
	row("finish first, install", anInstall, crash, finishFirst, reResolves),
	row("version 2 is withdrawn", of(withdraws, noThree), crash, finished, "V0 "+reResolves),
	row("the user wants version 1 back", aWayBack, crash, forwards, reResolves),
	row("the user wants version 1 back, finish first", aWayBack, crash, finishFirst, reResolves),
	row("the user wants version 1 back, installed is true", aWayBack, crash, installTruth, "V3b"),
	row("version 2 is refused, and then it is not", aRefusal, crash, installed, "V0"),
	row("deleted and made again", of(remakes, noThree), crash, installed, "V0 V1"),
	row("every fault",
		of(upgrades, inShards, finishFirst, validEdges, forwards, together, saneRecords, noOrphans, userData),
		everyFault, installed, "", matrix.OnlyFixed(clusterextension.V6)),
	// Nobody but V6 looks whether version 2 is healthy: V0 and V5 stand for all others.
	row("finish first, migrations take time", aMigration, crash, finishFirst, "V0 V5", only("V0 V5 V6")),
	row("data at one level, migrations take time", aMigration, crash, together, "V0 V5", only("V0 V5 V6")),
	row("installed is true, migrations take time", aMigration, crash, installTruth, "V0 V5", only("V0 V5 V6")),
	row("done is healthy, migrations take time", aMigration, crash, healthTruth, "V0 V5", only("V0 V5 V6")),
	row("stopped while it is frozen", of(upgrades, noThree), stopped, installed, "V0", only("V0 V6")),
	// The proposals to wait and to give up.
	row("two leaders, one is frozen", of(upgrades, leaders), overlap(2*time.Minute, fault.OnVerb("get")), fenced,
		"V2-waits", only("V2-waits V6")),
	row("interrupted often, then left alone", of(leavesAlone, noThree), often, installed, "V3-limit",
		only("V3-limit V6")),
	row("refused for good, it settles after faults", forGood, wakingAndInterrupting, settles, "V0", only("V0 V6")),
}
