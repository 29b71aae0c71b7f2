// This file holds the properties of a controller on its way to what is right in the end: whether it
// works in circles, whether its status says what it waits for, and how soon it acts.

package promotion

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/models/forge"
	"github.com/wavetank/wavetank/scenarios/internal/stored"
)

const (
	// mostInVain is how many passes may end without progress after one change, and mostPeriods how
	// many back-off periods a promotion may take to be ordered.
	mostInVain, mostPeriods = 3, 3
	// grace is what a pass may take, and the news of what it is about.
	grace = time.Second
)

// excused says whether a pass began with a stale cache or met with a fault: another attempt is what
// one wants of it.
func (r *Record) excused(pass *view.Reconcile) bool {
	failed := func(e *history.Event) bool {
		return e.Code == 403 || e.Code == 422 || e.Code == 429 || e.Code >= 500
	}
	met := len(pass.Stale) > 0 || len(pass.Faults) > 0 || r.cutOff[pass]
	for _, c := range pass.Calls {
		met = met || failed(&c.Request) || c.Reply != nil && failed(c.Reply)
	}
	return met
}

// progress says whether a pass brought things forward: by an order, or by a write of more than
// times and messages in a pipeline's status.
func progress(r *view.Reconcile) bool {
	for _, c := range r.Calls {
		if c.Request.Host != "" && c.Request.Verb != "GET" {
			return true
		}
		for i := range c.Request.Changes {
			is := &c.Request.Changes[i]
			if is.Ref.Kind != "Pipeline" || is.Type != "MODIFIED" ||
				!equality.Semantic.DeepEqual(gist(is.Previous), gist(is.Object)) {
				return true
			}
		}
	}
	return false
}

// gist is a pipeline without what may differ each time that it is looked at.
func gist(object []byte) (p v1alpha1.Pipeline) {
	stored.Decode(object, &p)
	p.ObjectMeta = metav1.ObjectMeta{}
	for i := range p.Status.Conditions {
		p.Status.Conditions[i].Message = ""
		p.Status.Conditions[i].LastTransitionTime.Reset()
	}
	for _, env := range p.Status.Environments {
		if env.Promotion != nil {
			env.Promotion.LastAttemptedTime = nil
		}
	}
	return p
}

// tried takes in an event for noLivelock. A pass does not count while some pipeline waits for a
// target that it cannot read, because it has to come back for that.
func (r *Record) tried(e *history.Event) {
	pass := r.view.Of(e)
	switch {
	case len(e.Changes) > 0 && pass == nil:
		r.inVain = nil // somebody else has changed the world
	case e.Kind == history.Done && pass.Retries() && pass.Open() == 0 && !progress(pass) && !r.excused(pass):
		for p := range r.pipelines.Live() {
			if apimeta.IsStatusConditionFalse(p.Value().Status.Conditions, v1alpha1.ReadyCondition) {
				return
			}
		}
		r.inVain = append(r.inVain, fmt.Sprintf("%s %s: %s", e.Actor(), e.Reconcile, e.Outcome))
	}
}

// noLivelock (S4-L4): with all that it needs at hand and nobody in its way, the operator does not
// try in vain again and again.
func (r *Record) noLivelock(h *history.History) error {
	r.read(h)
	if v := r.inVain; len(v) > mostInVain {
		return fmt.Errorf("%d passes have ended without progress since the last change, the last of them %s", len(v),
			v[len(v)-1])
	}
	return nil
}

// wait says whether a pipeline had to wait from a time on, and whether its status said for what.
type wait struct {
	since           history.Time
	waits, explains bool
}

// clock takes in an event for actionable. Time counts from the end of the first pass of an operator
// on, because one that is not there cannot tell.
func (r *Record) clock(e *history.Event) {
	ends := e.Kind == history.Crash || e.Kind == history.Stop
	begins := e.Kind == history.Done && r.away
	switch {
	case e.Process == Operator && (ends || begins):
		r.away = ends
	case len(e.Changes) == 0:
		return
	}
	all := wait{since: e.At, explains: true}
	for p := range r.pipelines.Live() {
		waits, explains := r.waits(p.Value())
		all.waits = all.waits || waits && !r.away
		all.explains = all.explains && (explains || !waits)
	}
	r.waited = append(r.waited, all)
}

// waits says whether a pipeline has to wait for something, and whether its status says for what: of
// a missing target its error says that it does not exist.
func (r *Record) waits(p *v1alpha1.Pipeline) (waits, explains bool) {
	for _, t := range r.allTargets(p) {
		if !t.exists {
			return true, t.isSaidAbsent()
		}
	}
	pending := apimeta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.PromotionPendingCondition)
	env, revision, _ := r.behind(p)
	if env == nil {
		return revision == "", pending // "": the first environment itself is not ready
	}
	// Who has been promoted waits for the cluster, whose objects say the rest.
	now := shown(p, env.Name)
	return true, pending || now.Revision == revision && now.Succeeded
}

