// This file exists for how a controller conducts itself on the way to what is right in the end:
// whether it works in circles, whether it writes down what it did, and whether it says what it is
// waiting for.

package promotion

import (
	"encoding/json"
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
)

// mostInVain is how many passes may end without progress after one change.
const mostInVain = 3

// pass is one reconcile that is under way.
type pass struct {
	// excused passes began with a stale cache or met with a fault: another attempt is what one
	// wants of them.
	excused  bool
	timed    bool // begun by back-off or RequeueAfter
	progress bool
	// open counts requests whose replies have not come.
	open int
}

// conduct is what the record keep of it.
type conduct struct {
	passes map[history.ReconcileID]*pass
	inVain []string // passes that ended without progress since the last change, and how
	// unrecorded are orders that no status has shown yet.
	unrecorded []entry
	// waiting and explained are the virtual times in which a pipeline had to wait, and in which its
	// status said for what; since, waits and explains describe the stretch that has not ended.
	waiting, explained time.Duration
	since              history.Time
	waits, explains    bool
	dead               bool // the operator: who is not there cannot tell
}

// watch takes in one event.
func (b *Record) watch(e *history.Event) {
	c := &b.conduct
	key := e.ReconcileID()
	now := c.passes[key]
	switch {
	case e.Kind == history.Dequeue:
		c.passes[key] = &pass{excused: len(e.Seen) > 0, timed: e.Cause.Timer()}
	case len(e.Changes) > 0 && now == nil:
		c.inVain = nil // somebody else has changed the world
	case now == nil:
	case e.Kind == history.Done:
		if asksAgain(e) && !now.progress && !now.excused && now.open == 0 && !b.unreadable() {
			c.inVain = append(c.inVain, fmt.Sprintf("%s %s: %s", key.Actor, key.Reconcile, e.Outcome))
		}
		delete(c.passes, key)
	case e.Kind == history.Fault, e.Kind == history.Reply &&
		e.Note != "", e.Code == 403, e.Code == 422, e.Code == 429, e.Code >= 500:
		now.excused = true
	case e.Kind == history.Reply:
		now.open--
	case e.Kind == history.Request:
		now.open++
		now.progress = now.progress || e.Host != "" && e.Verb != "GET"
	}
	for i := range e.Changes {
		if now != nil && moves(&e.Changes[i]) {
			now.progress = true
		}
	}
	b.clock(e)
}

// asksAgain says whether a pass ended in a way that brings it back with back-off.
func asksAgain(done *history.Event) bool {
	return done.Outcome.Kind == history.Failure || done.Outcome.Kind == history.Requeue
}

// moves says whether a change brings the story forward. Times and messages in a pipeline's status
// do not.
func moves(c *history.Change) bool {
	if c.Ref.Kind != "Pipeline" || c.Type != "MODIFIED" {
		return true
	}
	return gist(c.Previous) != gist(c.Object)
}

// gist is a pipeline without what may differ each time that it is looked at.
func gist(object []byte) string {
	var p v1alpha1.Pipeline
	if err := json.Unmarshal(object, &p); err != nil {
		panic(fmt.Sprintf("the stored pipeline cannot be decoded: %v", err))
	}
	for i := range p.Status.Conditions {
		p.Status.Conditions[i].Message = ""
		p.Status.Conditions[i].LastTransitionTime.Reset()
	}
	for _, env := range p.Status.Environments {
		if env.Promotion != nil {
			env.Promotion.LastAttemptedTime = nil
		}
	}
	out, err := json.Marshal([]any{p.Spec, p.Status})
	if err != nil {
		panic(err)
	}
	return string(out)
}

// unreadable says whether some pipeline waits for a target that it cannot read: it has to come back
// for that.
func (b *Record) unreadable() bool {
	return b.eachPipeline(func(_ string, p *version) error {
		if apimeta.IsStatusConditionFalse(p.Status.Conditions, v1alpha1.ReadyCondition) {
			return fmt.Errorf("a target cannot be read")
		}
		return nil
	}) != nil
}

