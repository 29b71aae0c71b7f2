// This file exists for the part of the table that is about the other rejections.

package throttle

// Of the other rejections the dossier has no cells of their own: what it says of the reported one
// is what is expected.

// Scenes of other rejections of which more than one thing is asked.
var (
	refusedAlways = tell(denying, denied)
	refusedTwice  = tell(denyingAll, deniedBriefly)
	grownOut      = tell(outgrown, relaxed)
	tooLarge      = tell(legal, bulky)
)

// rejections are the questions of repetition, asked of the other rejections.
func rejections() []column {
	return []column{
		{
			Name: "bounded, denied by a webhook", Scene: refusedAlways, Faults: late, Broken: bounded,
			Caught:  variants("V0a", "V0c", "V1", "V3"),
			Dossier: "✗ ✓ ✗ ~ ✓ ✓ ✗ ✓",
			Because: because{"V1": kubelet},
		},
		{
			Name: "bounded, webhook away for ten minutes", Scene: tell(away, answered), Faults: failingWrites, Broken: bounded,
			Caught:  variants("V0a", "V0c", "V3"),
			Dossier: "✗ ✓ ✗ ~ ✓ ✓ ✗ ✓",
			Because: because{"V1": "in ten minutes the kubelet starts it six times"},
		},
		{
			Name: "bounded, a schema has grown", Scene: grownOut, Faults: failingWrites, Broken: bounded,
			Caught:  variants("V0c"),
			Dossier: "✗ ✓ ✗ ~ ✓ ✓ ✗ ✓",
			Because: because{
				"":   "nobody can write to an object that its schema refuses, not even a handler: there are no events to go round with",
				"V1": "in two minutes the kubelet starts it four times",
			},
		},
		{
			Name: "bounded, more than a request may carry", Scene: tooLarge, Faults: late, Broken: bounded,
			Caught:  variants("V0a", "V0c", "V3"),
			Dossier: "✗ ✓ ✗ ~ ✓ ✓ ✗ ✓",
			Because: because{"V1": "in 20 s the kubelet starts it twice"},
		},
	}
}

// rejectionsAfter are the questions of openness and arrival, asked of the other rejections.
func rejectionsAfter() []column {
	const otherwise = "legal names end the reported refusal, but a write can be refused for another reason"
	return []column{
		{
			Name: "never silent, denied by a webhook", Scene: refusedAlways, Faults: late, Broken: neverSilent,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "never silent, status denied too", Scene: refusedTwice, Faults: nuisances, Broken: neverSilent,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "actionable, webhook away", Scene: tell(awayQuiet, aWhile), Faults: lateAndLost, Broken: actionable,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "actionable, a schema has grown", Scene: grownOut, Faults: failingWrites, Broken: actionable,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "actionable, more than a request may carry", Scene: tooLarge, Faults: late, Broken: actionable,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "recovers when a webhook allows it", Scene: tell(denyingQuiet, deniedAWhile), Faults: soonHeard, Broken: recovered,
			Caught:  variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Dossier: "✗ ✗ ✓ ✓ ✗ ✗ ✓ ✓",
			Because: because{"V3": otherwise},
		},
		{
			Name: "recovers when the webhook is back", Scene: tell(awayQuiet, answered), Faults: soonHeard, Broken: recovered,
			Unasked: unasked("it tries twice a second, as in the column before this one", "V0c"),
			Caught:  variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Dossier: "✗ ✗ ✓ ✓ ✗ ✗ ✓ ✓",
			Because: because{"V3": otherwise},
		},
		{
			Name: "recovers when the schema allows it", Scene: tell(outgrownQuiet, relaxed), Faults: soonHeard, Broken: recovered,
			Caught:  variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Dossier: "✗ ✗ ✓ ✓ ✗ ✗ ✓ ✓",
			Because: because{"V3": otherwise},
		},
	}
}
