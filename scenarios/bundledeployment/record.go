// This file reads a run's history, event by event, into what the properties ask about.

package bundledeployment

import (
	"slices"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/scenarios/internal/fence"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
)

// Record is what the properties need of one run's history.
type Record struct {
	// cleanUp is how long the slowest clean-up of this world takes.
	cleanUp time.Duration
	// changed is the time of the last change by a user. Attempts are judged from measured on.
	changed, measured history.Time
	// faulty is set while faults are injected, over once a deployment has had enough time to
	// settle.
	faulty, over bool

	now         history.Time // of the last reading
	view        *view.View
	objects     *view.Track[metadata]
	wanted      *view.Track[v1alpha1.BundleDeployment]
	deployments map[string]*deployment
	attempted   map[int]int  // by the index of an event that begins an attempt at app: the failures with it
	crashed     history.Time // the last time
	fence       *fence.Judge
	properties.Broken
}

// metadata is the part of most objects that the properties read.
type metadata = metav1.PartialObjectMetadata

// deployment is the record of one BundleDeployment.
type deployment struct {
	reconciles []*reconcile
	leaving    []*view.Object[metadata] // deleted by the operator
	failures   int                      // in a row, as the work queue counts them
}

// reconcile is one reconcile of a deployment.
type reconcile struct {
	*view.Reconcile
	attempts, writes int // of installs and upgrades; of the status
	ends             metav1.Condition
}

// until is when it ended, or now.
func (r *reconcile) until(now history.Time) history.Time {
	if r.Over {
		return r.Ended
	}
	return now
}

// slept returns the time between the reconcile before and this one.
func (r *reconcile) slept(before *reconcile) time.Duration { return r.Began - before.until(r.Began) }

func newRecord(cleanUp time.Duration) *Record {
	v, broken := view.New(), properties.Broken{}
	return &Record{cleanUp: max(cleanUp, 5*time.Second), view: v, objects: view.Follow[metadata](v, history.Ref{}),
		wanted:      view.Follow[v1alpha1.BundleDeployment](v, history.Ref{Kind: "BundleDeployment"}),
		deployments: map[string]*deployment{}, attempted: map[int]int{}, fence: fence.New(broken), Broken: broken}
}

// mark records a change by a user. Measuring starts again.
func (w *World) mark() {
	w.changed = w.History().Now()
	w.measured = w.changed
}

func (r *Record) of(name string) *deployment {
	d := r.deployments[name]
	if d == nil {
		d = &deployment{}
		r.deployments[name] = d
	}
	return d
}

// since are the reconciles of app that began at a time or later.
func (r *Record) since(t history.Time) []*reconcile {
	all := r.of(app).reconciles
	return all[sort.Search(len(all), func(i int) bool { return all[i].Began >= t }):]
}

// read reads the events since the last call.
func (r *Record) read(h *history.History) {
	r.now = h.Now()
	for e := range r.view.New(h) {
		r.fence.Event(e)
		name := e.Reconcile.Name
		switch {
		case e.Kind == history.Crash:
			r.crashed = e.At
		case name == "":
		case e.Kind == history.Dequeue:
			r.begun(r.of(name), &reconcile{Reconcile: r.view.Of(e)})
		case e.Kind == history.Done:
			d := r.of(name)
			d.last().ends, d.failures = r.says(name), d.failures+1
			if e.Outcome.OK() || e.Outcome.Kind == history.OutcomeRequeueAfter {
				d.failures = 0
			}
		}
		for i := range e.Changes {
			r.change(e, &e.Changes[i])
		}
	}
}

func (r *Record) begun(d *deployment, next *reconcile) {
	if len(d.reconciles) > 0 && !d.last().Over {
		r.Breaks(oneAtATime, "a reconcile of %s began at %s, while that of %s had not ended", next.ID.Name,
			history.Clock(next.Began), history.Clock(d.last().Began))
	}
	if len(d.reconciles) > 0 && d.last().Incarnation != next.Incarnation {
		d.failures = 0 // a restart empties the memory of the work queue
	}
	d.reconciles = append(d.reconciles, next)
}

