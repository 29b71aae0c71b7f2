// This file holds what happens in the cases: workloads, under faults.

package reposync

import (
	"fmt"
	"slices"
	"time"

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

// of returns a workload: everything is synced, and something happens.
func of(setting Setting, happen func(*World)) workload {
	return after(setting, func(*World) {}, happen)
}

// afterAnother is a workload after somebody has deleted another namespace with a RepoSync in it.
func afterAnother(happen func(*World)) workload {
	another := types.NamespacedName{Namespace: "first", Name: shop.Name}
	return after(Setting{Syncs: []types.NamespacedName{another, shop}}, func(s *World) {
		s.DeleteNamespace(another.Namespace)
		s.Settle()
	}, happen)
}

func after(setting Setting, first, happen func(*World)) workload {
	return &matrix.Workload[reposync.Variant]{
		New: func(v reposync.Variant, properties []string, faults ...fault.Fault) func(*sim.World) {
			return func(w *sim.World) {
				s := Begin(w, v, setting)
				first(s)
				w.Inject(faults...)
				s.declare(properties...)
				happen(s)
				s.end()
			}
		},
	}
}

// with is a workload in which properties must hold beside those of the case.
func with(w workload, more ...string) workload {
	return &matrix.Workload[reposync.Variant]{
		New: func(v reposync.Variant, properties []string, faults ...fault.Fault) func(*sim.World) {
			return w.New(v, slices.Concat(properties, more), faults...)
		},
	}
}

// end lets everything run its course, and long enough for the properties that measure time.
func (s *World) end() {
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

// deletesNamespace is what the thread reports.
func deletesNamespace(s *World) { s.DeleteNamespace(shop.Namespace) }

func deletesSync(s *World) { s.DeleteSync(shop) }

// deletesRoot has a user delete the RootSync, and all that it declares by that.
func deletesRoot(s *World) { s.DeleteSync(root) }

// deletesDeclared has a user delete a namespace that a RootSync declares, which makes it again.
func deletesDeclared(s *World) {
	old := s.objects.Named(namespaceRef(shop.Namespace))
	s.DeleteNamespace(shop.Namespace)
	for waited := time.Duration(0); waited < 3*time.Minute &&
		s.objects.Named(namespaceRef(shop.Namespace)) == old; waited += period {
		s.Sleep(period)
	}
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
func managerDown(s *World) {
	s.without(Manager, func() { s.DeleteNamespace(shop.Namespace) })
}

// webhookDown has the webhook away for ten minutes from when the namespace is deleted.
func webhookDown(s *World) {
	s.DeleteNamespace(shop.Namespace)
	s.without(Webhook, func() {})
}

// without has a program away for ten minutes.
func (s *World) without(name string, happen func()) {
	s.pods.power(name, false)
	s.away = true
	happen()
	s.Sleep(10 * time.Minute)
	s.pods.power(name, true)
	s.away = false
}

// webhookMissing is that where nothing needs the webhook: time counts.
func webhookMissing(s *World) {
	s.DeleteNamespace(shop.Namespace)
	s.pods.power(Webhook, false)
	s.Sleep(10 * time.Minute)
}

// refusedForLong deletes a namespace whose controller takes hours for the second type. Whoever
// wants the first one back is refused all that time. After a minute faults end.
func refusedForLong(s *World) {
	s.DeleteNamespace(shop.Namespace)
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
	s.DeleteSync(shop)
	s.Sleep(sim.Draw(s.World, "until the namespace is deleted, too", delays))
	s.DeleteNamespace(shop.Namespace)
	s.Sleep(20 * time.Second)
	s.Unhold()
}

// revoked has somebody delete the binding by hand.
func revoked(s *World) {
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
func revokedMeanwhile(s *World) {
	s.DeleteSync(shop)
	s.Sleep(5 * time.Second)
	revoked(s)
	s.Sleep(5 * time.Second)
	s.Unhold()
}

// heldFor has another controller take its time for one of the managed objects.
func heldFor(long time.Duration, happen func(*World)) func(*World) {
	return func(s *World) {
		begin := s.History().Now()
		happen(s)
		s.blame, s.blocked[0] = managed(shop)[0].Name, begin
		s.Sleep(long - (s.History().Now() - begin))
		s.blocked[1] = s.History().Now()
		s.Unhold()
	}
}

// heldOn has that controller not take it off at all, for as long as anybody looks.
func heldOn(happen func(*World)) func(*World) {
	return func(s *World) {
		begin := s.History().Now()
		happen(s)
		s.blame, s.blocked[0] = managed(shop)[0].Name, begin
		s.Sleep(4*time.Minute - (s.History().Now() - begin))
		s.blocked[1] = s.History().Now()
	}
}

// switched has a user change the propagation policy to and fro during the deletion.
func switched(s *World) {
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
func again(s *World) {
	s.DeleteNamespace(shop.Namespace)
	for waited := time.Duration(0); waited < 5*time.Minute; waited += period {
		s.Sleep(period)
		err := s.Client().Get(s.Context(), types.NamespacedName{Name: shop.Namespace}, worlds.Namespace(""))
		if apierrors.IsNotFound(err) {
			delete(s.wanted, shop.Namespace)
			s.Sync(shop)
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
	s.Unhold()
}

// deletesEither has a user delete the RepoSync or its namespace.
func deletesEither(s *World) {
	if sim.Draw(s.World, "the namespace is deleted", rapid.Bool()) {
		deletesNamespace(s)
		return
	}
	deletesSync(s)
}
