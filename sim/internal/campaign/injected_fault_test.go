package campaign

import (
	"testing"

	"github.com/wavetank/wavetank/sim/internal/choice"
)

func TestInjectedFaultsAreKnownByTheirChoices(t *testing.T) {
	declared := declaredFaults(choice.Sequence{
		{ID: "fault StaleCache(30s) in op #1", Value: 1}, {ID: "fault Pause(a, 1m0s) #1", Value: 1},
		{ID: "next #7", Value: 2}, {ID: "fault Pause(a, 2m0s) #1", Value: 2},
		{ID: "fault LostReply of Pod on create #1", Value: 1},
	})
	for label, want := range map[string]string{
		"StaleCache(30s) op MODIFIED ConfigMap default/a #2":      "StaleCache(30s)",
		"Pause(a, 2m0s) before a patch ConfigMap default/a #1":    "Pause(a, 2m0s)",
		"LostReply applied op create Pod default/a #1":            "LostReply",
		"Conflict op patch ConfigMap default/a #1":                "",
		"request op patch ConfigMap default/a #1":                 "",
		"fault LostReply of Pod on create #1":                     "",
		"StaleCacheless op MODIFIED ConfigMap default/a is drawn": "",
	} {
		if got := injectedFault(choice.Entry{ID: label}, declared); got != want {
			t.Errorf("choice %q injects %q; expected %q", label, got, want)
		}
	}
}
