// This file holds operators whose children need more than a name and an owner.

package correct

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/wavetank/wavetank/history"
)

func childrenOperators() []Operator {
	return []Operator{
		{"expectations", "generated names, and expectations as the ReplicaSet controller has them", expectations},
		{"shared-children", "children of several owners, none of which is the controller", sharedChildren},
		{"immutable", "immutable ConfigMaps named by a hash of their content; old ones are deleted", immutable},
		{"aggregator", "a status that sums up many children of others", aggregator},
	}
}

// replicator makes as many ConfigMaps with generated names as a Widget wants. Its cache may lag, so
// it waits until it has seen what it has made.
type replicator struct {
	client.Client
	mu       sync.Mutex
	expected map[types.UID]*expectation // by owner
}

// expectation is what the cache of a replicator has not seen yet.
type expectation struct {
	creations int
	deletions map[types.UID]bool
	until     time.Time
}

// pending returns for how long to wait, at most, until the cache has seen all.
func (r *replicator) pending(owner types.UID) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.expected[owner]
	if e == nil || e.creations <= 0 && len(e.deletions) == 0 {
		return 0
	}
	return max(time.Until(e.until), 0)
}

// expect replaces what is expected.
func (r *replicator) expect(owner types.UID, creations int, deletions ...types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &expectation{creations, map[types.UID]bool{}, time.Now().Add(5 * time.Minute)}
	for _, uid := range deletions {
		e.deletions[uid] = true
	}
	r.expected[owner] = e
}

// saw takes something off the expectations: a creation, or the deletion of a child.
func (r *replicator) saw(owner types.UID, creations int, deleted types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.expected[owner]; e != nil {
		e.creations -= creations
		delete(e.deletions, deleted)
	}
}

// handler tells the replicator what its cache sees.
func (r *replicator) handler() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]
	seen := func(o client.Object, q queue, creations int, deleted types.UID) {
		if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == "Widget" {
			r.saw(owner.UID, creations, deleted)
			q.Add(ctrl.Request{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: owner.Name}})
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { seen(e.Object, q, 1, "") },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { seen(e.ObjectNew, q, 0, "") },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { seen(e.Object, q, 0, e.Object.GetUID()) },
	}
}

func (r *replicator) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	wait := r.pending(w.UID)
	var all corev1.ConfigMapList
	if err := r.List(c, &all, client.InNamespace(w.Namespace)); err != nil {
		return ctrl.Result{}, err
	}
	mine := slices.DeleteFunc(all.Items, func(o corev1.ConfigMap) bool { return !metav1.IsControlledBy(&o, &w) })
	if wait == 0 {
		if err := r.scale(c, &w, mine); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{RequeueAfter: wait},
		writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Ready = int32(len(mine)) })
}