// actionable (S4-A2): for 95 % of the time in which a pipeline has to wait, its status says for
// what. A share of less than a minute says nothing: a pass takes a second.
func (r *Record) actionable(h *history.History) error {
	r.read(h)
	var all, silent time.Duration
	for i, w := range r.waited {
		until := h.Now()
		if i+1 < len(r.waited) {
			until = r.waited[i+1].since
		}
		if w.waits {
			all += until - w.since
		}
		if w.waits && !w.explains {
			silent += until - w.since
		}
	}
	if all-silent < all*95/100 && all >= time.Minute {
		return fmt.Errorf("the pipeline waited for %v, and for %v of that its status did not say for what", all, silent)
	}
	return nil
}

// dueness is that an environment is to be promoted to a revision.
type dueness struct {
	what    string
	periods int // of back-off that have ended since it is due, or since somebody last changed the world
}

// tick takes in an event for orderedSoon and readySoon. Whoever disturbs the world gives the
// operator time anew.
func (r *Record) tick(e *history.Event) {
	switch e.Kind {
	case history.Dequeue:
		delete(r.pending, e.Reconcile.Key)
	case history.Done:
		r.ended(r.view.Of(e))
	}
	disturbed := e.Kind == history.Fault || e.Kind == history.Heal || e.Incarnation == 0 && len(e.Changes) > 0
	if !disturbed && len(e.Changes) == 0 {
		return
	}
	for p := range r.pipelines.Live() {
		readable, what := r.readable(p.Value()), ""
		if env, revision, _ := r.behind(p.Value()); env != nil && readable && automatic(p.Value(), env) {
			what = env.Name + "/" + revision
		}
		if d := r.due[p.UID]; d == nil || d.what != what || disturbed {
			r.due[p.UID] = &dueness{what: what}
		}
		_, known := r.whole[p.UID]
		switch {
		case !readable:
			delete(r.whole, p.UID)
		case !known || disturbed && !isReady(p.Value()):
			r.whole[p.UID] = e.At + r.pending[keyOf(p)] + grace
		}
	}
}

func keyOf(p *pipeline) history.Key {
	return history.Key{Controller: "pipeline", Namespace: p.Ref.Namespace, Name: p.Ref.Name}
}

// ended takes in the end of a pass: for how long it puts the next one off, and that a back-off
// period has ended. Passes that began with a stale cache or met with a fault end no period, nor do
// those that cannot read every target yet.
func (r *Record) ended(pass *view.Reconcile) {
	key := pass.ID.Key
	r.failures[key]++
	r.pending[key] = backOff(r.failures[key])
	if !pass.Retries() {
		r.failures[key], r.pending[key] = 0, pass.After
	}
	for p := range r.pipelines.Live() {
		if d := r.due[p.UID]; pass.Timed && d != nil && keyOf(p) == key && isReady(p.Value()) && !r.excused(pass) {
			d.periods++
		}
	}
}

// readable says whether every target of a pipeline is there, and its cluster is made known.
func (r *Record) readable(p *v1alpha1.Pipeline) bool {
	for _, t := range r.allTargets(p) {
		if !t.exists || t.ClusterRef != nil && !r.knows(t.ClusterRef.Name) {
			return false
		}
	}
	return true
}

// knows says whether a cluster is made known.
func (r *Record) knows(name string) bool {
	cluster, exists := now(r.clusters.Named(history.Ref{Group: promotion.GitopsCluster.Group,
		Kind: promotion.GitopsCluster.Kind, Namespace: "shop", Name: name}))
	_, known := now(r.secrets.Named(history.Ref{Kind: "Secret", Namespace: "shop", Name: name}))
	return exists && known && cluster.ready()
}

// orderedSoon (S4-L1): what is due is ordered within three back-off periods.
func (r *Record) orderedSoon(p *pipeline) error {
	d := r.due[p.UID]
	if d == nil || d.what == "" || d.periods <= mostPeriods {
		return nil
	}
	env, revision, _ := r.behind(p.Value())
	if len(r.promoted(p, env.Name, revision, forge.Attempt)) > 0 {
		return nil
	}
	return fmt.Errorf("%s is to be promoted to %s, and after %d back-off periods has not been", env.Name, revision,
		d.periods)
}

// readySoon (S4-L3): a pipeline whose targets can all be read is Ready after what it was put off
// for when they came to be, and a second; or a pass is under way that may find it so.
func (r *Record) readySoon(h *history.History) error {
	return r.eachPipeline(func(p *pipeline) error {
		until, whole := r.whole[p.UID]
		busy := func(pass *view.Reconcile) bool { return !pass.Over && pass.ID.Key == keyOf(p) }
		if !whole || isReady(p.Value()) || h.Now() <= until || slices.ContainsFunc(r.view.Reconciles(), busy) {
			return nil
		}
		return fmt.Errorf("all targets of %s/%s can be read, which its status should have said by %s", p.Ref.Namespace,
			p.Ref.Name, history.Clock(until))
	})(h)
}
