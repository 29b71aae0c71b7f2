// This file holds operators that have their own ideas of a work queue.

package correct

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
)

func queueOperators() []Operator {
	return []Operator{
		{"typed-requests", "requests of a type of its own, one for each part of an object", typedRequests},
		{"priorities", "the priority queue, with low priority for what has not changed", priorities},
		{"ttl", "deletes what has expired, with its own rate limiter and preconditions", ttl},
	}
}

// part is the request for one ConfigMap of a Widget.
type part struct {
	types.NamespacedName
	number int
}

const parts = 3

// partsOf are the requests of a Widget: one for each part that it has or may have had.
func partsOf(_ context.Context, o client.Object) (out []part) {
	for i := range parts {
		out = append(out, part{client.ObjectKeyFromObject(o), i})
	}
	return out
}

type partReconciler struct{ client.Client }

func (r partReconciler) Reconcile(c context.Context, req part) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	config := &corev1.ConfigMap{ObjectMeta: named(fmt.Sprintf("%s-%d", w.Name, req.number))}
	if req.number >= int(w.Spec.Size) {
		err := r.Get(c, client.ObjectKeyFromObject(config), config)
		if err != nil || !metav1.IsControlledBy(config, &w) {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		return ctrl.Result{}, client.IgnoreNotFound(r.Delete(c, config, client.Preconditions{UID: &config.UID}))
	}
	_, err := controllerutil.CreateOrUpdate(c, r.Client, config, func() error {
		config.Data = map[string]string{"text": w.Spec.Text}
		return controllerutil.SetControllerReference(&w, config, r.Scheme())
	})
	return ctrl.Result{}, err
}

func typedRequests(w *stage) {
	w.unfit = []string{"RacingRequeue"} // it knows requests of the usual type only
	w.start("parts", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return builder.TypedControllerManagedBy[part](mgr).Named("parts").
			Watches(&Widget{}, handler.TypedEnqueueRequestsFromMapFunc(partsOf)).
			Watches(&corev1.ConfigMap{}, handler.TypedEnqueueRequestsFromMapFunc(
				func(c context.Context, o client.Object) []part {
					if owner := metav1.GetControllerOf(o); owner != nil {
						return partsOf(c, &Widget{ObjectMeta: named(owner.Name)})
					}
					return nil
				})).
			WithOptions(controller.TypedOptions[part]{MaxConcurrentReconciles: 2}).
			Complete(partReconciler{mgr.GetClient()})
	})
	w.disturb()
	w.promise()
	w.finally("there are as many parts as the Widget wants", "a", func(h *history.History, a *Widget) error {
		for i := range parts {
			var config corev1.ConfigMap
			exists := into(h, "", "ConfigMap", ns, fmt.Sprintf("a-%d", i), &config)
			if want := i < int(a.Spec.Size); exists != want || want && config.Data["text"] != a.Spec.Text {
				return fmt.Errorf("part %d exists: %v, with %q", i, exists, config.Data["text"])
			}
		}
		return nil
	})
	w.usual()
	w.Apply(widget("a", WidgetSpec{Text: "red", Size: 3}))
	w.Settle()
	w.edit("a", func(o *Widget) { o.Spec.Size = 1 })
	w.Settle()
}

// prioritised lets changes overtake what is only looked at once more.
type prioritised struct{ configurer }

func (r prioritised) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	result, err := r.configurer.Reconcile(c, req)
	if err != nil {
		result.Priority = new(handler.LowPriority) // others need not wait for a retry
	}
	return result, err
}

func priorities(w *stage) {
	options := ctrl.Options{Controller: config.Controller{UsePriorityQueue: new(true)}}
	w.start("configurer", options, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("configurer").
			Watches(&Widget{}, handler.WithLowPriorityWhenUnchanged(&handler.EnqueueRequestForObject{})).
			Watches(&corev1.ConfigMap{}, ownedBy(mgr)).
			Complete(reconcile.Func(prioritised{configurer{mgr.GetClient()}}.Reconcile))
	})
	w.disturb()
	w.promise()
	w.finally("the ConfigMap is up to date", "a", configured)
	w.usual()
}

// reaper deletes Widgets when their time has come.
type reaper struct{ client.Client }

func (r reaper) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	err := r.Get(c, req.NamespacedName, &w)
	if err != nil || !w.DeletionTimestamp.IsZero() || w.Spec.TTLSeconds == 0 {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	ends := w.CreationTimestamp.Add(time.Duration(w.Spec.TTLSeconds) * time.Second)
	if left := time.Until(ends); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	// The time may have been changed meanwhile, and the name may stand for another object.
	return ctrl.Result{}, client.IgnoreNotFound(r.Delete(c, &w,
		client.Preconditions{UID: &w.UID, ResourceVersion: &w.ResourceVersion}))
}

func ttl(w *stage) {
	w.start("reaper", ctrl.Options{}, func(mgr ctrl.Manager) error {
		limiter := workqueue.NewTypedMaxOfRateLimiter(
			workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](100*time.Millisecond, time.Minute),
			workqueue.NewTypedItemFastSlowRateLimiter[ctrl.Request](time.Second, 30*time.Second, 5))
		return ctrl.NewControllerManagedBy(mgr).Named("reaper").For(&Widget{}).
			WithOptions(controller.Options{RateLimiter: limiter, MaxConcurrentReconciles: 2}).
			Complete(reaper{mgr.GetClient()})
	})
	w.unfit = []string{"Conflict"} // it only deletes
	w.disturb()
	w.promise()
	w.Eventually("what has expired is gone", func(h *history.History) error {
		if _, ok := h.Object(group.Group, "Widget", ns, "short"); ok {
			return fmt.Errorf("short is still there")
		}
		return nil
	})
	w.Eventually("what has no end stays", func(h *history.History) error {
		if _, ok := h.Object(group.Group, "Widget", ns, "ever"); !ok {
			return fmt.Errorf("ever is gone")
		}
		return nil
	})
	w.Apply(widget("ever", WidgetSpec{}), widget("short", WidgetSpec{TTLSeconds: 120}),
		widget("long", WidgetSpec{TTLSeconds: 600}))
	w.Settle()
	w.Apply(widget("short", WidgetSpec{TTLSeconds: 60}))
	w.edit("ever", func(o *Widget) { o.Spec.Text = "still here" })
	w.Settle()
	w.restart()
}
