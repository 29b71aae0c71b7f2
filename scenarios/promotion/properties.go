// This file holds the properties, by name, and those of what is promoted, where and when.

package promotion

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
	"github.com/wavetank/wavetank/scenarios/internal/stored"
	"github.com/wavetank/wavetank/scenarios/promotion/forge"
	"github.com/wavetank/wavetank/sim/property"
)

// The names of the properties.
const (
	attemptedOnce = "each revision is attempted at most once"
	effectOnce    = "each revision takes effect at most once"
	oncePerStay   = "a revision takes effect no more often than it came to the first environment"
	inOrder       = "an environment gets only what the one before it has proved"
	notStale      = "nothing outdated is promoted"
	complete      = "nothing is promoted while a target cannot be read"
	everywhere    = "every environment gets its revision"
	isRecorded    = "every promotion is recorded"
	outcomeIsTrue = "the status says that a promotion succeeded only when it has taken effect"
	failureIsSaid = "the status says of a refused order that it failed"
	isLinked      = "the status names the pull request of a promotion"
	statusIsTrue  = "the status says what is the case"
	noLivelock    = "no pass without progress is repeated"
	recordedSoon  = "an order is recorded as soon as it is given"
	actionable    = "the status says what is being waited for"
	saysAbsent    = "the status says that a missing target does not exist"
	notifiedOnce  = "a CI is told at most once of each revision"
	notified      = "a CI is told of each revision"
	orderedSoon   = "what is due is ordered within three back-off periods"
	spaced        = "after a refusal the wait for the next order grows"
	restrained    = "a period has at most one order more than faults"
	settles       = "there is one order for each period of back-off"
	oneOpen       = "people find one open pull request for an environment"
	noneBack      = "nothing is open that would undo a rollback"
)

// holds are the properties of the fixed variant wherever a pipeline may change, and everything
// those where it does not.
var (
	holds = []string{oncePerStay, notStale, noLivelock, everywhere, isRecorded, outcomeIsTrue, isLinked, statusIsTrue,
		oneOpen, noneBack, orderedSoon}
	everything = append([]string{effectOnce, inOrder, complete}, holds...)
)

// declare declares properties by their names.
func (s *World) declare(names ...string) {
	r := s.Record
	each := func(judge func(*pipeline) error) properties.Judge { return properties.Each(r.pipelines.Live, judge) }
	properties.Set{Read: r.read, Broken: r.Broken, Always: map[string]properties.Judge{
		attemptedOnce: property.AtMostOnce(forge.Attempt), effectOnce: property.AtMostOnce(forge.Effect),
		oncePerStay: r.oncePerStay(), inOrder: r.eachOrder(forge.Attempt, r.inOrder),
		notStale: r.eachOrder(forge.Attempt, r.notStale), complete: r.eachOrder(forge.Attempt, r.complete),
		noLivelock: r.noLivelock, recordedSoon: r.recordedSoon, orderedSoon: each(r.orderedSoon), spaced: nil,
		restrained: property.AttemptsBounded(r.tries()), settles: property.AttemptsSettle(r.tries()),
		notifiedOnce:  r.notifiedOnce,
		outcomeIsTrue: each(r.outcomeIsTrue), failureIsSaid: r.failureIsSaid,
	}, Eventually: map[string]properties.Judge{
		everywhere: each(r.everywhere), isRecorded: each(r.isRecorded), isLinked: each(r.isLinked),
		statusIsTrue: each(r.statusIsTrue), actionable: r.actionable,
		saysAbsent: each(r.saysAbsent), oneOpen: each(r.oneOpen), noneBack: each(r.noneBack),
		notified: r.notified,
	}}.Declare(s.World, names...)
}

// oncePerStay: a revision takes effect in an environment at most as often as the first environment
// came to run it. Controllers that do not count episodes promise that only without rollbacks.
func (r *Record) oncePerStay() func(*history.History) error {
	count := map[string]int{}
	return r.eachOrder(forge.Effect, func(o order) error {
		key := o.PipelineUID + "/" + o.Environment + "/" + o.Revision
		count[key]++
		for _, t := range r.targets(o.pipeline, 0) {
			if n := stays(t.app, o.Revision, o.Event); count[key] > n {
				return fmt.Errorf("the promotion of %s in %s to %s took effect %d times (last: effect %d), "+
					"but %s came to run it %d times", o.Pipeline, o.Environment, o.Revision, count[key], o.Index,
					o.pipeline.Spec.Environments[0].Name, n)
			}
		}
		return nil
	})
}

