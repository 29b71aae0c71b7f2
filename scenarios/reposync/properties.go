// This file exists for the properties of the story, with their numbers. Those that are judged event
// by event are in books.go.

package reposync

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/history"
)

// The sentences under which the properties are declared.
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

// Judged returns the property that is judged event by event under a sentence.
func (b *Books) Judged(sentence string) func(*history.History) error {
	return func(h *history.History) error {
		b.take(h)
		return b.broken[sentence]
	}
}

// Finishes (S3-L1): a namespace that somebody wants to go is gone two minutes after the last
// disturbance.
func (b *Books) Finishes(h *history.History) error {
	b.take(h)
	for _, s := range b.syncs {
		since, wanted := b.wanted[s.Namespace]
		if _, there := b.live[namespaceRef(s.Namespace)]; wanted && there && b.late(h, since, 2*time.Minute) {
			var left []string
			for ref, o := range b.live {
				if ref.Namespace == s.Namespace {
					left = append(left, strings.TrimSpace(fmt.Sprintln(ref.String(), o.Metadata.Finalizers)))
				}
			}
			return fmt.Errorf("namespace %s was to go at %s, nothing has disturbed that since %s, and it holds %s", s.Namespace, history.Clock(since),
				history.Clock(b.disturbed), strings.Join(sorted(left), ", "))
		}
	}
	return nil
}

// Goes (S3-L2): a RepoSync that is being deleted is gone a minute after the last disturbance.
func (b *Books) Goes(h *history.History) error {
	b.take(h)
	for _, s := range b.syncs {
		if s.deleting != 0 && s.gone == 0 && b.late(h, s.deleting, time.Minute) {
			return fmt.Errorf("%s has been deleted since %s and is kept by %v", s, history.Clock(s.deleting), b.live[s.ref()].Metadata.Finalizers)
		}
	}
	return nil
}

func (s *account) ref() history.Ref { return syncRef(s.NamespacedName) }

// String is "RepoSync namespace/name", or that of a RootSync.
func (s *account) String() string { return s.ref().Kind + " " + s.NamespacedName.String() }

func syncRef(sync types.NamespacedName) history.Ref {
	kind := "RepoSync"
	if sync == root {
		kind = "RootSync"
	}
	return history.Ref{Group: "configsync.gke.io", Kind: kind, Namespace: sync.Namespace, Name: sync.Name}
}

// RootGoes: a RootSync that is being deleted is gone two minutes after the last disturbance, with a
// namespace and a RepoSync that it declares.
func (b *Books) RootGoes(h *history.History) error {
	b.take(h)
	if s := b.account(syncRef(root)); s != nil && s.deleting != 0 && s.gone == 0 && b.late(h, s.deleting, 2*time.Minute) {
		return fmt.Errorf("%s has been deleted since %s, and of what it declares there are %v", s, history.Clock(s.deleting), b.present(s))
	}
	return nil
}

// Renewed: when the telling is over, everything that a RootSync declares, and all that a RepoSync
// among that declares, is there and stays.
func (b *Books) Renewed(h *history.History) error {
	b.take(h)
	if !b.over {
		return nil
	}
	for _, sync := range []types.NamespacedName{root, shop} {
		for _, ref := range managed(sync) {
			if o, there := b.live[ref]; !there || o.deleting() {
				return fmt.Errorf("%s is declared; it is there: %v; it is being deleted: %v", ref, there, o.deleting())
			}
		}
	}
	return nil
}

