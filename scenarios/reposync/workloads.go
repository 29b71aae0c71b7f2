// This file holds what happens in the cases: what users do, and which programs are away meanwhile.

package reposync

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
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
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

type workload = *matrix.Workload[reposync.Variant]

// of returns a workload: everything is synced, and something happens. More properties must hold
// beside those of the case.
func of(setting Setting, happen func(*World), more ...string) workload {
	return &matrix.Workload[reposync.Variant]{
		New: func(v reposync.Variant, properties []string, faults ...fault.Fault) func(*sim.World) {
			return func(w *sim.World) {
				s := Begin(w, v, setting)
				if setting.Another {
					s.deleteNamespace(another.Namespace)
					s.Settle()
				}
				w.Inject(faults...)
				s.declare(slices.Concat(properties, more)...)
				happen(s)
				s.end()
			}
		},
	}
}

// end lets everything run its course, and long enough for the properties that measure time. These
// judge by the time of the last event, which is that of an object that nobody looks at.
func (s *World) end() {
	if !s.setting.Forever {
		s.Settle()
		if _, wanted := s.wanted[shop.Namespace]; wanted {
			s.insist(shop.Namespace)
		}
		s.Sleep(3 * time.Minute)
	}
	s.over = true
	s.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: theEnd}})
}

const theEnd = "the-end"

// patience is how long a user who was refused waits for what is to go first, and period how often
// that user looks.
const patience, period = time.Minute, 5 * time.Second

// deleteNamespace has a user delete a namespace. One who is told that a RepoSync must go first
// deletes that, and tries again for a while.
func (s *World) deleteNamespace(name string) {
	s.wants(name, s.History().Now())
	if s.refused(name) {
		for _, sync := range s.setting.Syncs {
			if sync.Namespace == name {
				s.deleteSync(sync)
			}
		}
		s.insist(name)
	}
}

// insist tries again for a while to delete a namespace.
func (s *World) insist(name string) {
	s.while(patience, func() bool { return s.refused(name) })
}

// while waits for as long as a condition holds, up to a limit.
func (s *World) while(limit time.Duration, holds func() bool) {
	for waited := time.Duration(0); waited < limit && holds(); waited += period {
		s.Sleep(period)
	}
}

// refused says that the namespace may not be deleted yet.
func (s *World) refused(name string) bool {
	err := s.remove(worlds.Namespace(name))
	if err != nil && strings.Contains(err.Error(), "delete that first") {
		return true
	}
	must(err, "deleting namespace %s", name)
	return false
}

// deleteSync has a user delete a RepoSync, or the RootSync.
func (s *World) deleteSync(sync types.NamespacedName) {
	must(s.remove(s.setting.repoSync(sync)), "deleting %s", sync)
}

// remove deletes an object, again while the server or the webhook fails.
func (s *World) remove(o client.Object) error {
	for {
		err := client.IgnoreNotFound(s.Client().Delete(s.Context(), o))
		if err == nil || !apierrors.IsInternalError(err) {
			return err
		}
		s.Sleep(5 * time.Second)
	}
}

// patch changes the metadata of an object, if it is there.
func (s *World) patch(o client.Object, metadata string) {
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":`+metadata+`}`))
	must(client.IgnoreNotFound(s.Client().Patch(s.Context(), o, patch)), "changing %s", o.GetName())
}

// unhold has the other controller take its finalizer off.
func (s *World) unhold() {
	held := metav1.ObjectMeta{Namespace: shop.Namespace, Name: managed(shop)[0].Name}
	s.patch(&corev1.ConfigMap{ObjectMeta: held}, `{"finalizers":null}`)
}

// setPolicy has a user change the propagation policy.
func (s *World) setPolicy(policy string) {
	s.patch(s.setting.repoSync(shop), fmt.Sprintf(`{"annotations":{%q:%q}}`, v1beta1.DeletionPropagationPolicy, policy))
}

// deletesNamespace is what the thread reports.
func deletesNamespace(s *World) { s.deleteNamespace(shop.Namespace) }

func deletesSync(s *World) { s.deleteSync(shop) }

// deletesRoot has a user delete the RootSync, and all that it declares by that.
func deletesRoot(s *World) { s.deleteSync(root) }

// deletesEither has a user delete the RepoSync or its namespace.
func deletesEither(s *World) {
	if sim.Draw(s.World, "the namespace is deleted", rapid.Bool()) {
		deletesNamespace(s)
		return
	}
	deletesSync(s)
}

// deletesDeclared has a user delete a namespace that a RootSync declares, which makes it again.
func deletesDeclared(s *World) {
	old := s.objects.Named(namespaceRef(shop.Namespace))
	deletesNamespace(s)
	s.while(3*time.Minute, func() bool { return s.objects.Named(namespaceRef(shop.Namespace)) == old })
	delete(s.wanted, shop.Namespace)
}

// reconcilerDead lets the node of the reconciler fail first.
func reconcilerDead(happen func(*World)) func(*World) {
	return func(s *World) {
		s.pods.power(reposync.ReconcilerName(shop), false)
		s.Sleep(time.Second)
		happen(s)
	}
}

// managerDown has the manager away for ten minutes while the namespace is deleted.
func managerDown(s *World) { s.without(Manager, deletesNamespace) }

// webhookDown has the webhook away for ten minutes from when the namespace is deleted.
func webhookDown(s *World) {
	deletesNamespace(s)
	s.without(Webhook, func(*World) {})
}

// without has a program away for ten minutes.
func (s *World) without(name string, happen func(*World)) {
	s.pods.power(name, false)
	s.away = true
	happen(s)
	s.Sleep(10 * time.Minute)
	s.pods.power(name, true)
	s.away = false
}

