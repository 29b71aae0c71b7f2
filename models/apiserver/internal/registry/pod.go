package registry

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Its strategy follows pkg/registry/core/pod and the admission plugins that are on by default:
// Priority and DefaultTolerationSeconds (plugin/pkg/admission).
var podKind = builtin{
	group: "", version: "v1", kind: "Pod", plural: "pods",
	short: []string{"po"}, categories: []string{"all"},
	object: func() runtime.Object { return &corev1.Pod{} },
	strategy: strategy{
		Unconditional: true, status: true, generation: true, ReturnsDeleted: true,
		Unmodelled: []string{
			"log", "exec", "attach", "portforward", "proxy", "ephemeralcontainers", "resize",
		},
		defaults: on(defaultPod),
		prepareCreate: func(w Write, o runtime.Object) {
			p := o.(*corev1.Pod)
			p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qualityOf(p)}
			if len(p.Spec.SchedulingGates) > 0 {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
					LastTransitionTime: w.Now, Reason: corev1.PodReasonSchedulingGated,
					Message: "Scheduling is blocked due to non-empty scheduling gates"}}
			}
			if p.Spec.PriorityClassName == "" {
				defaultTo(&p.Spec.Priority, 0)
				defaultTo(&p.Spec.PreemptionPolicy, corev1.PreemptLowerPriority)
			}
			tolerate(p, corev1.TaintNodeNotReady)
			tolerate(p, corev1.TaintNodeUnreachable)
		},
		// The admission plugins fill in on update what an update leaves out.
		prepareUpdate: func(_ Write, o, old runtime.Object) {
			p, before := o.(*corev1.Pod), old.(*corev1.Pod)
			if p.Spec.PriorityClassName == before.Spec.PriorityClassName {
				if p.Spec.Priority == nil {
					p.Spec.Priority = before.Spec.Priority
				}
				if p.Spec.PreemptionPolicy == nil {
					p.Spec.PreemptionPolicy = before.Spec.PreemptionPolicy
				}
			}
			tolerate(p, corev1.TaintNodeNotReady)
			tolerate(p, corev1.TaintNodeUnreachable)
		},
		Validate: checks(
			func(p *corev1.Pod) field.ErrorList { return podSpecErrors(&p.Spec, field.NewPath("spec")) }),
		validateUpdate: compares(podUpdateErrors),
		keepOnStatus: func(o, old runtime.Object) {
			p, before := o.(*corev1.Pod), old.(*corev1.Pod)
			p.OwnerReferences, p.DeletionTimestamp = before.OwnerReferences, nil
			if p.Status.QOSClass == "" {
				p.Status.QOSClass = before.Status.QOSClass
			}
			// The single address and the list of addresses are kept in step.
			if p.Status.PodIP != "" && len(p.Status.PodIPs) == 0 {
				p.Status.PodIPs = []corev1.PodIP{{IP: p.Status.PodIP}}
			}
		},
		grace: func(o runtime.Object, asked *int64) *int64 {
			p := o.(*corev1.Pod)
			period := int64(0)
			switch {
			case asked != nil:
				period = *asked
			case p.Spec.TerminationGracePeriodSeconds != nil:
				period = *p.Spec.TerminationGracePeriodSeconds
			}
			if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
				period = 0
			}
			if period < 0 {
				period = 1
			}
			return &period
		},
	},
	fields: podFields,
	subs: []*object.Subresource{
		{Name: "binding", Kind: "Binding", Version: "v1", Verbs: []string{"create"}},
		{Name: "eviction", Kind: "Eviction", Group: "policy", Version: "v1", Verbs: []string{"create"}},
	},
	statusResets: []string{"metadata.deletionTimestamp", "metadata.ownerReferences"},
}

