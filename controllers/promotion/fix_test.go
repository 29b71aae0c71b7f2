// This file exists to pin down the parts of the fix that can be seen without a cluster that fails:
// names, episodes, back-off. What it withstands is for the simulator to say.

package promotion

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

func TestGuardNameIsItsIdentity(t *testing.T) {
	base := v1alpha1.PromotionSpec{PipelineUID: "u1", Environment: "staging", Revision: "v1", Episode: 1}
	if again := base; guardName("web", base) != guardName("web", again) {
		t.Error("the same promotion has two names")
	}
	names := map[string]v1alpha1.PromotionSpec{guardName("web", base): base}
	for _, other := range []v1alpha1.PromotionSpec{
		{PipelineUID: "u2", Environment: "staging", Revision: "v1", Episode: 1},
		{PipelineUID: "u1", Environment: "prod", Revision: "v1", Episode: 1},
		{PipelineUID: "u1", Environment: "staging", Revision: "v2", Episode: 1},
		{PipelineUID: "u1", Environment: "staging", Revision: "v1", Episode: 2},
		{PipelineUID: "u1", Environment: "staging", Revision: "v1"},
		// Fields that run into one another must not meet.
		{PipelineUID: "u1", Environment: "staging v1", Revision: "", Episode: 1},
		{PipelineUID: "u1", Environment: `staging" "v1`, Revision: "", Episode: 1},
		{PipelineUID: "u1", Environment: "staging", Revision: "v", Episode: 11},
	} {
		name := guardName("web", other)
		if same, taken := names[name]; taken {
			t.Errorf("%+v and %+v are both named %s", other, same, name)
		}
		names[name] = other
	}
}

func TestGuardNameIsAName(t *testing.T) {
	spec := v1alpha1.PromotionSpec{PipelineUID: "u1", Environment: "Größe XL", Revision: "main@sha1:0a1b/2c",
		Episode: 1}
	for _, pipeline := range []string{"web", "a.b", strings.Repeat("x", 253)} {
		name := guardName(pipeline, spec)
		if errs := validation.IsDNS1123Subdomain(name); len(errs) > 0 {
			t.Errorf("%q is no name for an object: %v", name, errs)
		}
	}
	if name := guardName("web", spec); !regexp.MustCompile(`^web-[0-9a-f]{20}$`).MatchString(name) {
		t.Errorf("%q does not begin with the pipeline's name", name)
	}
}

func TestGuardBelongsToItsPipeline(t *testing.T) {
	pipeline := &v1alpha1.Pipeline{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1"}}
	guard := newGuard(pipeline, "staging", "v1", 3)
	if !metav1.IsControlledBy(guard, pipeline) {
		t.Errorf("owner references %v do not name the pipeline", guard.OwnerReferences)
	}
	want := v1alpha1.PromotionSpec{PipelineUID: "u1", Environment: "staging", Revision: "v1", Episode: 3}
	if diff := cmp.Diff(want, guard.Spec); diff != "" || guard.Namespace != "shop" ||
		guard.Labels[v1alpha1.PipelineUIDLabel] != "u1" {
		t.Errorf("guard %+v; spec (-want +got):\n%s", guard.ObjectMeta, diff)
	}
}

func TestCountEpisode(t *testing.T) {
	for _, c := range []struct {
		name   string
		before *v1alpha1.Episode
		dev    *v1alpha1.EnvironmentStatus
		want   *v1alpha1.Episode
	}{
		{"first revision", nil, ran("a"), &v1alpha1.Episode{Number: 1, Revision: "a"}},
		{"not ready counts too", nil, ran("!a"), &v1alpha1.Episode{Number: 1, Revision: "a"}},
		{"nothing runs", nil, ran(""), nil},
		{"no targets", nil, ran(), nil},
		{"stays", &v1alpha1.Episode{Number: 4, Revision: "a"}, ran("a", "a"),
			&v1alpha1.Episode{Number: 4, Revision: "a"}},
		{"half way is no revision", &v1alpha1.Episode{Number: 4, Revision: "a"}, ran("a", "b"),
			&v1alpha1.Episode{Number: 4, Revision: "a"}},
		{"moves on", &v1alpha1.Episode{Number: 4, Revision: "a"}, ran("b"),
			&v1alpha1.Episode{Number: 5, Revision: "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			pipeline := &v1alpha1.Pipeline{Spec: *threeEnvironments()}
			pipeline.Status.Episode = c.before
			pipeline.Status.Environments = environments{"dev": c.dev}
			(&pass{pipeline: pipeline}).countEpisode()
			if diff := cmp.Diff(c.want, pipeline.Status.Episode); diff != "" {
				t.Errorf("episode (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBackoffDoublesUpToABound(t *testing.T) {
	var got []time.Duration
	for attempts := int64(1); attempts <= 9; attempts++ {
		got = append(got, backoff(attempts)/time.Second)
	}
	if diff := cmp.Diff([]time.Duration{2, 4, 8, 16, 32, 64, 120, 120, 120}, got); diff != "" {
		t.Errorf("seconds between attempts (-want +got):\n%s", diff)
	}
	if backoff(1<<40) != lastRetry {
		t.Error("very many attempts overflow the back-off")
	}
}

func TestEveryVariantHasAPolicy(t *testing.T) {
	for _, v := range Variants() {
		p, err := v.policy()
		if err != nil || p.done == nil || p.promote == nil {
			t.Errorf("variant %s has policy %+v and error %v", v, p, err)
		}
	}
	if p, err := Variant("").policy(); err != nil || !p.guarded {
		t.Errorf("the zero variant is not the fixed variant: %+v, %v", p, err)
	}
	if _, err := Variant("V9").policy(); err == nil || !strings.Contains(err.Error(), `no variant "V9"`) {
		t.Errorf("an unknown variant gives %v", err)
	}
}