func (d *deployment) last() *reconcile { return d.reconciles[len(d.reconciles)-1] }

// change reads a committed change.
func (r *Record) change(e *history.Event, c *history.Change) {
	o, by := r.objects.ByUID(c.UID), e.Reconcile.Name
	switch {
	case isRelease(o):
		r.release(e, c, o.Value())
	case by == "" || c.Ref.Kind == "Bundle" || c.Ref.Kind == "Secret":
	case c.Ref.Kind == "BundleDeployment":
		if by == c.Ref.Name && e.Sub == "status" {
			r.of(by).last().writes++
		}
	case c.Type != "DELETED":
		r.fence.Object(e, c)
		if e.Verb == "delete" {
			r.of(by).leaving = append(r.of(by).leaving, o)
		}
	}
}

// release reads a change of a release record. Each attempt begins by creating a record.
func (r *Record) release(e *history.Event, c *history.Change, head *metadata) {
	r.fence.Record(e, c, head.Name, &corev1.Secret{ObjectMeta: head.ObjectMeta})
	name, status := head.Labels["name"], head.Labels["status"]
	begins := c.Type == "ADDED" && (status == "pending-install" || status == "pending-upgrade")
	if !begins || e.Reconcile.Name != name {
		return
	}
	d := r.of(name)
	d.last().attempts++
	if name == app {
		r.attempted[e.Index] = d.failures + 1
	}
	d.leaving = slices.DeleteFunc(d.leaving, func(o *view.Object[metadata]) bool { return !o.Exists() })
	if len(d.leaving) > 0 {
		r.Breaks(noOverlap, "an attempt began at %s while %s, which the clean-up of the one before had deleted, "+
			"was still there", history.Clock(e.At), first(d.leaving))
	}
}

func isRelease(o *view.Object[metadata]) bool {
	return o.Ref.Kind == "Secret" && o.Ref.Namespace == bundledeployment.DefaultNamespace &&
		o.Value().Labels["owner"] == "helm"
}

// owner returns the deployment that an object of a bundle belongs to, or "".
func owner(o *view.Object[metadata]) string {
	if slices.Contains([]string{"Bundle", "BundleDeployment", "Secret"}, o.Ref.Kind) {
		return ""
	}
	return o.Value().Labels[v1alpha1.OwnerNameLabel]
}

// first returns the first of the objects by name.
func first(objects []*view.Object[metadata]) string {
	var names []string
	for _, o := range objects {
		names = append(names, o.Ref.String())
	}
	return slices.Min(names)
}

// named returns a deployment, or nil before it was applied.
func (r *Record) named(name string) *view.Object[v1alpha1.BundleDeployment] {
	return r.wanted.Named(ref(name))
}

func ref(name string) history.Ref {
	return history.Ref{Group: v1alpha1.GroupVersion.Group, Kind: "BundleDeployment", Name: name}
}

// says returns the condition Installed of a deployment.
func (r *Record) says(name string) metav1.Condition {
	if o := r.named(name); o != nil {
		return says(o.Value())
	}
	return metav1.Condition{}
}

func says(d *v1alpha1.BundleDeployment) metav1.Condition {
	return ptr.Deref(apimeta.FindStatusCondition(d.Status.Conditions, v1alpha1.Installed), metav1.Condition{})
}

func isTrue(c metav1.Condition) bool     { return c.Status == metav1.ConditionTrue }
func namesCause(c metav1.Condition) bool { return strings.Contains(c.Message, cause) }

// namedCause returns for how long the status of app named the cause.
func (r *Record) namedCause(from, to history.Time) time.Duration {
	return r.named(app).Held(from, to, func(d *v1alpha1.BundleDeployment) bool { return namesCause(says(d)) })
}
