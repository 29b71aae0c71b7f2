// This file exists to hold the whole story as a table: for each variant, which question it fails under which faults.

package clusterextension

import (
	"slices"
	"time"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
	"github.com/wavetank/wavetank/sim"
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
		Columns: slices.Concat(recovery(), graph(), records())}
}

// The edges to version 3, and what they are called.
var (
	fromOne  = Setting{Edges: []string{one}}
	fromTwo  = Setting{Edges: []string{two}}
	fromBoth = Setting{Edges: []string{one, two}}
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
func in(s Setting, t Telling) func(variant, ...sim.Fault) func(*sim.World) {
	return func(v variant, faults ...sim.Fault) func(*sim.World) {
		s := s
		s.Variant = v
		return t(s, faults...)
	}
}

func crash() []sim.Fault { return []sim.Fault{sim.Crash(Operator)} }

func overlap() []sim.Fault {
	return []sim.Fault{sim.LeaderOverlap(), sim.Pause(Operator, 8*time.Second), sim.Pause(Second, 8*time.Second)}
}

// Reasons that stand for several cells.
const (
	stated  = "it states the property, and nothing of this variant"
	twice   = "two interruptions: the rollback that follows an interrupted rollback goes to the half of a version, and calls it deployed"
	anyEdge = "it has one cell for all configurations of edges"
)

// recovery are the questions whether it goes on.
func recovery() []column {
	return []column{
		{
			Name: "progress after an interrupted upgrade", Tell: in(Setting{}, Upgrades(progress)), Faults: crash, Broken: progress,
			Caught: variants("V0"), Dossier: "✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "progress after an interrupted install", Tell: in(Setting{}, Installs(progress)), Faults: crash, Broken: progress,
			Caught: variants("V0", "V1"), Dossier: "✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
			Because: because{"V1": "its uninstall can be interrupted, too, and leaves a record that says uninstalling: not pending, and Helm refuses it"},
		},
	}
}

// graph are the questions whether it goes where it may.
func graph() []column {
	return []column{
		{
			Name: "finish first", Tell: in(fromBoth, Upgrades(finishFirst)), Faults: crash, Broken: finishFirst,
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
			Because: because{"V1": twice, "V3b": "from what it calls installed there is no edge here; see the next question"},
		},
		{
			Name: "edges, 3 from 2 only", Tell: in(fromTwo, Upgrades(validEdges)), Faults: crash, Broken: validEdges,
			Caught: variants("V1", "V3b"), Skipped: variants("V0", "V2b", "V3", "V4"), Dossier: "– – – – – ✗ – – –", Because: because{"": anyEdge, "V1": twice},
		},
		{
			Name: "never backwards", Tell: in(fromBoth, Upgrades(forwards)), Faults: crash, Broken: forwards,
			Caught: variants("V1"), Dossier: "✓ ✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "data at one level", Tell: in(fromBoth, Upgrades(together)), Faults: crash, Broken: together,
			Caught: variants("V1", "V2", "V2b", "V3", "V3b", "V4"), Dossier: "✓ ✗ ✗ ✗ ✗ ✗ ✗ ✓ ✓",
		},
		{
			Name: "no orphans", Tell: in(fromBoth, Upgrades(noOrphans)), Faults: crash, Broken: noOrphans,
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
			Name: "user data", Tell: in(Setting{}, Installs(userData)), Faults: crash, Broken: userData,
			Caught: variants("V1"), Dossier: "✓ ✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
		},
		{
			Name: "two leaders", Tell: in(replicas(fromBoth), Upgrades(fenced)), Faults: overlap, Broken: fenced,
			Caught: variants("V1", "V2", "V2b", "V3", "V3b", "V4", "V5"), Dossier: "✓ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "torn records", Tell: in(sharded(fromBoth), Upgrades(installed)), Faults: crash, Broken: installed,
			Caught: variants("V0", "V1", "V2", "V2b", "V3", "V3b", "V5"), Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✓ ✗ ✓",
		},
	}
}

// Beside are questions that are asked beside the table: their cells are tried in every go test, but no page is kept of them.
func Beside() []column {
	return []column{
		{
			Name: "interruptions cost one attempt each", Tell: in(fromTwo, Upgrades(fewAttempts)), Faults: crash, Broken: fewAttempts,
			Caught: variants("V1"), Dossier: "✗ ✗ ✓ ✓ ✓ ✓ ✓ ✓ ✓",
			Because: because{"V0": "it makes no attempt any more; that it does not arrive is another question"},
		},
		{
			Name: "the status says what was interrupted", Tell: in(Setting{}, Upgrades(actionable)), Faults: crash, Broken: actionable,
			Caught: variants("V0"), Skipped: variants("V2b", "V3", "V3b", "V4"), Dossier: "✗ – – – – – – – –", Because: because{"": stated},
		},
		{
			Name: "interrupted for hours", Tell: in(Setting{}, Perpetual(perpetual)), Faults: crash, Broken: perpetual,
			Caught: variants("V1", "V2b", "V4", "V5"), Skipped: variants("V0", "V3", "V3b"), Dossier: "– – – – – – – – –",
			Because: because{"": stated + "; who does not write before it tries again, never does while it is killed"},
		},
		{
			Name: "a failure is not masked", Tell: in(Setting{}, Refused(unmasked)), Faults: crash, Broken: unmasked,
			Caught: variants("V0"), Skipped: variants("V1", "V2b", "V3", "V3b", "V4"), Dossier: "✗ – – – – – – – –", Because: because{"": stated},
		},
		{
			Name: "installed is true", Tell: in(Setting{}, Refused(installTruth)), Faults: crash, Broken: installTruth,
			Caught: variants("V3b"), Skipped: variants("V0", "V1", "V2b", "V3", "V4"), Dossier: "– – – – – ✗ – – –", Because: because{"": stated},
		},
		{
			Name: "sane records", Tell: in(fromBoth, Upgrades(saneRecords)), Faults: crash, Broken: saneRecords,
			Caught: variants("V3b"), Skipped: variants("V0", "V2b", "V3", "V4", "V5"), Dossier: "– – – – – – – – –", Because: because{"": stated},
		},
	}
}