// NoLivelock: with all that it needs at hand and nobody in its way, the operator does not try in
// vain again and again.
func (b *Record) NoLivelock(h *history.History) error {
	b.read(h)
	if v := b.conduct.inVain; len(v) > mostInVain {
		return fmt.Errorf("%d passes have ended without progress since the last change, the last of them %s", len(v),
			v[len(v)-1])
	}
	return nil
}

// RecordedSoon: an order is shown in the pipeline's status within the lag bound, unless who gave it
// has died.
func (b *Record) RecordedSoon(h *history.History) error {
	before := len(h.Events)
	c := &b.conduct
	c.unrecorded = append(c.unrecorded, b.fresh(h, "RecordedSoon")...)
	var still []entry
	for _, e := range c.unrecorded {
		versions := b.pipelines[e.order.PipelineUID]
		latest := &versions[len(versions)-1]
		status := latest.Status.Environments[e.order.Environment]
		if latest.gone || status != nil && status.Promotion != nil && status.Promotion.Revision == e.order.Revision ||
			died(h, e, before) {
			continue
		}
		if h.Now() > e.At+b.Lag {
			return fmt.Errorf("the %s was ordered at %s (effect %d), and the status of %s does not show it %v later",
				e.order, history.Clock(e.At), e.Index, e.order.Pipeline, h.Now()-e.At)
		}
		still = append(still, e)
	}
	c.unrecorded = still
	return nil
}

// died says whether the incarnation that gave an order has ended.
func died(h *history.History, order entry, until int) bool {
	for i := order.Event; i < until; i++ {
		e := &h.Events[i]
		if e.Process == order.Process && e.Incarnation == order.Incarnation &&
			(e.Kind == history.Crash || e.Kind == history.Stop) {
			return true
		}
	}
	return false
}

// clock measures waiting: a stretch ends with every change of an application or a pipeline, and
// with every incarnation. One begins to count when its first pass has ended.
func (b *Record) clock(e *history.Event) {
	c := &b.conduct
	switch ends := e.Kind == history.Crash || e.Kind == history.Stop; {
	case e.Process == Operator && (ends || c.dead && e.Kind == history.Done):
		c.dead = ends
	case len(e.Changes) == 0:
		return
	}
	if stretch := e.At - c.since; c.waits {
		c.waiting += stretch
		if c.explains {
			c.explained += stretch
		}
	}
	c.since, c.waits, c.explains = e.At, false, true
	_ = b.eachPipeline(func(_ string, p *version) error {
		waits, explains := b.waits(p)
		c.waits, c.explains = c.waits || waits && !c.dead, c.explains && (explains || !waits)
		return nil
	})
}

// waits says whether a pipeline has to wait for something, and whether its status says for what.
func (b *Record) waits(p *version) (waits, explains bool) {
	for i := range p.Spec.Environments {
		for _, target := range b.targets(p, i) {
			if !now(target).exists {
				return true, apimeta.IsStatusConditionFalse(p.Status.Conditions, v1alpha1.ReadyCondition)
			}
		}
	}
	pending := apimeta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.PromotionPendingCondition)
	env, revision, _ := b.behind(p)
	if env == nil {
		return revision == "", pending // "": the first environment itself is not ready
	}
	status := p.Status.Environments[env.Name]
	promoted := status != nil && status.Promotion != nil && status.Promotion.Revision == revision &&
		status.Promotion.Succeeded
	return true, pending || promoted // who has been promoted waits for the cluster, whose objects say the rest
}

// Actionable: for 95 % of the time in which a pipeline has to wait, its status says for what.
func (b *Record) Actionable(h *history.History) error {
	b.read(h)
	c := &b.conduct
	waiting, explained := c.waiting, c.explained
	if c.waits {
		waiting += h.Now() - c.since
		if c.explains {
			explained += h.Now() - c.since
		}
	}
	if explained < waiting*95/100 {
		return fmt.Errorf("the pipeline waited for %v, and for %v of that its status did not say for what", waiting,
			waiting-explained)
	}
	return nil
}
