package process

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
)

// Handlers of a program's own hear the objects of a list, and those that are there when they join,
// in order.
func TestHandlersHearObjectsInOrder(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		names := []string{"e", "b", "d", "a", "c"}
		for _, name := range names {
			w.createConfigMap(t, name)
		}
		var early, late []string
		p := w.manage("p", ctrl.Options{}, func(mgr manager.Manager) error {
			background := cache.BlockUntilSynced(false)
			informer, err := mgr.GetCache().GetInformer(context.Background(), &corev1.ConfigMap{}, background)
			if err != nil {
				return err
			}
			hear := func(into *[]string) error {
				_, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
					AddFunc:    func(o any) { *into = append(*into, o.(*corev1.ConfigMap).Name) },
					UpdateFunc: func(_, o any) { *into = append(*into, "changed "+o.(*corev1.ConfigMap).Name) },
					DeleteFunc: func(o any) { *into = append(*into, "deleted "+o.(*corev1.ConfigMap).Name) },
				})
				return err
			}
			time.AfterFunc(time.Second, func() { hear(&late) }) //nolint:errcheck // it is asked for below
			return hear(&early)
		})
		w.drain(2 * time.Second)
		w.write(t, "PATCH", configMaps+"/b", `{"data":{"k":"w"}}`)
		w.write(t, "DELETE", configMaps+"/a", "")
		w.drain(3 * time.Second)
		want := "[a b c d e changed b deleted a]"
		expect(t, "a handler from the start", early, want)
		expect(t, "a handler that joined", late, want)
		expect(t, "lists", len(p.Current().caches.informers), 1)
	})
}

// Lists of a manager's cache, and of one of several namespaces, come by key.
func TestCachedListsAreSorted(t *testing.T) {
	namespaces := map[string]cache.Config{"default": {}, "kube-system": {}, "kube-public": {}}
	for name, o := range map[string]ctrl.Options{
		"one cache":  {},
		"namespaces": {Cache: cache.Options{DefaultNamespaces: namespaces}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				for i := range 10 {
					w.createConfigMap(t, fmt.Sprint("c", 9-i))
				}
				var lists []string
				w.manage("p", o, func(mgr manager.Manager) error {
					return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
						var all corev1.ConfigMapList
						for range 3 {
							if err := mgr.GetClient().List(ctx, &all); err != nil {
								return err
							}
							lists = append(lists, names(all))
						}
						if err := mgr.GetClient().List(ctx, &all, client.Limit(2)); err != nil {
							return err
						}
						lists = append(lists, names(all))
						<-ctx.Done()
						return nil
					}))
				})
				w.drain(10 * time.Second)
				all := "c0 c1 c2 c3 c4 c5 c6 c7 c8 c9"
				expect(t, "lists", strings.Join(lists, "\n"), strings.Join([]string{all, all, all, "c0 c1"}, "\n"))
			})
		})
	}
}

func names(list corev1.ConfigMapList) string {
	var out []string
	for _, cm := range list.Items {
		out = append(out, cm.Name)
	}
	return strings.Join(out, " ")
}

// An object of the cache is changed in place. The next look at the caches finds the field. What a
// transform changes in place is no such change.
func TestChangesInPlaceAreFound(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.createConfigMap(t, "a")
		transform := func(obj any) (any, error) {
			obj.(*corev1.ConfigMap).Annotations = map[string]string{"transformed": "true"}
			return obj, nil
		}
		w.manage("p", ctrl.Options{Cache: cache.Options{DefaultTransform: transform}}, func(mgr manager.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("c").
				Complete(reconcile.Func(func(ctx context.Context, req request) (reconcile.Result, error) {
					informer, err := mgr.GetCache().GetInformer(ctx, &corev1.ConfigMap{})
					if err != nil {
						return reconcile.Result{}, err
					}
					o, _, err := informer.(toolscache.SharedIndexInformer).GetStore().GetByKey(req.String())
					o.(*corev1.ConfigMap).Data["k"] = "changed"
					return reconcile.Result{}, err
				}))
		})
		w.drain(time.Second)
		w.Inspect()
		w.Inspect()
		w.Sched.Quiesce()
		w.write(t, "PATCH", configMaps+"/a", `{"data":{"k":"w"}}`)
		w.drain(2 * time.Second)
		w.Inspect()
		w.Sched.Quiesce()
		var notes []string
		for _, e := range w.History.Events {
			if e.Kind == history.Mutation {
				notes = append(notes, e.Ref.String()+": "+e.Note)
			}
		}
		expect(t, "changes", strings.Join(notes, "\n"), `ConfigMap default/a: data.k was "v" and is "changed"`+"\n"+
			`ConfigMap default/a: data.k was "w" and is "changed"`)
	})
}
