// This file exists for deaths of the operator that the table does not count: at every single write
// of the full cure, and how long the window is in which a death within a clean-up wedges the
// variants that undo.

package bundledeployment

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/stored"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
)

// The full cure dies around the writes of install, upgrade, repair, and of what undoes a refused
// install. A sweep kills once a run, before or after one write, at each point in turn that the
// undisturbed run offers, before it tries anything else.
//
//make:campaigns
func TestFullCureDiesAtEveryWrite(t *testing.T) {
	for name, telling := range map[string]Telling{"nothing is wrong": Interrupted, "it is refused first": InterruptedFailing} {
		t.Run(name, func(t *testing.T) {
			dies := telling(Row("V4").setting(), fault.Crash(Operator))
			sweep := func(scenario func(*sim.World), runs int) result.Report {
				return sim.Explore(t, scenario, sim.Runs(runs), sim.For(0), sim.Verify(0), sim.Strategy("sweep"))
			}
			writes := 0
			sweep(func(w *sim.World) {
				dies(w)
				writes = 0
				for i := range w.Undisturbed().Events {
					if e := &w.Undisturbed().Events[i]; e.Kind == history.Request && e.Process == Operator && !reads[e.Verb] {
						writes++
					}
				}
			}, 1)
			points := 2 * writes
			r := sweep(dies, points)
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d writes, killed %d times in %d runs", writes, r.Faults[0].Injected, r.Runs)
			if struck := r.Faults[0].Injected; points == 0 || struck != points {
				t.Errorf("it was killed %d times in %d runs, with %d writes in the undisturbed one", struck, r.Runs, writes)
			}
		})
	}
}

// reads are the verbs that change nothing.
var reads = map[string]bool{"get": true, "list": true, "watch": true}

// half is for how long, at most, the record of a refused install was half undone: a crash in that
// time wedges the deployment.
func half(t *testing.T, s Setting) (longest time.Duration) {
	t.Helper()
	r := sim.Explore(t, func(w *sim.World) {
		story := Begin(w, s)
		story.Apply(Deployment(app, "app", "apps", true))
		w.Sleep(3 * time.Minute)
		longest = 0
		for _, d := range halfUndone(w.History()) {
			longest = max(longest, d)
		}
	}, sim.Runs(1), sim.Verify(0), sim.Strategy("sweep"))
	if r.Failure != nil {
		t.Fatal(r.Failure.Text())
	}
	return longest
}

// Waiting for the clean-up makes the window of a crash that wedges as long as the clean-up, up to
// the 30 s that it waits. Without waiting, it is as long as a few requests.
func TestWaitingWidensTheWindowOfACrash(t *testing.T) {
	for _, terminates := range []time.Duration{5 * time.Second, 13 * time.Second, 21 * time.Second, 45 * time.Second} {
		without := half(t, Setting{Variant: bundledeployment.V0, Terminates: terminates})
		with := half(t, Setting{Variant: bundledeployment.V1, Terminates: terminates})
		t.Logf("namespaces take %v: records are half undone for %v as reported, %v with the wait", terminates, without, with)
		if without <= 0 || without > time.Second || with < min(terminates, cleanUpWait-time.Second) {
			t.Errorf("namespaces take %v: records are half undone for %v as reported, and %v with the wait", terminates, without, with)
		}
	}
}

// halfUndone is for how long each release record was in the state "uninstalling", which neither an
// install nor an upgrade nor a rollback of Helm gets past: as long as that takes, a crash wedges
// the deployment.
func halfUndone(h *history.History) (times []time.Duration) {
	since := map[string]history.Time{}
	for i := range h.Events {
		e := &h.Events[i]
		for j := range e.Changes {
			c := &e.Changes[j]
			if c.Ref.Kind != "Secret" {
				continue
			}
			var record metav1.PartialObjectMetadata
			stored.Decode(c.Object, &record)
			at, undoing := since[c.UID]
			switch now := record.Labels["status"] == "uninstalling" && c.Type != "DELETED"; {
			case now && !undoing:
				since[c.UID] = e.At
			case undoing && !now:
				times = append(times, e.At-at)
				delete(since, c.UID)
			}
		}
	}
	return times
}