func (r *replicator) scale(c context.Context, w *Widget, mine []corev1.ConfigMap) error {
	if missing := int(w.Spec.Size) - len(mine); missing > 0 {
		r.expect(w.UID, missing)
		for i := range missing {
			child := &corev1.ConfigMap{}
			child.Namespace, child.GenerateName = w.Namespace, w.Name+"-"
			err := controllerutil.SetControllerReference(w, child, r.Scheme())
			if err == nil {
				err = r.Create(c, child)
			}
			if err != nil {
				r.saw(w.UID, missing-i, "") // if it was made nevertheless, there is one too many for a while
				return err
			}
		}
		return nil
	}
	slices.SortFunc(mine, func(a, b corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	var uids []types.UID
	for _, o := range mine[w.Spec.Size:] {
		uids = append(uids, o.UID)
	}
	r.expect(w.UID, 0, uids...)
	for _, o := range mine[w.Spec.Size:] {
		if err := r.Delete(c, &o, client.Preconditions{UID: &o.UID}); err != nil {
			r.saw(w.UID, 0, o.UID)
			if client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

func expectations(w *stage) {
	w.start("replicator", ctrl.Options{}, func(mgr ctrl.Manager) error {
		r := &replicator{Client: mgr.GetClient(), expected: map[types.UID]*expectation{}}
		return ctrl.NewControllerManagedBy(mgr).Named("replicator").For(&Widget{}).
			Watches(&corev1.ConfigMap{}, r.handler()).Complete(r)
	})
	w.disturb()
	w.promise()
	w.finally("there are as many as the Widget wants", "a", func(h *history.History, a *Widget) error {
		n := 0
		for _, o := range h.Objects("", "ConfigMap") {
			if strings.HasPrefix(o.Ref.Name, "a-") {
				n++
			}
		}
		if n != int(a.Spec.Size) || a.Status.Ready != a.Spec.Size {
			return fmt.Errorf("there are %d of %d, and the status has %d", n, a.Spec.Size, a.Status.Ready)
		}
		return nil
	})
	w.usual()
	w.Apply(widget("a", WidgetSpec{Size: 4}))
	w.Settle()
	w.edit("a", func(o *Widget) { o.Spec.Size = 1 })
	w.Settle()
}

// sharer keeps a ConfigMap for each share. All Widgets that share it own it; it has no controller.
type sharer struct{ client.Client }

func (r sharer) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	for _, name := range w.Spec.Shares {
		config := &corev1.ConfigMap{ObjectMeta: named(name)}
		if _, err := controllerutil.CreateOrUpdate(c, r.Client, config, func() error {
			config.Data = map[string]string{"shared": "yes"}
			return controllerutil.SetOwnerReference(&w, config, r.Scheme())
		}); err != nil {
			return ctrl.Result{}, err
		}
	}
	var all corev1.ConfigMapList
	if err := r.List(c, &all, client.InNamespace(w.Namespace)); err != nil {
		return ctrl.Result{}, err
	}
	for i := range all.Items {
		o := &all.Items[i]
		if owns, err := controllerutil.HasOwnerReference(o.OwnerReferences, &w, r.Scheme()); err != nil || !owns ||
			slices.Contains(w.Spec.Shares, o.Name) {
			continue
		}
		if err := r.leave(c, &w, o); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Children = w.Spec.Shares })
}

// leave ends an ownership. The last owner deletes the object, unless another has come meanwhile.
func (r sharer) leave(c context.Context, w *Widget, o *corev1.ConfigMap) error {
	if len(o.OwnerReferences) == 1 {
		return client.IgnoreNotFound(r.Delete(c, o,
			client.Preconditions{UID: &o.UID, ResourceVersion: &o.ResourceVersion}))
	}
	if err := controllerutil.RemoveOwnerReference(w, o, r.Scheme()); err != nil {
		return err
	}
	return client.IgnoreNotFound(r.Update(c, o))
}

func sharedChildren(w *stage) {
	w.start("sharer", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("sharer").For(&Widget{}).
			Watches(&corev1.ConfigMap{}, ownedBy(mgr)).Complete(sharer{mgr.GetClient()})
	})
	w.disturb()
	w.promise()
	w.finally("its shares exist", "a", func(h *history.History, a *Widget) error {
		for _, name := range a.Spec.Shares {
			if absent(h, "ConfigMap", name) == nil {
				return fmt.Errorf("there is no %s", name)
			}
		}
		return nil
	})
	a, b := widget("a", WidgetSpec{Shares: []string{"x", "y"}}), widget("b", WidgetSpec{Shares: []string{"y", "z"}})
	w.Apply(a.DeepCopy(), b.DeepCopy())
	w.Settle()
	w.edit("b", func(o *Widget) { o.Spec.Shares = []string{"x", "z"} })
	w.edit("a", func(o *Widget) { o.Spec.Shares = []string{"y"} })
	w.Settle()
	w.Remove(b.DeepCopy())
	w.Settle()
	w.restart()
	w.Remove(a)
	w.Settle()
}

// versioned never changes a ConfigMap: a new text is a new one.
type versioned struct{ client.Client }

func (r versioned) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	config := &corev1.ConfigMap{ObjectMeta: named(versionedName(&w)), Data: map[string]string{"text": w.Spec.Text},
		Immutable: new(true)}
	config.Labels = map[string]string{"widget": w.Name}
	if err := controllerutil.SetControllerReference(&w, config, r.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	var all corev1.ConfigMapList
	if err := r.List(c, &all, client.InNamespace(w.Namespace), client.MatchingLabels{"widget": w.Name}); err != nil {
		return ctrl.Result{}, err
	}
	current := slices.IndexFunc(all.Items, func(o corev1.ConfigMap) bool {
		return o.Name == config.Name && metav1.IsControlledBy(&o, &w)
	})
	if current < 0 {
		// One of an earlier Widget with this name may be in the way until it is collected.
		if err := r.Create(c, config); err != nil {
			return ctrl.Result{}, err
		}
	}
	if err := writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Children = []string{config.Name} }); err != nil {
		return ctrl.Result{}, err
	}
	for i := range all.Items {
		o := &all.Items[i]
		if o.Name == config.Name || !metav1.IsControlledBy(o, &w) {
			continue
		}
		if err := r.Delete(c, o, client.Preconditions{UID: &o.UID}); client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

func versionedName(w *Widget) string {
	return fmt.Sprintf("%s-%x", w.Name, sha256.Sum256([]byte(w.Spec.Text)))[:12]
}

func immutable(w *stage) {
	w.start("versioned", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("versioned").For(&Widget{}).Owns(&corev1.ConfigMap{}).
			Complete(versioned{mgr.GetClient()})
	})
	w.disturb()
	w.promise()
	w.finally("the newest version is the only one", "a", func(h *history.History, a *Widget) error {
		var mine []string
		for _, o := range h.Objects("", "ConfigMap") {
			if strings.HasPrefix(o.Ref.Name, "a-") {
				mine = append(mine, o.Ref.Name)
			}
		}
		if len(mine) != 1 || mine[0] != versionedName(a) {
			return fmt.Errorf("there are %q", mine)
		}
		return nil
	})
	w.usual()
}

// counter counts which ConfigMaps of others are ready.
type counter struct{ client.Client }

func (r counter) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var all corev1.ConfigMapList
	if err := r.List(c, &all, client.InNamespace(w.Namespace), client.MatchingLabels{"widget": w.Name}); err != nil {
		return ctrl.Result{}, err
	}
	ready := slices.DeleteFunc(all.Items, func(o corev1.ConfigMap) bool { return o.Data["ready"] != "true" })
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) {
		s.Ready = int32(len(ready))
		s.Phase = "Waiting"
		if s.Ready >= w.Spec.Size {
			s.Phase = "Ready"
		}
	})
}

