package jobset

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	api "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// The promises are sentences of the comments in api/jobset/v1alpha2/jobset_types.go in
// https://github.com/kubernetes-sigs/jobset.
const (
	// "Restart the JobSet globally … if … restartsCountTowardsMax … < … maxRestarts. Otherwise,
	// fail the JobSet" (RestartJobSet).
	restartsEnd = "a JobSet whose Jobs fail is restarted as often as allowed, then fails"
	// "Ensures that all Jobs (and their Pods) from the previous iteration are deleted before
	// creating new Jobs" (BlockingRecreate).
	notMixed = "no two attempts of a JobSet run at the same time"
	// "the ReplicatedJob will be created only after the referenced ReplicatedJobs reach their
	// desired state" (DependsOn).
	inOrder = "work begins when what it depends on is complete"
	// "suspends all running child Jobs when set to true" (Suspend).
	suspendedStop = "the Jobs of a suspended JobSet are suspended, and those of others are not"
	// "limits the lifetime of a JobSet that has finished execution" (TTLSecondsAfterFinished).
	finishedGo = "only a JobSet that has finished is deleted when its time is up"
)

type check = func(*history.History) error

// scenario declares the promises that are asked for.
func scenario(start, users func(*sim.World), asked ...string) func(*sim.World) {
	return func(w *sim.World) {
		ask := func(declare func(string, check), sentence string, holds check) {
			if slices.Contains(asked, sentence) {
				declare(sentence, holds)
			}
		}
		ask(w.Eventually, restartsEnd, func(h *history.History) error {
			for _, s := range history.List[api.JobSet](h) {
				failed := meta.IsStatusConditionTrue(s.Status.Conditions, string(api.JobSetFailed))
				if failed != (s.Name == "failing") || failed && s.Status.Restarts != s.Spec.FailurePolicy.MaxRestarts {
					return fmt.Errorf("%s has failed: %t, after %d restarts", s.Name, failed, s.Status.Restarts)
				}
			}
			return nil
		})
		ask(w.Always, notMixed, func(h *history.History) error {
			attempts := map[string]string{}
			see := func(name string, labels map[string]string) error {
				set, attempt := labels[api.JobSetUIDKey], labels[constants.RestartsKey]
				if other, ok := attempts[set]; ok && other != attempt {
					return fmt.Errorf("%s is of attempt %s, and another is of attempt %s", name, attempt, other)
				}
				attempts[set] = attempt
				return nil
			}
			for _, j := range history.List[batchv1.Job](h) {
				if err := see("Job "+j.Name, j.Labels); err != nil {
					return err
				}
			}
			for _, p := range history.List[corev1.Pod](h) {
				if err := see("Pod "+p.Name, p.Labels); err != nil {
					return err
				}
			}
			return nil
		})
		begun := map[any]bool{}
		ask(w.Always, inOrder, func(h *history.History) error {
			for _, j := range history.List[batchv1.Job](h) {
				if j.Labels[api.ReplicatedJobNameKey] != "work" || begun[j.UID] {
					continue
				}
				begun[j.UID] = true
				first, _ := history.Get[batchv1.Job](h, "default", j.Labels[api.JobSetNameKey]+"-prepare-0")
				if first.Status.Succeeded == 0 {
					return fmt.Errorf("Job %s begins before %s has succeeded", j.Name, first.Name)
				}
			}
			return nil
		})
		ask(w.Eventually, suspendedStop, func(h *history.History) error {
			for _, j := range history.List[batchv1.Job](h) {
				s, there := history.Get[api.JobSet](h, "default", j.Labels[api.JobSetNameKey])
				if there && j.Status.CompletionTime == nil && *j.Spec.Suspend != *s.Spec.Suspend {
					return fmt.Errorf("Job %s is suspended: %t, and its JobSet: %t", j.Name, *j.Spec.Suspend,
						*s.Spec.Suspend)
				}
			}
			return nil
		})
		ask(w.Always, finishedGo, func(h *history.History) error {
			for _, s := range history.List[api.JobSet](h) { // JobSet deletes in the foreground, the user does not
				if slices.Contains(s.Finalizers, metav1.FinalizerDeleteDependents) && s.Status.TerminalState == "" {
					return fmt.Errorf("%s (%s) is deleted, and has not finished", s.Name, s.UID)
				}
			}
			return nil
		})

		start(w)
		w.Inject(fault.StaleCache(time.Minute), fault.MissedStates(time.Minute), fault.DroppedWatch(), fault.Relist(),
			fault.Crash("jobset"), fault.LostReply(), fault.Conflict(), fault.ServerError())
		users(w)
	}
}

