// This file exists for the part of the table that is about the other rejections.

package throttle

// The thread is about one rejection. What it says of that one is expected of the others.

// Scenes of other rejections of which more than one thing is asked.
var (
	refusedAlways = workload(denying, denied)
	refusedTwice  = workload(denyingAll, deniedBriefly)
	grownOut      = workload(outgrown, relaxed)
	tooLarge      = workload(legal, bulky)
)

// rejections are the questions of repetition, asked of the other rejections.
func rejections() []column {
	return []column{
		{
			Name: "bounded, denied by a webhook", Workload: refusedAlways, Faults: late, Property: bounded,
			Fail:  variants("V0a", "V0c", "V1", "V3"),
			Notes: because{"V1": kubelet},
		},
		{
			Name: "bounded, webhook away for ten minutes", Workload: workload(away, answered), Faults: failingWrites,
			Property: bounded,
			Fail:     variants("V0a", "V0c", "V3"),
			Notes:    because{"V1": "in ten minutes the kubelet starts it six times"},
		},
		{
			Name: "bounded, a schema has grown", Workload: grownOut, Faults: failingWrites, Property: bounded,
			Fail: variants("V0c"),
			Notes: because{
				"V1": "in two minutes the kubelet starts it four times",
			},
		},
		{
			Name: "bounded, more than a request may carry", Workload: tooLarge, Faults: late, Property: bounded,
			Fail:  variants("V0a", "V0c", "V3"),
			Notes: because{"V1": "in 20 s the kubelet starts it twice"},
		},
	}
}

// rejectionsAfter are the questions of openness and arrival, asked of the other rejections.
func rejectionsAfter() []column {
	const otherwise = "legal names end the reported refusal, but a write can be refused for another reason"
	return []column{
		{
			Name: "never silent, denied by a webhook", Workload: refusedAlways, Faults: late, Property: neverSilent,
			Fail: faulty,
		},
		{
			Name: "never silent, status denied too", Workload: refusedTwice, Faults: nuisances, Property: neverSilent,
			Fail: faulty,
		},
		{
			Name: "actionable, webhook away", Workload: workload(awayQuiet, aWhile), Faults: lateAndLost,
			Property: actionable,
			Fail:     faulty,
		},
		{
			Name: "actionable, a schema has grown", Workload: grownOut, Faults: failingWrites, Property: actionable,
			Fail: faulty,
		},
		{
			Name: "actionable, more than a request may carry", Workload: tooLarge, Faults: late, Property: actionable,
			Fail: faulty,
		},
		{
			Name: "recovers when a webhook allows it", Workload: workload(denyingQuiet, deniedAWhile),
			Faults: soonHeard, Property: recovered,
			Fail:  variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Notes: because{"V3": otherwise},
		},
		{
			Name: "recovers when the webhook is back", Workload: workload(awayQuiet, answered), Faults: soonHeard,
			Property: recovered,
			NotRun:   unasked("it tries twice a second, as in the column before this one", "V0c"),
			Fail:     variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Notes:    because{"V3": otherwise},
		},
		{
			Name: "recovers when the schema allows it", Workload: workload(outgrownQuiet, relaxed), Faults: soonHeard,
			Property: recovered,
			Fail:     variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Notes:    because{"V3": otherwise},
		},
	}
}
