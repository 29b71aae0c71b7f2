// This file exists for what happens: each telling is a scenario that asks one question of a
// variant, under faults.

package reposync

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

type telling = func(v reposync.Variant, faults ...fault.Fault) func(*sim.World)

// told is a telling: everything is synced, something is asked of the operator, and something
// happens.
func told(setting Setting, ask, happen func(*Story)) telling {
	return func(v reposync.Variant, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, v, setting)
			w.Inject(faults...)
			ask(s)
			happen(s)
			s.end()
		}
	}
}

// afterAnother is told after somebody has deleted another namespace with a RepoSync in it.
func afterAnother(ask, happen func(*Story)) telling {
	another := types.NamespacedName{Namespace: "first", Name: shop.Name}
	return func(v reposync.Variant, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, v, Setting{Syncs: []types.NamespacedName{another, shop}})
			s.DeleteNamespace(another.Namespace)
			s.Settle()
			w.Inject(faults...)
			ask(s)
			happen(s)
			s.end()
		}
	}
}

// asks are what is asked of scenes, by the sentence.
var asks = map[string]func(*Story){
	finishes: askFinishes, outlive: askOutlive, noLeaks: askNoLeaks, onceOff: askOnceOff, converges: askConverges,
	rootGoes: askRootGoes,
	truth:    askTruth, actionable: askActionable, inventoried: askInventory, strongOrder: askStrongOrder, weakOrder: askWeakOrder, noFight: askNoFight,
}

// scene is a telling of which several things are asked.
func scene(setting Setting, happen func(*Story)) *matrix.Workload[reposync.Variant] {
	return &matrix.Workload[reposync.Variant]{New: func(v reposync.Variant, sentences []string, faults ...fault.Fault) func(*sim.World) {
		return told(setting, func(s *Story) {
			for _, sentence := range sentences {
				asks[sentence](s)
			}
		}, happen)(v, faults...)
	}}
}

// end lets everything run its course, and long enough for the properties that measure time.
func (s *Story) end() {
	if !s.setting.Forever {
		s.Settle()
		if _, wanted := s.wanted[shop.Namespace]; wanted {
			s.insist(shop.Namespace)
		}
		s.Sleep(3 * time.Minute)
	}
	s.over = true
	s.theEnd()
}

// What tellings ask.
func askFinishes(s *Story)    { s.Always(finishes, s.Finishes) }
func askGoes(s *Story)        { s.Always(goes, s.Goes) }
func askHonoured(s *Story)    { s.Always(honoured, s.Judged(honoured)) }
func askStrongOrder(s *Story) { s.Always(strongOrder, s.Judged(strongOrder)) }
func askWeakOrder(s *Story)   { s.Always(weakOrder, s.Judged(weakOrder)) }
func askOutlive(s *Story)     { s.Always(outlive, s.Judged(outlive)) }
func askNoLeaks(s *Story)     { s.Always(noLeaks, s.NoLeaks) }
func askSwept(s *Story)       { s.Always(noLeaks, s.Swept) }
func askOnceOff(s *Story)     { s.Always(onceOff, s.OnceOff) }
func askConverges(s *Story)   { s.Always(converges, s.Judged(converges)) }
func askRevived(s *Story)     { s.Always(revived, s.Judged(revived)) }
func askNoFight(s *Story)     { s.Always(noFight, s.Judged(noFight)) }
func askTruth(s *Story)       { s.Always(truth, s.Truth) }
func askActionable(s *Story)  { s.Always(actionable, s.Actionable) }
func askInventory(s *Story)   { s.Always(inventoried, s.Judged(inventoried)) }
func askSiblings(s *Story)    { s.Always(siblings, s.Siblings); askNoLeaks(s) }
func askWhole(s *Story)       { s.Eventually(whole, s.Whole) }
func askRootGoes(s *Story)    { s.Always(rootGoes, s.RootGoes) }
func askRenewed(s *Story)     { s.Always(renewed, s.Renewed) }
func askVain(s *Story)        { s.Always(vain, s.Judged(vain)) }
func askSynced(s *Story)      { s.Eventually(synced, s.Synced) }
func askSpared(s *Story)      { s.Always(spared, s.Judged(spared)) }

// askEverything is what the full cure must answer whatever happens.
func askEverything(s *Story) {
	for _, ask := range []func(*Story){
		askHonoured, askStrongOrder, askWeakOrder, askOutlive, askNoLeaks, askOnceOff, askNoFight, askTruth, askInventory, askSynced,
	} {
		ask(s)
	}
	s.Eventually(gone, s.Gone)
}

// deletesNamespace is the story of the thread.
func deletesNamespace(s *Story) { s.DeleteNamespace(shop.Namespace) }

func deletesSync(s *Story) { s.DeleteSync(shop) }

// deletesRoot has a user delete the RootSync, and all that it declares by that.
func deletesRoot(s *Story) { s.DeleteSync(root) }

// deletesDeclared has a user delete a namespace that a RootSync declares, which makes it again.
func deletesDeclared(s *Story) {
	old := s.live[namespaceRef(shop.Namespace)].Metadata.UID
	s.DeleteNamespace(shop.Namespace)
	for waited := time.Duration(0); waited < 3*time.Minute && s.live[namespaceRef(shop.Namespace)].Metadata.UID == old; waited += period {
		s.Sleep(period)
	}
	delete(s.wanted, shop.Namespace)
}

// reconcilerDead lets the node of the reconciler fail first.
func reconcilerDead(happen func(*Story)) func(*Story) {
	return func(s *Story) {
		s.pods.power(reposync.ReconcilerName(shop), false)
		s.Sleep(time.Second)
		happen(s)
	}
}

