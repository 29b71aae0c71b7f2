package kubelet

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
)

// describe fills in the status.
func (k *kubelet) describe(p *corev1.Pod, state *pod, phase corev1.PodPhase, ready bool) {
	s := &p.Status
	s.Phase, s.HostIP, s.HostIPs = phase, "192.0.2.1", []corev1.HostIP{{IP: "192.0.2.1"}}
	if s.PodIP == "" && state.lacks == "" {
		k.addresses++
		s.PodIP = fmt.Sprintf("10.244.%d.%d", k.addresses/250, k.addresses%250+2)
	}
	if s.StartTime == nil {
		s.StartTime = &state.since
	}
	if state.overdue {
		s.Reason, s.Message = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
	}
	reason, message := "", ""
	switch { // status/generate.go, GenerateContainersReadyCondition
	case phase == corev1.PodSucceeded:
		reason = "PodCompleted"
	case phase == corev1.PodFailed:
		reason = "PodFailed"
	case !ready:
		names := []string{}
		for _, c := range p.Spec.Containers {
			names = append(names, c.Name)
		}
		reason, message = "ContainersNotReady", fmt.Sprintf("containers with unready status: %s", names)
	}
	initialized := ""
	if phase == corev1.PodSucceeded {
		initialized = reason
	}
	k.condition(p, corev1.PodInitialized, true, initialized, "")
	k.condition(p, corev1.ContainersReady, ready, reason, message)
	k.ready(p, ready, reason, message)
	s.ObservedGeneration = p.Generation // podutil.CalculatePodStatusObservedGeneration
	s.InitContainerStatuses, s.ContainerStatuses = nil, nil
	for _, c := range p.Spec.InitContainers {
		if state.lacks != "" {
			break
		}
		done := corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true, Started: new(false)}
		done.State.Terminated = &corev1.ContainerStateTerminated{
			Reason: "Completed", StartedAt: state.since, FinishedAt: state.since,
		}
		// A sidecar fares as the others do.
		if always := c.RestartPolicy; always != nil && *always == corev1.ContainerRestartPolicyAlways {
			done.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: state.since}}
			done.Ready, done.Started = ready, &ready
			if state.ended != nil && (phase == corev1.PodSucceeded || phase == corev1.PodFailed) {
				done.State = corev1.ContainerState{Terminated: state.ended}
			}
		}
		s.InitContainerStatuses = append(s.InitContainerStatuses, done)
	}
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, containerStatus(&c, state, ready))
	}
}

// containerStatus is the status of a container that is not an init container.
func containerStatus(c *corev1.Container, state *pod, ready bool) corev1.ContainerStatus {
	s := corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, Ready: ready, RestartCount: int32(state.restarts), Started: &ready,
	}
	s.LastTerminationState.Terminated = state.last
	switch {
	case state.lacks != "" && state.ended == nil:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: state.lacks}
	case state.waiting:
		message := "back-off restarting failed container " + c.Name
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: message}
		s.LastTerminationState.Terminated = state.ended
	case state.ended != nil:
		s.State.Terminated = state.ended
	default:
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: state.at}
	}
	return s
}

func (k *kubelet) condition(p *corev1.Pod, kind corev1.PodConditionType, is bool, reason, message string) {
	set := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message,
		ObservedGeneration: p.Generation, LastTransitionTime: metav1.NewTime(k.Clock())}
	if is {
		set.Status = corev1.ConditionTrue
	}
	for i, c := range p.Status.Conditions {
		if c.Type == kind {
			if c.Status == set.Status {
				set.LastTransitionTime = c.LastTransitionTime
			}
			p.Status.Conditions[i] = set
			return
		}
	}
	p.Status.Conditions = append(p.Status.Conditions, set)
}

// gates are the complaints about those readiness gates of a pod that are shut (status/generate.go,
// GeneratePodReadyCondition).
func gates(p *corev1.Pod) (shut []string) {
	for _, gate := range p.Spec.ReadinessGates {
		i := slices.IndexFunc(p.Status.Conditions,
			func(c corev1.PodCondition) bool { return c.Type == gate.ConditionType })
		switch {
		case i < 0:
			shut = append(shut, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.",
				gate.ConditionType))
		case p.Status.Conditions[i].Status != corev1.ConditionTrue:
			shut = append(shut, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v",
				gate.ConditionType, p.Status.Conditions[i].Status))
		}
	}
	return shut
}

// passes reports whether a pod should be ready, by its containers and its gates.
func passes(p *corev1.Pod) bool { return holds(p, corev1.ContainersReady) && len(gates(p)) == 0 }

func holds(p *corev1.Pod, kind corev1.PodConditionType) bool {
	return slices.ContainsFunc(p.Status.Conditions,
		func(c corev1.PodCondition) bool { return c.Type == kind && c.Status == corev1.ConditionTrue })
}

// pass updates a pod's readiness after a client has changed the condition of a readiness gate.
func (k *kubelet) pass(state *pod) {
	var p corev1.Pod
	if state.stopping || !actor.Get(k, state.path, &p) || passes(&p) == holds(&p, corev1.PodReady) ||
		!holds(&p, corev1.ContainersReady) {
		return
	}
	k.ready(&p, true, "", "")
	if err := actor.Do(k, http.MethodPut, state.path+"/status", &p, nil); err != nil && !apierrors.IsNotFound(err) {
		k.Again(resync, "readiness of Pod "+p.Namespace+"/"+p.Name, func() { k.pass(state) })
	}
}

// ready sets the condition Ready of a pod whose containers are ready or not; its gates have a word,
// too.
func (k *kubelet) ready(p *corev1.Pod, containers bool, reason, message string) {
	if shut := gates(p); containers && len(shut) > 0 {
		k.condition(p, corev1.PodReady, false, "ReadinessGatesNotReady", strings.Join(shut, ", "))
		return
	}
	k.condition(p, corev1.PodReady, containers, reason, message)
}
