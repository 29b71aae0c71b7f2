// This file exists for what people do by hand to what the operator made, and to what it was told.

package reposync

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

// patchSync has a user change the metadata of shop/repo-sync, if it is there.
func (s *Story) patchSync(format string, args ...any) {
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":`+format+`}`, args...))
	if err := s.Client().Patch(s.Context(), s.setting.repoSync(shop), patch); client.IgnoreNotFound(err) != nil {
		panic(fmt.Sprintf("changing %s: %v", shop, err))
	}
}

// setPolicy has a user change the propagation policy.
func (s *Story) setPolicy(policy string) {
	s.patchSync(`{"annotations":{%q:%q}}`, v1beta1.DeletionPropagationPolicy, policy)
}

// stripped has somebody take all finalizers off the RepoSync while it is being deleted.
func stripped(s *Story) {
	s.DeleteSync(shop)
	s.patchSync(`{"finalizers":null}`)
}

// strippedFirst is that, and then the namespace is deleted.
func strippedFirst(s *Story) {
	stripped(s)
	s.Sleep(sim.Draw(s.World, "until the namespace is deleted, too", delays))
	s.DeleteNamespace(shop.Namespace)
}

// What somebody may delete by hand of what a reconciler lives by: its binding is told of in
// revoked.
var (
	deployment = func() client.Object { return &appsv1.Deployment{ObjectMeta: lives()} }
	identity   = func() client.Object { return &corev1.ServiceAccount{ObjectMeta: lives()} }
)

func lives() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: reposync.Namespace, Name: reposync.ReconcilerName(shop)}
}

// bereaved has somebody delete what the reconciler lives by a while before something else happens
// or after that, when the reconciler has begun and cannot have finished: another controller holds
// what it deletes.
func bereaved(of func() client.Object, happen func(*Story)) func(*Story) {
	return func(s *Story) {
		deletes := func(s *Story) {
			if err := s.remove(of()); err != nil {
				panic(fmt.Sprintf("deleting what a reconciler lives by: %v", err))
			}
		}
		steps := []func(*Story){deletes, happen}
		if sim.Draw(s.World, "it goes after the other", rapid.Bool()) {
			steps = []func(*Story){happen, deletes}
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
func orphaned(s *Story) {
	s.setPolicy(v1beta1.Orphan)
	s.Sleep(sim.Draw(s.World, "until the RepoSync is deleted", delays))
	if sim.Draw(s.World, "the reconciler is dead", rapid.Bool()) {
		reconcilerDead(deletesSync)(s)
		return
	}
	s.DeleteSync(shop)
}

// settings are what the manager tells a reconciler of its repository.
func settings() *corev1.ConfigMap {
	meta := lives()
	meta.Name += "-git-sync"
	return &corev1.ConfigMap{ObjectMeta: meta}
}

// askSettled asks whether they are there, and say what the RepoSync says.
func askSettled(s *Story) {
	s.Eventually("a reconciler has its settings", func(*history.History) error {
		now, want := settings(), "https://git.example/"+shop.Namespace
		err := s.Client().Get(s.Context(), client.ObjectKeyFromObject(now), now)
		if err == nil && now.Data["GIT_SYNC_REPO"] != want {
			err = fmt.Errorf("it is told to sync %q, not %q", now.Data["GIT_SYNC_REPO"], want)
		}
		return err
	})
}

// unsettled has somebody do something to them, and nothing else happens.
func unsettled(do func(*Story, client.Object) error) func(*Story) {
	return func(s *Story) {
		if err := do(s, settings()); err != nil {
			panic(fmt.Sprintf("meddling with the settings of a reconciler: %v", err))
		}
	}
}

// spoil has somebody write another repository into them.
func (s *Story) spoil(settings client.Object) error {
	return s.Client().Patch(s.Context(), settings, client.RawPatch(types.MergePatchType, []byte(`{"data":{"GIT_SYNC_REPO":"https://git.example/other"}}`)))
}
