// This file exists to read a run's history once, event by event, into what the properties ask
// about.

package reposync

import (
	"fmt"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/stored"
)

// Books are what one run's history says of RepoSyncs, of what they manage, and of their namespaces.
type Books struct {
	setting Setting
	read    int
	live    map[history.Ref]object
	syncs   []*account
	// wanted is when somebody first wanted a namespace to go.
	wanted map[string]history.Time
	// disturbed is when a fault, a user or a start or end of a program last changed the course of
	// things.
	disturbed history.Time
	// away is set while a program is away that nobody can do without, dead holds those that have
	// crashed and wait for the kubelet.
	away bool
	dead map[string]bool
	// broken says, by property, what broke it, for those that are judged event by event.
	broken map[string]error
	// over is set when the telling has come to its end.
	over bool
	// blame names what a deletion waits for in this telling, and blocked for how long it must be
	// said.
	blame   string
	blocked [2]history.Time

	ending   map[string]int // index of the event by which a namespace began to end
	handouts map[string]int // index of the latest hand-out, by process, life and reconcile
}

// object is what the properties read of a stored object.
type object struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Status   struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
	Subjects []rbacv1.Subject `json:"subjects"`
}

func (o object) deleting() bool { return o.Metadata.DeletionTimestamp != nil }

func (o object) has(finalizer string) bool { return slices.Contains(o.Metadata.Finalizers, finalizer) }

// account is what happened to one RepoSync or RootSync.
type account struct {
	types.NamespacedName
	uid        string
	foreground bool
	deleting   history.Time // 0 while nobody has asked
	gone       history.Time
	removals   int            // of the reconciler's finalizer
	granted    bool           // its reconciler has rights
	had        bool           // or has had them
	knew       map[string]int // by process: index of the event that told it of the deletion
	says       []saying
	lost       map[string]int // by process, life and reconcile: its writes that came too late
}

// saying is what the true conditions of a RepoSync said from some time on.
type saying struct {
	at   history.Time
	text string
}

// NewBooks returns empty books of a run in this setting.
func NewBooks(s Setting) *Books {
	return &Books{setting: s, live: map[history.Ref]object{}, wanted: map[string]history.Time{}, broken: map[string]error{}, handouts: map[string]int{}, ending: map[string]int{},
		dead: map[string]bool{}}
}

func (b *Books) wants(namespace string, at history.Time) {
	if _, known := b.wanted[namespace]; !known {
		b.wanted[namespace] = max(at, 1)
	}
}

// breaks remembers what first broke a property.
func (b *Books) breaks(property string, format string, args ...any) {
	if b.broken[property] == nil {
		b.broken[property] = fmt.Errorf(format, args...)
	}
}

// take reads what is new.
func (b *Books) take(h *history.History) {
	for ; b.read < len(h.Events); b.read++ {
		e := &h.Events[b.read]
		b.disturbs(e)
		switch {
		case e.Kind == history.Dequeue:
			b.handouts[e.Actor()+" "+e.Reconcile] = e.Index
		case e.Kind == history.Deliver && e.Ref.Kind == "RepoSync" && strings.Contains(string(e.Received), `"deletionTimestamp"`):
			if s := b.account(e.Ref); s != nil && s.knew[e.Process] == 0 {
				s.knew[e.Process] = e.Index
			}
		case e.Kind == history.Request && e.Verb == "create" && e.Code == 403 && strings.Contains(string(e.Received), "NamespaceTerminating"):
			b.refused(e)
		case e.Kind == history.Request && e.Code == 409 && e.Ref.Kind == "RepoSync" && e.Sub == "" && ours(e.Process):
			b.tooLate(e)
		}
		for i := range e.Changes {
			b.changed(e, &e.Changes[i])
		}
	}
}

