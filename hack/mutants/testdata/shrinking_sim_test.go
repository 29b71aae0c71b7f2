// This file is laid over examples/backup to measure shrinking: a scenario with built-in
// controllers, a rollout next to the operator, and ten kinds of faults.

package controller

import (
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"

	v1 "example.com/backup/api/v1"
)

func TestShrinking(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	sim.Explore(t, func(w *sim.World) {
		w.Install("../../config/crd/bases")
		w.Builtin(workload.New()...)
		w.Builtin(kubelet.New()...)
		w.Start("backup", func(mgr ctrl.Manager) error {
			return (&BackupReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
		}, sim.Options(ctrl.Options{Scheme: scheme}))
		w.Inject(fault.StaleCache(30*time.Second), fault.Crash("backup"), fault.Restart("backup"), fault.LostReply(),
			fault.Conflict(), fault.ServerError(), fault.RacingRequeue(), fault.DroppedWatch(), fault.Expired(),
			fault.Unreachable(10*time.Second))
		w.Always("a backup has at most one claim", oneClaimEach)
		w.Always("no controller overwrites a change that it has not observed", property.NoLostUpdate())
		w.Always("one backup does not hold up the other", property.NoStarvation(20*time.Second))
		w.Eventually("a backup knows its claim", claimsKnown)
		app := deployment()
		w.Apply(app)
		for _, name := range []string{"a", "b", "c"} {
			w.Apply(&v1.Backup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
		}
		app.Spec.Template.Spec.Containers[0].Image = "registry.example/app:2"
		w.Apply(app)
		w.Apply(&v1.Backup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"},
			Spec: v1.BackupSpec{Bucket: "other"}})
		w.Settle()
	})
}

func deployment() *appsv1.Deployment {
	replicas, labels := int32(3), map[string]string{"app": "web"}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{{Name: "app", Image: "registry.example/app:1"}},
				},
			},
		},
	}
}

func oneClaimEach(h *history.History) error {
	claims := map[string]int{}
	for _, o := range h.Objects("", "PersistentVolumeClaim") {
		var claim corev1.PersistentVolumeClaim
		if err := o.Into(&claim); err != nil {
			return err
		}
		for _, owner := range claim.OwnerReferences {
			if claims[owner.Name]++; claims[owner.Name] > 1 {
				return fmt.Errorf("the backup %s has %d claims", owner.Name, claims[owner.Name])
			}
		}
	}
	return nil
}

func claimsKnown(h *history.History) error {
	backups := h.Objects("example.com", "Backup")
	if len(backups) != 3 {
		return fmt.Errorf("there are %d backups", len(backups))
	}
	for _, o := range backups {
		var b v1.Backup
		if err := o.Into(&b); err != nil {
			return err
		}
		if b.Status.PVC == "" {
			return errors.New("the status of " + b.Name + " names none")
		}
		var claim corev1.PersistentVolumeClaim
		if o, ok := h.Object("", "PersistentVolumeClaim", b.Namespace, b.Status.PVC); !ok {
			return fmt.Errorf("%s names the claim %s, which does not exist", b.Name, b.Status.PVC)
		} else if err := o.Into(&claim); err != nil {
			return err
		}
		if len(claim.OwnerReferences) == 0 {
			return fmt.Errorf("the claim %s has no owner", claim.Name)
		}
	}
	return nil
}
