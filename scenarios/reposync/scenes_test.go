// This file holds what happens in tests and in no case of the table.

package reposync

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
)

// replacedIdle is what lastResort says: who has been replaced changes nothing any more.
const replacedIdle = "a reconciler that has been replaced changes nothing"

// replacedAfter is when the manager of V10 has surely taken over.
const replacedAfter = 40 * time.Second

// idle declares it.
func (s *World) idle() {
	s.Always(replacedIdle, func(h *history.History) error {
		s.read(h)
		since := deleted(s.syncs[0].Object)
		for i := len(h.Events) - 1; i >= 0 && since != nil && h.Events[i].At > since.At+replacedAfter; i-- {
			if e := &h.Events[i]; e.Process == reposync.ReconcilerName(shop) && len(e.Changes) > 0 {
				return fmt.Errorf("%s changed %s, although the manager does its work", e.Actor(), e.Ref)
			}
		}
		return nil
	})
}

// replaced has another controller hold what the reconciler deletes, until the manager has taken
// over.
func replaced(s *World) {
	deletesSync(s)
	s.Sleep(replacedAfter + time.Second)
	unhold(s)
}

// circular has the last managed object, which is declared first, depend on the first one.
func circular(chain int) Setting {
	return Setting{Chain: chain, Declare: func(all []*unstructured.Unstructured) []*unstructured.Unstructured {
		all[0].SetAnnotations(map[string]string{reposync.DependsOn: needs(managed(shop)[0])})
		return all
	}}
}

// circle has the RepoSync say that it depends on that, too.
func circle(happen func(*World)) func(*World) {
	return func(s *World) {
		s.patch(s.setting.repoSync(shop), fmt.Sprintf(`{"annotations":{%q:%q}}`, reposync.DependsOn,
			needs(managed(shop)[0])))
		happen(s)
	}
}

// strippedFirst is that, and then the namespace is deleted.
func strippedFirst(s *World) {
	stripped(s)
	s.Sleep(sim.Draw(s.World, "until the namespace is deleted, too", delays))
	deletesNamespace(s)
}

// settings are what the manager tells a reconciler of its repository.
func settings() *corev1.ConfigMap {
	meta := metav1.ObjectMeta{Namespace: reposync.Namespace, Name: reposync.ReconcilerName(shop) + "-git-sync"}
	return &corev1.ConfigMap{ObjectMeta: meta}
}

// settled declares that they are there, and say what the RepoSync says.
func (s *World) settled() {
	s.Eventually("a reconciler has its settings", func(*history.History) error {
		now, want := settings(), "https://git.example/"+shop.Namespace
		err := s.Client().Get(s.Context(), client.ObjectKeyFromObject(now), now)
		if err == nil && now.Data["GIT_SYNC_REPO"] != want {
			err = fmt.Errorf("it is told to sync %q, not %q", now.Data["GIT_SYNC_REPO"], want)
		}
		return err
	})
}

// unsettled has a user change or delete them. Nothing else happens.
func unsettled(do func(*World, client.Object) error) func(*World) {
	return func(s *World) {
		if err := do(s, settings()); err != nil {
			panic(fmt.Sprintf("meddling with the settings of a reconciler: %v", err))
		}
	}
}

// spoil has a user write another repository into them.
func (s *World) spoil(settings client.Object) error {
	return s.Client().Patch(s.Context(), settings,
		client.RawPatch(types.MergePatchType, []byte(`{"data":{"GIT_SYNC_REPO":"https://git.example/other"}}`)))
}

// treasure is a Secret that only its owner may read, and elsewhere its namespace.
const treasure, elsewhere = "treasure", "elsewhere"

// coveted has a tenant write a Secret of another namespace into the inventory, and then delete the
// RepoSync while its reconciler is dead: the manager, which takes over, has rights to everything.
func coveted(s *World) {
	s.Apply(worlds.Namespace(elsewhere),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: treasure}})
	reconcilerDead(func(s *World) {
		inv := bare("kpt.dev/v1alpha1", "ResourceGroup", shop.Namespace, shop.Name)
		patch := fmt.Sprintf(`[{"op":"add","path":"/spec/resources/-","value":{"group":"","kind":"Secret",`+
			`"namespace":%q,"name":%q}}]`, elsewhere, treasure)
		if err := s.Client().Patch(s.Context(), inv, client.RawPatch(types.JSONPatchType, []byte(patch))); err != nil {
			panic(fmt.Sprintf("writing into the inventory: %v", err))
		}
		deletesSync(s)
	})(s)
}
