// This file exists for the part of the table that is about the other rejections.

package throttle

// Of the other rejections the dossier has no cells of their own: what it says of the reported one is what is expected.

// rejections are the questions of repetition, asked of the other rejections.
func rejections() []column {
	const kubelet = "it keeps to the kubelet's schedule, see “once a life”, and from the back-off of 300 s on that is twice within 610 s"
	return []column{
		{
			Name: "bounded, denied by a webhook", Tell: told(denying, askBounded, denied), Broken: bounded,
			Caught:  variants("V0a", "V0c", "V1", "V3"),
			Dossier: "✗ ✓ ✗ ~ ✓ ✓ ✗ ✓",
			Because: because{"V1": kubelet},
		},
		{
			Name: "bounded, webhook away for ten minutes", Tell: told(away, askBounded, answered), Broken: bounded,
			Caught:  variants("V0a", "V0c", "V3"),
			Dossier: "✗ ✓ ✗ ~ ✓ ✓ ✗ ✓",
			Because: because{"V1": "in ten minutes the kubelet starts it six times"},
		},
		{
			Name: "bounded, a schema has grown", Tell: told(outgrown, askBounded, relaxed), Broken: bounded,
			Caught:  variants("V0c"),
			Dossier: "✗ ✓ ✗ ~ ✓ ✓ ✗ ✓",
			Because: because{
				"":   "nobody can write to an object that its schema refuses, not even a handler: there are no events to go round with",
				"V1": "in two minutes the kubelet starts it four times",
			},
		},
		{
			Name: "bounded, more than a request may carry", Tell: told(legal, askBounded, bulky), Broken: bounded,
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
			Name: "never silent, denied by a webhook", Tell: told(denying, askNeverSilent, deniedBriefly), Broken: neverSilent,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "never silent, status denied too", Tell: told(denyingAll, askNotForLong, deniedBriefly), Broken: notForLong,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "actionable, webhook away", Tell: told(awayQuiet, askActionable, aWhile), Broken: actionable,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "actionable, a schema has grown", Tell: told(outgrown, askActionable, aWhile), Broken: actionable,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "actionable, more than a request may carry", Tell: told(quiet, askActionable, bulky), Broken: actionable,
			Caught:  uncured,
			Dossier: "✗ ✗ ✗ ✗ ✗ ✗ ✗ ✓",
		},
		{
			Name: "recovers when a webhook allows it", Tell: told(denyingQuiet, askRecovered, deniedAWhile), Broken: recovered,
			Caught:  variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Dossier: "✗ ✗ ✓ ✓ ✗ ✗ ✓ ✓",
			Because: because{"V3": otherwise},
		},
		{
			Name: "recovers when the webhook is back", Tell: told(awayQuiet, askRecovered, answered), Broken: recovered,
			Skipped: variants("V0c"),
			Caught:  variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Dossier: "✗ ✗ ✓ ✓ ✗ ✗ ✓ ✓",
			Because: because{
				"V0c": "not asked: it tries twice a second, as in the column before this one",
				"V3":  otherwise,
			},
		},
		{
			Name: "recovers when the schema allows it", Tell: told(outgrownQuiet, askRecovered, relaxed), Broken: recovered,
			Caught:  variants("V0a", "V0b", "V2", "V1+V2", "V3"),
			Dossier: "✗ ✗ ✓ ✓ ✗ ✗ ✓ ✓",
			Because: because{"V3": otherwise},
		},
	}
}
