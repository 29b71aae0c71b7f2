// This file has the bugs that only the cluster's own controllers bring out. They are not in the
// table of Bugs, which the pages of the bench are made from.

package planted

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/namespace"
	"github.com/wavetank/wavetank/models/quota"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim/fault"
)

// ClusterBugs are the bugs that need a model of the cluster's own controllers.
func ClusterBugs() []Bug {
	return []Bug{
		{"no-account-yet", "object of the cluster is not there yet", 1, "the operator is faster than the cluster",
			"the account of each namespace pulls images", accountless},
		{"quota-given-back-late", "403 of a quota is not retried", 1, "the quota is counted late",
			"the work has its pod", overQuota},
		{"eviction-refused", "429 of an eviction is swallowed", 1, "the budget is counted late",
			"the restart is done", refused},
		{"pod-of-a-lost-node", "a Terminating pod is taken for a stopped one", 1, "a node is lost for ten minutes",
			"one pod of the work runs", splitBrain},
	}
}

// accountless adds a pull secret to the ServiceAccount of each new namespace. It takes an account
// that is not there for a namespace that is gone. The fixed variant tries again.
func accountless(w *stage, fixed bool) {
	w.Builtin(append(namespace.Content(), namespace.New())...)
	account := client.ObjectKey{Namespace: "team", Name: "default"}
	operator{
		watch: func(b *builder.Builder) *builder.Builder { return b.For(&corev1.Namespace{}) },
		work: func(g *reconciler, c ctx, req request) (result, error) {
			if req.Name != account.Namespace {
				return result{}, nil
			}
			var a corev1.ServiceAccount
			if err := g.live.Get(c, account, &a); apierrors.IsNotFound(err) && !g.fixed {
				return result{}, nil
			} else if err != nil {
				return result{}, err
			}
			a.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
			return result{}, g.Update(c, &a)
		},
	}.start(w, "puller", fixed)
	w.Eventually("the account of each namespace pulls images", func(h *history.History) error {
		a, _ := history.Get[corev1.ServiceAccount](h, account.Namespace, account.Name)
		if len(a.ImagePullSecrets) != 1 {
			return fmt.Errorf("the account of %s has no pull secret", account.Namespace)
		}
		return nil
	})
	w.SettleWith(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: account.Namespace}})
}

// overQuota replaces a pod. It waits until the old one is gone, and takes a refusal for a final
// one. The fixed variant tries again, because the quota is given back a little later.
func overQuota(w *stage, fixed bool) {
	w.Builtin(quota.New())
	operator{
		watch: func(b *builder.Builder) *builder.Builder {
			return b.For(&corev1.ConfigMap{}, role("work")).Owns(&corev1.Pod{})
		},
		each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
			var p corev1.Pod
			switch err := g.live.Get(c, key(o.Name), &p); {
			case err == nil && p.Labels["image"] != o.Data["image"]:
				return result{}, g.Delete(c, &p)
			case err == nil || !apierrors.IsNotFound(err):
				return result{}, err
			}
			p = corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: o.Name,
				Labels: map[string]string{"image": o.Data["image"]}}, Spec: podSpec()}
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(o,
				corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
			err := g.Create(c, &p)
			if apierrors.IsForbidden(err) && !g.fixed {
				return result{}, nil // not allowed here
			}
			return result{}, err
		},
	}.start(w, "pods", fixed)
	w.Eventually("the work has its pod", func(h *history.History) error {
		if p, _ := history.Get[corev1.Pod](h, ns, "a"); p.Labels["image"] != "two" {
			return fmt.Errorf("the pod has image %q", p.Labels["image"])
		}
		return nil
	})
	one := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
	w.Apply(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "one"},
		Spec: corev1.ResourceQuotaSpec{Hard: one}})
	w.Sleep(10 * time.Second)
	w.Apply(work("a", "image", "one"))
	w.Sleep(10 * time.Second)
	w.SettleWith(work("a", "image", "two"))
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}
}

// refused restarts the pods of a Deployment one by one, by evictions. It waits until all are
// available, and takes a refusal for one that the next change resolves. The fixed variant tries
// again.
func refused(w *stage, fixed bool) {
	w.Builtin(append(kubelet.New(), workload.New()...)...)
	web := map[string]string{"app": "web"}
	operator{
		watch: func(b *builder.Builder) *builder.Builder {
			return b.For(&corev1.ConfigMap{}, role("work")).Watches(&appsv1.Deployment{},
				handler.EnqueueRequestsFromMapFunc(func(ctx, client.Object) []reconcile.Request {
					return []reconcile.Request{{NamespacedName: key("a")}}
				}))
		},
		until: "done",
		each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
			var d appsv1.Deployment
			var pods corev1.PodList
			if err := g.Get(c, key("web"), &d); err != nil || d.Status.AvailableReplicas < 2 {
				return result{}, err
			}
			if err := g.live.List(c, &pods, client.InNamespace(ns), client.MatchingLabels(web)); err != nil {
				return result{}, err
			}
			for i := range pods.Items {
				p := &pods.Items[i]
				if !p.CreationTimestamp.Before(&o.CreationTimestamp) || p.DeletionTimestamp != nil {
					continue
				}
				err := g.SubResource("eviction").Create(c, p, &policyv1.Eviction{})
				if apierrors.IsTooManyRequests(err) && !g.fixed {
					return result{}, nil
				}
				return result{}, err
			}
			return result{}, g.set(c, o, "done", "yes")
		},
	}.start(w, "restarter", fixed)
	w.Eventually("the restart is done", holds("a", "done", "yes"))
	w.Apply(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: web},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: web}, Spec: podSpec()}}})
	w.Apply(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: web}}})
	w.Sleep(5 * time.Minute)
	w.SettleWith(work("a"))
}

// splitBrain keeps one pod that no second one may run beside. It replaces a pod that is being
// deleted, which still runs if its node is lost. The fixed variant waits until the pod is gone.
func splitBrain(w *stage, fixed bool) {
	w.Builtin(kubelet.New(kubelet.Nodes("node-1", "node-2"), kubelet.Lifecycle(nil))...)
	operator{
		watch: func(b *builder.Builder) *builder.Builder {
			return b.For(&corev1.ConfigMap{}, role("work")).Owns(&corev1.Pod{})
		},
		each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
			var pods corev1.PodList
			if err := g.live.List(c, &pods, client.InNamespace(ns)); err != nil {
				return result{}, err
			}
			for _, p := range pods.Items {
				if p.DeletionTimestamp == nil || g.fixed {
					return result{}, nil
				}
			}
			p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, GenerateName: o.Name + "-"}, Spec: podSpec()}
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(o,
				corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
			return result{}, g.Create(c, &p)
		},
	}.start(w, "keeper", fixed)
	w.Inject(fault.NodeDown(20 * time.Minute))
	w.Always("one pod of the work runs", func(h *history.History) error {
		var run []string
		for _, p := range history.List[corev1.Pod](h) {
			if p.Status.Phase == corev1.PodRunning {
				run = append(run, p.Name+" on "+p.Spec.NodeName)
			}
		}
		if len(run) > 1 {
			return fmt.Errorf("these run: %v", run)
		}
		return nil
	})
	w.Apply(work("a"))
	w.Sleep(20 * time.Minute)
	w.Settle()
}
