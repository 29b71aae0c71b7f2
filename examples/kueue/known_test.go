//go:build known

package kueue

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	autoscaling "k8s.io/autoscaler/cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	api "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/admissionchecks/provisioning"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// TestIssue13874 fails for versions with https://github.com/kubernetes-sigs/kueue/pull/13874: a
// ProvisioningRequest is created after an error, and the error stays in the Workload's status.
func TestIssue13874(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme,
		autoscaling.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	definitions := []any{
		directory(t, "sigs.k8s.io/kueue", "config", "components", "crd", "bases"),
		directory(t, "k8s.io/autoscaler/cluster-autoscaler/apis", "config", "crd"),
	}
	sim.Check(t, func(w *sim.World) {
		w.Eventually("a Workload that has its ProvisioningRequest reports no error", func(h *history.History) error {
			work, _ := history.Get[api.Workload](h, "default", "work")
			for _, c := range work.Status.AdmissionChecks {
				if strings.Contains(strings.ToLower(c.Message), "error") &&
					len(history.List[autoscaling.ProvisioningRequest](h)) > 0 {
					return fmt.Errorf("it reports %q", c.Message)
				}
			}
			return nil
		})
		w.Install(definitions...)
		w.Start("kueue", start, sim.Options(ctrl.Options{Scheme: scheme}))
		w.Inject(fault.ServerError(), fault.StaleCache(time.Minute), fault.Crash("kueue"))
		check, work := objects()
		w.Apply(check...)
		if err := w.Client().Create(w.Context(), work); err != nil {
			panic(err)
		}
		reserve(work)
		if err := w.Client().Status().Update(w.Context(), work); err != nil {
			panic(err)
		}
		w.Settle()
	})
}

// start does what main does for the controllers of ProvisioningRequests.
func start(mgr ctrl.Manager) error {
	if err := provisioning.SetupIndexer(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	c, err := provisioning.NewController(mgr.GetClient(),
		mgr.GetEventRecorder("kueue-provisioning-request-controller"), nil)
	if err != nil {
		return err
	}
	return c.SetupWithManager(mgr)
}

func directory(t *testing.T, module string, rest ...string) string {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(append([]string{strings.TrimSpace(string(dir))}, rest...)...)
}

// objects are the admission check of an administrator, and a Workload.
func objects() ([]client.Object, *api.Workload) {
	one := corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "work",
		Image:     "work.example/work:1",
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}}
	return []client.Object{
			&api.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "any"}},
			&api.ProvisioningRequestConfig{ObjectMeta: metav1.ObjectMeta{Name: "config"},
				Spec: api.ProvisioningRequestConfigSpec{
					ProvisioningClassName: "check-capacity.autoscaling.x-k8s.io"}},
			&api.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "check"}, Spec: api.AdmissionCheckSpec{
				ControllerName: api.ProvisioningRequestControllerName, Parameters: &api.AdmissionCheckParametersReference{
					APIGroup: api.SchemeGroupVersion.Group, Kind: "ProvisioningRequestConfig", Name: "config"}}},
		}, &api.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "work"}, Spec: api.WorkloadSpec{
			QueueName: "queue", PodSets: []api.PodSet{{Name: "main", Count: 1, Template: corev1.PodTemplateSpec{Spec: one}}}}}
}

// reserve sets the status that Kueue's scheduler gives to a Workload with quota.
func reserve(work *api.Workload) {
	count, now := int32(1), metav1.Now()
	work.Status.Conditions = []metav1.Condition{{Type: api.WorkloadQuotaReserved, Status: metav1.ConditionTrue,
		Reason: "QuotaReserved", LastTransitionTime: now}}
	work.Status.Admission = &api.Admission{ClusterQueue: "queue", PodSetAssignments: []api.PodSetAssignment{{
		Name: "main", Count: &count, Flavors: map[corev1.ResourceName]api.ResourceFlavorReference{"cpu": "any"},
		ResourceUsage: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}
	work.Status.AdmissionChecks = []api.AdmissionCheckState{{Name: "check", State: api.CheckStatePending,
		LastTransitionTime: now}}
}