// stays counts how often an application came to be at a revision, up to an event.
func stays(a *app, revision string, until int) (n int) {
	before := false
	for i := range a.States {
		if s := &a.States[i]; s.Event <= until {
			runs := !s.Gone && s.Value.runs(revision)
			if runs && !before {
				n++
			}
			before = runs
		}
	}
	return n
}

// inOrder (S4-S3): an environment is promoted only to what the one before it ran, ready with it,
// within the lag.
func (r *Record) inOrder(o order) error {
	environments := o.pipeline.Spec.Environments
	env := slices.IndexFunc(environments, func(e v1alpha1.Environment) bool { return e.Name == o.Environment })
	switch env {
	case -1: // it was taken out of the pipeline meanwhile
		return nil
	case 0:
		return fmt.Errorf("the first environment, %s of %s, was promoted: effect %d", o.Environment, o.Pipeline,
			o.Index)
	}
	for _, t := range r.targets(o.pipeline, env-1) {
		if !t.lately(o, func(s *reported) bool { return s.ready() && s.runs(o.Revision) }) {
			return fmt.Errorf("the %s was ordered (effect %d), but %s had not been ready with it in %s", o.Order,
				o.Index, t.env, t.Namespace)
		}
	}
	return nil
}

// notStale (S4-S5): an environment is promoted only to what the first environment ran within the
// lag.
func (r *Record) notStale(o order) error {
	for _, t := range r.targets(o.pipeline, 0) {
		if !t.lately(o, func(s *reported) bool { return s.runs(o.Revision) }) {
			return fmt.Errorf("the %s was ordered (effect %d), but %s had not run it in %s for %v", o.Order, o.Index,
				t.env, t.Namespace, lag)
		}
	}
	return nil
}

// complete (S4-S4): nothing is promoted while a target cannot be read. Whether it could be is what
// the pipeline's own status says at that moment, and whether the target had existed within the lag.
func (r *Record) complete(o order) error {
	ready := apimeta.FindStatusCondition(o.pipeline.Status.Conditions, v1alpha1.ReadyCondition)
	if ready != nil && ready.Reason == v1alpha1.TargetNotReadableReason {
		return fmt.Errorf("the %s was ordered (effect %d) while a target could not be read", o.Order, o.Index)
	}
	for _, t := range r.allTargets(o.pipeline) {
		if !t.lately(o, func(*reported) bool { return true }) {
			return fmt.Errorf("the %s was ordered (effect %d) without %s in %s", o.Order, o.Index, t.env, t.Namespace)
		}
	}
	return nil
}

// everywhere (S4-L1): if the first environment runs a revision and is ready with it, the next one
// that does not run it has been promoted since the revision came. A return counts as coming if the
// world had settled on another revision in between.
func (r *Record) everywhere(p *pipeline) error {
	env, revision, runs := r.behind(p.Value())
	if env == nil || len(r.promoted(p, env.Name, revision, forge.Effect)) > 0 {
		return nil
	}
	return fmt.Errorf("%s runs %s and is ready, but %s, which runs %q, has not been promoted to it",
		p.Value().Spec.Environments[0].Name, revision, env.Name, runs)
}

// isRecorded (S4-A1): a promotion that took effect is shown in the pipeline's status.
func (r *Record) isRecorded(p *pipeline) error {
	env, revision, _ := r.behind(p.Value())
	if env == nil {
		return nil
	}
	for _, o := range r.promoted(p, env.Name, revision, forge.Effect) {
		if now := shown(p.Value(), env.Name); now.Revision != revision || !now.Succeeded {
			return fmt.Errorf("the %s took effect (effect %d), but the status of %s does not show it", o.Order, o.Index,
				o.Pipeline)
		}
	}
	return nil
}

