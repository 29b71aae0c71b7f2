// This file reads a run's history, event by event, into what the properties ask about.

package promotion

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
	"github.com/wavetank/wavetank/scenarios/promotion/forge"
)

// lag is how far in the past an order's reasons may lie: the longest lag of a cache, and the time
// of a pass.
const lag = 40 * time.Second

// Record is what one run's history says of pipelines, of what runs where, and of orders.
type Record struct {
	git       *forge.Forge
	hosts     map[string]string // of other clusters, by the names that pipelines know
	view      *view.View
	pipelines *view.Track[v1alpha1.Pipeline]
	apps      *view.Track[reported]
	events    *view.Track[corev1.Event]

	effects int                      // that have been read
	orders  []order                  // those that the forge accepted, and what they changed
	settled []int                    // events at which the world had settled
	posted  map[string][]*view.Call  // orders, also those that were refused, by key
	cutOff  map[*view.Reconcile]bool // passes with a request that never arrived, or without its reply
	inVain  []string                 // passes without progress since the last change, and how they ended
	due     map[string]*dueness      // by the pipeline's uid
	waited  []wait                   // for what the status should say
	away    bool                     // the operator
	ended   history.Time             // when faults ended; 0 before that

	properties.Broken
}

// reported is what an application says of itself.
type reported struct {
	Status struct {
		LastAppliedRevision string             `json:"lastAppliedRevision"`
		Conditions          []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

func (r *reported) ready() bool {
	return apimeta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.ReadyCondition)
}

func (r *reported) runs(revision string) bool { return r.Status.LastAppliedRevision == revision }

type (
	app      = view.Object[reported]
	pipeline = view.Object[v1alpha1.Pipeline]
)

// NewRecord returns the record of a run that has not begun.
func NewRecord(git *forge.Forge) *Record {
	v := view.New()
	return &Record{
		git: git, hosts: map[string]string{}, view: v,
		pipelines: view.Follow[v1alpha1.Pipeline](v, history.Ref{Kind: "Pipeline"}),
		apps:      view.Follow[reported](v, history.Ref{Kind: appKind.Kind}),
		events:    view.Follow[corev1.Event](v, history.Ref{Kind: "Event"}),
		posted:    map[string][]*view.Call{}, cutOff: map[*view.Reconcile]bool{}, due: map[string]*dueness{},
		Broken: properties.Broken{},
	}
}

// read takes in what is new.
func (r *Record) read(h *history.History) {
	for e := range r.view.New(h) {
		switch e.Kind {
		case history.Settled:
			r.settled = append(r.settled, e.Index)
		case history.Reply:
			if e.Note != "" {
				r.cutOff[r.view.Of(e)] = true
			}
		}
		r.tried(e)
		r.posts(e)
		r.tick(e)
		r.clock(e)
	}
	for _, effect := range h.Effects("")[r.effects:] {
		r.effects++
		about, known := r.git.Ordered(effect.Key)
		if p := r.pipelines.ByUID(about.PipelineUID); known && p != nil {
			r.orders = append(r.orders, order{effect, about, &p.When(effect.Event).Value})
		}
	}
}

// target is where an environment of a pipeline runs, and what runs there.
type target struct {
	v1alpha1.Target
	env    string
	app    *app // nil for one that never was
	is     *reported
	exists bool
	says   *v1alpha1.TargetStatus // what the pipeline's status says of it, nil for nothing
}

// isSaidAbsent reports whether the error of a target says that it does not exist.
func (t target) isSaidAbsent() bool {
	return t.says != nil && strings.Contains(t.says.Error, "does not exist")
}

// targets are those of one environment.
func (r *Record) targets(p *v1alpha1.Pipeline, env int) (out []target) {
	e := &p.Spec.Environments[env]
	for i, at := range e.Targets {
		ref := history.Ref{Group: appKind.Group, Kind: appKind.Kind, Namespace: at.Namespace, Name: p.Spec.AppRef.Name}
		if at.ClusterRef != nil {
			ref.Cluster = r.hosts[at.ClusterRef.Name]
		}
		t := target{Target: at, env: e.Name, app: r.apps.Named(ref), is: &reported{}}
		if t.app != nil && t.app.Exists() {
			t.is, t.exists = t.app.Value(), true
		}
		if s := p.Status.Environments[e.Name]; s != nil && i < len(s.Targets) {
			t.says = &s.Targets[i]
		}
		out = append(out, t)
	}
	return out
}

// allTargets are those of every environment.
func (r *Record) allTargets(p *v1alpha1.Pipeline) (out []target) {
	for i := range p.Spec.Environments {
		out = append(out, r.targets(p, i)...)
	}
	return out
}

// lately reports whether an application was in such a state at some time within the lag before an
// order.
func (t target) lately(o order, state func(*reported) bool) bool {
	if t.app == nil {
		return false
	}
	for s := range t.app.Between(o.At-lag, o.At) {
		if !s.Gone && state(&s.Value) {
			return true
		}
	}
	return false
}

// order is an effect of the forge, with what it is about.
type order struct {
	history.Effect
	forge.Order
	pipeline *v1alpha1.Pipeline // as the server held it then
}

// eachOrder is a property that judges every effect of a kind when it happens.
func (r *Record) eachOrder(kind string, judge func(order) error) func(*history.History) error {
	next := 0
	return func(*history.History) error {
		for ; next < len(r.orders); next++ {
			if o := r.orders[next]; o.Kind == kind {
				if err := judge(o); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// behind finds the first environment that is not ready with what the first one runs, the revision,
// and what runs there.
func (r *Record) behind(p *v1alpha1.Pipeline) (env *v1alpha1.Environment, revision, runs string) {
	for i := range p.Spec.Environments {
		for _, t := range r.targets(p, i) {
			runs := t.is.Status.LastAppliedRevision
			switch {
			case i == 0 && (!t.is.ready() || runs == "" || revision != "" && runs != revision):
				return nil, "", ""
			case i == 0:
				revision = runs
			case !t.is.ready() || runs != revision:
				return &p.Spec.Environments[i], revision, runs
			}
		}
	}
	return nil, revision, ""
}

// came is the event at which the first environment came to run a revision that it runs now: the end
// of the last stay at another revision on which the world had settled.
func (r *Record) came(p *v1alpha1.Pipeline, revision string) (came int) {
	for _, t := range r.targets(p, 0) {
		for i := range t.app.States[:len(t.app.States)-1] {
			s, ends := &t.app.States[i], t.app.States[i+1].Event
			if s.Value.runs(revision) || s.Value.runs("") {
				continue
			}
			for _, settled := range r.settled {
				if s.Event < settled && settled < ends {
					came = max(came, ends)
				}
			}
		}
	}
	return came
}

// promoted are the effects of a kind by which an environment was promoted to a revision since that
// came.
func (r *Record) promoted(p *pipeline, env, revision, kind string) (out []order) {
	came := r.came(p.Value(), revision)
	for _, o := range r.orders {
		same := o.PipelineUID == p.UID && o.Environment == env && o.Revision == revision
		if o.Kind == kind && same && o.Event >= came {
			out = append(out, o)
		}
	}
	return out
}