// NoLeaks (S3-S4): 30 s after a RepoSync has gone, nothing that was made for it is left, nor are
// its reconciler's rights.
func (b *Books) NoLeaks(h *history.History) error {
	b.take(h)
	for _, s := range b.syncs {
		if _, again := b.live[s.ref()]; again || s.gone == 0 || h.Now() <= s.gone+30*time.Second {
			continue
		}
		if b.hasRights(s) {
			return fmt.Errorf("%s has been gone for %v, and its reconciler still has rights", s, h.Now()-s.gone)
		}
		var left []string
		for ref, o := range b.live {
			l := o.Metadata.Labels
			if ref.Namespace == reposync.Namespace && l[reposync.SyncNamespaceLabel] == s.Namespace && l[reposync.SyncNameLabel] == s.Name {
				left = append(left, ref.String())
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("%s has been gone for %v, and there are %v", s, h.Now()-s.gone, sorted(left))
		}
	}
	return nil
}

// Swept is NoLeaks when the telling is over, for tellings in which the manager may be late because
// its work fails.
func (b *Books) Swept(h *history.History) error {
	if b.take(h); !b.over {
		return nil
	}
	return b.NoLeaks(h)
}

// OnceOff (S3-S5): the reconciler's finalizer is taken off once, and nobody tries to put it back on
// a RepoSync that is being deleted, which the server refuses. What S5 says of a writer who comes
// too late is in rivals.go.
func (b *Books) OnceOff(h *history.History) error {
	from := b.read
	b.take(h)
	for _, s := range b.syncs {
		if s.removals > 1 {
			return fmt.Errorf("the reconciler's finalizer was taken off %s %d times", s, s.removals)
		}
	}
	for _, e := range h.Events[from:] {
		if e.Kind == history.Request && e.Ref.Kind == "RepoSync" && e.Code == 422 &&
			strings.Contains(string(e.Received), "no new finalizers") {
			return fmt.Errorf("%s wrote RepoSync %s/%s in a way that was refused: %s", e.Actor(), e.Ref.Namespace, e.Ref.Name, e.Received)
		}
	}
	return nil
}

// Truth (S3-A1): where a RepoSync with foreground deletion has gone, no managed object is left.
func (b *Books) Truth(h *history.History) error {
	b.take(h)
	for _, s := range b.syncs {
		if _, again := b.live[s.ref()]; again || s.gone == 0 || !s.foreground {
			continue
		}
		if left := b.present(s); len(left) > 0 {
			return fmt.Errorf("%s has gone, and %v exist", s, left)
		}
	}
	return nil
}

// Actionable (S3-A2): for 95 % of the time that a deletion is blocked, from its 30th second on, the
// RepoSync says by what. It judges when the telling is over.
func (b *Books) Actionable(h *history.History) error {
	b.take(h)
	if !b.over || len(b.syncs) == 0 {
		return nil
	}
	s, from, to := b.syncs[0], b.blocked[0]+30*time.Second, b.blocked[1]
	told := time.Duration(0)
	for i, said := range s.says {
		end := to
		if i+1 < len(s.says) {
			end = min(to, s.says[i+1].at)
		}
		if begin := max(from, said.at); end > begin && strings.Contains(said.text, b.blame) {
			told += end - begin
		}
	}
	if all := to - from; told < all*95/100 {
		return fmt.Errorf("for %v of %v %s did not say that it waits for %s", all-told, all, s, b.blame)
	}
	return nil
}

// Siblings: while it is not deleted, a RepoSync that has had rights has them.
func (b *Books) Siblings(h *history.History) error {
	b.take(h)
	for _, s := range b.syncs {
		if s.had && s.deleting == 0 && s.gone == 0 && !b.hasRights(s) {
			return fmt.Errorf("the reconciler of %s has lost its rights", s)
		}
	}
	return nil
}

// Whole: the reconciler of a RepoSync that nobody deletes has its rights, and by a binding that
// nobody deletes.
func (b *Books) Whole(h *history.History) error {
	b.take(h)
	for _, s := range b.syncs {
		if s.deleting != 0 || s.gone != 0 {
			continue
		}
		if !b.hasRights(s) {
			return fmt.Errorf("the reconciler of %s has no rights", s)
		}
		for ref, o := range b.live {
			if ref.Name == reposync.BindingName && o.deleting() {
				return fmt.Errorf("%s, by which the reconciler of %s has its rights, is being deleted", ref, s)
			}
		}
	}
	return nil
}

// Synced: what a RepoSync that nobody deletes declares is there.
func (b *Books) Synced(h *history.History) error {
	b.take(h)
	for _, s := range b.syncs {
		if _, there := b.live[s.ref()]; there && s.deleting == 0 && len(b.present(s)) < len(kinds) {
			return fmt.Errorf("of what %s declares there is only %v", s, b.present(s))
		}
	}
	return nil
}

func sorted(all []string) []string {
	slices.Sort(all)
	return all
}

// Gone: no RepoSync that was deleted and no namespace that was to go is there.
func (b *Books) Gone(h *history.History) error {
	b.take(h)
	for _, s := range b.syncs {
		_, wanted := b.wanted[s.Namespace]
		if _, there := b.live[namespaceRef(s.Namespace)]; wanted && there {
			return fmt.Errorf("namespace %s is still there", s.Namespace)
		}
		if s.deleting != 0 && s.gone == 0 {
			return fmt.Errorf("%s is still there", s)
		}
	}
	return nil
}
