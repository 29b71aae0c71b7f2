// This file reads a run's history, event by event, into what the properties ask about.

package reposync

import (
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
)

// Record is what one run's history says of RepoSyncs, of what they manage, and of their namespaces.
type Record struct {
	setting Setting
	view    *view.View
	objects *view.Track[object]
	syncs   []*syncRecord
	// began is the index of the first event of each reconcile.
	began map[*view.Reconcile]int
	// wanted is when a user first asked for the deletion of a namespace.
	wanted map[string]history.Time
	// disturbed is when a fault, a user, or the start or end of a program last interfered. away is
	// set while a program is away that all others need.
	disturbed history.Time
	away      bool
	// measured is when the effects of faults have ended.
	measured history.Time
	properties.Broken
	// over is set when the scenario has come to its end.
	over bool
	// blame names what a deletion waits for, and blocked from when to when that must be said.
	blame   string
	blocked [2]history.Time
}

// object is what the properties read of a stored object.
type object struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Status   struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
	Subjects []rbacv1.Subject `json:"subjects"`
}

func (o *object) deleting() bool { return o.Metadata.DeletionTimestamp != nil }

// finalized reports whether the reconciler's finalizer is on it.
func (o *object) finalized() bool {
	return slices.Contains(o.Metadata.Finalizers, v1beta1.ReconcilerFinalizer)
}

// says is the text of the true conditions.
func (o *object) says() (text string) {
	for _, c := range o.Status.Conditions {
		if c.Status == metav1.ConditionTrue {
			text += c.Message + "\n"
		}
	}
	return text
}

// deleted is the first state in which the deletion of an object was asked for; nil if it was not.
func deleted(o *view.Object[object]) *view.State[object] {
	for i := range o.States {
		if o.States[i].Value.deleting() {
			return &o.States[i]
		}
	}
	return nil
}

// syncRecord is what happened to one RepoSync or RootSync.
type syncRecord struct {
	*view.Object[object]
	types.NamespacedName
	removals int            // of the reconciler's finalizer
	granted  bool           // its reconciler has rights
	knew     map[string]int // by process: index of the event that told it of the deletion
}

// String is "RepoSync namespace/name", or that of a RootSync.
func (s *syncRecord) String() string { return s.Ref.String() }

func (s *syncRecord) foreground() bool {
	return s.Value().Metadata.Annotations[v1beta1.DeletionPropagationPolicy] == v1beta1.Foreground
}

// NewRecord returns the record of a run that has not begun.
func NewRecord(s Setting) *Record {
	v := view.New()
	return &Record{setting: s, view: v, objects: view.Follow[object](v, history.Ref{}),
		wanted: map[string]history.Time{}, Broken: properties.Broken{}, began: map[*view.Reconcile]int{}}
}

// live returns an object that exists, or nil.
func (r *Record) live(ref history.Ref) *object {
	if o := r.objects.Named(ref); o != nil && o.Exists() {
		return o.Value()
	}
	return nil
}

// read takes in what is new.
func (r *Record) read(h *history.History) {
	for e := range r.view.New(h) {
		r.disturbs(e)
		reconcile := r.view.Of(e)
		switch {
		case e.Kind == history.Dequeue:
			r.began[reconcile] = e.Index
		case e.Kind == history.Deliver && e.Ref.Kind == "RepoSync" && received(e, `"deletionTimestamp"`):
			if s := r.sync(e.Ref); s != nil && s.knew[e.Process] == 0 {
				s.knew[e.Process] = e.Index
			}
		case refused(e) && reconcile != nil:
			r.refused(e, reconcile)
		case tooLate(e) && ours(e.Process) && reconcile != nil:
			r.tooLate(e, reconcile)
		case readded(e):
			r.Breaks(onceOff, "%s wrote %s in a way that was refused: %s", e.Actor(), e.Ref, e.Received)
		}
		for _, o := range r.objects.Changed() {
			r.changed(e, o)
		}
	}
}

func received(e *history.Event, text string) bool { return strings.Contains(string(e.Received), text) }

// refused reports whether the creation of an object was refused because its namespace terminates.
func refused(e *history.Event) bool {
	return e.Kind == history.Request && e.Verb == "create" && e.Code == 403 && received(e, "NamespaceTerminating")
}

