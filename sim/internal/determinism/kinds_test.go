package determinism

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// A program whose mutating and validating webhooks, which fail closed, stand between it and its own
// writes.
func TestWebhooks(t *testing.T) {
	replays(t, func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			decoder := admission.NewDecoder(mgr.GetScheme())
			mgr.GetWebhookServer().Register("/stamp", &webhook.Admission{Handler: stamp(mgr.GetAPIReader(), decoder)})
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(&copies{mgr.GetClient()})
		}, sim.Serves("op"))
		w.Settle()
		w.Apply(stampsSecrets())
		w.Inject(faults("op")...)
		w.Inject(fault.WebhookDown(time.Minute))
		twoRounds(w)
	})
}

// stamp annotates a Secret with the number of ConfigMaps that there are.
func stamp(c client.Reader, decoder admission.Decoder) admission.HandlerFunc {
	return func(ctx context.Context, req admission.Request) admission.Response {
		var s corev1.Secret
		if err := decoder.Decode(req, &s); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		var all corev1.ConfigMapList
		if err := c.List(ctx, &all, client.InNamespace(req.Namespace)); err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		was := s.DeepCopy()
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, "after", fmt.Sprint(len(all.Items)))
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, "by", req.UserInfo.Username)
		return patched(was, &s)
	}
}

// patched lets the library make the patch, whose operations come in map order.
func patched(was, is client.Object) admission.Response {
	before, err := client.MergeFrom(&corev1.Secret{}).Data(was)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	after, err := client.MergeFrom(&corev1.Secret{}).Data(is)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(before, after)
}

func stampsSecrets() client.Object {
	none, closed, path := admissionregv1.SideEffectClassNone, admissionregv1.Fail, "/stamp"
	return &admissionregv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "stamp"},
		Webhooks: []admissionregv1.MutatingWebhook{{
			Name: "stamp.example.org", SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			FailurePolicy: &closed,
			ClientConfig: admissionregv1.WebhookClientConfig{
				Service: &admissionregv1.ServiceReference{Namespace: "default", Name: "op", Path: &path},
			},
			Rules: []admissionregv1.RuleWithOperations{{
				Operations: []admissionregv1.OperationType{"CREATE", "UPDATE"},
				Rule: admissionregv1.Rule{
					APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"secrets"},
				},
			}},
		}},
	}
}

// A program that keeps a Deployment for each ConfigMap, with the cluster's own controllers and a
// kubelet.
func TestBuiltinControllers(t *testing.T) {
	replays(t, func(w *sim.World) {
		w.Builtin(workload.New()...)
		w.Builtin(kubelet.New()...)
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).
				Complete(&deploys{mgr.GetClient()})
		})
		w.Inject(fault.StaleCache(30*time.Second), fault.Crash("op"), fault.LostReply(), fault.Conflict())
		w.Apply(source("a", "1"))
		w.Settle()
		w.Apply(source("a", "2"))
		w.Settle()
	})
}

// deploys keeps a Deployment for each ConfigMap, and tells in the ConfigMap how many of its pods
// are ready.
type deploys struct{ client.Client }

func (d *deploys) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := d.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: cm.Namespace, Name: cm.Name}}
	_, err := ctrl.CreateOrUpdate(ctx, d.Client, object, func() error {
		labels, two := map[string]string{"app": cm.Name}, int32(2)
		object.Spec.Replicas = &two
		object.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		object.Spec.Template.Labels = labels
		object.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "image:" + cm.Data["k"]}}
		return controllerutil.SetControllerReference(&cm, object, d.Scheme())
	})
	if err != nil {
		return reconcile.Result{}, err
	}
	was := cm.DeepCopy()
	metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "ready", fmt.Sprint(object.Status.ReadyReplicas))
	return reconcile.Result{}, d.Patch(ctx, &cm, client.MergeFrom(was))
}

// A program with a cache for each of its namespaces, one of which ends while the program's
// finalizers are in it.
func TestSeveralNamespaces(t *testing.T) {
	replays(t, func(w *sim.World) {
		names := []string{"red", "green", "blue"}
		of := cache.Options{DefaultNamespaces: map[string]cache.Config{}}
		for _, n := range names {
			of.DefaultNamespaces[n] = cache.Config{}
			w.Apply(namespace(n))
		}
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(&finalizes{mgr.GetClient()})
		}, sim.Options(ctrl.Options{Cache: of}))
		w.Inject(faults("op")...)
		w.Inject(fault.SlowNamespace(time.Minute), fault.Relist())
		for _, n := range names {
			w.Apply(configMap(n, "a", "1"), configMap(n, "b", "1"))
		}
		w.Settle()
		w.Remove(namespace("green"), configMap("red", "a", ""))
		w.Settle()
	})
}

// finalizes holds each ConfigMap by a finalizer until it has written down who is still there.
type finalizes struct{ client.Client }

func (f *finalizes) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := f.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	was := cm.DeepCopy()
	if cm.DeletionTimestamp.IsZero() {
		var all corev1.ConfigMapList
		if err := f.List(ctx, &all); err != nil {
			return reconcile.Result{}, err
		}
		controllerutil.AddFinalizer(&cm, "example.org/held")
		metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "of", fmt.Sprint(len(all.Items)))
	} else {
		controllerutil.RemoveFinalizer(&cm, "example.org/held")
	}
	lock := client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})
	return reconcile.Result{}, client.IgnoreNotFound(f.Patch(ctx, &cm, lock))
}

// A program whose informers are of Go's types, of maps, and of metadata alone, side by side.
func TestInformersOfThreeSorts(t *testing.T) {
	replays(t, func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			loose := &unstructured.Unstructured{}
			loose.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			err := ctrl.NewControllerManagedBy(mgr).Named("maps").Watches(loose, &handler.EnqueueRequestForObject{}).
				Complete(&copies{mgr.GetClient()})
			if err != nil {
				return err
			}
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).
				Owns(&corev1.Secret{}, builder.OnlyMetadata).
				Watches(&corev1.Service{}, &handler.EnqueueRequestForObject{}, builder.OnlyMetadata).
				Complete(&copies{mgr.GetClient()})
		})
		w.Inject(faults("op")...)
		w.Inject(fault.Relist(), fault.StaleServer(time.Minute))
		twoRounds(w)
	})
}
