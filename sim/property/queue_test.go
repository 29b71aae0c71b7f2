package property_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

// A controller that fails because its cache is stale makes another attempt when the watch event
// arrives, although its back-off is not over. So does one whose attempt succeeds at last: its own
// write wakes it.
func TestBackoffSettledAllowsAnAttemptWithAReason(t *testing.T) {
	for name, tried := range map[string]struct {
		fault fault.Fault
		setup func(ctrl.Manager) error
	}{
		"late news": {fault.StaleCache(30*time.Second, fault.OfKind("Secret")), patchesItsChild},
		"success":   {fault.Forbidden(30*time.Second, fault.OfKind("Secret")), patchesItsChild},
		"exists":    {fault.Forbidden(30*time.Second, fault.OfKind("Secret")), createsItsChild},
	} {
		t.Run(name, func(t *testing.T) {
			r := simtest.Holds(t, func(w *sim.World) {
				w.Start("operator", tried.setup)
				w.Inject(tried.fault)
				w.Always("BackoffSettled", property.BackoffSettled("work", time.Second, nil))
				settleWith(w, work("a"))
				w.Remove(&corev1.Secret{ObjectMeta: named("a")})
				w.Apply(work("a", "changed", "yes"))
				w.Sleep(time.Minute)
				w.Settle()
			}, sim.Runs(60), sim.For(0), sim.Shrink(0))
			if r.Faults[0].Observed == 0 {
				t.Errorf("there was no fault: %+v", r.Faults)
			}
		})
	}
}

// createsItsChild creates a Secret for the ConfigMap every 20 s, whether there is one or not.
func createsItsChild(mgr ctrl.Manager) error {
	o := mgr.GetClient()
	return ctrl.NewControllerManagedBy(mgr).Named("work").For(&corev1.ConfigMap{}).
		Complete(reconciler(func(c context.Context, req request) (result, error) {
			err := o.Create(c, &corev1.Secret{ObjectMeta: named(req.Name)})
			return result{RequeueAfter: 20 * time.Second}, client.IgnoreAlreadyExists(err)
		}))
}

// patchesItsChild patches a Secret for the ConfigMap, and makes it if it is not there.
func patchesItsChild(mgr ctrl.Manager) error {
	o := mgr.GetClient()
	return ctrl.NewControllerManagedBy(mgr).Named("work").For(&corev1.ConfigMap{}).
		Watches(&corev1.Secret{}, &handler.EnqueueRequestForObject{}).
		Complete(reconciler(func(c context.Context, req request) (result, error) {
			child := &corev1.Secret{ObjectMeta: named("a")}
			switch err := o.Get(c, client.ObjectKeyFromObject(child), child); {
			case req.Name != "a":
				return result{}, nil
			case apierrors.IsNotFound(err):
				return result{}, o.Create(c, child)
			case err != nil:
				return result{}, err
			}
			patch := []byte(`{"stringData":{"a":"b"}}`)
			return result{}, o.Patch(c, child, client.RawPatch(types.MergePatchType, patch))
		}))
}

// A key that waits because its process is frozen does not starve, even if the first action after
// the pause is to dequeue it.
func TestNoStarvationDoesNotCountPauses(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Always("NoStarvation", property.NoStarvation(10*time.Second))
		start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
			return result{}, o.set(c, cm, "seen", "yes")
		}, nil)
		w.Inject(fault.Pause("operator", 30*time.Second))
		settleWith(w, work("a"), work("b"), work("c"), work("d"), work("e"), work("f"))
	}, sim.Runs(200), sim.For(0), sim.Shrink(0))
}

// If keys are given, only they are judged.
func TestNoStarvationJudgesTheGivenKeys(t *testing.T) {
	a, b := history.Key{Controller: "c", Name: "a"}, history.Key{Controller: "c", Name: "b"}
	h := &history.History{}
	h.Add(history.Event{Kind: history.Dequeue, At: time.Minute, Reconcile: history.Reconcile{Key: a, N: 1}})
	if property.NoStarvation(time.Second, a)(h) == nil {
		t.Error("a key that waited for a minute is not found")
	}
	if err := property.NoStarvation(time.Second, b)(h); err != nil {
		t.Errorf("another key is judged: %v", err)
	}
}

// toA maps any object to the key default/a.
func toA(context.Context, client.Object) []request {
	return []request{{NamespacedName: types.NamespacedName{Namespace: "default", Name: "a"}}}
}

