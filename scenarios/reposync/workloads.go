// This file holds what happens in the cases: what users do, and which programs are away meanwhile.

package reposync

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

type workload = *matrix.Workload[reposync.Variant]

// of returns a workload: everything is synced, and something happens. More properties must hold
// as well as those of the case.
func of(setting Setting, happen step, more ...string) workload {
	return &matrix.Workload[reposync.Variant]{
		New: func(v reposync.Variant, properties []string, faults ...fault.Fault) func(*sim.World) {
			return func(w *sim.World) {
				s := Begin(w, v, setting)
				if setting.Another {
					s.deleteNamespace(another.Namespace)
					s.Settle()
				}
				w.Inject(faults...)
				s.properties().Declare(w, slices.Concat(properties, more)...)
				happen(s)
				s.end()
			}
		},
	}
}

// end lets everything run its course, and long enough for the properties that measure time. These
// judge by the time of the last event, so an event without effect is added.
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

// patience is how long a user who was refused waits, and period how often that user tries.
const patience, period = time.Minute, 5 * time.Second

// deleteNamespace has a user delete a namespace. If the webhook asks to delete a RepoSync first,
// the user does so, and tries again for a while.
func (s *World) deleteNamespace(name string) {
	s.wanted[name] = cmp.Or(s.wanted[name], s.History().Now())
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
	worlds.Must(err, "deleting namespace %s", name)
	return false
}

// deleteSync has a user delete a RepoSync, or the RootSync.
func (s *World) deleteSync(sync types.NamespacedName) {
	worlds.Must(s.remove(s.setting.repoSync(sync)), "deleting %s", sync)
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
	err := s.Client().Patch(s.Context(), o, worlds.MergePatch(`{"metadata":%s}`, metadata))
	worlds.Must(client.IgnoreNotFound(err), "changing %s", o.GetName())
}

// step is one thing that happens in a workload.
type step = func(*World)

var inTurn, sleep = worlds.InTurn[*World], worlds.Sleep[*World]

// either has one thing happen, if the run chooses that, or the other.
func either(label string, one, other step) step {
	return func(s *World) {
		if sim.Draw(s.World, label, rapid.Bool()) {
			one(s)
			return
		}
		other(s)
	}
}

// waitSome waits for as long as the run chooses.
func waitSome(label string, delays *rapid.Generator[time.Duration]) step {
	return func(s *World) { s.Sleep(sim.Draw(s.World, label, delays)) }
}

// power turns the node of a process off and on.
func power(process string, on bool) step { return func(s *World) { s.pods.power(process, on) } }

// policy has a user change the propagation policy.
func policy(is string) step {
	return patchSync(fmt.Sprintf(`{"annotations":{%q:%q}}`, v1beta1.DeletionPropagationPolicy, is))
}

func patchSync(metadata string) step {
	return func(s *World) { s.patch(s.setting.repoSync(shop), metadata) }
}

// delays are short ones; of moments one is when a namespace is being emptied, which begins after
// five seconds.
var (
	delays = rapid.SampledFrom([]time.Duration{0, 3 * time.Millisecond, 30 * time.Millisecond, 300 * time.Millisecond,
		3 * time.Second})
	moments = rapid.SampledFrom([]time.Duration{0, 3 * time.Second, 6 * time.Second, 8 * time.Second})
)

// deletesNamespace is what the thread reports.
func deletesNamespace(s *World) { s.deleteNamespace(shop.Namespace) }

func deletesSync(s *World) { s.deleteSync(shop) }

// deletesRoot has a user delete the RootSync, and all that it declares by that.
func deletesRoot(s *World) { s.deleteSync(root) }

// unhold has the other controller take its finalizer off.
func unhold(s *World) {
	held := metav1.ObjectMeta{Namespace: shop.Namespace, Name: managed(shop)[0].Name}
	s.patch(&corev1.ConfigMap{ObjectMeta: held}, `{"finalizers":null}`)
}