// shown is what a status says of the promotion of an environment.
func shown(p *v1alpha1.Pipeline, env string) v1alpha1.PromotionRecord {
	if s := p.Status.Environments[env]; s != nil && s.Promotion != nil {
		return *s.Promotion
	}
	return v1alpha1.PromotionRecord{}
}

// recordedSoon (S4-A1): an order is shown in the pipeline's status within the lag, unless who gave
// it has died by then.
func (r *Record) recordedSoon(h *history.History) error {
	for _, o := range r.orders {
		p, ok := r.pipelines.ByUID(o.PipelineUID), false
		for s := range p.Between(o.At, h.Now()) {
			ok = ok || s.Gone || shown(&s.Value, o.Environment).Revision == o.Revision
		}
		for _, i := range r.view.Incarnations(o.Process) {
			ok = ok || i.N == o.Incarnation && i.Over && i.Ended <= o.At+lag
		}
		if !ok && o.Kind == forge.Attempt && h.Now() > o.At+lag {
			return fmt.Errorf("the %s was ordered at %s (effect %d), and the status of %s does not show it %v later",
				o.Order, history.Clock(o.At), o.Index, o.Pipeline, h.Now()-o.At)
		}
	}
	return nil
}

// outcomeIsTrue: the status says that a promotion succeeded only if the forge had accepted an order
// for it by then. An environment that is promoted by Events has no orders.
func (r *Record) outcomeIsTrue(p *pipeline) error {
	for _, env := range p.Value().Spec.Environments {
		now := shown(p.Value(), env.Name)
		accepted := func(o order) bool {
			return o.PipelineUID == p.UID && o.Environment == env.Name && o.Revision == now.Revision
		}
		policy := p.Value().Spec.PolicyFor(&env)
		if now.Succeeded && policy != nil && policy.Strategy.PullRequest != nil &&
			!slices.ContainsFunc(r.orders, accepted) {
			return fmt.Errorf(
				"the status of %s says that the promotion of %s to %s succeeded, and the forge has accepted "+
					"no order for it", p.Ref.Name, env.Name, now.Revision)
		}
	}
	return nil
}

// failureIsSaid: once the forge has refused an order, the status shows within the lag that the
// promotion was attempted and has not succeeded, unless another order was accepted by then.
func (r *Record) failureIsSaid(h *history.History) error {
	for _, calls := range r.posted {
		c := calls[0] // the first that was refused stands for those that follow
		if c.Reply == nil || c.Reply.Code/100 == 2 || h.Now() <= c.Reply.At+lag {
			continue
		}
		var o forge.Order
		stored.Decode(c.Request.Sent, &o)
		p, ok := r.pipelines.ByUID(o.PipelineUID), slices.ContainsFunc(calls, func(next *view.Call) bool {
			return next.Request.Code/100 == 2 && next.Request.At <= c.Reply.At+lag
		})
		for s := range p.Between(c.Reply.At, c.Reply.At+lag) {
			now := shown(&s.Value, o.Environment)
			ok = ok || s.Gone || now.Revision == o.Revision && !now.Succeeded
		}
		if !ok {
			return fmt.Errorf("the %s was refused at %s, and %v later the status of %s does not say so", o,
				history.Clock(c.Reply.At), lag, o.Pipeline)
		}
	}
	return nil
}

// isLinked: the status names a pull request that stands for a promotion which succeeded.
func (r *Record) isLinked(p *pipeline) error {
	for _, env := range p.Value().Spec.Environments {
		now, all := shown(p.Value(), env.Name), []string(nil)
		for _, pr := range r.git.PullRequests() {
			if of := pr.Order; of.PipelineUID == p.UID && of.Environment == env.Name && of.Revision == now.Revision {
				all = append(all, pr.URL)
			}
		}
		named := ptr.Deref(now.PullRequest, v1alpha1.PullRequest{}).URL
		if now.Succeeded && len(all) > 0 && !slices.Contains(all, named) {
			return fmt.Errorf("the promotion of %s to %s is %s, and the status names %q", env.Name, now.Revision,
				strings.Join(all, " or "), named)
		}
	}
	return nil
}

