// This file exists for the numbers: how soon a promotion is ordered, how soon a pipeline is whole,
// and how long whoever was refused waits before the next order.

package promotion

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/forge"
	"github.com/wavetank/wavetank/scenarios/internal/stored"
)

const (
	// mostPeriods is how many back-off periods a promotion may take to be ordered.
	mostPeriods = 3
	// grace is what a pass may take, and the news of what it is about.
	grace = time.Second
	// firstBackOff and longestBackOff are those of controller-runtime's queues.
	firstBackOff, longestBackOff = 5 * time.Millisecond, 1000 * time.Second
)

// timing is what the record keep of it, by the uid of a pipeline unless it says otherwise.
type timing struct {
	due     map[string]*dueness
	whole   map[string]history.Time // until when a pipeline whose targets can all be read must be Ready
	asked   map[string]history.Time // by the key of the queue: what the last pass has been put off for
	failed  map[string]int          // by that key: passes in a row that asked for back-off
	orders  map[string][]posting    // by key of the effect
	hasty   error                   // the first order that came too soon
	present map[string]bool         // GitopsClusters that are ready, and Secrets, by kind and name
}

// dueness is that an environment is to be promoted to a revision.
type dueness struct {
	what    string
	periods int // of back-off that have ended since it is due, or since somebody last changed the world
}

// posting is an order on its way.
type posting struct {
	at, back history.Time
	refused  bool
}

func newTiming() timing {
	return timing{
		due: map[string]*dueness{}, whole: map[string]history.Time{}, asked: map[string]history.Time{},
		failed: map[string]int{},
		orders: map[string][]posting{}, present: map[string]bool{},
	}
}

// tick takes in one event, and the pass that it ends, if it does.
func (b *Record) tick(h *history.History, e *history.Event, ended *pass) {
	t := &b.timing
	key := queueKey(e)
	switch {
	case e.Kind == history.Dequeue:
		delete(t.asked, key)
	case e.Kind == history.Start:
		clear(t.failed)
	case e.Kind == history.Done:
		t.putOff(key, e)
		if ended != nil && ended.timed && !ended.excused {
			b.periodEnds(key)
		}
	case e.Host == gitHost && e.Verb == "POST" && e.Kind == history.Request:
		b.posted(e)
	case e.Kind == history.Reply:
		b.answered(h, e)
	}
	for i := range e.Changes {
		b.notice(&e.Changes[i])
	}
	disturbed := e.Kind == history.Fault || e.Kind == history.Heal || e.Incarnation == 0 && len(e.Changes) > 0
	if disturbed || len(e.Changes) > 0 {
		b.reckon(e, disturbed)
	}
}

// putOff keeps for how long the queue puts off the next pass: by what this one asked for, or by its
// back-off.
func (t *timing) putOff(key string, e *history.Event) {
	if !asksAgain(e) {
		t.failed[key], t.asked[key] = 0, e.Wait
		return
	}
	t.failed[key]++
	t.asked[key] = backOff(t.failed[key])
}

// backOff is what controller-runtime's queues put a key off for after n failures in a row.
func backOff(n int) time.Duration { return min(firstBackOff<<min(n-1, 20), longestBackOff) }

// queueKey is namespace/name of the pipeline that a pass is about.
func queueKey(e *history.Event) string {
	if e.Reconcile.None() {
		return ""
	}
	return e.Reconcile.Namespace + "/" + e.Reconcile.Name
}

// notice keeps whether another cluster can be reached.
func (b *Record) notice(c *history.Change) {
	key := c.Ref.Kind + " " + c.Ref.Name
	switch c.Ref.Kind {
	case "Secret":
		b.timing.present[key] = c.Type != "DELETED"
	case promotion.GitopsCluster.Kind:
		var cluster struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		stored.Decode(c.Object, &cluster)
		b.timing.present[key] = c.Type != "DELETED" && slices.ContainsFunc(cluster.Status.Conditions,
			func(is struct{ Type, Status string }) bool {
				return is.Type == v1alpha1.ReadyCondition && is.Status == "True"
			})
	}
}

// reckon looks what is due, and from when on. Whoever disturbs the world gives the operator time
// anew.
func (b *Record) reckon(e *history.Event, disturbed bool) {
	t := &b.timing
	_ = b.eachPipeline(func(uid string, p *version) error {
		readable, what := b.readable(p), ""
		if env, revision, _ := b.behind(p); env != nil && readable && p.Spec.PolicyFor(env) != nil &&
			!p.Spec.PolicyFor(env).Manual {
			what = env.Name + "/" + revision
		}
		if d := t.due[uid]; d == nil || d.what != what || disturbed {
			t.due[uid] = &dueness{what: what}
		}
		_, known := t.whole[uid]
		switch {
		case !readable:
			delete(t.whole, uid)
		case !known || disturbed && !p.ready():
			t.whole[uid] = e.At + t.asked[p.Namespace+"/"+p.Name] + grace
		}
		return nil
	})
}

