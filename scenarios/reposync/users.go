// This file holds what people do by hand to what the operator made, and to what it is to do.

package reposync

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"fmt"
	"time"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
	"github.com/wavetank/wavetank/sim"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patchSync has a user change the metadata of shop/repo-sync, if it is there.
func (s *World) patchSync(format string, args ...any) {
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":`+format+`}`, args...))
	if err := s.Client().Patch(s.Context(), s.setting.repoSync(shop), patch); client.IgnoreNotFound(err) != nil {
		panic(fmt.Sprintf("changing %s: %v", shop, err))
	}
}

// setPolicy has a user change the propagation policy.
func (s *World) setPolicy(policy string) {
	s.patchSync(`{"annotations":{%q:%q}}`, v1beta1.DeletionPropagationPolicy, policy)
}

// stripped has somebody take all finalizers off the RepoSync while it is being deleted.
func stripped(s *World) {
	s.DeleteSync(shop)
	s.patchSync(`{"finalizers":null}`)
}

// What somebody may delete by hand of what a reconciler needs, beside its binding; see revoked.
var (
	deployment = func() client.Object { return &appsv1.Deployment{ObjectMeta: ofReconciler()} }
	identity   = func() client.Object { return &corev1.ServiceAccount{ObjectMeta: ofReconciler()} }
)

func ofReconciler() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: reposync.Namespace, Name: reposync.ReconcilerName(shop)}
}

// bereaved has somebody delete what the reconciler needs a while before something else happens
// or after that, when the reconciler has begun and cannot have finished: another controller holds
// what it deletes.
func bereaved(of func() client.Object, happen func(*World)) func(*World) {
	return func(s *World) {
		deletes := func(s *World) {
			if err := s.remove(of()); err != nil {
				panic(fmt.Sprintf("deleting what a reconciler needs: %v", err))
			}
		}
		steps := []func(*World){deletes, happen}
		if sim.Draw(s.World, "it goes after the other", rapid.Bool()) {
			steps = []func(*World){happen, deletes}
		}
		steps[0](s)
		s.Sleep(sim.Draw(s.World, "between the two", moments))
		steps[1](s)
		s.Sleep(5 * time.Second)
		s.Unhold()
	}
}

// orphaned has a user say that what is managed is to stay, and delete the RepoSync then, whose
// reconciler may be dead.
func orphaned(s *World) {
	s.setPolicy(v1beta1.Orphan)
	s.Sleep(sim.Draw(s.World, "until the RepoSync is deleted", delays))
	if sim.Draw(s.World, "the reconciler is dead", rapid.Bool()) {
		reconcilerDead(deletesSync)(s)
		return
	}
	s.DeleteSync(shop)
}