func aggregator(w *stage) {
	w.start("counter", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("counter").For(&Widget{}).
			Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(
				func(_ context.Context, o client.Object) []ctrl.Request {
					if name := o.GetLabels()["widget"]; name != "" {
						return []ctrl.Request{{NamespacedName: key(name)}}
					}
					return nil
				})).Complete(counter{mgr.GetClient()})
	})
	w.disturb()
	w.promise()
	w.finally("the sum is right", "a", func(h *history.History, a *Widget) error {
		ready := int32(0)
		for _, o := range h.Objects("", "ConfigMap") {
			if strings.Contains(string(o.JSON), `"ready":"true"`) {
				ready++
			}
		}
		if a.Status.Ready != ready || (a.Status.Phase == "Ready") != (ready >= a.Spec.Size) {
			return fmt.Errorf("%d are ready, and the status is %+v", ready, a.Status)
		}
		return nil
	})
	child := func(i int, ready string) *corev1.ConfigMap {
		o := &corev1.ConfigMap{ObjectMeta: named(fmt.Sprintf("child-%d", i)), Data: map[string]string{"ready": ready}}
		o.Labels = map[string]string{"widget": "a"}
		return o
	}
	w.Apply(widget("a", WidgetSpec{Size: 8}))
	for i := range 12 {
		w.Apply(child(i, "false"))
	}
	w.Settle()
	for i := range 9 {
		w.Apply(child(i, "true"))
	}
	w.Settle()
	w.Remove(child(0, ""), child(1, ""))
	w.edit("a", func(o *Widget) { o.Spec.Size = 7 })
	w.Settle()
	w.restart()
}
