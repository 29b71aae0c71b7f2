// This file exists for scenes in which the fixed variant is put to the test without a question of
// the table.

package clusterextension

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

//make:campaigns
func TestFixedVariantInOtherWorlds(t *testing.T) {
	for name, c := range map[string]struct {
		workload  Workload
		sentences []string
		faults    []fault.Fault
	}{
		"the history is full": {fills, []string{installed, finishFirst, saneRecords, noOrphans, installTruth},
			crash()},
		"catalogs change all the time": {resyncs, everything, crash()},
		"the user wants version 1 back": {pinsBack, []string{finished, finishFirst, forwards, validEdges, saneRecords,
			installTruth}, crash()},
		"a failure's record is lost": {refuses, []string{unmasked, finishFirst, saneRecords}, unrecorded()},
		"a success's record is lost": {upgrades, []string{installed, finishFirst, progress, saneRecords},
			unrecorded()},
		"interrupted for hours, then left alone": {interrupts, []string{installed, perpetual, noOrphans}, often()},
		"deleted while pending":                  {deletes, []string{nothingLeft}, crash()},
	} {
		t.Run(name, func(t *testing.T) {
			s := Setting{Variant: clusterextension.V6, ChunkSize: small}
			sim.Check(t, c.workload.in(s, c.sentences, c.faults...), sim.Runs(6), sim.For(0), sim.Verify(0))
		})
	}
}

// The history is as full as it may be when that scene begins, and the oldest record is the only
// deployed one.
func TestHistoryIsFull(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := full(w, Setting{Variant: clusterextension.V6})
		s.read(w.History())
		n, r := len(s.records()), s.deployed()
		if n != maxRecords || r == nil || r.revision != 1 {
			t.Errorf("there are %d records, and deployed is %+v", n, r)
		}
	}, sim.Runs(1), sim.For(0), sim.Verify(0))
}

// A record of a failure that is lost hides the failure from the operator as reported.
func TestLostRecordHidesAFailure(t *testing.T) {
	lost := refuses.in(Setting{Variant: clusterextension.V0}, []string{unmasked}, unrecorded()...)
	r := sim.Explore(t, lost, sim.Runs(100), sim.For(time.Minute), sim.Verify(0), sim.Shrink(0))
	if r.Failure == nil || r.Failure.Property != unmasked {
		t.Errorf("it did not fall in %d runs: %+v", r.Runs, r.Failure)
	}
}
