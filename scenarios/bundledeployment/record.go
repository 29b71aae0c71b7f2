// This file reads a run's history, event by event, into what the properties ask about.

package bundledeployment

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/scenarios/internal/fence"
)

// Record is what one run's history says of deployments.
type Record struct {
	// cleanUp is how long the slowest clean-up of this world takes.
	cleanUp time.Duration
	// changed is when something last changed from outside, and measured from when on attempts are
	// judged.
	changed, measured history.Time
	// faulty is set while faults are injected, over when a deployment was watched for so long that
	// it should have settled.
	faulty, over bool

	now         history.Time // of the last reading
	view        *view.View
	objects     *view.Track[object]
	deployments map[string]*deployment
	crashed     history.Time           // the last time
	injected    []history.Time         // faults
	committed   map[int64]history.Time // by revision
	fence       *fence.Judge
}

// object is what the properties read of a stored object.
type object struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Status   struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// deployment is what happened to one BundleDeployment.
type deployment struct {
	name       string
	reconciles []*reconcile
	// overlap says that an attempt began while something which a clean-up had deleted was still
	// there, crowded that two reconciles of the deployment ran at the same time.
	overlap, crowded error
	leaving          []*view.Object[object] // deleted by the operator
}

// reconcile is one reconcile of a deployment.
type reconcile struct {
	*view.Reconcile
	attempts, writes int          // of installs and upgrades; of the status
	tried            history.Time // the last attempt began
	ends             metav1.Condition
}

// until is when it ended, or now.
func (r *reconcile) until(now history.Time) history.Time {
	if r.Over {
		return r.Ended
	}
	return now
}

// NewRecord returns the record of a run that has not begun.
func NewRecord(cleanUp time.Duration) *Record {
	v := view.New()
	return &Record{cleanUp: max(cleanUp, 5*time.Second), view: v, objects: view.Follow[object](v, history.Ref{}),
		deployments: map[string]*deployment{}, committed: map[int64]history.Time{}, fence: fence.New()}
}

// Mark says that something has changed from outside: measuring begins anew.
func (w *World) Mark() {
	w.changed = w.History().Now()
	w.measured = w.changed
}

// names are those of all deployments.
func (r *Record) names() []string { return slices.Sorted(maps.Keys(r.deployments)) }

func (r *Record) of(name string) *deployment {
	d := r.deployments[name]
	if d == nil {
		d = &deployment{name: name}
		r.deployments[name] = d
	}
	return d
}

// read takes in what is new.
func (r *Record) read(h *history.History) {
	r.now = h.Now()
	for e := range r.view.New(h) {
		r.fence.Event(e)
		name := e.Reconcile.Name
		switch {
		case e.Kind == history.Fault, e.Kind == history.Deliver && r.late(e):
			r.injected = append(r.injected, e.At)
		case e.Kind == history.Crash:
			r.crashed = e.At
		case name == "":
		case e.Kind == history.Dequeue:
			r.of(name).begins(&reconcile{Reconcile: r.view.Of(e)})
		case e.Kind == history.Done:
			r.of(name).last().ends = r.says(name)
		}
		for i := range e.Changes {
			r.committed[e.Changes[i].Revision] = e.At
			r.change(e, &e.Changes[i])
		}
	}
}

// late says whether a fault has delayed a watch event.
func (r *Record) late(e *history.Event) bool {
	at, known := r.committed[e.Revision]
	return known && e.At-at > 100*time.Millisecond
}

func (d *deployment) begins(next *reconcile) {
	if len(d.reconciles) > 0 && !d.last().Over {
		d.crowded = fmt.Errorf("a reconcile of %s began at %s, while that of %s had not ended", d.name,
			history.Clock(next.Began), history.Clock(d.last().Began))
	}
	d.reconciles = append(d.reconciles, next)
}

func (d *deployment) last() *reconcile { return d.reconciles[len(d.reconciles)-1] }