// statusIsTrue: the status shows what every target runs, and the Ready condition reports whether
// all could be read.
func (r *Record) statusIsTrue(of *pipeline) error {
	p, whole := of.Value(), true
	for _, t := range r.allTargets(p) {
		whole = whole && t.exists
		switch says := t.says; {
		case says == nil:
			return fmt.Errorf("the status of %s/%s says nothing of %s", p.Namespace, p.Name, t.env)
		case !t.is.runs(says.Revision) || says.Ready != (t.is.ready() && !t.is.runs("")):
			return fmt.Errorf("%s runs %q (ready: %v) in %s, but the status of %s/%s says %q (ready: %v)", t.env,
				t.is.Status.LastAppliedRevision, t.is.ready(), t.Namespace, p.Namespace, p.Name, says.Revision,
				says.Ready)
		}
	}
	if says := isReady(p); says != whole {
		return fmt.Errorf("whether all targets of %s/%s can be read is %v, but its Ready condition says %v",
			p.Namespace, p.Name, whole, says)
	}
	return nil
}

func isReady(p *v1alpha1.Pipeline) bool {
	return apimeta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ReadyCondition)
}

// saysAbsent (S4-A2): the error of a target that does not exist says that.
func (r *Record) saysAbsent(p *pipeline) error {
	for _, t := range r.allTargets(p.Value()) {
		if !t.exists && !t.isSaidAbsent() {
			return fmt.Errorf("the target in %s does not exist, and the status says %q", t.env, ptr.Deref(t.says,
				v1alpha1.TargetStatus{}).Error)
		}
	}
	return nil
}

// open are the pull requests of a pipeline's environment that can be merged.
func (r *Record) open(p *pipeline, env string) (out []forge.PullRequest) {
	for _, pr := range r.git.PullRequests() {
		if pr.State == forge.Open && pr.Order.PipelineUID == p.UID && pr.Order.Environment == env {
			out = append(out, pr)
		}
	}
	return out
}

// oneOpen: people find at most one open pull request for each environment.
func (r *Record) oneOpen(p *pipeline) error {
	for _, env := range p.Value().Spec.Environments {
		if open := r.open(p, env.Name); len(open) > 1 {
			return fmt.Errorf("%d pull requests for %s are open, the first to %s and the last to %s", len(open),
				env.Name, open[0].Order.Revision, open[len(open)-1].Order.Revision)
		}
	}
	return nil
}

// noneBack: where an environment runs what the first one runs, no pull request to anything else is
// open.
func (r *Record) noneBack(p *pipeline) error {
	behind, revision, _ := r.behind(p.Value())
	for _, env := range p.Value().Spec.Environments[1:] {
		if revision == "" || behind != nil && behind.Name == env.Name {
			return nil
		}
		for _, pr := range r.open(p, env.Name) {
			if pr.Order.Revision != revision {
				return fmt.Errorf("%s runs %s, as it should, and pull request %d to %s is open", env.Name, revision,
					pr.Number, pr.Order.Revision)
			}
		}
	}
	return nil
}

// told are the Events that ask a CI for a promotion.
func (r *Record) told(h *history.History) (out []*corev1.Event) {
	r.read(h)
	for _, e := range r.events.All() {
		if e.Value().Reason == promotion.PromoteReason {
			out = append(out, e.Value())
		}
	}
	return out
}

func (r *Record) notifiedOnce(h *history.History) error {
	seen := map[string]bool{}
	for _, e := range r.told(h) {
		env, revision := e.Annotations[promotion.EnvironmentAnnotation], e.Annotations[promotion.RevisionAnnotation]
		key := fmt.Sprintf("%s %s %s", e.InvolvedObject.UID, env, revision)
		if seen[key] {
			return fmt.Errorf("the CI was told twice to promote %s in %s to %s", e.InvolvedObject.Name, env, revision)
		}
		seen[key] = true
	}
	return nil
}

func (r *Record) notified(h *history.History) error {
	if len(r.told(h)) == 0 {
		return errors.New("dev runs v1, and there is no Event that asks for its promotion to staging")
	}
	return nil
}

// sometimes declares what must have happened at least once in a campaign, or it proves nothing: the
// operator died, or a reply was lost, between an accepted order and its record.
func (s *World) sometimes() {
	again := property.AtMostOnce(forge.Attempt)
	s.Sometimes("an order is repeated, and changes nothing", func(h *history.History) bool { return again(h) != nil })
}
