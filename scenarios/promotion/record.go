// This file exists to read a history once, piece by piece as it grows, into what the properties are
// about: what ran where and when, what the pipelines said, and who ordered which promotion.

package promotion

import (
	"time"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/forge"
	"github.com/wavetank/wavetank/scenarios/internal/stored"
)

// Record is what has been read of one run's history.
type Record struct {
	// Lag is how far in the past an order's reasons may lie: the longest lag of a cache, and the
	// time of a pass.
	Lag time.Duration

	// clusters are the names under which the pipelines know other clusters, by host.
	clusters map[string]string

	git       *forge.Forge
	events    int // read so far
	apps      map[string][]reported
	pipelines map[string][]version // by uid
	order     []string             // uids, in the order of creation
	settled   []int                // events at which the world had settled
	judged    map[string]int       // effects that each property has looked at
	conduct   conduct
	timing    timing
}

// reported is what an application said of itself from one event on.
type reported struct {
	event    int
	at       history.Time
	exists   bool
	revision string
	ready    bool
}

// version is a pipeline as the server held it from one event on.
type version struct {
	event int
	gone  bool
	v1alpha1.Pipeline
}

// NewRecord opens the record of a run. Make new ones for each run.
func NewRecord(git *forge.Forge) *Record {
	return &Record{
		Lag: 40 * time.Second, clusters: map[string]string{}, git: git, apps: map[string][]reported{},
		pipelines: map[string][]version{}, judged: map[string]int{},
		conduct: conduct{passes: map[history.ReconcileID]*pass{}}, timing: newTiming(),
	}
}

// read takes in what has happened since the last time.
func (b *Record) read(h *history.History) {
	for ; b.events < len(h.Events); b.events++ {
		e := &h.Events[b.events]
		if e.Kind == history.Settled {
			b.settled = append(b.settled, e.Index)
		}
		for i := range e.Changes {
			switch c := &e.Changes[i]; c.Ref.Kind {
			case "Kustomization":
				b.readApp(e, c)
			case "Pipeline":
				b.readPipeline(e, c)
			}
		}
		ended := b.conduct.passes[e.ReconcileID()]
		b.watch(e)
		b.tick(h, e, ended)
	}
}

func (b *Record) readApp(e *history.Event, c *history.Change) {
	now := reported{event: e.Index, at: e.At, exists: c.Type != "DELETED"}
	if now.exists {
		var app struct {
			Status struct {
				LastAppliedRevision string
				Conditions          []struct{ Type, Status string }
			}
		}
		stored.Decode(c.Object, &app)
		now.revision = app.Status.LastAppliedRevision
		for _, condition := range app.Status.Conditions {
			if condition.Type == v1alpha1.ReadyCondition {
				now.ready = condition.Status == "True"
			}
		}
	}
	key := appKey(b.clusters[c.Ref.Cluster], c.Ref.Namespace, c.Ref.Name)
	b.apps[key] = append(b.apps[key], now)
}

func (b *Record) readPipeline(e *history.Event, c *history.Change) {
	now := version{event: e.Index, gone: c.Type == "DELETED"}
	stored.Decode(c.Object, &now.Pipeline)
	if len(b.pipelines[c.UID]) == 0 {
		b.order = append(b.order, c.UID)
	}
	b.pipelines[c.UID] = append(b.pipelines[c.UID], now)
}

// appKey names an application; the operator's own cluster has no name.
func appKey(cluster, namespace, name string) string { return cluster + " " + namespace + "/" + name }

// entry is one effect with what it is about.
type entry struct {
	history.Effect
	order    forge.Order
	pipeline *version // as the server held it then
	env      int      // the environment's place in the pipeline, -1 if it is not there
}

// entries are the effects of a kind.
func (b *Record) entries(h *history.History, kind string) []entry {
	b.read(h)
	var out []entry
	for _, e := range h.Effects("") {
		if e.Kind == kind {
			if found, ok := b.explain(e); ok {
				out = append(out, found)
			}
		}
	}
	return out
}

// fresh are the attempts that a property has not judged yet.
func (b *Record) fresh(h *history.History, property string) []entry {
	b.read(h)
	all := h.Effects("")
	var out []entry
	for _, e := range all[b.judged[property]:] {
		if e.Kind == forge.Attempt {
			if found, ok := b.explain(e); ok {
				out = append(out, found)
			}
		}
	}
	b.judged[property] = len(all)
	return out
}

func (b *Record) explain(e history.Effect) (entry, bool) {
	o, ok := b.git.Ordered(e.Key)
	if !ok {
		return entry{}, false
	}
	out := entry{Effect: e, order: o, env: -1}
	for i := range b.pipelines[o.PipelineUID] {
		v := &b.pipelines[o.PipelineUID][i]
		if v.event <= e.Event || out.pipeline == nil {
			out.pipeline = v
		}
	}
	if out.pipeline == nil {
		return entry{}, false
	}
	for i, env := range out.pipeline.Spec.Environments {
		if env.Name == o.Environment {
			out.env = i
		}
	}
	return out, true
}

// targets are what has been read of the applications of one environment.
func (b *Record) targets(p *version, env int) [][]reported {
	var out [][]reported
	for _, target := range p.Spec.Environments[env].Targets {
		cluster := ""
		if target.ClusterRef != nil {
			cluster = target.ClusterRef.Name
		}
		out = append(out, b.apps[appKey(cluster, target.Namespace, p.Spec.AppRef.Name)])
	}
	return out
}

// within says whether a target was in a state that satisfies the condition at some time between
// from and to.
func within(target []reported, from, to history.Time, is func(reported) bool) bool {
	for i, s := range target {
		ends := to
		if i+1 < len(target) {
			ends = target[i+1].at
		}
		if s.at <= to && ends >= from && is(s) {
			return true
		}
	}
	return false
}

// now is the latest state of a target.
func now(target []reported) reported {
	if len(target) == 0 {
		return reported{}
	}
	return target[len(target)-1]
}

// stays counts how often a target came to run a revision, up to an event.
func stays(target []reported, revision string, until int) int {
	n := 0
	before := ""
	for _, s := range target {
		if s.event <= until {
			if s.revision == revision && before != revision {
				n++
			}
			before = s.revision
		}
	}
	return n
}
