// This file holds the table: which variants fail which cases, under which faults.

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
	remarks  = []matrix.Remark
	workload = *matrix.Workload[variant]
)

// Table is the matrix of the scenario. Most cases run V2-waits and V3-limit only if they fail:
// V2-waits acts like V2 after a delay, and V3-limit like V3 until it gives up.
func Table() matrix.Table[variant] {
	all := slices.Concat(versions, records, others)
	for i := range all {
		if c := &all[i]; !slices.Contains(c.Remarks, waitsToo) {
			c.Remarks = slices.Concat(c.Remarks, remarks{omit("V2-waits V3-limit", "")})
		}
	}
	return matrix.Table[variant]{Variants: clusterextension.Variants(), Fixed: clusterextension.V6, Cases: all}
}

var note, omit = matrix.Note, matrix.Omit

// waitsToo is for a case in which V2-waits is run although it passes.
var waitsToo = omit("V3-limit", "")

// only omits all other variants. The case does not apply to them.
func only(names string) matrix.Remark { return omit("all but "+names, "") }

// Settings, named by the edges to version 3.
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

// small is a chunk size with which a record needs three Secrets.
const small = 900

// of is a workload in the world of a variant, with more properties than that of the case.
func of(w Workload, s Setting, also ...string) workload {
	return &matrix.Workload[variant]{New: func(v variant, asked []string, faults ...fault.Fault) func(*sim.World) {
		t := s
		t.Variant = v
		return w.in(t, slices.Concat(asked, also), faults...)
	}}
}

// Workloads of several cases.
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

// often kills the operator at nearly every attempt, before or after it has written an object.
func often() (faults []fault.Fault) {
	for range 12 {
		faults = append(faults, fault.Crash(Operator, fault.OfKind("ConfigMap")),
			fault.Crash(Operator, fault.OfKind("Deployment")))
	}
	return faults
}

// onRecords selects the operator's requests with a verb for release records.
func onRecords(verb string) []fault.Scope {
	return []fault.Scope{fault.In(Operator), fault.OfKind("Secret"), fault.OnVerb(verb)}
}

// unrecorded answers writes of release records with an error, with or without their effect.
func unrecorded() []fault.Fault {
	return []fault.Fault{fault.ServerError(onRecords("update")...), fault.LostReply(onRecords("update")...)}
}

// noChunks takes the right to create Secrets away for some time. The operator may still overwrite
// an index and delete chunks, but not create chunks.
func noChunks() []fault.Fault {
	return []fault.Fault{fault.Forbidden(time.Minute, onRecords("create")...)}
}

// noRights takes the rights to Deployments away for some time. denied refuses some writes of
// Deployments, as a schema or an admission webhook does.
func noRights() []fault.Fault {
	return []fault.Fault{fault.Forbidden(time.Minute, fault.In(Operator), fault.OfKind("Deployment"))}
}

func denied() []fault.Fault {
	return []fault.Fault{fault.Rejected(cause, fault.In(Operator), fault.OfKind("Deployment"))}
}

// cutOff keeps the operator from reaching the API server for some time.
func cutOff() []fault.Fault { return []fault.Fault{fault.Unreachable(time.Minute, fault.In(Operator))} }

func everyFault() []fault.Fault {
	return faults.OfHelm(Operator, "Deployment", "create", "update", "patch")
}

// overlap lets two replicas lead at once, because one is paused for some time.
func overlap(frozen time.Duration, as ...fault.ProcessScope) func() []fault.Fault {
	return func() []fault.Fault {
		return []fault.Fault{fault.LeaderOverlap(), fault.Pause(Operator, frozen, as...),
			fault.Pause(Second, frozen, as...)}
	}
}

// stopped asks the operator to stop, and pauses it for longer than its grace period.
func stopped() []fault.Fault {
	return []fault.Fault{fault.Restart(Operator), fault.Pause(Operator, 40*time.Second)}
}

// wakingAndInterrupting delays events, queues keys again, and interrupts the operator in all ways.
func wakingAndInterrupting() []fault.Fault {
	return []fault.Fault{fault.StaleCache(30*time.Second, fault.HardLimit()),
		fault.RacingRequeue(), fault.Crash(Operator),
		fault.Restart(Operator), fault.LostReply(fault.In(Operator))}
}