// change takes in a change that a reconcile of the operator or somebody else has made.
func (r *Record) change(e *history.Event, c *history.Change) {
	o := r.objects.ByUID(c.UID)
	by, deleted := e.Reconcile.Name, c.Type == "DELETED"
	switch {
	case c.Ref.Kind == "Secret":
		r.release(e, c, o)
	case c.Ref.Kind == "BundleDeployment":
		if by == c.Ref.Name && e.Sub == "status" {
			r.of(by).last().writes++
		}
	case c.Ref.Kind == "Bundle" || by == "" || deleted:
	default:
		r.fence.Object(e, c)
		if e.Verb == "delete" {
			r.of(by).leaving = append(r.of(by).leaving, o)
		}
	}
}

// release takes in a change of a release record. An attempt makes one as it begins.
func (r *Record) release(e *history.Event, c *history.Change, o *view.Object[object]) {
	head := &corev1.Secret{ObjectMeta: o.Value().Metadata}
	if !isRelease(o) {
		return
	}
	r.fence.Record(e, c, head.Name, head)
	name, status := head.Labels["name"], head.Labels["status"]
	begins := c.Type == "ADDED" && (status == "pending-install" || status == "pending-upgrade")
	if !begins || e.Reconcile.Name != name {
		return
	}
	d := r.of(name)
	d.last().attempts++
	d.last().tried = e.At
	d.leaving = slices.DeleteFunc(d.leaving, func(o *view.Object[object]) bool { return !o.Exists() })
	if len(d.leaving) > 0 {
		d.overlap = fmt.Errorf("an attempt began at %s while %s, which the clean-up of the one before had deleted, "+
			"was still there", history.Clock(e.At), first(d.leaving))
	}
}

func isRelease(o *view.Object[object]) bool {
	return o.Ref.Kind == "Secret" && o.Ref.Namespace == bundledeployment.DefaultNamespace &&
		o.Value().Metadata.Labels["owner"] == "helm"
}

// releases is the number of release records of a deployment.
func (r *Record) releases(name string) (n int) {
	for o := range r.objects.Live() {
		if isRelease(o) && o.Value().Metadata.Labels["name"] == name {
			n++
		}
	}
	return n
}

// installedFor are the objects that carry the name of a deployment, and those that did.
func (r *Record) installedFor(name string) iter.Seq[*view.Object[object]] {
	return func(yield func(*view.Object[object]) bool) {
		for _, o := range r.objects.All() {
			ours := o.Ref.Kind == "Bundle" || o.Ref.Kind == "BundleDeployment" || o.Ref.Kind == "Secret"
			if !ours && o.Value().Metadata.Labels[v1alpha1.OwnerNameLabel] == name && !yield(o) {
				return
			}
		}
	}
}

// first is one of the objects, always the same.
func first(objects []*view.Object[object]) string {
	var names []string
	for _, o := range objects {
		names = append(names, o.Ref.String())
	}
	return slices.Min(names)
}

func deploymentRef(name string) history.Ref {
	return history.Ref{Group: v1alpha1.GroupVersion.Group, Kind: "BundleDeployment", Name: name}
}

// says is the condition Installed of a deployment.
func (r *Record) says(name string) metav1.Condition {
	if o := r.objects.Named(deploymentRef(name)); o != nil {
		return o.Value().says()
	}
	return metav1.Condition{}
}

func (o *object) says() metav1.Condition {
	if c := apimeta.FindStatusCondition(o.Status.Conditions, v1alpha1.Installed); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func isTrue(c metav1.Condition) bool     { return c.Status == metav1.ConditionTrue }
func namesCause(c metav1.Condition) bool { return strings.Contains(c.Message, cause) }

// namedCause is for how long the status of a deployment named the cause.
func (r *Record) namedCause(name string, from, to history.Time) time.Duration {
	o := r.objects.Named(deploymentRef(name))
	if o == nil {
		return 0
	}
	return o.Held(from, to, func(o *object) bool { return namesCause(o.says()) })
}
