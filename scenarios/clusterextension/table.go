// This file exists to hold the whole story as a table: for each variant, which question it fails
// under which faults.

package clusterextension

import (
	"slices"
	"time"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	"github.com/wavetank/wavetank/scenarios/internal/faults"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

type (
	variant = clusterextension.Variant
	column  = verdicts.Column[variant]
	because = map[variant]string
)

func variants(v ...variant) []variant { return v }

// Table is what the story says of every variant.
func Table() verdicts.Table[variant] {
	return verdicts.Table[variant]{Variants: clusterextension.Variants(), Cure: clusterextension.V6,
		Upstream: clusterextension.V0, Settled: settled, Foretold: predictions(), Wanted: wanted(),
		Columns: slices.Concat(recovery(), graph(), records(), status(), scenes()), AtLeast: verdicts.Enough}
}

// The edges to version 3, and what they are called.
var (
	fromOne  = Setting{Edges: []string{one}}
	fromTwo  = Setting{Edges: []string{two}}
	fromBoth = Setting{Edges: []string{one, two}}
	fromNone = Setting{Edges: []string{"0.9.0"}}
)

// sharded has records of three Secrets, as large ones are.
func sharded(s Setting) Setting {
	s.ChunkSize = 900
	return s
}

// replicas has two of them, with leader election.
func replicas(s Setting) Setting {
	s.Replicas = 2
	return s
}

// in puts a telling into a world.
func in(s Setting, t Telling) func(variant, ...fault.Fault) func(*sim.World) {
	return func(v variant, faults ...fault.Fault) func(*sim.World) {
		s := s
		s.Variant = v
		return t(s, faults...)
	}
}

// Scenes of which several things are asked.
var (
	installs     = scene(Setting{}, Installs)
	upgrades     = scene(Setting{}, Upgrades)
	upgradesTwo  = scene(fromTwo, Upgrades)
	upgradesBoth = scene(fromBoth, Upgrades)
	pinsBack     = scene(Setting{}, PinnedBack)
	refuses      = scene(Setting{}, Refused)
)

func scene(s Setting, t func(sentences ...string) Telling) *verdicts.Scene[variant] {
	return &verdicts.Scene[variant]{Tell: func(v variant, sentences []string, faults ...fault.Fault) func(*sim.World) {
		return in(s, t(sentences...))(v, faults...)
	}}
}

func crash() []fault.Fault { return []fault.Fault{fault.Crash(Operator)} }

// often kills it at nearly every attempt, before or after it has written an object.
func often() (faults []fault.Fault) {
	for range 12 {
		faults = append(faults, fault.Crash(Operator, fault.OfKind("ConfigMap")), fault.Crash(Operator, fault.OfKind("Deployment")))
	}
	return faults
}

// unrecorded answers writes of release records with an error, whether or not they have taken
// effect.
func unrecorded() []fault.Fault {
	records := []fault.Scope{fault.In(Operator), fault.OfKind("Secret"), fault.OnVerb("update")}
	return []fault.Fault{fault.ServerError(records...), fault.LostReply(records...)}
}

// noChunks takes the right to create Secrets away for a while: a record's index may still be
// overwritten and its chunks deleted, and no chunk can be made.
func noChunks() []fault.Fault {
	records := []fault.Scope{fault.In(Operator), fault.OfKind("Secret"), fault.OnVerb("create")}
	return []fault.Fault{fault.Forbidden(time.Minute, records...)}
}

func everyFault() []fault.Fault {
	return faults.OfHelm(Operator, "Deployment", "create", "update", "patch")
}

func overlap() []fault.Fault {
	return []fault.Fault{
		fault.LeaderOverlap(), fault.Pause(Operator, 8*time.Second), fault.Pause(Second, 8*time.Second),
	}
}

// Reasons that stand for several cells.
const (
	noCell  = "it names this scene, and no verdicts on it"
	reused  = "a record that is forgotten gives its number away again"
	stated  = "it states the property, and nothing of this variant"
	twice   = "two interruptions: the rollback that follows an interrupted rollback goes to the half of a version, and calls it deployed"
	wayBack = "a rollback applies a version, too, and no edge leads back to it"
	anyEdge = "it has one cell for all configurations of edges"

	halfComparison = "it states the property, and nothing of this variant; a rollback that follows interrupted rollbacks finds what the record that it begins at " +
		"does not name, and Helm's error for that takes the place of the interruption in the status"
)

// recovery are the questions whether it goes on.
func recovery() []column {
	return []column{
		{
			Name: "progress after an interrupted upgrade", Scene: upgrades, Faults: crash, Broken: progress,
			Caught: variants("V0"), Dossier: "✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "progress after an interrupted install", Scene: installs, Faults: crash, Broken: progress,
			Caught: variants("V0", "V1"), Dossier: "✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
			Because: because{"V1": "its uninstall can be interrupted, too, and leaves a record that says uninstalling: not pending, and Helm refuses it"},
		},
	}
}

// graph are the questions whether it goes where it may.
func graph() []column {
	return []column{
		{
			Name: "finish first", Scene: upgradesBoth, Faults: crash, Broken: finishFirst,
			Caught: variants("V1", "V2", "V2b", "V3", "V4"), Dossier: "✓ ✗ ✗ ✗ ✗ – ✗ ✓ ✓",
			Because: because{"V3b": "its record says deployed, and by the letter nothing is unfinished"},
		},
		{
			Name: "finish first what is refused", Tell: in(fromBoth, Refused(finishFirst)), Broken: finishFirst,
			Caught: variants("V0", "V1", "V2", "V2b", "V3", "V3b", "V4", "V5"), Dossier: "– – – – – – – – –",
			Because: because{"": "it asks this of interruptions only; a failure leaves the same half of a version behind"},
		},
		{
			Name: "edges, 3 from 1 only", Tell: in(fromOne, Upgrades(validEdges)), Faults: crash, Broken: validEdges,
			Caught: variants("V1", "V2", "V2b", "V3", "V4"), Dossier: "✓ ✓ ✗ ✗ ✗ ✗ ✗ ✓ ✓",
			Because: because{"V1": wayBack, "V3b": "from what it calls installed there is no edge here; see the next question"},
		},
		{
			Name: "edges, 3 from 2 only", Scene: upgradesTwo, Faults: crash, Broken: validEdges,
			Caught: variants("V1", "V3b"), Dossier: "– – – – – ✗ – – –", Because: because{"": anyEdge, "V1": wayBack},
		},
		{
			Name: "edges, 3 from neither", Tell: in(fromNone, Upgrades(validEdges)), Faults: crash, Broken: validEdges,
			Caught: variants("V1", "V2", "V2b", "V3", "V4"), Dossier: "– – – – – – – – –", Because: because{"": anyEdge, "V1": wayBack},
		},
		{
			Name: "never backwards", Scene: upgradesBoth, Faults: crash, Broken: forwards,
			Caught: variants("V1"), Dossier: "✓ ✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "data at one level", Scene: upgradesBoth, Faults: crash, Broken: together,
			Caught: variants("V1", "V2", "V2b", "V3", "V3b", "V4"), Dossier: "✓ ✗ ✗ ✗ ✗ ✗ ✗ ✓ ✓",
		},
		{
			Name: "no orphans", Scene: upgradesBoth, Faults: crash, Broken: noOrphans,
			Caught: variants("V1", "V2", "V2b", "V3", "V3b", "V4"), Dossier: "– ✓ ✗ ✗ ✗ ✓ ✗ ✓ ✓",
			Because: because{"V0": "it never gets to another version", "V1": twice,
				"V3b": "what an upgrade has to delete it deletes last; nobody makes up for that once the record says deployed"},
		},
	}
}

// records are the questions about release records, the status, and what users have.
func records() []column {
	return []column{
		{
			Name: "user data", Scene: installs, Faults: crash, Broken: userData,
			Caught: variants("V1"), Dossier: "✓ ✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "two leaders", Tell: in(replicas(fromBoth), Upgrades(fenced)), Faults: overlap, Broken: fenced,
			Caught: variants("V1", "V2", "V2b", "V3", "V3b", "V4", "V5"), Dossier: "✓ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name:   "two leaders, all questions",
			Tell:   in(replicas(fromBoth), Upgrades(fenced, installed, finishFirst, validEdges, forwards, together, saneRecords, noOrphans, userData)),
			Faults: overlap, Broken: forwards,
			Unasked: verdicts.OnlyCure(clusterextension.Variants(), clusterextension.V6), Dossier: "– – – – – – – – ✓",
		},
		{
			Name: "torn records", Tell: in(sharded(fromBoth), Upgrades(installed)), Faults: crash, Broken: installed,
			Caught: variants("V0", "V1", "V2", "V2b", "V3", "V3b", "V5"), Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✓ ✗ ✓",
		},
		{
			Name: "torn records, chunks are refused", Tell: in(sharded(fromBoth), Upgrades(installed)), Faults: noChunks, Broken: installed,
			Caught: variants("V0", "V1", "V2", "V2b", "V3", "V3b", "V5"), Dossier: "– – – – – – – – –", Because: because{"": noCell},
		},
	}
}

// status are the questions what it costs, and what the user is told.
func status() []column {
	return []column{
		{
			Name: "interruptions cost one attempt each", Scene: upgradesTwo, Faults: crash, Broken: fewAttempts,
			Caught: variants("V0", "V1"), Dossier: "✗ ✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "the status says what was interrupted", Scene: upgrades, Faults: crash, Broken: actionable,
			Caught: variants("V0", "V1"), Dossier: "✗ – – – – – – – –", Because: because{"": stated, "V1": halfComparison},
		},
		{
			Name: "interrupted for hours", Tell: in(Setting{}, Perpetual(perpetual)), Faults: often, Broken: perpetual,
			Caught: variants("V1", "V2b", "V5"), Skipped: variants("V0"), Dossier: "– – – – – – – – –",
			Because: because{"": stated + "; who does not write before it tries again, never does while it is killed"},
		},
		{
			Name: "a failure is not masked", Scene: refuses, Faults: crash, Broken: unmasked,
			Caught: variants("V0", "V1"), Dossier: "✗ – – – – – – – –", Because: because{"": stated},
		},
		{
			Name: "a success is not masked by a lost record", Tell: in(Setting{}, Upgrades(progress)), Faults: unrecorded, Broken: progress,
			Caught: variants("V0"), Dossier: "✗ – – – – – – – –", Because: because{"": stated},
		},
		{
			Name: "installed is true", Scene: upgradesBoth, Faults: crash, Broken: installTruth,
			Caught: variants("V3b"), Dossier: "– – – – – ✗ – – –", Because: because{"": stated},
		},
		{
			Name: "sane records", Scene: upgradesBoth, Faults: crash, Broken: saneRecords,
			Caught: variants("V2", "V2b", "V3b", "V4"), Dossier: "– – – – – – – – –",
			Because: because{"": stated, "V2": reused, "V2b": reused, "V4": reused, "V3b": "what it calls deployed is so beside the one before"},
		},
		{
			Name: "sane records, a write is lost", Tell: in(Setting{}, Upgrades(saneRecords)), Faults: unrecorded, Broken: saneRecords,
			Caught:  variants("V0", "V1", "V2", "V2b", "V3", "V3b", "V4", "V5"),
			Dossier: "– – – – – – – – –", Because: because{"": stated + "; Helm only logs it when it cannot write that the record before is superseded"},
		},
	}
}

// scenes are questions about other ways in which things may go.
func scenes() []column {
	return []column{
		{
			Name: "finish first, install", Scene: installs, Faults: crash, Broken: finishFirst,
			Caught: variants("V1", "V2", "V2b", "V3", "V4"), Dossier: "– – – – – – – – –", Because: because{"": noCell},
		},
		{
			Name: "version 2 is withdrawn", Tell: in(Setting{}, Withdrawn(finished)), Faults: crash, Broken: finished,
			Caught: variants("V0", "V1", "V2", "V2b", "V3", "V4"), Dossier: "– – – – – – – – –", Because: because{"": noCell},
		},
		{
			Name: "the user wants version 1 back", Scene: pinsBack, Faults: crash, Broken: forwards,
			Caught: variants("V1", "V2", "V2b", "V3", "V4"), Dossier: "– – – – – – – – –", Because: because{"": noCell},
		},
		{
			Name: "the user wants version 1 back, finish first", Scene: pinsBack, Faults: crash, Broken: finishFirst,
			Caught: variants("V1", "V2", "V2b", "V3", "V4"), Dossier: "– – – – – – – – –", Because: because{"": noCell},
		},
		{
			Name: "the user wants version 1 back, installed is true", Scene: pinsBack, Faults: crash, Broken: installTruth,
			Caught: variants("V3b"), Dossier: "– – – – – – – – –", Because: because{"": noCell},
		},
		{
			Name: "version 2 is refused, and then it is not", Scene: refuses, Faults: crash, Broken: installed,
			Caught: variants("V0"), Dossier: "– – – – – – – – –", Because: because{"": noCell},
		},
		{
			Name: "deleted and made again", Tell: in(Setting{}, MadeAgain(installed)), Faults: crash, Broken: installed,
			Caught: variants("V0", "V1"), Dossier: "– – – – – – – – –", Because: because{"": noCell},
		},
		{
			Name:   "every fault",
			Tell:   in(sharded(fromBoth), Upgrades(installed, finishFirst, validEdges, forwards, together, saneRecords, noOrphans, userData)),
			Faults: everyFault, Broken: installed,
			Unasked: verdicts.OnlyCure(clusterextension.Variants(), clusterextension.V6), Dossier: "– – – – – – – – ✓",
		},
	}
}