// managerDown has the manager away for ten minutes while the namespace is deleted.
func managerDown(s *Story) {
	s.without(Manager, func() { s.DeleteNamespace(shop.Namespace) })
}

// webhookDown has the webhook away for ten minutes from when the namespace is deleted.
func webhookDown(s *Story) {
	s.DeleteNamespace(shop.Namespace)
	s.without(Webhook, func() {})
}

// without has a program away for ten minutes.
func (s *Story) without(name string, happen func()) {
	s.pods.power(name, false)
	s.away = true
	happen()
	s.Sleep(10 * time.Minute)
	s.pods.power(name, true)
	s.away = false
}

// missing is webhookDown where nothing needs the webhook: time counts.
func missing(s *Story) {
	s.DeleteNamespace(shop.Namespace)
	s.pods.power(Webhook, false)
	s.Sleep(10 * time.Minute)
}

// delays are short ones; of moments one is when a namespace is being emptied, which begins after
// five seconds.
var (
	delays  = rapid.SampledFrom([]time.Duration{0, 3 * time.Millisecond, 30 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second})
	moments = rapid.SampledFrom([]time.Duration{0, 3 * time.Second, 6 * time.Second, 8 * time.Second})
)

// bothDeleted has the namespace deleted while the RepoSync is.
func bothDeleted(s *Story) {
	s.DeleteSync(shop)
	s.Sleep(sim.Draw(s.World, "until the namespace is deleted, too", delays))
	s.DeleteNamespace(shop.Namespace)
	s.Sleep(20 * time.Second)
	s.Unhold()
}

// revoked has somebody delete the binding by hand.
func revoked(s *Story) {
	meta := metav1.ObjectMeta{Name: reposync.BindingName}
	inside := &rbacv1.RoleBinding{ObjectMeta: meta}
	inside.Namespace = shop.Namespace
	for _, o := range []client.Object{inside, &rbacv1.ClusterRoleBinding{ObjectMeta: meta}} {
		if err := s.remove(o); err != nil && !apierrors.IsForbidden(err) {
			panic(fmt.Sprintf("deleting %s: %v", reposync.BindingName, err))
		}
	}
}

// revokedMeanwhile has that happen while the RepoSync is being deleted.
func revokedMeanwhile(s *Story) {
	s.DeleteSync(shop)
	s.Sleep(5 * time.Second)
	revoked(s)
	s.Sleep(5 * time.Second)
	s.Unhold()
}

// held has another controller take three minutes for one of the managed objects.
func held(happen func(*Story)) func(*Story) { return heldFor(3*time.Minute, happen) }

func heldFor(long time.Duration, happen func(*Story)) func(*Story) {
	return func(s *Story) {
		begin := s.History().Now()
		happen(s)
		s.blame, s.blocked[0] = managed(shop)[0].Name, begin
		s.Sleep(long - (s.History().Now() - begin))
		s.blocked[1] = s.History().Now()
		s.Unhold()
	}
}

// heldOn has that controller not take it off at all, for as long as anybody looks.
func heldOn(happen func(*Story)) func(*Story) {
	return func(s *Story) {
		begin := s.History().Now()
		happen(s)
		s.blame, s.blocked[0] = managed(shop)[0].Name, begin
		s.Sleep(4*time.Minute - (s.History().Now() - begin))
		s.blocked[1] = s.History().Now()
	}
}

// switched has a user change the propagation policy to and fro during the deletion.
func switched(s *Story) {
	s.DeleteSync(shop)
	for _, policy := range []string{v1beta1.Orphan, v1beta1.Foreground} {
		s.Sleep(sim.Draw(s.World, "until the policy is "+policy, delays))
		s.setPolicy(policy)
	}
	s.Sleep(time.Second)
	s.Unhold()
}

// other is a second RepoSync in the namespace.
var other = types.NamespacedName{Namespace: shop.Namespace, Name: "other"}

// again deletes the namespace, and makes everything once more as soon as it has gone.
func again(s *Story) {
	s.DeleteNamespace(shop.Namespace)
	for waited := time.Duration(0); waited < 5*time.Minute; waited += period {
		s.Sleep(period)
		if apierrors.IsNotFound(s.Client().Get(s.Context(), types.NamespacedName{Name: shop.Namespace}, named(""))) {
			delete(s.wanted, shop.Namespace)
			s.Sync(shop)
			return
		}
	}
}

// treasure is what nobody but its owner has a right to, and elsewhere where it is.
const treasure, elsewhere = "treasure", "elsewhere"

// coveted has a tenant write a Secret of another namespace into the inventory, and then delete the
// RepoSync while its reconciler is dead: whoever takes over has rights to everything.
func coveted(s *Story) {
	s.Apply(named(elsewhere), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: treasure}})
	reconcilerDead(func(s *Story) {
		inv := bare("kpt.dev/v1alpha1", "ResourceGroup", shop.Namespace, shop.Name)
		patch := fmt.Sprintf(`[{"op":"add","path":"/spec/resources/-","value":{"group":"","kind":"Secret","namespace":%q,"name":%q}}]`, elsewhere, treasure)
		if err := s.Client().Patch(s.Context(), inv, client.RawPatch(types.JSONPatchType, []byte(patch))); err != nil {
			panic(fmt.Sprintf("writing into the inventory: %v", err))
		}
		s.DeleteSync(shop)
	})(s)
}

// anything is one of all that may happen.
func anything(s *Story) {
	ways := []func(*Story){deletesNamespace, deletesSync, bothDeleted, reconcilerDead(deletesNamespace), reconcilerDead(deletesSync), again}
	way := sim.Draw(s.World, "what happens", rapid.IntRange(0, len(ways)-1))
	ways[way](s)
	s.Sleep(sim.Draw(s.World, "until the other controller is done", delays))
	s.Unhold()
}