var podFields = map[string]func(*object.Object) string{
	"spec.nodeName":            selects(func(p *corev1.Pod) string { return p.Spec.NodeName }),
	"spec.host":                selects(func(p *corev1.Pod) string { return p.Spec.NodeName }),
	"spec.restartPolicy":       selects(func(p *corev1.Pod) string { return string(p.Spec.RestartPolicy) }),
	"spec.schedulerName":       selects(func(p *corev1.Pod) string { return p.Spec.SchedulerName }),
	"spec.serviceAccountName":  selects(func(p *corev1.Pod) string { return p.Spec.ServiceAccountName }),
	"spec.hostNetwork":         selects(func(p *corev1.Pod) string { return strconv.FormatBool(p.Spec.HostNetwork) }),
	"status.phase":             selects(func(p *corev1.Pod) string { return string(p.Status.Phase) }),
	"status.podIP":             selects(func(p *corev1.Pod) string { return p.Status.PodIP }),
	"status.nominatedNodeName": selects(func(p *corev1.Pod) string { return p.Status.NominatedNodeName }),
}

// podUpdateErrors freezes all of a pod's spec but little (pkg/apis/core/validation,
// ValidatePodUpdate).
func podUpdateErrors(p, old *corev1.Pod) field.ErrorList {
	spec := field.NewPath("spec")
	if len(p.Spec.Containers) != len(old.Spec.Containers) {
		return field.ErrorList{field.Forbidden(spec.Child("containers"),
			"pod updates may not add or remove containers")}
	}
	if len(p.Spec.InitContainers) != len(old.Spec.InitContainers) {
		return field.ErrorList{field.Forbidden(spec.Child("initContainers"),
			"pod updates may not add or remove containers")}
	}
	var errs field.ErrorList
	deadline, before := p.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds
	switch path := spec.Child("activeDeadlineSeconds"); {
	case deadline == nil && before != nil:
		errs = append(errs, field.Invalid(path, deadline, "must not update from a positive integer to nil value"))
	case deadline != nil && before != nil && *deadline > *before:
		return append(errs, field.Invalid(path, *deadline, "must be less than or equal to previous value"))
	}
	frozen := old.Spec.DeepCopy()
	for i := range frozen.Containers {
		frozen.Containers[i].Image = p.Spec.Containers[i].Image
	}
	for i := range frozen.InitContainers {
		frozen.InitContainers[i].Image = p.Spec.InitContainers[i].Image
	}
	frozen.ActiveDeadlineSeconds, frozen.Tolerations = deadline, p.Spec.Tolerations
	frozen.SchedulingGates = p.Spec.SchedulingGates
	if equalObjects(frozen, &p.Spec) {
		return errs
	}
	return append(errs, field.Forbidden(spec, "pod updates may not change fields other than "+
		"`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "+
		"(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if "+
		"it was previously negative)"))
}

// tolerate lets a pod stay on a node in trouble for five minutes, unless it says otherwise.
func tolerate(p *corev1.Pod, taint string) {
	for _, t := range p.Spec.Tolerations {
		if (t.Key == taint || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
			return
		}
	}
	seconds := int64(300)
	p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{
		Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
		TolerationSeconds: &seconds,
	})
}

// qualityOf is the quality of service class: guaranteed when every container's limits of cpu and
// memory equal its requests, best effort when there are none at all (pkg/apis/core/v1/helper/qos).
func qualityOf(p *corev1.Pod) corev1.PodQOSClass {
	some, guaranteed := false, true
	for _, c := range append(append([]corev1.Container(nil), p.Spec.Containers...), p.Spec.InitContainers...) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
			some = some || !request.IsZero() || !limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && request.Cmp(limit) == 0
		}
	}
	switch {
	case !some:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	default:
		return corev1.PodQOSBurstable
	}
}

func defaultPod(p *corev1.Pod) {
	// A limit without a request asks for as much as the limit; this holds for pods, not for
	// templates.
	for i := range p.Spec.Containers {
		requestLimits(&p.Spec.Containers[i].Resources)
	}
	for i := range p.Spec.InitContainers {
		requestLimits(&p.Spec.InitContainers[i].Resources)
	}
	defaultTo(&p.Spec.EnableServiceLinks, true)
	defaultPodSpec(&p.Spec)
	defaultString(&p.Status.Phase, corev1.PodPending)
}

func requestLimits(r *corev1.ResourceRequirements) {
	for name, quantity := range r.Limits {
		if _, asked := r.Requests[name]; asked {
			continue
		}
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		r.Requests[name] = quantity.DeepCopy()
	}
}
