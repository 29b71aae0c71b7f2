// This file reads a run's history, event by event, into what the properties ask about.

package promotion

import (
	"encoding/json"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/models/forge"
)

// lag is how far in the past an order's reasons may lie: the longest lag of a cache, and the time
// of a pass.
const lag = 40 * time.Second

// Record is what one run's history says of pipelines, of what runs where, and of orders.
type Record struct {
	git                     *forge.Forge
	hosts                   map[string]string // of other clusters, by the names that pipelines know
	view                    *view.View
	pipelines               *view.Track[v1alpha1.Pipeline]
	apps, clusters, secrets *view.Track[reported]

	settled  []int                         // events at which the world had settled
	injected []history.Time                // faults
	posted   map[string][]*view.Call       // orders, by key
	broken   map[string]error              // by property, for those that are judged event by event
	cutOff   map[*view.Reconcile]bool      // passes with a request that never arrived, or without its reply
	inVain   []string                      // passes without progress since the last change, and how they ended
	due      map[string]*dueness           // by the pipeline's uid
	whole    map[string]history.Time       // until when a pipeline whose targets can all be read must be Ready
	pending  map[history.Key]time.Duration // what the last pass of a key has put the next one off for
	failures map[history.Key]int           // passes in a row that asked for back-off
	waiting  waiting                       // for what the status should say
	// from is when orders that are refused began to be judged, faulty whether faults are injected
	// meanwhile.
	from         history.Time
	faulty, over bool
	away         bool // the operator
}

// reported is what an application, or a GitopsCluster, says of itself.
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
	follow := func(kind string) *view.Track[reported] { return view.Follow[reported](v, history.Ref{Kind: kind}) }
	return &Record{
		git: git, hosts: map[string]string{}, view: v,
		pipelines: view.Follow[v1alpha1.Pipeline](v, history.Ref{Kind: "Pipeline"}),
		apps:      follow("Kustomization"), clusters: follow(promotion.GitopsCluster.Kind), secrets: follow("Secret"),
		posted: map[string][]*view.Call{}, broken: map[string]error{}, cutOff: map[*view.Reconcile]bool{},
		due:   map[string]*dueness{},
		whole: map[string]history.Time{}, pending: map[history.Key]time.Duration{}, failures: map[history.Key]int{},
	}
}

// read takes in what is new.
func (r *Record) read(h *history.History) {
	for e := range r.view.New(h) {
		switch e.Kind {
		case history.Settled:
			r.settled = append(r.settled, e.Index)
		case history.Fault:
			r.injected = append(r.injected, e.At)
		case history.Reply:
			if e.Note != "" {
				r.cutOff[r.view.Of(e)] = true
			}
		}
		r.tried(e)
		r.tick(e)
		r.clock(e)
	}
}

// live calls f for every pipeline that exists and has an environment, in the order of creation,
// until one fails.
func (r *Record) live(f func(*pipeline) error) error {
	for p := range r.pipelines.Live() {
		if len(p.Value().Spec.Environments) == 0 {
			continue
		}
		if err := f(p); err != nil {
			return err
		}
	}
	return nil
}

// eachPipeline is a property that judges every such pipeline.
func (r *Record) eachPipeline(judge func(*pipeline) error) func(*history.History) error {
	return func(h *history.History) error {
		r.read(h)
		return r.live(judge)
	}
}

// targets are the applications of one environment, nil for each that never was.
func (r *Record) targets(p *v1alpha1.Pipeline, env int) (out []*app) {
	for _, target := range p.Spec.Environments[env].Targets {
		ref := history.Ref{Group: App("").GroupVersionKind().Group, Kind: "Kustomization", Namespace: target.Namespace,
			Name: p.Spec.AppRef.Name}
		if target.ClusterRef != nil {
			ref.Cluster = r.hosts[target.ClusterRef.Name]
		}
		out = append(out, r.apps.Named(ref))
	}
	return out
}

// now is what an application says, and whether it exists.
func now(a *app) (*reported, bool) {
	if a == nil || !a.Exists() {
		return &reported{}, false
	}
	return a.Value(), true
}

// lately says whether an application was in such a state at some time within the lag before an
// order.
func lately(a *app, o order, state func(*reported) bool) bool {
	if a == nil {
		return false
	}
	for s := range a.Between(o.At-lag, o.At) {
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
	env      int                // the environment's place in the pipeline, -1 if it is not there
}

// ordered are the effects of a kind from one of them on.
func (r *Record) ordered(h *history.History, kind string, from int) (out []order) {
	all := h.Effects("")
	for _, e := range all[min(from, len(all)):] {
		about, known := r.git.Ordered(e.Key)
		p := r.pipelines.ByUID(about.PipelineUID)
		if !known || e.Kind != kind || p == nil {
			continue
		}
		o := order{Effect: e, Order: about, pipeline: &p.When(e.Event).Value, env: -1}
		for i, env := range o.pipeline.Spec.Environments {
			if env.Name == about.Environment {
				o.env = i
			}
		}
		out = append(out, o)
	}
	return out
}

// eachOrder is a property that judges every effect of a kind when it happens.
func (r *Record) eachOrder(kind string, judge func(order) error) func(*history.History) error {
	next := 0
	return func(h *history.History) error {
		r.read(h)
		for _, o := range r.ordered(h, kind, next) {
			if err := judge(o); err != nil {
				return err
			}
		}
		next = len(h.Effects(""))
		return nil
	}
}

// behind finds the first environment that is not ready with what the first one runs, the revision,
// and what runs there.
func (r *Record) behind(p *v1alpha1.Pipeline) (env *v1alpha1.Environment, revision, runs string) {
	for i := range p.Spec.Environments {
		for _, target := range r.targets(p, i) {
			is, _ := now(target)
			runs := is.Status.LastAppliedRevision
			switch {
			case i == 0 && (!is.ready() || runs == "" || revision != "" && runs != revision):
				return nil, "", ""
			case i == 0:
				revision = runs
			case !is.ready() || runs != revision:
				return &p.Spec.Environments[i], revision, runs
			}
		}
	}
	return nil, revision, ""
}

// came is the event at which the first environment came to run a revision that it runs now: the end
// of the last stay at another revision on which the world had settled.
func (r *Record) came(p *v1alpha1.Pipeline, revision string) (came int) {
	for _, target := range r.targets(p, 0) {
		for i := range target.States[:len(target.States)-1] {
			s, ends := &target.States[i], target.States[i+1].Event
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
func (r *Record) promoted(h *history.History, p *pipeline, env, revision, kind string) (out []order) {
	came := r.came(p.Value(), revision)
	for _, o := range r.ordered(h, kind, 0) {
		if o.PipelineUID == p.UID && o.Environment == env && o.Revision == revision && o.Event >= came {
			out = append(out, o)
		}
	}
	return out
}

// orderOf is what a request orders of the forge, if it does.
func orderOf(e *history.Event) (o forge.Order, orders bool) {
	if e.Kind != history.Request || e.Host != gitHost || e.Verb != "POST" {
		return o, false
	}
	if err := json.Unmarshal(e.Sent, &o); err != nil {
		panic("an order cannot be read: " + err.Error())
	}
	return o, true
}