// What happens in the cases.
var (
	deletesEither = either("the namespace is deleted", deletesNamespace, deletesSync)
	// replacedMeanwhile deletes a RepoSync whose reconciler is dead, then replaces the operator.
	replacedMeanwhile = inTurn(away(true), reconcilerDead(deletesSync), sleep(time.Minute), upgraded, away(false))
	// deletesDefinition deletes the RootSync a minute before the resource may go.
	deletesDefinition = inTurn(deletesRoot, sleep(time.Minute),
		func(s *World) { s.patch(widget(), `{"finalizers":null}`) })
	managerDown = without(Manager, deletesNamespace)
	webhookDown = inTurn(deletesNamespace, without(Webhook, inTurn()))
	// webhookMissing is that where nothing needs the webhook: time counts.
	webhookMissing = inTurn(deletesNamespace, power(Webhook, false), sleep(10*time.Minute))
	// bothDeleted has the namespace deleted while the RepoSync is.
	bothDeleted = inTurn(deletesSync, waitSome("until the namespace is deleted, too", delays), deletesNamespace,
		sleep(20*time.Second), unhold)
	// revokedMeanwhile has a user delete the binding while the RepoSync is being deleted.
	revokedMeanwhile = inTurn(deletesSync, sleep(5*time.Second), revoked, sleep(5*time.Second), unhold)
	// switched has a user change the propagation policy to and fro during the deletion.
	switched = inTurn(deletesSync, waitSome("until the policy is Orphan", delays), policy(v1beta1.Orphan),
		waitSome("until the policy is Foreground", delays), policy(v1beta1.Foreground), sleep(time.Second), unhold)
	// orphaned has a user say that what is managed is to stay, and delete the RepoSync then.
	orphaned = inTurn(policy(v1beta1.Orphan), waitSome("until the RepoSync is deleted", delays),
		either("the reconciler is dead", reconcilerDead(deletesSync), deletesSync))
	// restartsWhenDone has the reconciler start again as soon as it has taken its finalizer off.
	restartsWhenDone = inTurn(deletesSync, func(s *World) {
		sync := s.setting.repoSync(shop)
		for s.Client().Get(s.Context(), shop, sync) == nil &&
			controllerutil.ContainsFinalizer(sync, v1beta1.ReconcilerFinalizer) {
			s.Sleep(time.Millisecond)
		}
		s.Stop(reposync.ReconcilerName(shop))
	})
	// stripped has a user remove all finalizers of the RepoSync while it is being deleted.
	stripped = inTurn(deletesSync, patchSync(`{"finalizers":null}`))
	// refusedForLong deletes a namespace whose controller takes hours for the second type, so that
	// objects of the first type are refused. Faults end after a minute. Five periods of up to 1000
	// s follow.
	refusedForLong = inTurn(deletesNamespace, sleep(time.Minute), (*World).EndFaults, sleep(10*time.Second),
		func(s *World) { s.measured = s.History().Now() }, sleep(100*time.Minute))
)

// reconcilerDead lets the node of the reconciler fail first.
func reconcilerDead(happen step) step {
	return inTurn(power(reposync.ReconcilerName(shop), false), sleep(time.Second), happen)
}

// away notes that a program is away, or back, that all others need.
func away(is bool) step { return func(s *World) { s.away = is } }

// upgraded has the variant of the case replace the one that runs.
func upgraded(s *World) {
	s.variant = s.next
	s.Stop(Manager)
	s.Stop(reposync.ReconcilerName(shop))
	s.guard()
}

// without has a program away for ten minutes that all others need.
func without(program string, happen step) step {
	return inTurn(power(program, false), away(true), happen, sleep(10*time.Minute), power(program, true), away(false))
}

// heldFor has another controller hold one of the managed objects for a while. If it is held
// forever, nothing is judged after that.
func heldFor(long time.Duration, happen step) step {
	return func(s *World) {
		begin := s.History().Now()
		happen(s)
		s.blame, s.blocked[0] = managed(shop)[0].Name, begin
		s.Sleep(long - (s.History().Now() - begin))
		s.blocked[1] = s.History().Now()
		if !s.setting.Forever {
			unhold(s)
		}
	}
}

// revoked has a user delete the binding.
func revoked(s *World) {
	inside, outside := &rbacv1.RoleBinding{}, &rbacv1.ClusterRoleBinding{}
	inside.Namespace = shop.Namespace
	for _, o := range []client.Object{inside, outside} {
		o.SetName(reposync.BindingName)
		if err := s.remove(o); !apierrors.IsForbidden(err) {
			worlds.Must(err, "deleting %s", reposync.BindingName)
		}
	}
}

// finalized gives the Service a finalizer, with which the user's controller keeps it until the
// ConfigMap, which needs it, has gone.
func finalized(all []*unstructured.Unstructured) []*unstructured.Unstructured {
	for _, o := range all {
		if o.GetKind() == "Service" {
			o.SetFinalizers([]string{hold})
		}
	}
	return all
}

// deletesInUsersOrder deletes the namespace or the RepoSync, and that controller keeps the order.
func deletesInUsersOrder(s *World) {
	deletesEither(s)
	s.while(3*time.Minute, func() bool {
		s.read(s.History())
		return s.live(managed(shop)[0]) != nil
	})
	kept := managed(shop)[1]
	s.patch(bare("v1", kept.Kind, kept.Namespace, kept.Name), `{"finalizers":null}`)
}

// bereaved has a user delete what the reconciler needs, other than its binding, before or after
// something else happens, while another controller holds what the reconciler deletes.
func bereaved(of client.Object, happen step) step {
	of.SetNamespace(reposync.Namespace)
	of.SetName(reposync.ReconcilerName(shop))
	deletes := func(s *World) { worlds.Must(s.remove(of), "deleting what a reconciler needs") }
	between := waitSome("between the two", moments)
	return inTurn(either("it goes after the other", inTurn(happen, between, deletes), inTurn(deletes, between, happen)),
		sleep(5*time.Second), unhold)
}

// deletesDeclared has a user delete a namespace that a RootSync declares, which makes it again.
func deletesDeclared(s *World) {
	old := s.objects.Named(namespaceRef(shop.Namespace))
	deletesNamespace(s)
	s.while(3*time.Minute, func() bool { return s.objects.Named(namespaceRef(shop.Namespace)) == old })
	delete(s.wanted, shop.Namespace)
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
	ways := []step{deletesNamespace, deletesSync, bothDeleted, reconcilerDead(deletesNamespace),
		reconcilerDead(deletesSync), again}
	way := sim.Draw(s.World, "what happens", rapid.IntRange(0, len(ways)-1))
	inTurn(ways[way], waitSome("until the other controller is done", delays), unhold)(s)
}
