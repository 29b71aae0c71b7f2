// Package simtest has what the tests of package sim and of the packages below it share: small
// operators with known flaws, the scenarios that they are in, and shorthands for campaigns.
package simtest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// ConfigMap returns a ConfigMap of the namespace default. data are its keys and values in turn.
func ConfigMap(name string, data ...string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	for i := 0; i+1 < len(data); i += 2 {
		if cm.Data == nil {
			cm.Data = map[string]string{}
		}
		cm.Data[data[i]] = data[i+1]
	}
	return cm
}

// Source returns a ConfigMap that [Mirror], [Mailer] and [Restless] reconcile.
func Source(name string, data ...string) *corev1.ConfigMap {
	return WithRole("source", ConfigMap(name, data...))
}

// Ticket returns a ConfigMap that [Counter] reconciles.
func Ticket(name string) *corev1.ConfigMap { return WithRole("ticket", ConfigMap(name)) }

// WithRole labels a ConfigMap for the controllers that are built with [Role].
func WithRole(role string, cm *corev1.ConfigMap) *corev1.ConfigMap {
	cm.Labels = map[string]string{"role": role}
	return cm
}

// Role restricts a controller to the objects that [WithRole] has labelled.
func Role(role string) builder.Predicates {
	has := func(o client.Object) bool { return o.GetLabels()["role"] == role }
	return builder.WithPredicates(predicate.NewPredicateFuncs(has))
}

// Data returns the data of a ConfigMap in the namespace default, and reports whether it exists.
func Data(h *history.History, name string) (map[string]string, bool) {
	o, ok := h.Object("", "ConfigMap", "default", name)
	if !ok {
		return nil, false
	}
	var cm corev1.ConfigMap
	if err := o.Into(&cm); err != nil {
		panic(err)
	}
	return cm.Data, true
}

// Do is what a reconcile of a ConfigMap does, once the object is read from the cache.
type Do func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error)

// Reconciles returns the setup function of a controller of all ConfigMaps.
func Reconciles(do Do, opts ...controller.Options) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		b := ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{})
		for _, o := range opts {
			b = b.WithOptions(o)
		}
		return b.Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			var cm corev1.ConfigMap
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			return do(ctx, mgr.GetClient(), &cm)
		}))
	}
}

// Nothing is a reconcile that does nothing.
func Nothing(context.Context, reconcile.Request) (reconcile.Result, error) {
	return reconcile.Result{}, nil
}

// Mirror is the setup function of a correct controller: it copies each [Source] to a ConfigMap that
// is called "<name>-copy".
func Mirror(mgr ctrl.Manager) error {
	c := mgr.GetClient()
	mirror := func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		var src, dst corev1.ConfigMap
		if err := c.Get(ctx, req.NamespacedName, &src); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		name := client.ObjectKey{Namespace: req.Namespace, Name: req.Name + "-copy"}
		err := c.Get(ctx, name, &dst)
		if apierrors.IsNotFound(err) {
			dst.Namespace, dst.Name, dst.Data = name.Namespace, name.Name, src.Data
			return reconcile.Result{}, c.Create(ctx, &dst)
		}
		if err != nil || fmt.Sprint(dst.Data) == fmt.Sprint(src.Data) {
			return reconcile.Result{}, err
		}
		dst.Data = src.Data
		return reconcile.Result{}, c.Update(ctx, &dst)
	}
	return ctrl.NewControllerManagedBy(mgr).Named("mirror").For(&corev1.ConfigMap{}, Role("source")).
		Complete(reconcile.Func(mirror))
}

// Mirrored reports the first [Source] whose copy by [Mirror] is missing or differs.
func Mirrored(h *history.History) error {
	for _, o := range h.Objects("", "ConfigMap") {
		if strings.HasSuffix(o.Ref.Name, "-copy") || !strings.HasPrefix(o.Ref.Name, "src") {
			continue
		}
		src, _ := Data(h, o.Ref.Name)
		dst, ok := Data(h, o.Ref.Name+"-copy")
		if !ok || fmt.Sprint(src) != fmt.Sprint(dst) {
			return fmt.Errorf("%s is %v and its copy is %v", o.Ref.Name, src, dst)
		}
	}
	return nil
}

// Counter adds 1 to the ConfigMap "total" for each [Ticket]. It reads the total from the API server
// and patches it.
type Counter struct {
	Workers int
	Locked  bool             // the patch carries the resourceVersion
	GivesUp func(error) bool // on these errors it does not try again
}

// Setup is the setup function of the counter.
func (c Counter) Setup(mgr ctrl.Manager) error {
	count := func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		err := c.count(ctx, mgr, req)
		if err != nil && c.GivesUp != nil && c.GivesUp(err) {
			err = nil
		}
		return reconcile.Result{}, err
	}
	return ctrl.NewControllerManagedBy(mgr).Named("counter").For(&corev1.ConfigMap{}, Role("ticket")).
		WithOptions(controller.Options{MaxConcurrentReconciles: c.Workers}).Complete(reconcile.Func(count))
}

func (c Counter) count(ctx context.Context, mgr ctrl.Manager, req reconcile.Request) error {
	var ticket, total corev1.ConfigMap
	if err := mgr.GetClient().Get(ctx, req.NamespacedName, &ticket); err != nil {
		return client.IgnoreNotFound(err)
	}
	if err := mgr.GetAPIReader().Get(ctx, client.ObjectKey{Namespace: "default", Name: "total"}, &total); err != nil {
		return err
	}
	if total.Data["counted-"+req.Name] != "" {
		return nil
	}
	n, _ := strconv.Atoi(total.Data["n"])
	patch := client.MergeFrom(total.DeepCopy())
	if c.Locked {
		patch = client.MergeFromWithOptions(total.DeepCopy(), client.MergeFromWithOptimisticLock{})
	}
	total.Data["n"] = strconv.Itoa(n + 1)
	total.Data["counted-"+req.Name] = "yes"
	return mgr.GetClient().Patch(ctx, &total, patch)
}

// Counting returns a scenario of a counter and one ticket. Whether the ticket is counted is judged.
func Counting(c Counter, faults ...func() fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		w.Apply(ConfigMap("total", "n", "0"))
		w.Start("counter", c.Setup)
		inject(w, faults)
		w.Eventually("the ticket is counted", func(h *history.History) error {
			if d, _ := Data(h, "total"); d["n"] != "1" {
				return fmt.Errorf("one ticket was counted as %s", d["n"])
			}
			return nil
		})
		w.Apply(Ticket("a"))
		w.Settle()
	}
}

func inject(w *sim.World, faults []func() fault.Fault) {
	for _, declare := range faults {
		w.Inject(declare())
	}
}

// Restless is the setup function of a controller that writes the time into each [Source] every
// minute.
func Restless(mgr ctrl.Manager) error {
	write := func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		var cm corev1.ConfigMap
		if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		cm.Data = map[string]string{"now": time.Now().Truncate(time.Minute).String()}
		return reconcile.Result{RequeueAfter: time.Minute}, mgr.GetClient().Update(ctx, &cm)
	}
	return ctrl.NewControllerManagedBy(mgr).Named("restless").For(&corev1.ConfigMap{}, Role("source")).
		Complete(reconcile.Func(write))
}
