// This file holds the properties, with their numbers. Those that are judged event by event are in
// record.go.

package reposync

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
	"github.com/wavetank/wavetank/sim/property"
)

// The names of the properties.
const (
	finishes    = "the namespace goes within two minutes"
	goes        = "the RepoSync goes within a minute"
	honoured    = "managed objects go before the finalizer, unless the namespace goes"
	strongOrder = "nothing is deleted that something else depends on"
	weakOrder   = "the operator deletes nothing that something else depends on"
	usersOrder  = "what a user's finalizer keeps goes last"
	outlive     = "rights outlive their use"
	noLeaks     = "a RepoSync that has gone leaves nothing in the system namespace"
	onceOff     = "the finalizer is taken off once, and not put back"
	converges   = "a writer of finalizers succeeds at the third try"
	revived     = "no binding is created where the namespace terminates"
	noFight     = "no creation is bound to be refused"
	settles     = "each period of back-off has one refused creation"
	truth       = "a RepoSync that has gone leaves no managed object"
	actionable  = "the RepoSync says what its deletion waits for"
	inventoried = "the inventory is there while anything in it is"
	synced      = "what is declared is there"
	whole       = "a reconciler keeps its rights"
	siblings    = "a RepoSync that stays keeps its rights"
	spared      = "nothing is deleted that is to stay"
	gone        = "what was to go has gone"
	rootGoes    = "the RootSync goes within two minutes"
	renewed     = "a namespace that is declared comes back with all that was in it"
	prompt      = "a definition does not wait for its resources"
	vain        = "the RootSync creates nothing where a namespace is known to go"
)

// properties are those that a run can declare. Those whose judge is nil are judged as the history
// is read.
func (r *Record) properties() properties.Set {
	return properties.Set{Read: r.read, Broken: r.Broken, Always: map[string]properties.Judge{
		finishes: r.finishes, goes: r.goes, rootGoes: r.rootGoes, renewed: r.renewed, noLeaks: r.noLeaks,
		truth: r.truth, prompt: r.prompt, actionable: r.actionable, settles: r.settles(), honoured: nil,
		strongOrder: nil, weakOrder: nil, outlive: nil, onceOff: nil, converges: nil, revived: nil, noFight: nil,
		inventoried: nil, siblings: nil, spared: nil, vain: nil,
		usersOrder: property.DeletionOrder(managed(shop)[0], managed(shop)[1]),
	}, Eventually: map[string]properties.Judge{whole: r.whole, synced: r.synced, gone: r.gone}}
}

// finishes (S3-L1): a namespace that a user deletes is gone two minutes after the last disturbance.
func (r *Record) finishes(h *history.History) error {
	for _, name := range slices.Sorted(maps.Keys(r.wanted)) {
		since := r.wanted[name]
		if r.live(namespaceRef(name)) == nil || !r.late(h, since, 2*time.Minute) {
			continue
		}
		var left []string
		for o := range r.objects.Live() {
			if o.Ref.Namespace == name {
				left = append(left, strings.TrimSpace(fmt.Sprintln(o.Ref.String(), o.Value().Metadata.Finalizers)))
			}
		}
		slices.Sort(left)
		return fmt.Errorf("namespace %s was to go at %s, nothing has disturbed that since %s, and it holds %s",
			name, history.Clock(since), history.Clock(r.disturbed), strings.Join(left, ", "))
	}
	return nil
}

// going returns the RepoSyncs and RootSyncs that are being deleted, kept the others that exist, and
// left those that have gone, unless there is another of the name.
func (r *Record) going() []*syncRecord {
	return r.those(func(s *syncRecord) bool { return s.Exists() && deleted(s.Object) != nil })
}

func (r *Record) kept() []*syncRecord {
	return r.those(func(s *syncRecord) bool { return s.Exists() && deleted(s.Object) == nil })
}

func (r *Record) left() []*syncRecord {
	return r.those(func(s *syncRecord) bool { return !s.Exists() && r.live(s.Ref) == nil })
}

func (r *Record) those(are func(*syncRecord) bool) []*syncRecord {
	return slices.DeleteFunc(slices.Clone(r.syncs), func(s *syncRecord) bool { return !are(s) })
}

// goes (S3-L2): a RepoSync that is being deleted is gone a minute after the last disturbance.
func (r *Record) goes(h *history.History) error {
	for _, s := range r.going() {
		if since := deleted(s.Object).At; r.late(h, since, time.Minute) {
			return fmt.Errorf("%s has been deleted since %s and is kept by %v", s, history.Clock(since),
				s.Value().Metadata.Finalizers)
		}
	}
	return nil
}

// rootGoes: a RootSync that is being deleted is gone two minutes after the last disturbance, with a
// namespace and a RepoSync that it declares.
func (r *Record) rootGoes(h *history.History) error {
	for _, s := range r.going() {
		if since := deleted(s.Object).At; s.NamespacedName == root && r.late(h, since, 2*time.Minute) {
			return fmt.Errorf("%s has been deleted since %s, and of what it declares there are %v", s,
				history.Clock(since), r.present(s))
		}
	}
	return nil
}

