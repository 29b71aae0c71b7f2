// This file exists to hold the whole story as a table: for each variant, which question it fails
// under which faults.

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
	variant = clusterextension.Variant
	column  = matrix.Case[variant]
	because = map[variant]string
)

func variants(v ...variant) []variant { return v }

// Table is what the story says of every variant.
func Table() matrix.Table[variant] {
	return matrix.Table[variant]{Variants: clusterextension.Variants(), Fixed: clusterextension.V6,
		Predictions: predictions(), Situations: wanted(),
		Cases: alike(slices.Concat(recovery(), graph(), records(), status(), scenes(), health(), interruptions(),
			backoff()))}
}

// alike leaves out cases of two variants that do in them what another one does: V2-waits what V2
// does, later, and V3-limit what V3 does, until it gives up.
func alike(all []column) []column {
	apart := map[variant][]string{
		"V2-waits": {"progress after an interrupted upgrade", "finish first", "data at one level", "two leaders",
			"two leaders, one is frozen"},
		"V3-limit": {"finish first", "data at one level", "interrupted often, then left alone"},
	}
	for v, names := range apart {
		for i := range all {
			if c := &all[i]; !slices.Contains(names, c.Name) && c.Outcome(v) != matrix.Fails {
				c.Skip = append(c.Skip, v)
			}
		}
	}
	return all
}

