// This file tests what the fix clears away behind itself.

package promotion

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

func TestWhatIsDueForAGuard(t *testing.T) {
	p := &pass{pipeline: &v1alpha1.Pipeline{Spec: *threeEnvironments()}}
	p.pipeline.Status.Episode = &v1alpha1.Episode{Number: 9, Revision: "v9"}
	ordered := v1alpha1.PromotionStatus{Phase: v1alpha1.PhasePromoted, Attempts: 1}
	done := ordered
	done.Withdrawn = true
	for _, c := range []struct {
		name    string
		env     string
		episode int64
		status  v1alpha1.PromotionStatus
		turns   []string
		want    tidying
	}{
		{"of this episode", "staging", 9, v1alpha1.PromotionStatus{Phase: v1alpha1.PhaseAttempting, Attempts: 1},
			[]string{"staging"}, leave},
		{"never confirmed", "staging", 8, v1alpha1.PromotionStatus{Phase: v1alpha1.PhaseAttempting, Attempts: 1}, nil,
			giveUp},
		{"never attempted", "staging", 8, v1alpha1.PromotionStatus{}, nil, giveUp},
		{"its environment's turn has not come", "staging", 8, ordered, []string{"prod"}, leave},
		{"outdone", "staging", 8, ordered, []string{"staging", "prod"}, withdraw},
		{"closed", "staging", 8, done, []string{"staging"}, leave},
		{"closed long ago", "staging", 5, done, nil, remove},
		{"given up long ago, before any attempt", "staging", 5,
			v1alpha1.PromotionStatus{Phase: v1alpha1.PhaseSuperseded}, nil, remove},
		{"long ago, and still the best that there is", "staging", 5, ordered, nil, leave},
		{"its environment was taken out", "canary", 8, ordered, nil, withdraw},
		{"it was, in this episode, and may come back", "canary", 9, ordered, nil, leave},
		{"its environment is the first by now", "dev", 8, ordered, nil, withdraw},
	} {
		guard := &v1alpha1.Promotion{Spec: v1alpha1.PromotionSpec{Environment: c.env, Episode: c.episode},
			Status: c.status}
		if got := p.tidying(guard, c.turns); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestTurns(t *testing.T) {
	promoted := &v1alpha1.Promotion{Status: v1alpha1.PromotionStatus{Phase: v1alpha1.PhasePromoted}}
	for _, c := range []struct {
		name          string
		staging, prod *v1alpha1.EnvironmentStatus
		guard         *v1alpha1.Promotion
		want          []string
	}{
		{"nothing follows yet", ran("v1"), ran("v1"), &v1alpha1.Promotion{}, nil},
		{"the next one is promoted", ran("v1"), ran("v1"), promoted, []string{"staging"}},
		{"it runs the revision, the one after does not", ran("v2"), ran("v1"), nil, []string{"staging"}},
		{"that one is promoted, too", ran("v2"), ran("v1"), promoted, []string{"staging", "prod"}},
		{"it is not ready with it", ran("!v2"), ran("v2"), nil, nil},
		{"all run it", ran("v2"), ran("v2"), nil, []string{"staging", "prod"}},
	} {
		pipeline := &v1alpha1.Pipeline{Spec: *threeEnvironments()}
		pipeline.Status.Environments = environments{"dev": ran("v2"), "staging": c.staging, "prod": c.prod}
		d := decide(&pipeline.Spec, pipeline.Status.Environments, never)
		if diff := cmp.Diff(c.want, (&pass{pipeline: pipeline}).turns(d, c.guard)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
