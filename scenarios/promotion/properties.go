// This file exists for the properties of the story. The first two are the forge's own: see
// forge.OncePerRevision and forge.AttemptedOncePerRevision.

package promotion

import (
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/forge"
)

// OncePerStay: a revision takes effect in an environment at most as often as the first environment
// came to run it. It holds a controller that counts episodes to the truth, and one that does not
// count to its word where nothing is rolled back.
func (b *Record) OncePerStay(h *history.History) error {
	count := map[string]int{}
	for _, e := range b.entries(h, forge.Effect) {
		key := e.order.PipelineUID + "/" + e.order.Environment + "/" + e.order.Revision
		count[key]++
		first := e.pipeline.Spec.Environments[0]
		for _, target := range b.targets(e.pipeline, 0) {
			if n := stays(target, e.order.Revision, e.Event); count[key] > n {
				return fmt.Errorf("the promotion of %s in %s to %s took effect %d times (last: effect %d), "+
					"but %s came to run it %d times",
					e.order.Pipeline, e.order.Environment, e.order.Revision, count[key], e.Index, first.Name, n)
			}
		}
	}
	return nil
}

// InOrder: an environment is promoted only to what the one before it ran, ready with it, within the
// lag bound.
func (b *Record) InOrder(h *history.History) error {
	for _, e := range b.fresh(h, "InOrder") {
		if e.env < 0 {
			continue // the environment was taken out of the pipeline meanwhile
		}
		if e.env == 0 {
			return fmt.Errorf("the first environment, %s of %s, was promoted: effect %d", e.order.Environment,
				e.order.Pipeline, e.Index)
		}
		for i, target := range b.targets(e.pipeline, e.env-1) {
			if !within(target, e.At-b.Lag, e.At,
				func(s reported) bool { return s.ready && s.revision == e.order.Revision }) {
				before := e.pipeline.Spec.Environments[e.env-1]
				return fmt.Errorf("the %s was ordered (effect %d), but %s had not been ready with it in %s",
					e.order, e.Index, before.Name, before.Targets[i].Namespace)
			}
		}
	}
	return nil
}

// NotStale: an environment is promoted only to what the first environment ran within the lag bound.
func (b *Record) NotStale(h *history.History) error {
	for _, e := range b.fresh(h, "NotStale") {
		first := e.pipeline.Spec.Environments[0]
		for i, target := range b.targets(e.pipeline, 0) {
			if !within(target, e.At-b.Lag, e.At, func(s reported) bool { return s.revision == e.order.Revision }) {
				return fmt.Errorf("the %s was ordered (effect %d), but %s had not run it in %s for %v",
					e.order, e.Index, first.Name, first.Targets[i].Namespace, b.Lag)
			}
		}
	}
	return nil
}

// CompleteInformation: nothing is promoted while a target cannot be read. Whether it could be is
// what the pipeline's own status says at that moment, and whether the target had existed within the
// lag bound.
func (b *Record) CompleteInformation(h *history.History) error {
	for _, e := range b.fresh(h, "CompleteInformation") {
		ready := apimeta.FindStatusCondition(e.pipeline.Status.Conditions, v1alpha1.ReadyCondition)
		if ready != nil && ready.Reason == v1alpha1.TargetNotReadableReason {
			return fmt.Errorf("the %s was ordered (effect %d) while a target could not be read", e.order, e.Index)
		}
		for i, env := range e.pipeline.Spec.Environments {
			for j, target := range b.targets(e.pipeline, i) {
				if !within(target, e.At-b.Lag, e.At, func(s reported) bool { return s.exists }) {
					return fmt.Errorf("the %s was ordered (effect %d) without %s in %s",
						e.order, e.Index, env.Name, env.Targets[j].Namespace)
				}
			}
		}
	}
	return nil
}

