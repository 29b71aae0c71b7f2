// This file tests when an attempt is due, and what records of other makers say.

package bundledeployment

import (
	"testing"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	helmtime "helm.sh/helm/v3/pkg/time"
)

func TestDelaysDoubleUpToTheLongest(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for failures, want := range map[string]time.Duration{
		"1": 5 * time.Millisecond, "2": 10 * time.Millisecond, "12": 10240 * time.Millisecond,
		"18": 655360 * time.Millisecond, "19": 1000 * time.Second, "500": 1000 * time.Second,
		"": 5 * time.Millisecond, "many": 5 * time.Millisecond,
	} {
		failed := &helmrelease.Release{Labels: map[string]string{FailuresLabel: failures},
			Info: &helmrelease.Info{LastDeployed: helmtime.Time{Time: at}}}
		if got := due(failed).Sub(at); got != want {
			t.Errorf("after %q failures the next attempt is due in %v, not %v", failures, got, want)
		}
	}
}

func TestOnlyWhatWasNeverWholeIsRemoved(t *testing.T) {
	for status, want := range map[helmrelease.Status]bool{
		helmrelease.StatusFailed: false, helmrelease.StatusPendingInstall: false, helmrelease.StatusDeployed: true,
		helmrelease.StatusSuperseded: true,
	} {
		r := &helmrelease.Release{Info: &helmrelease.Info{Status: status}}
		if !wasDeployed(r) {
			t.Errorf("what an earlier operator recorded as %s would be removed", status)
		}
		r.Labels = map[string]string{WholeLabel: "false"}
		if got := wasDeployed(r); got != want {
			t.Errorf("a release whose only record is %s was deployed: %t", status, got)
		}
		r.Labels = map[string]string{WholeLabel: "true"}
		if !wasDeployed(r) {
			t.Errorf("its label says that it was deployed once; as %s it counts as not", status)
		}
	}
}
