//go:build known

package jobset

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	api "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// The webhooks of JobSet 0.11 are written for the interface that controller-runtime had before
// 0.23.
func setupWebhooks(ctrl.Manager) error { return nil }

func installWebhooks(*sim.World, string) {}

// TestIssue1193 fails for versions with https://github.com/kubernetes-sigs/jobset/issues/1193: an
// update of the status fails, and the JobSet is not reconciled again.
func TestIssue1193(t *testing.T) {
	start := operator(t, kubelet.Plans(plans))
	sim.Check(t, func(w *sim.World) {
		w.Eventually("a JobSet whose Jobs succeed completes", func(h *history.History) error {
			s, _ := history.Get[api.JobSet](h, "default", "two")
			if s.Status.TerminalState != string(api.JobSetCompleted) {
				return fmt.Errorf("its state is %q", s.Status.TerminalState)
			}
			return nil
		})
		start(w)
		w.Inject(fault.Conflict(), fault.ServerError(), fault.LostReply())
		w.Apply(two())
		w.Settle()
	})
}

// two is a JobSet of two Jobs, with what the webhook would set.
func two() *api.JobSet {
	none, one, indexed, yes := int32(0), int32(1), batchv1.IndexedCompletion, true
	return &api.JobSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "two"}, Spec: api.JobSetSpec{
		SuccessPolicy: &api.SuccessPolicy{Operator: api.OperatorAll},
		StartupPolicy: &api.StartupPolicy{StartupPolicyOrder: api.AnyOrder},
		Network:       &api.Network{EnableDNSHostnames: &yes, PublishNotReadyAddresses: &yes},
		ReplicatedJobs: []api.ReplicatedJob{{Name: "work", Replicas: 2, Template: batchv1.JobTemplateSpec{
			Spec: batchv1.JobSpec{Parallelism: &one, Completions: &one, CompletionMode: &indexed, BackoffLimit: &none,
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
					Containers: []corev1.Container{{Name: "work", Image: "work.example/work:1"}}}}}}}},
	}}
}