// webhookMissing is that where nothing needs the webhook: time counts.
func webhookMissing(s *World) {
	deletesNamespace(s)
	s.pods.power(Webhook, false)
	s.Sleep(10 * time.Minute)
}

// refusedForLong deletes a namespace whose controller takes hours for the second type. Whoever
// wants the first one back is refused all that time. After a minute faults end.
func refusedForLong(s *World) {
	deletesNamespace(s)
	s.Sleep(time.Minute)
	s.EndFaults()
	s.Sleep(lag)
	s.measured = s.History().Now()
	s.Sleep(100 * time.Minute) // five periods of up to 1000 s, and one that has begun before
}

// delays are short ones; of moments one is when a namespace is being emptied, which begins after
// five seconds.
var (
	delays = rapid.SampledFrom([]time.Duration{0, 3 * time.Millisecond, 30 * time.Millisecond, 300 * time.Millisecond,
		3 * time.Second})
	moments = rapid.SampledFrom([]time.Duration{0, 3 * time.Second, 6 * time.Second, 8 * time.Second})
)

// bothDeleted has the namespace deleted while the RepoSync is.
func bothDeleted(s *World) {
	deletesSync(s)
	s.Sleep(sim.Draw(s.World, "until the namespace is deleted, too", delays))
	deletesNamespace(s)
	s.Sleep(20 * time.Second)
	s.unhold()
}

// revoked has somebody delete the binding by hand.
func revoked(s *World) {
	inside, outside := &rbacv1.RoleBinding{}, &rbacv1.ClusterRoleBinding{}
	inside.Namespace = shop.Namespace
	for _, o := range []client.Object{inside, outside} {
		o.SetName(reposync.BindingName)
		if err := s.remove(o); !apierrors.IsForbidden(err) {
			must(err, "deleting %s", reposync.BindingName)
		}
	}
}

// revokedMeanwhile has that happen while the RepoSync is being deleted.
func revokedMeanwhile(s *World) {
	deletesSync(s)
	s.Sleep(5 * time.Second)
	revoked(s)
	s.Sleep(5 * time.Second)
	s.unhold()
}

// heldFor has another controller take its time for one of the managed objects. In a world in which
// that is held for ever nobody looks longer.
func heldFor(long time.Duration, happen func(*World)) func(*World) {
	return func(s *World) {
		begin := s.History().Now()
		happen(s)
		s.blame, s.blocked[0] = managed(shop)[0].Name, begin
		s.Sleep(long - (s.History().Now() - begin))
		s.blocked[1] = s.History().Now()
		if !s.setting.Forever {
			s.unhold()
		}
	}
}

// switched has a user change the propagation policy to and fro during the deletion.
func switched(s *World) {
	deletesSync(s)
	for _, policy := range []string{v1beta1.Orphan, v1beta1.Foreground} {
		s.Sleep(sim.Draw(s.World, "until the policy is "+policy, delays))
		s.setPolicy(policy)
	}
	s.Sleep(time.Second)
	s.unhold()
}

// orphaned has a user say that what is managed is to stay, and delete the RepoSync then, whose
// reconciler may be dead.
func orphaned(s *World) {
	s.setPolicy(v1beta1.Orphan)
	s.Sleep(sim.Draw(s.World, "until the RepoSync is deleted", delays))
	happen := deletesSync
	if sim.Draw(s.World, "the reconciler is dead", rapid.Bool()) {
		happen = reconcilerDead(deletesSync)
	}
	happen(s)
}

// stripped has somebody take all finalizers off the RepoSync while it is being deleted.
func stripped(s *World) {
	deletesSync(s)
	s.patch(s.setting.repoSync(shop), `{"finalizers":null}`)
}

// What somebody may delete by hand of what a reconciler needs, beside its binding; see revoked.
func deployment() client.Object { return &appsv1.Deployment{ObjectMeta: ofReconciler()} }
func identity() client.Object   { return &corev1.ServiceAccount{ObjectMeta: ofReconciler()} }

func ofReconciler() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: reposync.Namespace, Name: reposync.ReconcilerName(shop)}
}

// bereaved has somebody delete what the reconciler needs a while before something else happens
// or after that, when the reconciler has begun and cannot have finished: another controller holds
// what it deletes.
func bereaved(of func() client.Object, happen func(*World)) func(*World) {
	return func(s *World) {
		first, then := func(s *World) { must(s.remove(of()), "deleting what a reconciler needs") }, happen
		if sim.Draw(s.World, "it goes after the other", rapid.Bool()) {
			first, then = then, first
		}
		first(s)
		s.Sleep(sim.Draw(s.World, "between the two", moments))
		then(s)
		s.Sleep(5 * time.Second)
		s.unhold()
	}
}

// again deletes the namespace, and makes everything once more as soon as it has gone.
func again(s *World) {
	deletesNamespace(s)
	for waited := time.Duration(0); waited < 5*time.Minute; waited += period {
		s.Sleep(period)
		err := s.Client().Get(s.Context(), types.NamespacedName{Name: shop.Namespace}, worlds.Namespace(""))
		if apierrors.IsNotFound(err) {
			delete(s.wanted, shop.Namespace)
			s.Apply(s.setting.needed(shop)...)
			return
		}
	}
}

// anything is one of all that may happen.
func anything(s *World) {
	ways := []func(*World){deletesNamespace, deletesSync, bothDeleted, reconcilerDead(deletesNamespace),
		reconcilerDead(deletesSync), again}
	way := sim.Draw(s.World, "what happens", rapid.IntRange(0, len(ways)-1))
	ways[way](s)
	s.Sleep(sim.Draw(s.World, "until the other controller is done", delays))
	s.unhold()
}