// Names and reasons that stand for several cells.
const (
	unfenced   = "V1 V2 V2b V3 V3b V4 V5" // free a pending record of any writer
	tornBy     = "V0 V1 V2 V2b V3 V3b V5" // cannot continue after a torn record
	reResolves = "V1 V2 V2b V3 V4"        // ask the catalog again in the middle of version 2

	wayBack = "a rollback applies a version, too, and no edge leads back to it"
	reused  = "a record that is forgotten gives its number away again"
)

// versions are the cases about which version is applied, and whether the operator continues.
var versions = cases{
	{Name: "progress after an interrupted upgrade", Workload: anUpgrade, Faults: crash, Property: progress,
		Fail: "V0", Remarks: remarks{waitsToo}},
	{Name: "progress after an interrupted install", Workload: anInstall, Faults: crash, Property: progress,
		Fail: "V0 V1",
		Remarks: remarks{note("V1", "its uninstall can be interrupted, too, and leaves a record that says "+
			"uninstalling: not pending, and Helm refuses it")}},
	{Name: "finish first", Workload: upgradesBoth, Faults: crash, Property: finishFirst,
		Fail:    reResolves + " V2-waits V3-limit",
		Remarks: remarks{note("V3b", "its record says deployed, and by the letter nothing is unfinished")}},
	{Name: "finish first what is refused", Workload: of(refuses, fromBoth), Property: finishFirst,
		Fail: "V0 " + unfenced},
	{Name: "finish first what it has no right to write", Workload: of(upgrades, fromBoth), Faults: noRights,
		Property: finishFirst, Fail: "V0 " + unfenced},
	{Name: "finish first what admission denies", Workload: of(upgrades, fromBoth), Faults: denied,
		Property: finishFirst, Fail: "V0 " + unfenced},
	{Name: "edges, 3 from 1 only", Workload: of(upgrades, fromOne), Faults: crash, Property: validEdges,
		Fail: reResolves, Remarks: remarks{note("V1", wayBack),
			note("V3b", "from what it calls installed there is no edge here; see the next question")}},
	{Name: "edges, 3 from 2 only", Workload: upgradesTwo, Faults: crash, Property: validEdges, Fail: "V1 V3b",
		Remarks: remarks{note("V1", wayBack)}},
	{Name: "edges, 3 from neither", Workload: of(upgrades, fromNone), Faults: crash, Property: validEdges,
		Fail: reResolves, Remarks: remarks{note("V1", wayBack)}},
	{Name: "never backwards", Workload: upgradesBoth, Faults: crash, Property: forwards, Fail: "V1"},
	{Name: "data at one level", Workload: upgradesBoth, Faults: crash, Property: together,
		Fail: reResolves + " V3b V2-waits V3-limit"},
	{Name: "no orphans", Workload: upgradesBoth, Faults: crash, Property: noOrphans, Fail: reResolves + " V3b",
		Remarks: remarks{note("V0", "it never gets to another version"),
			note("V1", "two interruptions: the rollback that follows an interrupted rollback goes to the half of a "+
				"version, and calls it deployed"),
			note("V3b", "what an upgrade has to delete it deletes last; nothing deletes it later once the record says "+
				"deployed")}},
}

// records are the cases about release records, the data of users, the cost of interruptions, and
// the status.
var records = cases{
	{Name: "user data", Workload: anInstall, Faults: crash, Property: userData, Fail: "V1"},
	{Name: "two leaders", Workload: of(upgrades, leaders), Faults: overlap(8 * time.Second), Property: fenced,
		Fail: unfenced, Remarks: remarks{waitsToo}},
	{Name: "two leaders, all questions",
		Workload: of(upgrades, leaders, fenced, installed, finishFirst, validEdges, together, saneRecords, noOrphans,
			userData),
		Faults: overlap(8 * time.Second), Property: forwards, Remarks: remarks{matrix.OnlyFixed(clusterextension.V6)}},
	{Name: "torn records", Workload: of(upgrades, inShards), Faults: crash, Property: installed, Fail: tornBy},
	{Name: "torn records, chunks are refused", Workload: of(upgrades, inShards), Faults: noChunks,
		Property: installed, Fail: tornBy},
	{Name: "objects that are right are not written", Workload: anUpgrade, Faults: crash, Property: onlyChanges,
		Fail: "V1"},
	{Name: "the server cannot be reached for a while", Workload: of(upgrades, noThree), Faults: cutOff,
		Property: installed, Fail: "V0"},
	{Name: "interruptions cost one attempt each", Workload: upgradesTwo, Faults: crash, Property: fewAttempts,
		Fail: "V0 V1"},
	{Name: "the status says what was interrupted", Workload: anUpgrade, Faults: crash, Property: actionable,
		Fail: "V0 V1",
		Remarks: remarks{note("V1", "it states the property, and nothing of this variant; a rollback that follows "+
			"interrupted rollbacks finds what the record that it begins at does not name, and Helm's error for "+
			"that takes the place of the interruption in the status")}},
	{Name: "interrupted for hours", Workload: of(interrupts, noThree), Faults: often, Property: perpetual,
		Fail: "V1 V2b V5", Remarks: remarks{only("V1 V2 V2b V3 V3b V4 V5 V6")}},
	{Name: "a failure is not masked", Workload: aRefusal, Faults: crash, Property: unmasked, Fail: "V0 V1"},
	{Name: "a success is not masked by a lost record", Workload: of(upgrades, noThree), Faults: unrecorded,
		Property: progress, Fail: "V0"},
	{Name: "installed is true", Workload: upgradesBoth, Faults: crash, Property: installTruth, Fail: "V3b"},
	{Name: "sane records", Workload: upgradesBoth, Faults: crash, Property: saneRecords, Fail: "V2 V2b V3b V4",
		Remarks: remarks{note("V2 V2b V4", reused),
			note("V3b", "it and the record before it are both deployed")}},
	{Name: "sane records, a write is lost", Workload: of(upgrades, noThree), Faults: unrecorded,
		Property: saneRecords, Fail: "V0 " + unfenced},
}

