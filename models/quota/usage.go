package quota

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	quota "k8s.io/apiserver/pkg/quota/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/wavetank/wavetank/models/apiserver"
)

var (
	pods     = corev1.Resource("pods")
	services = corev1.Resource("services")
	claims   = corev1.Resource("persistentvolumeclaims")

	zero, one = *resource.NewQuantity(0, resource.DecimalSI), *resource.NewQuantity(1, resource.DecimalSI)
)

// computed are the resources of Pods that quotas limit as requests and as limits. They limit
// requests by their bare names, too.
var computed = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// The parts of a quota's names (pkg/quota/v1/evaluator/core).
const (
	requests, limits = "requests.", "limits."
	hugePages        = corev1.ResourceHugePagesPrefix
	ofClass          = ".storageclass.storage.k8s.io/"
)

// tracked are those of a quota's resources that objects of a type may use (MatchingResources).
func tracked(of schema.GroupResource, hard corev1.ResourceList) (out []corev1.ResourceName) {
	for name := range hard {
		if tracks(of, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func tracks(of schema.GroupResource, name corev1.ResourceName) bool {
	if of == corev1.Resource("events") || of.Group == "events.k8s.io" {
		return false
	}
	if name == counts(of) || of.Group == "" && string(name) == of.Resource && slices.Contains(aliases, of.Resource) {
		return true
	}
	text := string(name)
	switch of {
	case pods:
		if bare, ok := strings.CutPrefix(text, requests); ok {
			return slices.Contains(computed, corev1.ResourceName(bare)) || strings.HasPrefix(bare, hugePages) ||
				strings.Contains(bare, "/")
		}
		return slices.Contains(computed, corev1.ResourceName(strings.TrimPrefix(text, limits))) ||
			strings.HasPrefix(text, hugePages)
	case services:
		return name == corev1.ResourceServicesNodePorts || name == corev1.ResourceServicesLoadBalancers
	case claims:
		_, suffix, _ := strings.Cut(text, ofClass)
		return name == corev1.ResourceRequestsStorage || suffix == string(corev1.ResourceRequestsStorage) ||
			suffix == claims.Resource
	}
	return false
}

// aliases are the types that have a name of their own besides count/<resource>.
var aliases = []string{
	"configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets", "services",
}

// counts is the name by which objects of a type are counted.
func counts(of schema.GroupResource) corev1.ResourceName {
	return corev1.ResourceName("count/" + of.String())
}

// usage is what an object uses.
func usage(of schema.GroupResource, o runtime.Object, now time.Time) corev1.ResourceList {
	out := corev1.ResourceList{counts(of): one}
	if of.Group == "" && of != pods {
		out[corev1.ResourceName(of.Resource)] = one
	}
	switch o := o.(type) {
	case *corev1.Pod:
		if runs(o, now) {
			return quota.Add(out, compute(resourcehelper.PodRequests(o, resourcehelper.PodResourcesOptions{}),
				resourcehelper.PodLimits(o, resourcehelper.PodResourcesOptions{})))
		}
	case *corev1.Service:
		ports, balancers := 0, zero
		if t := o.Spec.Type; t == corev1.ServiceTypeNodePort || t == corev1.ServiceTypeLoadBalancer {
			ports = len(o.Spec.Ports)
		}
		if o.Spec.Type == corev1.ServiceTypeLoadBalancer {
			balancers = one
			if all := o.Spec.AllocateLoadBalancerNodePorts; all != nil && !*all {
				ports = len(slices.DeleteFunc(slices.Clone(o.Spec.Ports),
					func(p corev1.ServicePort) bool { return p.NodePort == 0 }))
			}
		}
		out[corev1.ResourceServicesNodePorts] = *resource.NewQuantity(int64(ports), resource.DecimalSI)
		out[corev1.ResourceServicesLoadBalancers] = balancers
	case *corev1.PersistentVolumeClaim:
		class := o.Annotations[corev1.BetaStorageClassAnnotation]
		if class == "" && o.Spec.StorageClassName != nil {
			class = *o.Spec.StorageClassName
		}
		size, sized := o.Spec.Resources.Requests[corev1.ResourceStorage]
		if sized {
			out[corev1.ResourceRequestsStorage] = size
		}
		if class != "" {
			out[corev1.ResourceName(class+ofClass+claims.Resource)] = one
		}
		if class != "" && sized {
			out[corev1.ResourceName(class+ofClass+string(corev1.ResourceRequestsStorage))] = size
		}
	}
	return out
}

// compute is what requests and limits count as (podComputeUsageHelper).
func compute(asked, limited corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{corev1.ResourcePods: one}
	for name, q := range asked {
		text := string(name)
		if slices.Contains(computed, name) || strings.HasPrefix(text, hugePages) {
			out[name], out[requests+name] = q, q
		} else if strings.Contains(text, "/") {
			out[requests+name] = q
		}
	}
	for name, q := range limited {
		if slices.Contains(computed, name) {
			out[limits+name] = q
		}
	}
	return out
}

// runs reports whether a Pod uses what it asks for: it has not ended, and its grace period is not
// over (QuotaV1Pod).
func runs(p *corev1.Pod, now time.Time) bool {
	if p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		return false
	}
	grace := p.DeletionGracePeriodSeconds
	return p.DeletionTimestamp == nil || grace == nil ||
		!now.After(p.DeletionTimestamp.Add(time.Duration(*grace)*time.Second))
}

// terminating reports whether a Pod has a deadline.
func terminating(p *corev1.Pod) bool {
	return p.Spec.ActiveDeadlineSeconds != nil && *p.Spec.ActiveDeadlineSeconds >= 0
}

// inScope reports whether an object is in all scopes of a quota (generic.Matches). Only Pods are in
// any.
func inScope(q *corev1.ResourceQuota, o runtime.Object) (bool, error) {
	p, isPod := o.(*corev1.Pod)
	all := []corev1.ScopedResourceSelectorRequirement{}
	for _, s := range q.Spec.Scopes {
		all = append(all,
			corev1.ScopedResourceSelectorRequirement{ScopeName: s, Operator: corev1.ScopeSelectorOpExists})
	}
	if q.Spec.ScopeSelector != nil {
		all = append(all, q.Spec.ScopeSelector.MatchExpressions...)
	}
	for _, s := range all {
		var in bool
		switch s.ScopeName {
		case corev1.ResourceQuotaScopeTerminating:
			in = isPod && terminating(p)
		case corev1.ResourceQuotaScopeNotTerminating:
			in = isPod && !terminating(p)
		case corev1.ResourceQuotaScopeBestEffort:
			in = isPod && p.Status.QOSClass == corev1.PodQOSBestEffort
		case corev1.ResourceQuotaScopeNotBestEffort:
			in = isPod && p.Status.QOSClass != corev1.PodQOSBestEffort
		case corev1.ResourceQuotaScopePriorityClass:
			in = isPod && prioritized(p.Spec.PriorityClassName, s)
		default:
			return false, apiserver.NotModelled("ResourceQuotas with the scope %s, which %s/%s has", s.ScopeName,
				q.Namespace, q.Name)
		}
		if !in {
			return false, nil
		}
	}
	return true, nil
}

func prioritized(class string, s corev1.ScopedResourceSelectorRequirement) bool {
	switch s.Operator {
	case corev1.ScopeSelectorOpIn:
		return class != "" && slices.Contains(s.Values, class)
	case corev1.ScopeSelectorOpNotIn:
		return !slices.Contains(s.Values, class)
	case corev1.ScopeSelectorOpDoesNotExist:
		return class == ""
	}
	return class != ""
}
