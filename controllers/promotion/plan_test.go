// This file exists to pin the decision down case by case, away from clusters and clocks.

package promotion

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// ran is an environment whose targets run the given revisions; a leading "!" marks a target that is
// not ready.
func ran(revisions ...string) *v1alpha1.EnvironmentStatus {
	env := &v1alpha1.EnvironmentStatus{}
	for _, r := range revisions {
		revision, notReady := strings.CutPrefix(r, "!")
		env.Targets = append(env.Targets, v1alpha1.TargetStatus{Revision: revision, Ready: !notReady})
	}
	return env
}

// promoted adds a record to an environment.
func promoted(env *v1alpha1.EnvironmentStatus, revision string) *v1alpha1.EnvironmentStatus {
	env.Promotion = &v1alpha1.PromotionRecord{Revision: revision}
	return env
}

func threeEnvironments() *v1alpha1.PipelineSpec {
	return &v1alpha1.PipelineSpec{
		Environments: []v1alpha1.Environment{{Name: "dev"}, {Name: "staging"}, {Name: "prod"}},
		Promotion:    &v1alpha1.PromotionPolicy{},
	}
}

func TestDecide(t *testing.T) {
	const (
		mixed    = "Waiting for all targets to have the same revision"
		notReady = "Waiting for all targets to be ready"
	)
	manual := threeEnvironments()
	manual.Environments[1].Promotion = &v1alpha1.PromotionPolicy{Manual: true}
	onlyOwn := threeEnvironments()
	onlyOwn.Promotion = nil
	onlyOwn.Environments[2].Promotion = &v1alpha1.PromotionPolicy{}

	for _, c := range []struct {
		name               string
		spec               *v1alpha1.PipelineSpec
		dev, staging, prod *v1alpha1.EnvironmentStatus
		done               done
		pending            string
		env, approval      string
	}{
		{name: "nothing runs anywhere", dev: ran(""), staging: ran(""), prod: ran(""), pending: mixed},
		{name: "no targets in dev", dev: ran(), staging: ran("1"), prod: ran("1"), pending: mixed},
		{name: "dev half way", dev: ran("1", "2"), staging: ran("1"), prod: ran("1"), pending: mixed},
		{name: "dev not ready", dev: ran("2", "!2"), staging: ran("1"), prod: ran("1"), pending: notReady},
		{name: "all the same", dev: ran("1"), staging: ran("1", "1"), prod: ran("1")},
		{name: "staging is behind", dev: ran("2"), staging: ran("1"), prod: ran("1"), env: "staging"},
		{name: "staging is empty", dev: ran("2"), staging: ran(""), prod: ran(""), env: "staging"},
		{name: "staging ran it, not ready", dev: ran("2"), staging: ran("!2"), prod: ran("1"), env: "staging"},
		{name: "prod is behind", dev: ran("2"), staging: ran("2"), prod: ran("1"), env: "prod"},
		{name: "prod is ahead of staging", dev: ran("2"), staging: ran("1"), prod: ran("2"), env: "staging"},
		{name: "an environment without targets is passed", dev: ran("2"), staging: ran(), prod: ran("1"), env: "prod"},

		{name: "original: one target has it", dev: ran("2"), staging: ran("2", "1"), prod: ran("1"),
			done: anyTargetRuns},
		{name: "original: no target has it", dev: ran("2"), staging: ran("1", "1"), prod: ran("1"),
			done: anyTargetRuns, env: "staging"},
		{name: "recorded", dev: ran("2"), staging: promoted(ran("1"), "2"), prod: ran("1"), done: recorded},
		{name: "recorded for another revision", dev: ran("2"), staging: promoted(ran("1"), "1"), prod: ran("1"),
			done: recorded, env: "staging"},
		{name: "record replaces the look at targets", dev: ran("2"), staging: ran("2", "1"), prod: ran("1"),
			done: recorded, env: "staging"},

		{name: "manual", spec: manual, dev: ran("2"), staging: ran("1"), prod: ran("1"), approval: "staging"},
		{name: "no policy at all", spec: onlyOwn, dev: ran("2"), staging: ran("1"), prod: ran("1")},
		{name: "policy of its own", spec: onlyOwn, dev: ran("2"), staging: ran("2"), prod: ran("1"), env: "prod"},
		{name: "no environments", spec: &v1alpha1.PipelineSpec{}, pending: "The pipeline has no environments"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.spec == nil {
				c.spec = threeEnvironments()
			}
			if c.done == nil {
				c.done = never
			}
			d := decide(c.spec, environments{"dev": c.dev, "staging": c.staging, "prod": c.prod}, c.done)
			if d.Pending != c.pending || nameOf(d.Env) != c.env || nameOf(d.Approval) != c.approval {
				t.Errorf("pending %q, promotes %q, waits for approval of %q; want %q, %q, %q",
					d.Pending, nameOf(d.Env), nameOf(d.Approval), c.pending, c.env, c.approval)
			}
			if d.Pending == "" && d.Revision != c.dev.Targets[0].Revision {
				t.Errorf("decided about %q, not about dev's revision", d.Revision)
			}
		})
	}
}

func nameOf(env *v1alpha1.Environment) string {
	if env == nil {
		return ""
	}
	return env.Name
}
