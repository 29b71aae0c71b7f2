// This file tests what the table does not ask.

package clusterextension

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// everything is all that must hold of the fixed variant under interruptions.
var everything = []string{installed, finishFirst, validEdges, forwards, together, saneRecords, noOrphans, userData,
	fenced, progress,
	fewAttempts, actionable, installTruth}

// Records of 1, 2 and about 10 Secrets.
//
//make:campaigns
func TestFixedVariantWithRecordsOfAnySize(t *testing.T) {
	for _, size := range []int{0, 2000, 350} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := Setting{Variant: clusterextension.V6, Edges: []string{one, two}, ChunkSize: size}
			sim.Check(t, upgrades.in(s, everything, crash()...), sim.Runs(15), sim.For(0), sim.Verify(1))
		})
	}
}

// Whichever queue, client and number of workers: V0 is wedged, and V6 is not.
func TestSettingsThatDoNotMatter(t *testing.T) {
	classic := func(o *ctrl.Options) { o.Controller.UsePriorityQueue = ptr.To(false) }
	for name, s := range map[string]Setting{
		"classic queue": {Manager: classic}, "a client that reads its own writes": {Manager: worlds.ReadYourWrites},
		"three workers": {Workers: 3},
	} {
		s.Edges = []string{one, two}
		s.Variant = clusterextension.V0
		t.Run("V0/"+name, func(t *testing.T) {
			r := sim.Explore(t, upgrades.in(s, []string{installed}, crash()...), sim.Runs(100), sim.For(time.Minute),
				sim.Verify(0), sim.Shrink(0))
			if r.Failure == nil || r.Failure.Property != installed {
				t.Errorf("it did not fall in %d runs: %+v", r.Runs, r.Failure)
			}
		})
		s.Variant = clusterextension.V6
		t.Run("V6/"+name, func(t *testing.T) {
			sim.Check(t, upgrades.in(s, everything, crash()...), sim.Runs(15), sim.For(0), sim.Verify(1))
		})
	}
}

// A user who has had enough of version 2 gets version 3.
func TestOverride(t *testing.T) {
	s := Setting{Variant: clusterextension.V6, Edges: []string{one}}
	sim.Check(t, overrides.in(s, []string{installed, noOrphans}, crash()...), sim.Runs(15), sim.For(0), sim.Verify(1))
}

// What cannot be read for a while is not taken for broken.
//
//make:campaigns
func TestRecordsThatCannotBeRead(t *testing.T) {
	s := Setting{Variant: clusterextension.V6, ChunkSize: small}
	unread := []fault.Fault{fault.ServerError(fault.In(Operator), fault.OfKind("Secret"), fault.OnVerb("get")),
		fault.Forbidden(time.Minute, fault.In(Operator), fault.OfKind("Secret"), fault.OnVerb("get"))}
	sim.Check(t, upgrades.in(s, []string{installed, saneRecords, keepsRecords}, unread...), sim.Runs(60), sim.For(0),
		sim.Verify(0))
}

// What an upgrade drops goes, even if it could not be read at that moment.
//
//make:campaigns
func TestWhatCannotBeLookedAt(t *testing.T) {
	s := fromTwo
	s.Variant = clusterextension.V6
	sim.Check(t, upgrades.in(s, []string{noOrphans, installed},
		fault.ServerError(fault.In(Operator), fault.OfKind("ConfigMap"), fault.OnVerb("get")),
		fault.ServerError(fault.In(Operator), fault.OfKind("ConfigMap"),
			fault.OnVerb("delete"))), sim.Runs(60), sim.For(0), sim.Verify(0))
}

// Slow namespaces delay the fixed variant, and do not stop it.
func TestFixedVariantWhereNamespacesAreSlow(t *testing.T) {
	s := Setting{Variant: clusterextension.V6}
	for _, terminates := range []time.Duration{7, 13, 21, 45, 75} {
		workload := empties(terminates*time.Second).in(s, []string{finished, finishFirst, installed}, crash()...)
		sim.Check(t, workload, sim.Runs(8), sim.For(0), sim.Verify(0))
	}
}