// Promoted: if the first environment runs a revision and is ready with it, the first environment
// that does not has been promoted to it since the revision came. A return to a revision counts as
// its coming, if the world had settled on another one in between.
func (b *Record) Promoted(h *history.History) error {
	effects := b.entries(h, forge.Effect)
	return b.eachPipeline(func(uid string, p *version) error {
		env, revision, behind := b.behind(p)
		if env == nil || p.Spec.PolicyFor(env) == nil || p.Spec.PolicyFor(env).Manual {
			return nil
		}
		came := b.came(p, revision)
		for _, e := range effects {
			if e.order.PipelineUID == uid && e.order.Environment == env.Name && e.order.Revision == revision &&
				e.Event >= came {
				return nil
			}
		}
		return fmt.Errorf("%s runs %s and is ready, but %s, which runs %q, has not been promoted to it",
			p.Spec.Environments[0].Name, revision, env.Name, behind)
	})
}

// Recorded: a promotion that took effect is shown in the pipeline's status.
func (b *Record) Recorded(h *history.History) error {
	effects := b.entries(h, forge.Effect)
	return b.eachPipeline(func(uid string, p *version) error {
		env, revision, _ := b.behind(p)
		if env == nil {
			return nil
		}
		came := b.came(p, revision)
		for _, e := range effects {
			if e.order.PipelineUID != uid || e.order.Environment != env.Name || e.order.Revision != revision ||
				e.Event < came {
				continue
			}
			status := p.Status.Environments[env.Name]
			if status == nil || status.Promotion == nil || status.Promotion.Revision != revision ||
				!status.Promotion.Succeeded {
				return fmt.Errorf("the %s took effect (effect %d), but the status of %s does not show it", e.order,
					e.Index, e.order.Pipeline)
			}
		}
		return nil
	})
}

// StatusIsTrue: the status shows what every target runs, and the Ready condition says whether all
// could be read.
func (b *Record) StatusIsTrue(h *history.History) error {
	b.read(h)
	return b.eachPipeline(func(_ string, p *version) error {
		name := p.Namespace + "/" + p.Name
		complete := true
		for i, env := range p.Spec.Environments {
			status := p.Status.Environments[env.Name]
			for j, target := range b.targets(p, i) {
				is := now(target)
				complete = complete && is.exists
				if status == nil || j >= len(status.Targets) {
					return fmt.Errorf("the status of %s says nothing of %s", name, env.Name)
				}
				if says := status.Targets[j]; says.Revision != is.revision ||
					says.Ready != (is.ready && is.revision != "") {
					return fmt.Errorf("%s runs %q (ready: %v) in %s, but the status of %s says %q (ready: %v)",
						env.Name, is.revision, is.ready, env.Targets[j].Namespace, name, says.Revision, says.Ready)
				}
			}
		}
		if says := apimeta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ReadyCondition); says != complete {
			return fmt.Errorf("whether all targets of %s can be read is %v, but its Ready condition says %v", name,
				complete, says)
		}
		return nil
	})
}

// eachPipeline calls f for every living pipeline with at least one environment, in the order of
// creation.
func (b *Record) eachPipeline(f func(uid string, p *version) error) error {
	for _, uid := range b.order {
		versions := b.pipelines[uid]
		p := &versions[len(versions)-1]
		if p.gone || len(p.Spec.Environments) == 0 {
			continue
		}
		if err := f(uid, p); err != nil {
			return err
		}
	}
	return nil
}

// behind finds the first environment that is not ready with what the first one runs, the revision,
// and what runs there.
func (b *Record) behind(p *version) (*v1alpha1.Environment, string, string) {
	revision := ""
	for i := range p.Spec.Environments {
		env := &p.Spec.Environments[i]
		for _, target := range b.targets(p, i) {
			is := now(target)
			switch {
			case i == 0 && (!is.ready || is.revision == "" || revision != "" && is.revision != revision):
				return nil, "", ""
			case i == 0:
				revision = is.revision
			case !is.ready || is.revision != revision:
				return env, revision, is.revision
			}
		}
	}
	return nil, revision, ""
}

// came is the event at which the first environment came to run a revision it runs now: the end of
// the last stay at another revision on which the world had settled.
func (b *Record) came(p *version, revision string) int {
	came := 0
	for _, target := range b.targets(p, 0) {
		for i, s := range target {
			if s.revision == revision || s.revision == "" || i+1 == len(target) {
				continue
			}
			ends := target[i+1].event
			for _, settled := range b.settled {
				if s.event < settled && settled < ends {
					came = max(came, ends)
				}
			}
		}
	}
	return came
}