// work runs a JobSet that fails, one that succeeds when it is restarted, and one that is paused.
func work(w *sim.World) {
	w.Apply(set("failing", false, 0), set("restarted", false, 0))
	w.Settle()
	w.Apply(set("paused", false, 0))
	w.Sleep(5 * time.Second)
	w.Apply(set("paused", true, 0))
	w.Settle()
	w.Apply(set("paused", false, 0))
	w.Settle()
}

// repeat runs a JobSet again when it has finished, under the same name.
func repeat(w *sim.World) {
	w.Apply(set("again", false, 30))
	for range 60 {
		w.Sleep(10 * time.Second)
		s := set("again", false, 30)
		if w.Client().Get(w.Context(), client.ObjectKeyFromObject(s), s) == nil && s.Status.TerminalState != "" {
			break
		}
	}
	w.Remove(set("again", false, 30))
	w.Apply(set("again", false, 30))
	w.Settle()
}

// plans lets the work of "failing" fail, and the first of "restarted".
func plans(p *corev1.Pod, _ int, plan kubelet.Plan) kubelet.Plan {
	switch name, attempt := p.Labels[api.JobSetNameKey], p.Labels[constants.RestartsKey]; {
	case p.Labels[api.ReplicatedJobNameKey] != "work":
	case name == "failing" || name == "restarted" && attempt == "0":
		plan.Exit = 1
	}
	return plan
}

// set is a JobSet of two Jobs, the second of which depends on the first. With ttl, it is deleted
// so many seconds after its end.
func set(name string, suspended bool, ttl int32) *api.JobSet {
	one, none, indexed := int32(1), int32(0), batchv1.IndexedCompletion
	part := func(name string) api.ReplicatedJob {
		return api.ReplicatedJob{Name: name, Replicas: 1, Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			Parallelism: &one, Completions: &one, CompletionMode: &indexed, BackoffLimit: &none,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "work", Image: "work.example/work:1"}}}},
		}}}
	}
	first, second := part("prepare"), part("work")
	second.DependsOn = []api.DependsOn{{Name: "prepare", Status: api.DependencyComplete}}
	s := &api.JobSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: api.JobSetSpec{
		ReplicatedJobs: []api.ReplicatedJob{first, second}, Suspend: &suspended,
		FailurePolicy: &api.FailurePolicy{MaxRestarts: 2, RestartStrategy: api.BlockingRecreate},
	}}
	if ttl > 0 {
		s.Spec.TTLSecondsAfterFinished = &ttl
	}
	return s
}

func TestPromises(t *testing.T) {
	sim.Check(t, scenario(operator(t, kubelet.Plans(plans)), work, restartsEnd, notMixed, inOrder, suspendedStop))
}

// TestFindings finds the violation of docs/findings.md again. An operator's own tests would say
// sim.Check, and fail.
func TestFindings(t *testing.T) {
	r := sim.Explore(t, scenario(operator(t, kubelet.Plans(plans)), repeat, finishedGo), sim.Runs(1000), sim.For(0))
	if r.Failure == nil || r.Failure.Property != finishedGo {
		t.Fatalf("%d runs found %+v", r.Runs, r.Failure)
	}
	t.Logf("run %d, after %.1f s of CPU time:\n%s", r.Failure.Run, r.Failure.Took.Seconds(), r.Failure.Text())
}