// renewed: at the end, everything that a RootSync declares, and all that a RepoSync among that
// declares, is there and stays.
func (r *Record) renewed(*history.History) error {
	for _, ref := range slices.Concat(managed(root), managed(shop)) {
		if o := r.live(ref); r.over && (o == nil || o.deleting()) {
			return fmt.Errorf("%s is declared; it is there: %v", ref, o != nil)
		}
	}
	return nil
}

// prompt: a CustomResourceDefinition that a RootSync declares is deleted within 30 s after that,
// whatever keeps its custom resources. To be applied first is not to be deleted last.
func (r *Record) prompt(h *history.History) error {
	for _, s := range r.going() {
		d := r.live(definition)
		if since := deleted(s.Object).At; d != nil && !d.deleting() && r.late(h, since, 30*time.Second) {
			return fmt.Errorf("%s has been deleted since %s, and %s has not", s, history.Clock(since), definition)
		}
	}
	return nil
}

// noLeaks (S3-S4): 30 s after a RepoSync has gone, nothing that was made for it is left in the
// system namespace, where the inventory of a RootSync is, nor are its reconciler's rights. If the
// manager's work fails it may be late, and is judged at the end.
func (r *Record) noLeaks(h *history.History) error {
	for _, s := range r.left() {
		ago := h.Now() - s.Latest().At
		if ago <= 30*time.Second || r.setting.Late && !r.over {
			continue
		}
		if r.hasRights(s) {
			return fmt.Errorf("%s has been gone for %v, and its reconciler still has rights", s, ago)
		}
		var left []string
		for o := range r.objects.Live() {
			l := o.Value().Metadata.Labels
			mine := l[reposync.SyncNamespaceLabel] == s.Namespace && l[reposync.SyncNameLabel] == s.Name
			mine = mine || o.Ref.Kind == "ResourceGroup" && o.Ref.Namespace == s.Namespace && o.Ref.Name == s.Name
			if mine && o.Ref.Namespace == reposync.Namespace {
				left = append(left, o.Ref.String())
			}
		}
		if slices.Sort(left); len(left) > 0 {
			return fmt.Errorf("%s has been gone for %v, and there are %v", s, ago, left)
		}
	}
	return nil
}

// truth (S3-A1): where a RepoSync with foreground deletion has gone, no managed object is left.
func (r *Record) truth(*history.History) error {
	for _, s := range r.left() {
		if left := r.present(s); s.foreground() && len(left) > 0 {
			return fmt.Errorf("%s has gone, and %v exist", s, left)
		}
	}
	return nil
}

// actionable (S3-A2): for 95 % of the time that a deletion is blocked, from its 30th second on, the
// RepoSync says by what. It is judged at the end.
func (r *Record) actionable(*history.History) error {
	if !r.over || len(r.syncs) == 0 {
		return nil
	}
	s, from, to := r.syncs[0], r.blocked[0]+30*time.Second, r.blocked[1]
	said := s.Held(from, to, func(o *object) bool { return strings.Contains(o.says(), r.blame) })
	if all := to - from; said < all*95/100 {
		return fmt.Errorf("for %v of %v %s did not say that it waits for %s", all-said, all, s, r.blame)
	}
	return nil
}

// whole: if a RepoSync is not being deleted, its reconciler has its rights, by a binding that is
// not being deleted.
func (r *Record) whole(*history.History) error {
	for _, s := range r.kept() {
		if !r.hasRights(s) {
			return fmt.Errorf("the reconciler of %s has no rights", s)
		}
		for o := range r.objects.Live() {
			if o.Ref.Name == reposync.BindingName && o.Value().deleting() {
				return fmt.Errorf("%s, by which the reconciler of %s has its rights, is being deleted", o.Ref, s)
			}
		}
	}
	return nil
}

// synced: what a RepoSync declares is there, unless it is being deleted.
func (r *Record) synced(*history.History) error {
	for _, s := range r.kept() {
		if len(r.present(s)) < len(kinds) {
			return fmt.Errorf("of what %s declares there is only %v", s, r.present(s))
		}
	}
	return nil
}

// gone: no RepoSync that was deleted and no namespace that was to go is there.
func (r *Record) gone(*history.History) error {
	for _, name := range slices.Sorted(maps.Keys(r.wanted)) {
		if r.live(namespaceRef(name)) != nil {
			return fmt.Errorf("namespace %s is still there", name)
		}
	}
	for _, s := range r.going() {
		return fmt.Errorf("%s is still there", s)
	}
	return nil
}

// longestBackOff is that of controller-runtime's work queues.
const longestBackOff = 1000 * time.Second

// settles holds if there is one attempt in each period of back-off, and a process that was refused
// keeps trying after the faults. An attempt is a reconcile that is refused a creation.
func (r *Record) settles() properties.Judge {
	manager := property.BackoffSettled("reconciler-manager", time.Second, refused)
	reconciler := property.BackoffSettled("reconciler", time.Second, refused)
	again := property.AttemptsSettle(property.Attempts{
		Of: func(e *history.Event) string {
			if by := r.view.Of(e); by != nil && refused(e) {
				return by.Process + " " + by.ID.Key.String()
			}
			return ""
		},
		Period:  func([]property.Attempt) time.Duration { return 0 }, // the others judge how soon
		Longest: longestBackOff, Lag: 10 * time.Second, Ended: func() history.Time { return r.measured },
	})
	return func(h *history.History) error {
		return cmp.Or(manager(h), reconciler(h), again(h))
	}
}