func (p *version) ready() bool {
	return apimeta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ReadyCondition)
}

// readable says whether every target of a pipeline is there, and can be reached.
func (b *Record) readable(p *version) bool {
	for i, env := range p.Spec.Environments {
		for j, target := range b.targets(p, i) {
			if !now(target).exists || !b.knows(env.Targets[j].ClusterRef) {
				return false
			}
		}
	}
	return true
}

// knows says whether a cluster is made known; nil is the operator's own.
func (b *Record) knows(ref *v1alpha1.CrossNamespaceClusterReference) bool {
	present := b.timing.present
	return ref == nil || present["Secret "+ref.Name] && present[promotion.GitopsCluster.Kind+" "+ref.Name]
}

func (b *Record) periodEnds(key string) {
	_ = b.eachPipeline(func(uid string, p *version) error {
		if d := b.timing.due[uid]; d != nil && p.Namespace+"/"+p.Name == key && p.ready() {
			d.periods++
		}
		return nil
	})
}

// OrderedSoon: what is due is ordered within three back-off periods. Passes that began with a stale
// cache or met with a fault end no period, nor do those that cannot read every target yet.
func (b *Record) OrderedSoon(h *history.History) error {
	b.read(h)
	return b.eachPipeline(func(uid string, p *version) error {
		d := b.timing.due[uid]
		if d == nil || d.what == "" || d.periods <= mostPeriods {
			return nil
		}
		env, revision, _ := b.behind(p)
		came := b.came(p, revision)
		for _, e := range b.entries(h, forge.Attempt) {
			if e.order.PipelineUID == uid && e.order.Environment == env.Name && e.order.Revision == revision &&
				e.Event >= came {
				return nil
			}
		}
		return fmt.Errorf("%s is to be promoted to %s, and after %d back-off periods has not been", env.Name, revision,
			d.periods)
	})
}

// ReadySoon: a pipeline whose targets can all be read is Ready after what it was put off for when
// they came to be, and a second; or a pass is under way that may find it so.
func (b *Record) ReadySoon(h *history.History) error {
	b.read(h)
	return b.eachPipeline(func(uid string, p *version) error {
		if until, whole := b.timing.whole[uid]; whole && !p.ready() && h.Now() > until && !b.busy(p) {
			return fmt.Errorf("all targets of %s/%s can be read, which its status should have said by %s", p.Namespace,
				p.Name, history.Clock(until))
		}
		return nil
	})
}

// busy says whether a pass of a pipeline is under way.
func (b *Record) busy(p *version) bool {
	for key := range b.conduct.passes {
		if key.Namespace == p.Namespace && key.Name == p.Name {
			return true
		}
	}
	return false
}

// posted keeps an order that has left the operator, and looks whether it came too soon after one
// that was refused.
func (b *Record) posted(e *history.Event) {
	var o forge.Order
	if err := json.Unmarshal(e.Sent, &o); err != nil {
		panic(fmt.Sprintf("an order cannot be read: %v", err))
	}
	key := o.Key()
	before := b.timing.orders[key]
	if n := len(before); n > 0 && b.timing.hasty == nil {
		last, wait := before[n-1], backOff(n)
		if since := e.At - last.back; last.refused && since < wait {
			b.timing.hasty = fmt.Errorf("the %s was ordered again %v after order %d had been refused, not %v", o,
				since, n, wait)
		}
	}
	b.timing.orders[key] = append(before, posting{at: e.At})
}

// answered keeps what became of an order.
func (b *Record) answered(h *history.History, e *history.Event) {
	if e.Call <= 0 || e.Call >= len(h.Events) {
		return
	}
	request := &h.Events[e.Call]
	if request.Host != gitHost || request.Verb != "POST" {
		return
	}
	var o forge.Order
	if err := json.Unmarshal(request.Sent, &o); err != nil {
		panic(fmt.Sprintf("an order cannot be read: %v", err))
	}
	orders := b.timing.orders[o.Key()]
	if n := len(orders); n > 0 {
		orders[n-1].back, orders[n-1].refused = e.At, e.Code/100 != 2
	}
}

// Spaced: who has been refused waits before the next order, twice as long each time and at least as
// long as the queue would.
func (b *Record) Spaced(h *history.History) error {
	b.read(h)
	return b.timing.hasty
}
