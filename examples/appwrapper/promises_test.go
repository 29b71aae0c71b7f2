package appwrapper

import (
	"fmt"
	"slices"
	"testing"
	"time"

	awv1beta2 "github.com/project-codeflare/appwrapper/api/v1beta2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// The promises are sentences of the pages arch-fault-tolerance and arch-controller in
// https://project-codeflare.github.io/appwrapper/.
const (
	// "when ResourcesDeployed becomes False, which indicates to Kueue that the quota has been
	// released, all resources created by a failed workload will have been totally removed from the
	// cluster" (arch-fault-tolerance).
	jobsAreGone = "an AppWrapper whose resources are not deployed has no Jobs"
	podsAreGone = "an AppWrapper whose resources are not deployed has no Pods"
	// "A workload can be deemed unhealthy if any of the following conditions are true" (ibid.).
	// None is for workloads whose Jobs succeed, and which are not deleted.
	healthyStay = "a healthy workload does not fail"
	// "If the number of resets exceeds the RetryLimit, then the AppWrapper moves into a Failed
	// state and its resources are deleted" (ibid.).
	retriesEnd = "a failing workload is reset as often as its limit allows"
	// "An AppWrapper is in the Suspended Phase and Kueue sets spec.suspend to false": from there
	// the diagram leads to Succeeded, and from each phase before to Suspended (arch-controller).
	reachesPhase = "an AppWrapper that does not fail reaches the phase that its spec leads to"
)

const retryLimit = 2

type check = func(*history.History) error

// scenario declares the promises that are asked for.
func scenario(start func(*sim.World), asked ...string) func(*sim.World) {
	return func(w *sim.World) {
		phases := map[string]awv1beta2.AppWrapperPhase{}
		ask := func(declare func(string, check), sentence string, holds check) {
			if slices.Contains(asked, sentence) {
				declare(sentence, holds)
			}
		}
		// released reports whether the status of an AppWrapper states that nothing of it is left.
		released := func(h *history.History, name string) bool {
			a, there := history.Get[awv1beta2.AppWrapper](h, "default", name)
			return there && meta.IsStatusConditionFalse(a.Status.Conditions, string(awv1beta2.ResourcesDeployed))
		}
		ask(w.Always, jobsAreGone, func(h *history.History) error {
			for _, j := range history.List[batchv1.Job](h) {
				if released(h, j.Name) {
					return fmt.Errorf("the Job of the AppWrapper %s is there", j.Name)
				}
			}
			return nil
		})
		ask(w.Always, podsAreGone, func(h *history.History) error {
			for _, p := range history.List[corev1.Pod](h) {
				if name := p.Labels[awv1beta2.AppWrapperLabel]; released(h, name) {
					return fmt.Errorf("the Pod %s of the AppWrapper %s is there", p.Name, name)
				}
			}
			return nil
		})
		ask(w.Always, healthyStay, func(h *history.History) error {
			for _, a := range history.List[awv1beta2.AppWrapper](h) {
				if s := a.Status; a.Name != "failing" && s.Phase == awv1beta2.AppWrapperFailed {
					return fmt.Errorf("the AppWrapper %s has failed after %d resets: %v", a.Name, s.Retries,
						meta.FindStatusCondition(s.Conditions, string(awv1beta2.Unhealthy)).Message)
				}
			}
			return nil
		})
		made := map[any]bool{}
		ask(w.Always, retriesEnd, func(h *history.History) error {
			if j, there := history.Get[batchv1.Job](h, "default", "failing"); there {
				made[j.UID] = true
			}
			if len(made) > 1+retryLimit {
				return fmt.Errorf("its Job was made %d times", len(made))
			}
			return nil
		})
		ask(w.Eventually, reachesPhase, func(h *history.History) error {
			for _, a := range history.List[awv1beta2.AppWrapper](h) {
				if p := a.Status.Phase; p != phases[a.Name] && p != awv1beta2.AppWrapperFailed {
					return fmt.Errorf("the AppWrapper %s is %s, and should be %s", a.Name, a.Status.Phase,
						phases[a.Name])
				}
			}
			return nil
		})

		start(w)
		w.Sleep(time.Second)
		w.Inject(fault.StaleCache(30*time.Second), fault.MissedStates(30*time.Second), fault.DroppedWatch(),
			fault.Relist(),
			fault.Crash("appwrapper"), fault.LostReply(), fault.Conflict(), fault.ServerError())
		phases["one"], phases["two"] = awv1beta2.AppWrapperSuspended, awv1beta2.AppWrapperSucceeded
		w.Apply(wrapper("one", false), wrapper("two", false))
		w.Sleep(5 * time.Second)
		w.Apply(wrapper("one", true)) // as Kueue does to preempt it
		w.Settle()
		phases["one"], phases["failing"] = awv1beta2.AppWrapperSucceeded, awv1beta2.AppWrapperFailed
		w.Apply(wrapper("one", false), wrapper("failing", false))
		w.Settle()
		w.Apply(wrapper("three", false))
		w.Remove(wrapper("one", false), wrapper("three", false))
		w.Settle()
	}
}

// plans lets containers run for a minute. Those of the workload failing fail.
func plans(p *corev1.Pod, _ int, plan kubelet.Plan) kubelet.Plan {
	plan.Run = time.Minute
	if p.Labels[awv1beta2.AppWrapperLabel] == "failing" {
		plan.Run, plan.Exit = time.Second, 1
	}
	return plan
}

// wrapper wraps a Job of its name.
func wrapper(name string, suspended bool) *awv1beta2.AppWrapper {
	never := int32(0)
	job := &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{BackoffLimit: &never, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "work", Image: "work.example/work:1"}},
		}}},
	}
	return &awv1beta2.AppWrapper{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{
			awv1beta2.RetryLimitAnnotation: fmt.Sprint(retryLimit), awv1beta2.SuccessTTLAnnotation: "2m",
			awv1beta2.ForcefulDeletionGracePeriodAnnotation: "30s"}},
		Spec: awv1beta2.AppWrapperSpec{Suspend: suspended, Components: []awv1beta2.AppWrapperComponent{
			{Template: runtime.RawExtension{Object: job}}}},
	}
}

func TestPromises(t *testing.T) {
	sim.Check(t, scenario(operator(t, kubelet.Plans(plans)), retriesEnd, reachesPhase))
}

// TestFindings finds the violations of docs/findings.md again. An operator's own tests would say
// sim.Check, and fail.
func TestFindings(t *testing.T) {
	start := operator(t, kubelet.Plans(plans))
	for _, sentence := range []string{healthyStay, jobsAreGone, podsAreGone} {
		t.Run(sentence, func(t *testing.T) {
			r := sim.Explore(t, scenario(start, sentence), sim.Runs(1000), sim.For(0))
			if r.Failure == nil || r.Failure.Property != sentence {
				t.Fatalf("%d runs found %+v", r.Runs, r.Failure)
			}
			t.Logf("run %d, after %.1f s of CPU time:\n%s", r.Failure.Run, r.Failure.Took.Seconds(), r.Failure.Text())
		})
	}
}