// others are the other cases: users and catalogs change their minds, migrations take time,
// processes end in other ways than by a kill, and a version is refused for good.
var others = cases{
	{Name: "finish first, install", Workload: anInstall, Faults: crash, Property: finishFirst, Fail: reResolves},
	{Name: "version 2 is withdrawn", Workload: of(withdraws, noThree), Faults: crash, Property: finished,
		Fail: "V0 " + reResolves},
	{Name: "the user wants version 1 back", Workload: aWayBack, Faults: crash, Property: forwards, Fail: reResolves},
	{Name: "the user wants version 1 back, finish first", Workload: aWayBack, Faults: crash, Property: finishFirst,
		Fail: reResolves},
	{Name: "the user wants version 1 back, installed is true", Workload: aWayBack, Faults: crash,
		Property: installTruth, Fail: "V3b"},
	{Name: "version 2 is refused, and then it is not", Workload: aRefusal, Faults: crash, Property: installed,
		Fail: "V0"},
	{Name: "deleted and made again", Workload: of(remakes, noThree), Faults: crash, Property: installed,
		Fail: "V0 V1"},
	{Name: "every fault",
		Workload: of(upgrades, inShards, finishFirst, validEdges, forwards, together, saneRecords, noOrphans, userData),
		Faults:   everyFault, Property: installed, Remarks: remarks{matrix.OnlyFixed(clusterextension.V6)}},
	// Only V6 checks whether version 2 is healthy. V0 and V5 stand for the other variants.
	{Name: "finish first, migrations take time", Workload: aMigration, Faults: crash, Property: finishFirst,
		Fail: "V0 V5", Remarks: remarks{only("V0 V5 V6")}},
	{Name: "data at one level, migrations take time", Workload: aMigration, Faults: crash, Property: together,
		Fail: "V0 V5", Remarks: remarks{only("V0 V5 V6")}},
	{Name: "installed is true, migrations take time", Workload: aMigration, Faults: crash, Property: installTruth,
		Fail: "V0 V5", Remarks: remarks{only("V0 V5 V6")}},
	{Name: "done is healthy, migrations take time", Workload: aMigration, Faults: crash, Property: healthTruth,
		Fail: "V0 V5", Remarks: remarks{only("V0 V5 V6")}},
	{Name: "stopped while it is frozen", Workload: of(upgrades, noThree), Faults: stopped, Property: installed,
		Fail: "V0", Remarks: remarks{only("V0 V6")}},
	// The proposals to wait, and to give up.
	{Name: "two leaders, one is frozen", Workload: of(upgrades, leaders),
		Faults: overlap(2*time.Minute, fault.OnVerb("get")), Property: fenced, Fail: "V2-waits",
		Remarks: remarks{only("V2-waits V6")}},
	{Name: "interrupted often, then left alone", Workload: of(leavesAlone, noThree), Faults: often,
		Property: installed, Fail: "V3-limit", Remarks: remarks{only("V3-limit V6")}},
	{Name: "refused for good, it settles after faults", Workload: forGood, Faults: wakingAndInterrupting,
		Property: settles, Fail: "V0", Remarks: remarks{only("V0 V6")}},
}