// refusals are what was refused to a reconcile.
func refusals(by *view.Reconcile) (out []history.Ref) {
	for _, c := range by.Calls {
		if refused(&c.Request) {
			out = append(out, c.Request.Ref)
		}
	}
	return out
}

// readded reports whether a finalizer was refused on a RepoSync that is being deleted.
func readded(e *history.Event) bool {
	return e.Kind == history.Request && e.Code == 422 && e.Ref.Kind == "RepoSync" && received(e, "no new finalizers")
}

// tooLate reports whether a write to a RepoSync, other than to its status, came after another
// write: the version of an update was old, or the test of a patch failed.
func tooLate(e *history.Event) bool {
	late := e.Code == 409 || e.Code == 422 && e.Verb == "patch" && !readded(e)
	return e.Kind == history.Request && e.Ref.Kind == "RepoSync" && e.Sub == "" && late
}

func (r *Record) disturbs(e *history.Event) {
	switch e.Kind {
	case history.Fault, history.Heal, history.Start, history.Stop, history.Crash:
		r.disturbed = e.At
	case history.Request:
		if e.Process == "user" && len(e.Changes) > 0 && e.Ref.Name != theEnd {
			r.disturbed = e.At
		}
	}
}

// late reports whether something that began at a time has lasted for longer than bound, since
// nothing disturbed it.
func (r *Record) late(h *history.History, since history.Time, bound time.Duration) bool {
	waits := func(i *view.Incarnation) bool { return i.Killed && r.view.Running(i.Process) == nil }
	if r.away || slices.ContainsFunc(r.view.Incarnations(""), waits) {
		r.disturbed = h.Now()
	}
	return h.Now() > max(since, r.disturbed)+bound
}

// sync is the record of the RepoSync or RootSync that has the name now, or had it last.
func (r *Record) sync(ref history.Ref) *syncRecord {
	for _, s := range slices.Backward(r.syncs) {
		if s.Namespace == ref.Namespace && s.Name == ref.Name {
			return s
		}
	}
	return nil
}

// changed reads a committed change of any writer.
func (r *Record) changed(e *history.Event, o *view.Object[object]) {
	now, was := o.Value(), &object{}
	if previous := o.Previous(); previous != nil {
		was = &previous.Value
	}
	switch o.Ref.Kind {
	case "RepoSync", "RootSync":
		r.finalizers(o, was, now)
	case "RoleBinding", "ClusterRoleBinding":
		if o.Ref.Name == reposync.BindingName {
			r.rights(o.Ref)
		}
	case "ResourceGroup":
		if s := r.sync(o.Ref); s != nil && !o.Exists() && s.foreground() && s.Exists() && len(r.present(s)) > 0 {
			r.Breaks(inventoried, "the inventory of %s is gone, and %v exist", s, r.present(s))
		}
	}
	if (now.deleting() || !o.Exists()) && !was.deleting() {
		r.order(e, o.Ref)
	}
}

// finalizers follows the reconciler's finalizer of a RepoSync or RootSync.
func (r *Record) finalizers(o *view.Object[object], was, now *object) {
	s := r.sync(o.Ref)
	if s == nil || s.Object != o {
		name := types.NamespacedName{Namespace: o.Ref.Namespace, Name: o.Ref.Name}
		s = &syncRecord{Object: o, NamespacedName: name, knew: map[string]int{}}
		r.syncs = append(r.syncs, s)
	}
	if !was.finalized() || o.Exists() && now.finalized() || !was.deleting() && !now.deleting() {
		return
	}
	if s.removals++; s.removals > 1 {
		r.Breaks(onceOff, "the reconciler's finalizer was taken off %s %d times", s, s.removals)
	}
	home := r.live(namespaceRef(s.Namespace))
	if left := r.present(s); s.foreground() && len(left) > 0 && (home == nil || !home.deleting()) {
		r.Breaks(honoured,
			"the reconciler's finalizer was taken off %s while %v existed in a namespace that stays", s, left)
	}
}

// present are the managed objects of a RepoSync that exist.
func (r *Record) present(s *syncRecord) (out []string) {
	for _, ref := range managed(s.NamespacedName) {
		if r.live(ref) != nil {
			out = append(out, ref.String())
		}
	}
	return out
}