func (b *Books) disturbs(e *history.Event) {
	switch e.Kind {
	case history.Crash:
		b.dead[e.Process] = true
	case history.Start:
		delete(b.dead, e.Process)
	}
	switch e.Kind {
	case history.Fault, history.Heal, history.Start, history.Stop, history.Crash:
		b.disturbed = e.At
	case history.Request:
		if e.Process == "user" && len(e.Changes) > 0 && e.Ref.Name != theEnd {
			b.disturbed = e.At
		}
	}
}

// account is that of the RepoSync that has the name now, or had it last.
func (b *Books) account(ref history.Ref) *account {
	for i := len(b.syncs) - 1; i >= 0; i-- {
		if s := b.syncs[i]; s.Namespace == ref.Namespace && s.Name == ref.Name {
			return s
		}
	}
	return nil
}

// changed takes in a committed change, whoever made it.
func (b *Books) changed(e *history.Event, c *history.Change) {
	var now object
	stored.Decode(c.Object, &now)
	was := b.live[c.Ref]
	if c.Type == "DELETED" {
		delete(b.live, c.Ref)
		now.Metadata.Finalizers = nil
	} else {
		b.live[c.Ref] = now
	}
	going := c.Type == "DELETED" || now.deleting()
	if c.Ref.Kind == "Namespace" && now.deleting() && !was.deleting() {
		b.ending[c.Ref.Name] = e.Index
	}
	switch c.Ref.Kind {
	case "RepoSync", "RootSync":
		b.sync(c, was, now)
	case "RoleBinding", "ClusterRoleBinding":
		if c.Ref.Name == reposync.BindingName {
			b.rights(c)
		}
	}
	if going && !was.deleting() {
		b.order(e, c.Ref)
		b.spare(e, c.Ref)
	}
	b.inventories(c)
}

// sync follows one RepoSync.
func (b *Books) sync(c *history.Change, was, now object) {
	s := b.account(c.Ref)
	if s == nil || s.uid != c.UID {
		s = &account{NamespacedName: types.NamespacedName{Namespace: c.Ref.Namespace, Name: c.Ref.Name}, uid: c.UID, knew: map[string]int{}, lost: map[string]int{}}
		b.syncs = append(b.syncs, s)
	}
	s.foreground = now.Metadata.Annotations[v1beta1.DeletionPropagationPolicy] == v1beta1.Foreground
	if now.deleting() && s.deleting == 0 {
		s.deleting = c.At
	}
	text := ""
	for _, condition := range now.Status.Conditions {
		if condition.Status == metav1.ConditionTrue {
			text += condition.Message + "\n"
		}
	}
	if c.Type == "DELETED" {
		s.gone, text = c.At, ""
	}
	if n := len(s.says); n == 0 || s.says[n-1].text != text {
		s.says = append(s.says, saying{c.At, text})
	}
	if was.has(v1beta1.ReconcilerFinalizer) && !now.has(v1beta1.ReconcilerFinalizer) && (was.deleting() || now.deleting()) {
		s.removals++
		if left := b.present(s); s.foreground && len(left) > 0 && !b.live[namespaceRef(s.Namespace)].deleting() {
			b.breaks(honoured, "the reconciler's finalizer was taken off %s while %v existed, and nobody deletes its namespace", s, left)
		}
	}
}

func namespaceRef(name string) history.Ref { return history.Ref{Kind: "Namespace", Name: name} }

// present are the managed objects of a RepoSync that exist.
func (b *Books) present(s *account) (out []string) {
	for _, ref := range managed(s.NamespacedName) {
		if _, there := b.live[ref]; there {
			out = append(out, ref.String())
		}
	}
	return out
}

// order is told of an object that somebody deletes.
func (b *Books) order(e *history.Event, ref history.Ref) {
	for _, first := range b.setting.dependents(ref) {
		if _, there := b.live[first]; !there {
			continue
		}
		b.breaks(strongOrder, "%s deleted %s while %s, which depends on it, existed", e.Actor(), ref, first)
		if ours(e.Process) {
			b.breaks(weakOrder, "%s deleted %s while %s, which depends on it, existed", e.Actor(), ref, first)
		}
	}
}