// A failing key is woken by its own first creation or change of a Service, which is progress. One
// that creates another Service in each attempt, or changes one, wakes itself forever.
func TestBackoffSettledAllowsAnAttemptAfterProgress(t *testing.T) {
	create := func(child metav1.ObjectMeta) func(context.Context, client.Client) error {
		return func(c context.Context, o client.Client) error {
			return client.IgnoreAlreadyExists(o.Create(c, service(*child.DeepCopy())))
		}
	}
	label := func(value func() string) func(context.Context, client.Client) error {
		return func(c context.Context, o client.Client) error {
			patch := fmt.Sprintf(`{"metadata":{"labels":{"at":%q}}}`, value())
			return o.Patch(c, service(named("existing")), client.RawPatch(types.MergePatchType, []byte(patch)))
		}
	}
	for name, tried := range map[string]struct {
		act   func(context.Context, client.Client) error
		fails bool
	}{
		"one child":             {create(named("child")), false},
		"a child each attempt":  {create(metav1.ObjectMeta{Namespace: "default", GenerateName: "child-"}), true},
		"one change":            {label(func() string { return "once" }), false},
		"a change each attempt": {label(func() string { return time.Now().Format("150405.000000") }), true},
	} {
		t.Run(name, func(t *testing.T) {
			r := sim.Explore(t, func(w *sim.World) {
				w.Start("operator", func(mgr ctrl.Manager) error {
					o, begun := mgr.GetClient(), time.Now()
					return ctrl.NewControllerManagedBy(mgr).Named("work").For(&corev1.ConfigMap{}).
						Watches(&corev1.Service{}, handler.EnqueueRequestsFromMapFunc(toA)).
						Complete(reconciler(func(c context.Context, _ request) (result, error) {
							if time.Since(begun) > 10*time.Second {
								if err := tried.act(c, o); err != nil {
									return result{}, err
								}
							}
							return result{}, o.Create(c, &corev1.Secret{ObjectMeta: named("Not a name")})
						}))
				})
				w.Without("settles", "no hot loop")
				w.Always("BackoffSettled", property.BackoffSettled("work", time.Second, nil))
				w.Apply(service(named("existing")), work("a"))
				w.Sleep(5 * time.Minute)
			}, sim.Runs(3), sim.For(0), sim.Shrink(0))
			if (r.Failure != nil) != tried.fails {
				t.Error(r.Err())
			}
		})
	}
}

func service(of metav1.ObjectMeta) *corev1.Service {
	return &corev1.Service{ObjectMeta: of, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
}

// A failing key is woken by what another key of its controller writes. That is no attempt of its
// own accord.
func TestBackoffSettledAllowsAnAttemptAfterAnotherKeysWrite(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Start("operator", func(mgr ctrl.Manager) error {
			o := mgr.GetClient()
			return ctrl.NewControllerManagedBy(mgr).Named("work").For(&corev1.ConfigMap{}).
				Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(toA)).
				Complete(reconciler(func(c context.Context, req request) (result, error) {
					if req.Name == "a" { // the server refuses this name
						return result{}, o.Create(c, &corev1.Secret{ObjectMeta: named("Not a name")})
					}
					child := &corev1.Secret{ObjectMeta: named("shared")}
					_, err := controllerutil.CreateOrUpdate(c, o, child, func() error {
						child.StringData = map[string]string{"at": time.Now().String()}
						return nil
					})
					return result{RequeueAfter: 7 * time.Second}, err
				}))
		})
		w.Without("settles")
		w.Always("BackoffSettled", property.BackoffSettled("work", time.Second, nil))
		w.Apply(work("a"), work("b"))
		w.Sleep(10 * time.Minute)
	}, sim.Runs(3), sim.For(0), sim.Shrink(0))
}

// A failing key is woken when an informer has listed again, whether the list comes as one reply or
// as watch events. The version of the list may be that of the key's own last write.
func TestBackoffSettledAllowsAnAttemptAfterAList(t *testing.T) {
	creates := func(e *history.Event) bool { return e.Verb == "create" && e.Ref.Kind == "Service" }
	for name, options := range map[string][]sim.ProcessOption{
		"one reply":    {sim.ListThenWatch()},
		"watch events": nil,
	} {
		t.Run(name, func(t *testing.T) {
			r := simtest.Holds(t, func(w *sim.World) {
				w.Start("operator", func(mgr ctrl.Manager) error {
					o := mgr.GetClient()
					return ctrl.NewControllerManagedBy(mgr).Named("work").For(&corev1.ConfigMap{}).
						Complete(reconciler(func(c context.Context, _ request) (result, error) {
							patch := []byte(`{"stringData":{"at":"` + time.Now().String() + `"}}`)
							tried := &corev1.Secret{ObjectMeta: named("tried")}
							if err := o.Patch(c, tried, client.RawPatch(types.MergePatchType, patch)); err != nil {
								return result{}, err
							}
							return result{}, o.Create(c, &corev1.Service{ObjectMeta: named("Not a name")})
						}))
				}, options...)
				w.Inject(fault.Relist())
				w.Without("settles")
				w.Always("BackoffSettled", property.BackoffSettled("work", 100*time.Millisecond, creates))
				w.Apply(&corev1.Secret{ObjectMeta: named("tried")}, work("a"))
				w.Sleep(5 * time.Second)
				settleWith(w, work("a", "changed", "yes"))
			}, sim.Runs(100), sim.For(0), sim.Shrink(0))
			if r.Faults[0].Injected == 0 {
				t.Errorf("there was no list: %+v", r.Faults)
			}
		})
	}
}