// order reads the deletion of an object.
func (r *Record) order(e *history.Event, ref history.Ref) {
	for first, on := range r.setting.dependencies() {
		if on != ref || r.live(first) == nil {
			continue
		}
		const text = "%s deleted %s while %s, which depends on it, existed"
		r.Breaks(strongOrder, text, e.Actor(), ref, first)
		if ours(e.Process) {
			r.Breaks(weakOrder, text, e.Actor(), ref, first)
		}
	}
	for _, s := range r.syncs {
		if !s.foreground() && ours(e.Process) && slices.Contains(managed(s.NamespacedName), ref) {
			r.Breaks(spared, "%s deleted %s, which %s leaves where it is", e.Actor(), ref, s)
		}
	}
}

// ours reports whether a process is one of the operator's.
func ours(process string) bool {
	return process == Manager || process == Webhook || process == reposync.ReconcilerName(root) ||
		strings.HasPrefix(process, "ns-reconciler-")
}

// rights reads a change of the binding. It must not take the rights of a reconciler that is there,
// nor those of a RepoSync that is not being deleted.
func (r *Record) rights(binding history.Ref) {
	for _, s := range r.syncs {
		if !s.Exists() {
			continue
		}
		has, name := r.hasRights(s), reposync.ReconcilerName(s.NamespacedName)
		if s.granted && !has && deleted(s.Object) == nil {
			r.Breaks(siblings, "the reconciler of %s has lost its rights", s)
		}
		deployment := history.Ref{Group: "apps", Kind: "Deployment", Namespace: reposync.Namespace, Name: name}
		if s.granted && !has && r.live(deployment) != nil {
			r.Breaks(outlive, "Deployment %s lost its rights when %s changed", name, binding)
		}
		s.granted = has
	}
}

func (r *Record) hasRights(s *syncRecord) bool {
	gives := func(kind, namespace string) bool {
		b := r.live(history.Ref{Group: rbacv1.GroupName, Kind: kind, Namespace: namespace, Name: reposync.BindingName})
		return b != nil && slices.ContainsFunc(b.Subjects, func(to rbacv1.Subject) bool {
			return to.Name == reposync.ReconcilerName(s.NamespacedName)
		})
	}
	return gives("RoleBinding", s.Namespace) || gives("ClusterRoleBinding", "")
}

// refused reads a refused creation in a terminating namespace.
func (r *Record) refused(e *history.Event, by *view.Reconcile) {
	if e.Process == Manager && e.Ref.Kind == "RoleBinding" {
		r.Breaks(revived, "%s tried to create %s again in terminating namespace %s", e.Actor(), reposync.BindingName,
			e.Ref.Namespace)
	}
	for _, s := range r.syncs {
		knew := s.knew[e.Process]
		if s.Namespace == e.Ref.Namespace && deleted(s.Object) != nil && knew != 0 && knew < r.began[by] {
			r.Breaks(noFight, "%s knew that %s is being deleted, and wanted to create %s", e.Actor(), s, e.Ref)
		}
	}
	home := r.objects.Named(namespaceRef(e.Ref.Namespace))
	if e.Process == reposync.ReconcilerName(root) && deleted(home).Event < r.began[by] {
		r.Breaks(vain, "%s wanted to create %s in a namespace that had begun to end when it looked", e.Actor(), e.Ref)
	}
	before := refusals(by)
	if slices.Contains(before[:len(before)-1], e.Ref) {
		r.Breaks(noFight, "%s wanted to create %s twice in one go", e.Actor(), e.Ref)
	}
}

// tries are how many a writer of the finalizers needs at most.
const tries = 3

// tooLate reads a write to a RepoSync that another writer has changed since it was read.
func (r *Record) tooLate(e *history.Event, by *view.Reconcile) {
	s, late := r.sync(e.Ref), 0
	if s == nil || deleted(s.Object) == nil {
		return
	}
	since := deleted(s.Object).Event
	for _, c := range by.Calls {
		if c.Request.Index > since && tooLate(&c.Request) {
			late++
		}
	}
	if late >= tries {
		r.Breaks(converges, "%s came too late for %s %d times in one go", e.Actor(), s, late)
	}
}