// spare is told of an object that somebody deletes: what a RepoSync manages is to stay if its
// policy says so.
func (b *Books) spare(e *history.Event, ref history.Ref) {
	for _, s := range b.syncs {
		if !s.foreground && ours(e.Process) && slices.Contains(managed(s.NamespacedName), ref) {
			b.breaks(spared, "%s deleted %s, which %s leaves where it is", e.Actor(), ref, s)
		}
	}
}

// ours says that a process is one of the operator's.
func ours(process string) bool {
	return process == Manager || process == Webhook || process == reposync.ReconcilerName(root) || strings.HasPrefix(process, "ns-reconciler-")
}

// rights is told of a change of the binding: no reconciler that is there may lose its rights by it.
func (b *Books) rights(c *history.Change) {
	for _, s := range b.syncs {
		if s.gone != 0 {
			continue
		}
		has := b.hasRights(s)
		_, deployed := b.live[history.Ref{Group: "apps", Kind: "Deployment", Namespace: reposync.Namespace, Name: reposync.ReconcilerName(s.NamespacedName)}]
		if s.granted && !has && deployed {
			b.breaks(outlive, "Deployment %s lost its rights when %s changed", reposync.ReconcilerName(s.NamespacedName), c.Ref)
		}
		s.granted, s.had = has, s.had || has
	}
}

func (b *Books) hasRights(s *account) bool {
	for _, ref := range []history.Ref{
		{Group: rbacv1.GroupName, Kind: "RoleBinding", Namespace: s.Namespace, Name: reposync.BindingName},
		{Group: rbacv1.GroupName, Kind: "ClusterRoleBinding", Name: reposync.BindingName},
	} {
		if slices.ContainsFunc(b.live[ref].Subjects, func(r rbacv1.Subject) bool { return r.Name == reposync.ReconcilerName(s.NamespacedName) }) {
			return true
		}
	}
	return false
}

// inventories are there while they are needed.
func (b *Books) inventories(c *history.Change) {
	if c.Ref.Kind != "ResourceGroup" || c.Type != "DELETED" {
		return
	}
	s := b.account(c.Ref)
	if s != nil && s.foreground && s.gone == 0 && len(b.present(s)) > 0 {
		b.breaks(inventoried, "the inventory of %s is gone, and %v exist", s, b.present(s))
	}
}

// refused is told of a creation in a terminating namespace.
func (b *Books) refused(e *history.Event) {
	began := b.handouts[e.Actor()+" "+e.Reconcile]
	if e.Process == Manager && e.Ref.Kind == "RoleBinding" {
		b.breaks(revived, "%s wanted to make %s anew in namespace %s", e.Actor(), reposync.BindingName, e.Ref.Namespace)
	}
	for _, s := range b.syncs {
		if s.Namespace == e.Ref.Namespace && s.deleting != 0 && s.knew[e.Process] != 0 && s.knew[e.Process] < began {
			b.breaks(noFight, "%s knew that %s is being deleted, and wanted to create %s", e.Actor(), s, e.Ref)
		}
	}
	if e.Process == reposync.ReconcilerName(root) && b.ending[e.Ref.Namespace] < began {
		b.breaks(vain, "%s wanted to create %s in a namespace that had begun to end when it looked", e.Actor(), e.Ref)
	}
	key := "refused " + e.Actor() + " " + e.Reconcile + " " + e.Ref.String()
	if b.handouts[key] != 0 {
		b.breaks(noFight, "%s wanted to create %s twice in one go", e.Actor(), e.Ref)
	}
	b.handouts[key] = e.Index
}

// late says whether something that began at a time has lasted for longer than bound, since nothing
// disturbed it.
func (b *Books) late(h *history.History, since history.Time, bound time.Duration) bool {
	if b.away || len(b.dead) > 0 {
		b.disturbed = h.Now()
	}
	return h.Now() > max(since, b.disturbed)+bound
}
