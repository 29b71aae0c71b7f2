// This file holds the table: which variants fail which cases, under which faults.

package bundledeployment

import (
	"slices"
	"time"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/scenarios/internal/faults"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Row is a column of the table: a variant, or V2-slow, which is V2 where namespaces take longer to
// terminate than it waits.
type Row string

const slow Row = "V2-slow"

func rows() []Row { return []Row{"V0", "V0-status-filter", "V1", "V2", slow, "V3", "V4"} }

// setting is the world of a row. Namespaces take 7 s to terminate, 45 s for V2-slow.
func (r Row) setting() Setting {
	if r == slow {
		return Setting{Variant: bundledeployment.V2, Terminates: 45 * time.Second}
	}
	return Setting{Variant: bundledeployment.Variant(r), Terminates: 7 * time.Second}
}

type (
	outcome  = matrix.Case[Row] // which variants fail, and why
	cases    = []outcome
	remarks  = []matrix.Remark
	workload = *matrix.Workload[Row]
)

var note, omit = matrix.Note, matrix.Omit

// Table is the matrix of the scenario. A variant that neither fails nor is omitted must pass.
func Table() matrix.Table[Row] {
	return matrix.Table[Row]{Variants: rows(), Fixed: "V4",
		About: map[Row]string{slow: "is V2 where namespaces take 45 s to go, longer than it waits."},
		Cases: slices.Concat(
			settling(), settlingUnderFaults(), undoing(), crowds, deaths, mends, sharing)}
}

// of is a workload in the world of a row with some changes.
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
func replicas(s *Setting)  { s.Replicas = 2 }
func slower(s *Setting)    { s.Slower = 90 * time.Second }
func workers(s *Setting)   { s.Workers = 3 }

// held adds another controller's finalizer to the ConfigMap of a failing bundle. varies makes each
// refusal differ, as a time or a UID in its message does.
func held(s *Setting)   { s.Held, s.Values = time.Minute, "held: true\n" }
func varies(s *Setting) { s.Values = "varies: true\n" }

// visible makes namespaces terminate so slowly that it shows when a worker waits for them.
func visible(s *Setting) { s.Terminates = max(s.Terminates, 28*time.Second) }

const (
	// undoes are the variants that undo failed actions, unsettled those that never settle, and
	// noWait those that do not wait long enough for the end of a clean-up.
	undoes    = "V0 V0-status-filter V1 V2 V2-slow"
	unsettled = "V0 V2-slow"
	noWait    = "V0 V0-status-filter V2-slow"

	inItsOwnWay = "the status names neither the cause nor the other owner, but the namespace that its own clean-up " +
		"is removing"
	metRemains = "the attempt for the mended deployment meets what is being removed, and the next one waits for the " +
		"back-off of all failures before"
)

var failing = of(fails)

// eachOf returns four cases that differ in their property only (S0-L1, S0-L2, S0-A1 and S0-A2).
func eachOf(c outcome, when string) (out cases) {
	names := []string{"it settles", "back-off grows", "the status names the cause", "the status is quiet"}
	for i, property := range []string{settles, backoffGrows, actionable, quiet} {
		c.Name, c.Property = names[i]+when, property
		out = append(out, c)
	}
	return out
}

// settling are the cases about whether failures settle.
func settling() cases {
	failsHeld := of(fails, held)
	return slices.Concat(eachOf(outcome{Workload: failing, Fail: unsettled}, ""), cases{
		{Name: "it settles with the classic queue", Workload: of(fails, classic), Property: settles, Fail: unsettled},
		{Name: "it settles reading its own writes", Workload: of(fails, ownWrites), Property: settles,
			Fail: unsettled},
		{Name: "it settles beside watched kinds", Workload: of(failsWatched), Property: settles, Fail: undoes},
		{Name: "it settles, a namespace is held for a minute", Workload: failsHeld, Property: settles,
			Fail: "V0 V1 V2 V2-slow"},
		{Name: "the status names the cause, a namespace is held for a minute", Workload: failsHeld,
			Property: actionable, Fail: "V1 V2 V2-slow",
			Remarks: remarks{note("V0", "the next attempt comes at once, adopts what is held, and meets the cause "+
				"again")}},
		{Name: "it settles although the refusal varies", Workload: of(fails, varies), Property: settles,
			Fail: "all but V0-status-filter V4",
			Remarks: remarks{note("V3", "each refusal is news to the status, and the event of writing it starts "+
				"the next attempt")}},
	})
}

// settlingUnderFaults are the cases about whether failures settle while faults are injected and
// after they have ended. The first two do not allow an extra attempt for a fault.
func settlingUnderFaults() cases {
	const (
		slowStep = "a slow step is not counted, because it causes no reconcile. The namespace goes too late for the " +
			"wait, and the event of the status that says so starts an attempt"
		wedges  = "a release record stays pending or half undone, and no attempt is made any more"
		brief   = "it never settles, see “it settles”; these faults last for too short a time to see that"
		forgets = "a restart empties the work queue's memory, so its back-off starts again"
	)
	fail := func(variants string, remarks ...matrix.Remark) outcome {
		return outcome{Fail: variants, Remarks: remarks}
	}
	ends := fail(unsettled)
	killed := fail(unsettled+" V0-status-filter V3", note("V0-status-filter V3", forgets))
	wedged := fail("all but V4", note("V0-status-filter V1 V2 V3", wedges))
	long, short := failsUnderFaults(30*time.Minute), failsUnderFaults(2*time.Minute)
	return slices.Concat(
		cases{
			{Name: "it settles while the cache lags", Workload: of(fails), Faults: lagging, Property: settles,
				Fail: "all but V0-status-filter V4"},
			{Name: "it settles while keys are queued again", Workload: of(fails), Faults: requeued, Property: settles,
				Fail: "all but V4"},
		},
		underFaults("the cache lags", lagging, of(long), fail(unsettled+" V3"), ends),
		underFaults("keys are queued again", requeued, of(long), ends, ends),
		underFaults("the operator is killed", crash, of(long), killed, wedged),
		underFaults("the operator is asked to stop", restarted, of(short), fail("V0 V0-status-filter V1 V2 V3",
			omit("V2-slow", brief), note("V0-status-filter V1 V2 V3", forgets)), ends),
		underFaults("replies are lost", repliesLost, of(long), fail(unsettled+" V1 V2 V3"), wedged),
		underFaults("namespaces are slow", slowNamespaces, of(long, slower),
			fail(unsettled+" V1 V2", note("V1 V2", slowStep)), ends))
}

// underFaults are the cases of a class of faults: which variants fail while they are injected, and
// which fail the other properties when they have ended.
func underFaults(class string, faults func() []fault.Fault, w workload, during, after outcome) cases {
	during.Name, during.Property = "bounded attempts while "+class, restrained
	during.Workload, during.Faults, after.Workload, after.Faults = w, faults, w, faults
	return append(cases{during}, eachOf(after, " after "+class)...)
}

// undoing are the cases about objects and records after an action has failed (S0-S1, S0-S2 and
// S0-R1).
func undoing() cases {
	fails := of(failsToUpgrade(briefly))
	return slices.Concat(cases{
		{Name: "no overlap after an install", Workload: failing, Property: noOverlap,
			Fail: "V0 V0-status-filter V2-slow"},
		{Name: "no overlap after an upgrade", Workload: fails, Property: noOverlap, Fail: undoes},
		{Name: "a failing upgrade keeps the old", Workload: fails, Property: keepsOld},
	}, eachOf(outcome{Workload: of(failsToUpgrade(longEnough)), Fail: undoes}, ", an upgrade fails"), cases{
		{Name: "records are bounded", Workload: fails, Property: bounded, Fail: undoes},
		{Name: "a failing upgrade is given up", Workload: of(abandoned), Property: noOrphans, Fail: "V3",
			Remarks: remarks{note("V3", "Helm compares with what is deployed, which never had what the failed "+
				"upgrade made")}},
		{Name: "a record cannot be purged for a while", Workload: of(interruptedFailing), Faults: purgeFails,
			Property: installed, Fail: undoes, Remarks: remarks{omit("V3 V4", "it removes no record there")}},
	})
}

// crowds are the cases in which deployments share workers and watches (S0-F1 and S0-T1).
var crowds = cases{
	{Name: "one fails beside a healthy one", Workload: of(starved(1, 0), visible), Property: prompt,
		Fail: "V0 V0-status-filter V1 V3",
		Remarks: remarks{note("V0 V0-status-filter V3", "while requests are slow, one failing attempt held the "+
			"only worker for 4 s"), note("V2-slow", "one of four workers waits, the others are free")}},
	{Name: "four fail beside a healthy one", Workload: of(idles(starved(4, slowRequests)), visible), Property: prompt,
		Fail: "V1 V2 V2-slow"},
	{Name: "four fail beside a healthy one in the first list", Workload: of(listed(4, slowRequests), visible),
		Property: prompt, Fail: "all but V4", Remarks: remarks{note("V0 V0-status-filter V3",
			"the work queue gives a low priority to what the first list contains, and events of Bundles and of "+
				"statuses give the default one to those that fail: their retries go first")}},
	{Name: "several are installed at once", Workload: of(several, workers), Faults: crash, Property: watchedOnce},
}

// deaths are the cases about an operator that crashes or stops, or whose cache lags.
var deaths = cases{
	{Name: "dies in the clean-up", Workload: of(fails), Faults: crashInCleanUp, Property: noWedge, Fail: undoes,
		Remarks: remarks{omit("V3", "it cleans nothing up, so it cannot die in that")}},
	{Name: "dies anywhere", Workload: of(interrupted), Faults: crash, Property: installed, Fail: "all but V4"},
	{Name: "dies anywhere while it fails", Workload: of(interruptedFailing), Faults: crash, Property: installed,
		Fail: "all but V4"},
	{Name: "is asked to stop anywhere", Workload: of(interrupted), Faults: restarted, Property: installed},
	{Name: "is asked to stop anywhere while it fails", Workload: of(interruptedFailing), Faults: restarted,
		Property: installed, Fail: "V2-slow",
		Remarks: remarks{note("V2-slow", "it still waits after the 30 s that it has to stop, and is killed")}},
	{Name: "the cache trails", Workload: of(interrupted), Faults: statusTrails, Property: installed,
		Fail: "V0-status-filter",
		Remarks: remarks{note("V0-status-filter", "the repair that succeeds finds the status in the cache as it "+
			"wants it, from before the one that failed, and no event tells it of its own write")}},
	{Name: "the cache trails, own writes are waited for", Workload: of(interrupted, ownWrites), Faults: statusTrails,
		Property: installed},
	{Name: "two leaders", Workload: of(twoLeaders(false), replicas), Faults: overlap, Property: fenced, Fail: undoes,
		Remarks: remarks{note("V3", "it undoes nothing of what the other one has begun")}},
	{Name: "two leaders while it fails", Workload: of(twoLeaders(true), replicas), Faults: overlap, Property: fenced,
		Remarks: remarks{matrix.OnlyFixed("V4")}},
	{Name: "every fault", Workload: of(interruptedFailing), Faults: everyFault, Property: installed,
		Remarks: remarks{matrix.OnlyFixed("V4")}},
}

// mends are the cases about how soon a deployment is installed once the cause of its failure is
// gone (S0-L3).
var mends = cases{
	{Name: "the environment is mended", Workload: of(environmentMended), Property: recovers},
	{Name: "the environment is mended, and nothing is deleted twice", Workload: of(environmentMended, oldServer),
		Property: recovers, Fail: noWait,
		Remarks: remarks{note("V0-status-filter V2-slow",
			"a second deletion of what still terminates has the same effect")}},
	{Name: "the deployment is mended", Workload: of(deploymentMended), Property: recovers,
		Fail: "V0 V0-status-filter", Remarks: remarks{note("V0 V0-status-filter", metRemains)}},
	{Name: "the content is mended", Workload: of(contentMended), Property: recovers, Fail: noWait,
		Remarks: remarks{note(noWait, metRemains)}},
	{Name: "it is another's for a while", Workload: of(disowned), Property: handsOff, Fail: "all but V4",
		Remarks: remarks{note(undoes+" V3", "events of what is another's are dropped, timers are not")}},
}

// sharing are the cases about objects that two deployments want (S0-T1).
var sharing = cases{
	{Name: "two want one namespace", Workload: of(shared("app", "apps", "")), Property: oneOwner},
	{Name: "two want one kind", Workload: of(shared("kinds", "seconds", "")), Property: oneOwner},
	{Name: "two want one kind, one is refused", Workload: of(shared("kinds", "seconds", refused)), Property: oneOwner,
		Fail: "V0", Remarks: remarks{note("V0", inItsOwnWay)}},
	{Name: "two want one namespace, one is refused", Workload: of(shared("app", "apps", refused)), Property: oneOwner,
		Fail: unsettled, Remarks: remarks{note(unsettled, inItsOwnWay)}},
}

func lagging() []fault.Fault {
	return []fault.Fault{fault.StaleCache(30*time.Second, fault.HardLimit())}
}
func requeued() []fault.Fault       { return []fault.Fault{fault.RacingRequeue()} }
func crash() []fault.Fault          { return []fault.Fault{fault.Crash(Operator)} }
func restarted() []fault.Fault      { return []fault.Fault{fault.Restart(Operator)} }
func repliesLost() []fault.Fault    { return []fault.Fault{fault.LostReply(fault.In(Operator))} }
func slowNamespaces() []fault.Fault { return []fault.Fault{fault.SlowNamespace(20 * time.Second)} }
func everyFault() []fault.Fault     { return faults.OfHelm(Operator, "ConfigMap", "create", "update") }

func overlap() []fault.Fault {
	return []fault.Fault{
		fault.LeaderOverlap(), fault.Pause(Operator, 8*time.Second), fault.Pause(Second, 8*time.Second),
	}
}

// crashInCleanUp kills the operator around one of the deletions of a clean-up.
func crashInCleanUp() []fault.Fault {
	return []fault.Fault{fault.Crash(Operator, fault.OnVerb("delete"), fault.OfKind("Namespace"))}
}

// purgeFails keeps release records from being removed.
func purgeFails() []fault.Fault {
	return []fault.Fault{fault.ServerError(fault.OfKind("Secret"), fault.OnVerb("delete"))}
}

// statusTrails delays watch events of deployments, and lets some repairs fail.
func statusTrails() []fault.Fault {
	return []fault.Fault{fault.StaleCache(time.Minute, fault.OfKind("BundleDeployment"), fault.HardLimit()),
		fault.ServerError(fault.OfKind("Namespace"), fault.OnVerb("create"))}
}
