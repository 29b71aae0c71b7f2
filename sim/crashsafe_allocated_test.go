package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

// site gives each ConfigMap a Deployment, a Service and a ConfigMap that says under which address
// it is to be had, as the operator of a new kubebuilder project would.
type site struct {
	client.Client
	live client.Reader
}

func (s *site) setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("site").For(&corev1.ConfigMap{}, simtest.Role("source")).
		Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).Complete(s)
}

func (s *site) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := s.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	app := map[string]string{"app": cm.Name}
	here := metav1.ObjectMeta{Namespace: cm.Namespace, Name: cm.Name}
	d := &appsv1.Deployment{ObjectMeta: here}
	if _, err := controllerutil.CreateOrUpdate(ctx, s.Client, d, func() error {
		d.Spec.Replicas = ptr.To(int32(2))
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: app}
		d.Spec.Template.Labels = app
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: cm.Data["image"]}}
		return controllerutil.SetControllerReference(&cm, d, s.Scheme())
	}); err != nil {
		return reconcile.Result{}, err
	}
	if err := s.more(ctx, &cm, app, here); err != nil {
		return reconcile.Result{}, err
	}
	svc := &corev1.Service{ObjectMeta: here}
	if _, err := controllerutil.CreateOrUpdate(ctx, s.Client, svc, func() error {
		svc.Spec.Selector, svc.Spec.Type = app, corev1.ServiceTypeNodePort
		if len(svc.Spec.Ports) == 0 {
			svc.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80}}
		}
		return controllerutil.SetControllerReference(&cm, svc, s.Scheme())
	}); err != nil {
		return reconcile.Result{}, err
	}
	address := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: cm.Namespace, Name: cm.Name + "-address"}}
	_, err := controllerutil.CreateOrUpdate(ctx, s.Client, address, func() error {
		address.Data = map[string]string{
			"inside":  "http://" + svc.Spec.ClusterIP + ":80/",
			"outside": fmt.Sprintf("http://node.example:%d/", svc.Spec.Ports[0].NodePort),
		}
		return nil
	})
	return reconcile.Result{}, err
}

// more is a StatefulSet with claims and a DaemonSet.
func (s *site) more(ctx context.Context, cm *corev1.ConfigMap, app map[string]string, here metav1.ObjectMeta) error {
	set := &appsv1.StatefulSet{ObjectMeta: here}
	if _, err := controllerutil.CreateOrUpdate(ctx, s.Client, set, func() error {
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"set": cm.Name}}
		set.Spec.Template.Labels = map[string]string{"set": cm.Name}
		set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: cm.Data["image"]}}
		if len(set.Spec.VolumeClaimTemplates) == 0 {
			set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				},
			}}
		}
		return controllerutil.SetControllerReference(cm, set, s.Scheme())
	}); err != nil {
		return err
	}
	everywhere := &appsv1.DaemonSet{ObjectMeta: here}
	_, err := controllerutil.CreateOrUpdate(ctx, s.Client, everywhere, func() error {
		everywhere.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"daemon": cm.Name}}
		everywhere.Spec.Template.Labels = map[string]string{"daemon": cm.Name}
		everywhere.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: cm.Data["image"]}}
		return controllerutil.SetControllerReference(cm, everywhere, s.Scheme())
	})
	return err
}

// Addresses, ports and revisions that a cluster allocates come out otherwise in each run, also
// where somebody has copied them. That is no trace of a crash.
func TestCrashSafeAndAllocatedValues(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		calm := w.Undisturbed()
		w.Builtin(workload.New()...)
		w.Builtin(kubelet.New(kubelet.Nodes("node-1", "node-2"))...)
		w.Start("site", func(mgr ctrl.Manager) error {
			return (&site{mgr.GetClient(), mgr.GetAPIReader()}).setup(mgr)
		})
		w.Inject(fault.StaleCache(30*time.Second), fault.Crash("site"), fault.LostReply(), fault.ServerError())
		w.Eventually("nothing leaves a trace", property.CrashSafe(calm))
		for _, name := range []string{"a", "b"} {
			w.Apply(simtest.Source(name, "image", "web:1"))
		}
		w.Settle()
		for _, image := range []string{"web:2", "web:3"} {
			w.Apply(simtest.Source("a", "image", image))
		}
		w.Remove(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"}})
		w.Settle()
	}, sim.Runs(25), sim.For(0))
}