// The edges to version 3, and what they are called.
var (
	fromOne  = Setting{Edges: []string{one}}
	fromTwo  = Setting{Edges: []string{two}}
	fromBoth = Setting{Edges: []string{one, two}}
	fromNone = Setting{Edges: []string{"0.9.0"}}
	fromSlow = Setting{Edges: []string{one, slow, broken}}
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

// in puts a workload into a world.
func in(s Setting, t Workload) func(variant, ...fault.Fault) func(*sim.World) {
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
	migrates     = scene(fromSlow, Migrates)
)

func scene(s Setting, t func(sentences ...string) Workload) *matrix.Workload[variant] {
	return &matrix.Workload[variant]{New: func(v variant, sentences []string, faults ...fault.Fault) func(*sim.World) {
		return in(s, t(sentences...))(v, faults...)
	}}
}

func crash() []fault.Fault { return []fault.Fault{fault.Crash(Operator)} }

// often kills it at nearly every attempt, before or after it has written an object.
func often() (faults []fault.Fault) {
	for range 12 {
		faults = append(faults, fault.Crash(Operator, fault.OfKind("ConfigMap")),
			fault.Crash(Operator, fault.OfKind("Deployment")))
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
	reused = "a record that is forgotten gives its number away again"
	stated = "it states the property, and nothing of this variant"
	twice  = "two interruptions: the rollback that follows an interrupted rollback goes to the half of a version, " +
		"and calls it deployed"
	wayBack = "a rollback applies a version, too, and no edge leads back to it"
	anyEdge = "it has one cell for all configurations of edges"

	halfComparison = "it states the property, and nothing of this variant; a rollback that follows interrupted " +
		"rollbacks finds what the record that it begins at " +
		"does not name, and Helm's error for that takes the place of the interruption in the status"
)

// recovery are the questions whether it goes on.
func recovery() []column {
	return []column{
		{
			Name: "progress after an interrupted upgrade", Workload: upgrades, Faults: crash, Property: progress,
			Fail: variants("V0"),
		},
		{
			Name: "progress after an interrupted install", Workload: installs, Faults: crash, Property: progress,
			Fail: variants("V0", "V1"), Notes: because{"V1": "its uninstall can be interrupted, too, " +
				"and leaves a record that says uninstalling: not pending, and Helm refuses it"},
		},
	}
}

// graph are the questions whether it goes where it may.
func graph() []column {
	return []column{
		{
			Name: "finish first", Workload: upgradesBoth, Faults: crash, Property: finishFirst,
			Fail:  variants("V1", "V2", "V2b", "V2-waits", "V3", "V3-limit", "V4"),
			Notes: because{"V3b": "its record says deployed, and by the letter nothing is unfinished"},
		},
		{
			Name: "finish first what is refused", New: in(fromBoth, Refused(finishFirst)), Property: finishFirst,
			Fail: variants("V0", "V1", "V2", "V2b", "V3", "V3b", "V4", "V5"),
		},
		{
			Name: "edges, 3 from 1 only", New: in(fromOne, Upgrades(validEdges)), Faults: crash, Property: validEdges,
			Fail: variants("V1", "V2", "V2b", "V3", "V4"), Notes: because{"V1": wayBack,
				"V3b": "from what it calls installed there is no edge here; see the next question"},
		},
		{
			Name: "edges, 3 from 2 only", Workload: upgradesTwo, Faults: crash, Property: validEdges,
			Fail: variants("V1", "V3b"), Notes: because{"V1": wayBack},
		},
		{
			Name: "edges, 3 from neither", New: in(fromNone, Upgrades(validEdges)), Faults: crash, Property: validEdges,
			Fail: variants("V1", "V2", "V2b", "V3", "V4"), Notes: because{"V1": wayBack},
		},
		{
			Name: "never backwards", Workload: upgradesBoth, Faults: crash, Property: forwards,
			Fail: variants("V1"),
		},
		{
			Name: "data at one level", Workload: upgradesBoth, Faults: crash, Property: together,
			Fail: variants("V1", "V2", "V2b", "V2-waits", "V3", "V3-limit", "V3b", "V4"),
		},
		{
			Name: "no orphans", Workload: upgradesBoth, Faults: crash, Property: noOrphans,
			Fail: variants("V1", "V2", "V2b", "V3", "V3b", "V4"),
			Notes: because{"V0": "it never gets to another version", "V1": twice,
				"V3b": "what an upgrade has to delete it deletes last; nobody makes up for that once the record " +
					"says deployed"},
		},
	}
}

// records are the questions about release records, the status, and what users have.
func records() []column {
	return []column{
		{
			Name: "user data", Workload: installs, Faults: crash, Property: userData,
			Fail: variants("V1"),
		},
		{
			Name: "two leaders", New: in(replicas(fromBoth), Upgrades(fenced)), Faults: overlap, Property: fenced,
			Fail: variants("V1", "V2", "V2b", "V3", "V3b", "V4", "V5"),
		},
		{
			Name: "two leaders, all questions",
			New: in(replicas(fromBoth), Upgrades(fenced, installed, finishFirst, validEdges, forwards, together,
				saneRecords, noOrphans, userData)),
			Faults: overlap, Property: forwards,
			NotRun: matrix.OnlyFixed(clusterextension.Variants(), clusterextension.V6),
		},
		{
			Name: "torn records", New: in(sharded(fromBoth), Upgrades(installed)), Faults: crash, Property: installed,
			Fail: variants("V0", "V1", "V2", "V2b", "V3", "V3b", "V5"),
		},
		{
			Name: "torn records, chunks are refused", New: in(sharded(fromBoth), Upgrades(installed)),
			Faults: noChunks, Property: installed,
			Fail: variants("V0", "V1", "V2", "V2b", "V3", "V3b", "V5"),
		},
	}
}

// status are the questions what it costs, and what the user is told.
func status() []column {
	return []column{
		{
			Name: "interruptions cost one attempt each", Workload: upgradesTwo, Faults: crash, Property: fewAttempts,
			Fail: variants("V0", "V1"),
		},
		{
			Name: "the status says what was interrupted", Workload: upgrades, Faults: crash, Property: actionable,
			Fail: variants("V0", "V1"), Notes: because{"V1": halfComparison},
		},
		{
			Name: "interrupted for hours", New: in(Setting{}, Perpetual(perpetual)), Faults: often, Property: perpetual,
			Fail: variants("V1", "V2b", "V5"), Skip: variants("V0"),
		},
		{
			Name: "a failure is not masked", Workload: refuses, Faults: crash, Property: unmasked,
			Fail: variants("V0", "V1"),
		},
		{
			Name: "a success is not masked by a lost record", New: in(Setting{}, Upgrades(progress)),
			Faults: unrecorded, Property: progress,
			Fail: variants("V0"),
		},
		{
			Name: "installed is true", Workload: upgradesBoth, Faults: crash, Property: installTruth,
			Fail: variants("V3b"),
		},
		{
			Name: "sane records", Workload: upgradesBoth, Faults: crash, Property: saneRecords,
			Fail: variants("V2", "V2b", "V3b", "V4"), Notes: because{"V2": reused, "V2b": reused, "V4": reused,
				"V3b": "what it calls deployed is so beside the one before"},
		},
		{
			Name: "sane records, a write is lost", New: in(Setting{}, Upgrades(saneRecords)), Faults: unrecorded,
			Property: saneRecords,
			Fail:     variants("V0", "V1", "V2", "V2b", "V3", "V3b", "V4", "V5"),
		},
	}
}

// scenes are questions about other ways in which things may go.
func scenes() []column {
	return []column{
		{
			Name: "finish first, install", Workload: installs, Faults: crash, Property: finishFirst,
			Fail: variants("V1", "V2", "V2b", "V3", "V4"),
		},
		{
			Name: "version 2 is withdrawn", New: in(Setting{}, Withdrawn(finished)), Faults: crash, Property: finished,
			Fail: variants("V0", "V1", "V2", "V2b", "V3", "V4"),
		},
		{
			Name: "the user wants version 1 back", Workload: pinsBack, Faults: crash, Property: forwards,
			Fail: variants("V1", "V2", "V2b", "V3", "V4"),
		},
		{
			Name: "the user wants version 1 back, finish first", Workload: pinsBack, Faults: crash,
			Property: finishFirst,
			Fail:     variants("V1", "V2", "V2b", "V3", "V4"),
		},
		{
			Name: "the user wants version 1 back, installed is true", Workload: pinsBack, Faults: crash,
			Property: installTruth,
			Fail:     variants("V3b"),
		},
		{
			Name: "version 2 is refused, and then it is not", Workload: refuses, Faults: crash, Property: installed,
			Fail: variants("V0"),
		},
		{
			Name: "deleted and made again", New: in(Setting{}, MadeAgain(installed)), Faults: crash,
			Property: installed,
			Fail:     variants("V0", "V1"),
		},
		{
			Name: "every fault",
			New: in(sharded(fromBoth),
				Upgrades(installed, finishFirst, validEdges, forwards, together, saneRecords, noOrphans, userData)),
			Faults: everyFault, Property: installed,
			NotRun: matrix.OnlyFixed(clusterextension.Variants(), clusterextension.V6),
		},
	}
}

// except are all variants but some.
func except(some ...variant) []variant {
	return slices.DeleteFunc(clusterextension.Variants(), func(v variant) bool { return slices.Contains(some, v) })
}

// health are the questions whether version 2 is healthy before version 3 takes its place. Nobody
// but V6 looks: V0 and V5 stand for all others.
func health() []column {
	of := func(name, sentence string) column {
		return column{Name: name, Workload: migrates, Faults: crash, Property: sentence, Fail: variants("V0", "V5"),
			Skip: except("V0", "V5", "V6")}
	}
	return []column{
		of("finish first, migrations take time", finishFirst),
		of("data at one level, migrations take time", together),
		of("installed is true, migrations take time", installTruth),
		of("done is healthy, migrations take time", healthTruth),
	}
}

// interruptions are the questions about other ends than that of a process that is killed, and about
// the proposals to wait and to give up.
func interruptions() []column {
	return []column{
		{
			Name: "stopped while it is frozen", New: in(Setting{}, Upgrades(installed)), Property: installed,
			Faults: func() []fault.Fault {
				return []fault.Fault{fault.Restart(Operator), fault.Pause(Operator, 40*time.Second)}
			},
			Fail: variants("V0"), Skip: except("V0", "V6"),
		},
		{
			Name: "two leaders, one is frozen", New: in(replicas(fromBoth), Upgrades(fenced)), Property: fenced,
			Faults: func() []fault.Fault {
				return []fault.Fault{fault.LeaderOverlap(), fault.Pause(Operator, 2*time.Minute, fault.OnVerb("get")),
					fault.Pause(Second, 2*time.Minute, fault.OnVerb("get"))}
			},
			Fail: variants("V2-waits"), Skip: except("V2-waits", "V6"),
		},
		{
			Name: "interrupted often, then left alone", New: in(Setting{}, LeftAlone(installed)), Faults: often,
			Property: installed, Fail: variants("V3-limit"), Skip: except("V3-limit", "V6"),
		},
	}
}
