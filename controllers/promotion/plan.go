// This file is the decision of a pass: given what was read of the targets, is there a revision to
// promote, and to which environment?

package promotion

import "github.com/wavetank/wavetank/controllers/promotion/v1alpha1"

// decision is the outcome of looking at one pipeline.
type decision struct {
	// Pending says why no revision can be promoted yet; empty when there is one.
	Pending string
	// Revision is the common revision of the first environment.
	Revision string
	// Env is the environment to promote, nil when there is none.
	Env *v1alpha1.Environment
	// Approval is the environment that waits for a person, nil when there is none.
	Approval *v1alpha1.Environment
}

// environments is the status of the environments by name.
type environments map[string]*v1alpha1.EnvironmentStatus

// done reports whether an environment that does not run a revision yet needs no promotion to it
// any more.
type done func(env *v1alpha1.EnvironmentStatus, revision string) bool

// decide finds the first environment, in order, that does not run what the first one runs. It never
// looks past it: a later environment gets a revision only after every earlier one has proved it.
func decide(spec *v1alpha1.PipelineSpec, status environments, done done) decision {
	if len(spec.Environments) == 0 {
		return decision{Pending: "The pipeline has no environments"}
	}
	first := status[spec.Environments[0].Name]
	revision := commonRevision(first)
	if revision == "" {
		return decision{Pending: "Waiting for all targets to have the same revision"}
	}
	if !allReady(first) {
		return decision{Pending: "Waiting for all targets to be ready"}
	}
	for i := range spec.Environments[1:] {
		env := &spec.Environments[i+1]
		seen := status[env.Name]
		if allRun(seen, revision) && allReady(seen) {
			continue
		}
		policy := spec.PolicyFor(env)
		switch {
		case policy == nil || done(seen, revision):
			return decision{Revision: revision}
		case policy.Manual:
			return decision{Revision: revision, Approval: env}
		}
		return decision{Revision: revision, Env: env}
	}
	return decision{Revision: revision}
}

// anyTargetRuns takes a target that runs the revision as a sign that it was promoted. The rule of
// the original.
func anyTargetRuns(env *v1alpha1.EnvironmentStatus, revision string) bool {
	for _, target := range env.Targets {
		if target.Revision == revision {
			return true
		}
	}
	return false
}

// recorded takes the record's word for it, whether the promotion succeeded or not.
func recorded(env *v1alpha1.EnvironmentStatus, revision string) bool {
	return env.Promotion != nil && env.Promotion.Revision == revision
}

// never leaves the question to the guard.
func never(*v1alpha1.EnvironmentStatus, string) bool { return false }

// commonRevision is the revision that all targets run, or empty.
func commonRevision(env *v1alpha1.EnvironmentStatus) string {
	if len(env.Targets) == 0 || !allRun(env, env.Targets[0].Revision) {
		return ""
	}
	return env.Targets[0].Revision
}

// allRun reports whether all targets run a revision.
func allRun(env *v1alpha1.EnvironmentStatus, revision string) bool {
	for _, target := range env.Targets {
		if target.Revision != revision {
			return false
		}
	}
	return true
}

// allReady reports whether all targets are ready.
func allReady(env *v1alpha1.EnvironmentStatus) bool {
	for _, target := range env.Targets {
		if !target.Ready {
			return false
		}
	}
	return true
}
