// This file exists to show the story to a reader who has five minutes: see make demo.

package reposync

import (
	"testing"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/demo"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
)

func TestDemo(t *testing.T) {
	var claims []demo.Claim
	for _, claim := range []struct {
		column  string
		variant reposync.Variant
		when    string
		runs    int
	}{
		{"namespace finishes", reposync.V0, "the namespace is deleted", 100},
		{"namespace finishes, its news trail", reposync.V2, "news of the namespace trail", 1000},
		{"order among all, namespace deleted", reposync.V5, "objects depend on each other", 100},
		{"RepoSync goes, reconciler dead", reposync.V6g, "the reconciler's node is down", 100},
		{"every fault", reposync.V10, "every fault may strike", 300},
	} {
		c := Table().Column(claim.column)
		broken := ""
		if c.Answer(claim.variant) == verdicts.Falls {
			broken = c.Broken
		}
		claims = append(claims, demo.Claim{
			Variant: string(claim.variant), When: claim.when, Scenario: c.Scenario(claim.variant), Caught: broken, Runs: claim.runs,
		})
	}
	demo.Show(t, "reposync", claims...)
}