// What another variant has torn or left pending, the fixed variant mends.
//
//make:campaigns
func TestFixedVariantTakesOver(t *testing.T) {
	from := func(v variant) Setting { return Setting{Variant: v, ChunkSize: small} }
	for _, workload := range []func(*sim.World){
		takesOver.in(from(clusterextension.V0), []string{installed, finishFirst, together}, crash()...),
		takesOver.in(from(clusterextension.V1), []string{installed}, crash()...),
		installTakenOver.in(from(clusterextension.V1), []string{installed}, crash()...),
	} {
		sim.Check(t, workload, sim.Runs(60), sim.For(0), sim.Verify(0))
	}
}

// A process that wakes up after its time is over writes nothing more, even if another process has
// continued meanwhile. It is frozen as it reads, because a write that it had sent already would
// still arrive, and no fence on this side of the server can prevent that.
//
//make:campaigns
func TestFrozenForLong(t *testing.T) {
	s := Setting{Variant: clusterextension.V6, Edges: []string{one, two}, Replicas: 2}
	workload := upgrades.in(s, []string{fenced, installed, finishFirst, validEdges, forwards, together, saneRecords,
		noOrphans, userData}, overlap(5*time.Minute, fault.OnVerb("get"))()...)
	late := 0
	sim.Check(t, func(w *sim.World) {
		workload(w)
		began := map[history.ReconcileID]history.Time{}
		for _, e := range w.History().Events {
			switch who := e.ReconcileID(); {
			case e.Kind == history.Dequeue:
				began[who] = e.At
			case e.Kind == history.Done && e.At-began[who] > time.Minute && e.Outcome.After == time.Millisecond:
				late++
			}
		}
	}, sim.Runs(30), sim.For(0), sim.Verify(20))
	if late == 0 {
		t.Error("no reconcile woke up too late")
	}
	t.Logf("%d passes were over when they went on", late)
}

// V6 does not continue before version 2 is healthy, and ends with version 3.
//
//make:campaigns
func TestFixedVariantWaitsForHealth(t *testing.T) {
	s := fromSlow
	s.Variant = clusterextension.V6
	sim.Check(t, migrates.in(s, append(slices.Clone(everything), healthTruth), crash()...), sim.Runs(6), sim.For(0),
		sim.Verify(1))
}

// What wraps Helm's connection is not the line that sends its requests.
func TestRequestsOfHelmHaveTheirLine(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		deployed(w, Setting{Variant: clusterextension.V6})
		sent := 0
		for _, e := range w.History().Events {
			if e.Kind != history.Request || e.Process != Operator || e.Source == "" {
				continue
			}
			sent++
			if strings.Contains(e.Source, "world.go") {
				t.Errorf("%s of %s was sent by %s", e.Verb, e.Ref, e.Source)
			}
		}
		if sent == 0 {
			t.Error("no request of the operator has a line")
		}
	}, sim.Runs(1), sim.For(0), sim.Verify(0))
}

// A version that never becomes healthy stands in the way of the next one, and the status says what
// it lacks, until the user allows it.
func TestNeverHealthy(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := deployed(w, Setting{Variant: clusterextension.V6, Edges: []string{one, broken}})
		s.Offers(broken)
		w.Sleep(10 * time.Minute)
		s.Offers(three)
		w.Always("it says what is not healthy",
			s.says(v1.ReasonRetrying, bundleName(broken), "not healthy", "Deployment beta is not available"))
		w.Sleep(time.Hour)
	}, sim.Runs(2), sim.For(0), sim.Verify(1))
	sim.Check(t, func(w *sim.World) {
		s := deployed(w, Setting{Variant: clusterextension.V6})
		s.Offers(broken)
		w.Sleep(10 * time.Minute)
		s.Offers(three)
		s.right = three
		s.declare(installed)
		s.Wants("", v1.PolicySelfCertified)
		w.Settle()
	}, sim.Runs(2), sim.For(0), sim.Verify(1))
}

// A request to stop does no harm: 30 s are enough for the action under way.
func TestStoppedInTime(t *testing.T) {
	s := Setting{Variant: clusterextension.V0}
	sim.Check(t, upgrades.in(s, []string{installed, finishFirst, saneRecords}, fault.Restart(Operator)), sim.Runs(30),
		sim.For(0), sim.Verify(0))
}
