// Package plan is the decision of a pass, apart from everything that happens around it: given what
// was read of the targets, is there a revision to promote, and to which environment?
package plan

import "github.com/wavetank/wavetank/controllers/promotion/v1alpha1"

// Decision is the outcome of looking at one pipeline.
type Decision struct {
	// Pending says why no revision can be promoted yet; empty when there is one.
	Pending string
	// Revision is the common revision of the first environment.
	Revision string
	// Env is the environment to promote, nil when there is none.
	Env *v1alpha1.Environment
	// Approval is the environment that waits for a person, nil when there is none.
	Approval *v1alpha1.Environment
}

// Environments is the status of the environments by name.
type Environments map[string]*v1alpha1.EnvironmentStatus

// Done reports whether an environment that does not run a revision yet needs no promotion to it
// any more.
type Done func(env *v1alpha1.EnvironmentStatus, revision string) bool

// Decide finds the first environment, in order, that does not run what the first one runs. It never
// looks past it: a later environment gets a revision only after every earlier one has proved it.
func Decide(spec *v1alpha1.PipelineSpec, status Environments, done Done) Decision {
	if len(spec.Environments) == 0 {
		return Decision{Pending: "The pipeline has no environments"}
	}
	first := status[spec.Environments[0].Name]
	revision := CommonRevision(first)
	if revision == "" {
		return Decision{Pending: "Waiting for all targets to have the same revision"}
	}
	if !AllReady(first) {
		return Decision{Pending: "Waiting for all targets to be ready"}
	}
	for i := range spec.Environments[1:] {
		env := &spec.Environments[i+1]
		seen := status[env.Name]
		if AllRun(seen, revision) && AllReady(seen) {
			continue
		}
		policy := spec.PolicyFor(env)
		switch {
		case policy == nil || done(seen, revision):
			return Decision{Revision: revision}
		case policy.Manual:
			return Decision{Revision: revision, Approval: env}
		}
		return Decision{Revision: revision, Env: env}
	}
	return Decision{Revision: revision}
}

// AnyTargetRuns takes a target that runs the revision as a sign that it was promoted. The rule of
// the original.
func AnyTargetRuns(env *v1alpha1.EnvironmentStatus, revision string) bool {
	for _, target := range env.Targets {
		if target.Revision == revision {
			return true
		}
	}
	return false
}

// Recorded takes the record's word for it, whether the promotion succeeded or not.
func Recorded(env *v1alpha1.EnvironmentStatus, revision string) bool {
	return env.Promotion != nil && env.Promotion.Revision == revision
}

// Never leaves the question to the guard.
func Never(*v1alpha1.EnvironmentStatus, string) bool { return false }

// CommonRevision is the revision that all targets run, or empty.
func CommonRevision(env *v1alpha1.EnvironmentStatus) string {
	if len(env.Targets) == 0 || !AllRun(env, env.Targets[0].Revision) {
		return ""
	}
	return env.Targets[0].Revision
}

// AllRun reports whether all targets run a revision.
func AllRun(env *v1alpha1.EnvironmentStatus, revision string) bool {
	for _, target := range env.Targets {
		if target.Revision != revision {
			return false
		}
	}
	return true
}

// AllReady reports whether all targets are ready.
func AllReady(env *v1alpha1.EnvironmentStatus) bool {
	for _, target := range env.Targets {
		if !target.Ready {
			return false
		}
	}
	return true
}
