// This file holds the properties, with their numbers. Those that are judged event by event are in
// record.go.

package reposync

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/history"
)

// The names of the properties.
const (
	finishes    = "the namespace goes within two minutes"
	goes        = "the RepoSync goes within a minute"
	honoured    = "managed objects go before the finalizer, unless the namespace goes"
	strongOrder = "nobody deletes what something else depends on"
	weakOrder   = "the operator deletes nothing that something else depends on"
	outlive     = "rights outlive their use"
	noLeaks     = "a RepoSync that has gone leaves nothing in the system namespace"
	onceOff     = "the finalizer is taken off once, and not put back"
	converges   = "who writes the finalizers is in time at the third try"
	revived     = "nobody makes a binding anew where the namespace goes"
	noFight     = "nothing is created in vain"
	restrained  = "a period of back-off has at most one refused creation more than faults"
	settles     = "each period of back-off has one refused creation"
	truth       = "a RepoSync that has gone leaves no managed object"
	actionable  = "the RepoSync says what its deletion waits for"
	inventoried = "the inventory is there while anything in it is"
	synced      = "what is declared is there"
	whole       = "a reconciler has rights that nobody takes away"
	siblings    = "a RepoSync that stays keeps its rights"
	spared      = "nothing is deleted that is to stay"
	gone        = "what was to go has gone"
	rootGoes    = "the RootSync goes within two minutes"
	renewed     = "a namespace that is declared comes back with all that was in it"
	vain        = "the RootSync creates nothing where a namespace is known to go"
)

// checks are the properties that are not judged event by event.
var checks = map[string]func(*Record, *history.History) error{
	finishes: (*Record).finishes, goes: (*Record).goes, rootGoes: (*Record).rootGoes, renewed: (*Record).renewed,
	noLeaks: (*Record).noLeaks, onceOff: (*Record).onceOff, truth: (*Record).truth, actionable: (*Record).actionable,
	siblings: (*Record).siblings, whole: (*Record).whole, synced: (*Record).synced, gone: (*Record).gone,
	settles: (*Record).settles,
}

// atTheEnd are the properties that must hold when nothing is left to do. The others must hold after
// every step.
var atTheEnd = []string{whole, synced, gone}

// property returns the property of a name.
func (r *Record) property(name string) func(*history.History) error {
	return func(h *history.History) error {
		r.read(h)
		if check := checks[name]; check != nil {
			return check(r, h)
		}
		return r.broken[name]
	}
}

// declare declares properties.
func (s *World) declare(names ...string) {
	for _, name := range names {
		if slices.Contains(atTheEnd, name) {
			s.Eventually(name, s.property(name))
		} else {
			s.Always(name, s.property(name))
		}
	}
}

// finishes (S3-L1): a namespace that somebody wants to go is gone two minutes after the last
// disturbance.
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

// going are the RepoSyncs and RootSyncs whose deletion was asked for, and when, and that exist.
func (r *Record) going(f func(*syncRecord, history.Time) error) error {
	for _, s := range r.syncs {
		if since, deleted := s.deleted(); deleted && s.Exists() {
			if err := f(s, since); err != nil {
				return err
			}
		}
	}
	return nil
}

// goes (S3-L2): a RepoSync that is being deleted is gone a minute after the last disturbance.
func (r *Record) goes(h *history.History) error {
	return r.going(func(s *syncRecord, since history.Time) error {
		if !r.late(h, since, time.Minute) {
			return nil
		}
		return fmt.Errorf("%s has been deleted since %s and is kept by %v", s, history.Clock(since),
			s.Value().Metadata.Finalizers)
	})
}

// rootGoes: a RootSync that is being deleted is gone two minutes after the last disturbance, with a
// namespace and a RepoSync that it declares.
func (r *Record) rootGoes(h *history.History) error {
	return r.going(func(s *syncRecord, since history.Time) error {
		if s.NamespacedName != root || !r.late(h, since, 2*time.Minute) {
			return nil
		}
		return fmt.Errorf("%s has been deleted since %s, and of what it declares there are %v", s,
			history.Clock(since), r.present(s))
	})
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

// left are the RepoSyncs and RootSyncs that have gone, and when, unless there is another of the
// name.
func (r *Record) left(f func(*syncRecord, history.Time) error) error {
	for _, s := range r.syncs {
		if at, removed := s.Removed(); removed && r.live(s.Ref) == nil {
			if err := f(s, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// noLeaks (S3-S4): 30 s after a RepoSync has gone, nothing that was made for it is left, nor are
// its reconciler's rights. Where the manager's work fails it may be late, and is judged at the end.
func (r *Record) noLeaks(h *history.History) error {
	return r.left(func(s *syncRecord, at history.Time) error {
		if h.Now() <= at+30*time.Second || r.setting.Late && !r.over {
			return nil
		}
		if r.hasRights(s) {
			return fmt.Errorf("%s has been gone for %v, and its reconciler still has rights", s, h.Now()-at)
		}
		var left []string
		for o := range r.objects.Live() {
			l := o.Value().Metadata.Labels
			mine := l[reposync.SyncNamespaceLabel] == s.Namespace && l[reposync.SyncNameLabel] == s.Name
			if mine && o.Ref.Namespace == reposync.Namespace {
				left = append(left, o.Ref.String())
			}
		}
		if len(left) == 0 {
			return nil
		}
		slices.Sort(left)
		return fmt.Errorf("%s has been gone for %v, and there are %v", s, h.Now()-at, left)
	})
}

// onceOff (S3-S5): the reconciler's finalizer is taken off once, and nobody tries to put it back on
// a RepoSync that is being deleted, which the server refuses.
func (r *Record) onceOff(h *history.History) error {
	for _, s := range r.syncs {
		if s.removals > 1 {
			return fmt.Errorf("the reconciler's finalizer was taken off %s %d times", s, s.removals)
		}
	}
	return r.broken[onceOff]
}

// truth (S3-A1): where a RepoSync with foreground deletion has gone, no managed object is left.
func (r *Record) truth(*history.History) error {
	return r.left(func(s *syncRecord, _ history.Time) error {
		if left := r.present(s); s.foreground() && len(left) > 0 {
			return fmt.Errorf("%s has gone, and %v exist", s, left)
		}
		return nil
	})
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

// kept are the RepoSyncs and RootSyncs that exist and that nobody deletes.
func (r *Record) kept() (out []*syncRecord) {
	for _, s := range r.syncs {
		if _, deleted := s.deleted(); !deleted && s.Exists() {
			out = append(out, s)
		}
	}
	return out
}

// siblings: while it is not deleted, a RepoSync that has had rights has them.
func (r *Record) siblings(*history.History) error {
	for _, s := range r.kept() {
		if s.had && !r.hasRights(s) {
			return fmt.Errorf("the reconciler of %s has lost its rights", s)
		}
	}
	return nil
}

// whole: the reconciler of a RepoSync that nobody deletes has its rights, and by a binding that
// nobody deletes.
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

// synced: what a RepoSync that nobody deletes declares is there.
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
	return r.going(func(s *syncRecord, _ history.Time) error { return fmt.Errorf("%s is still there", s) })
}
