package apiserver

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Types with a few rules each: the defaults of pkg/apis/*/v1/defaults.go and the validation that operators meet.

var (
	podTemplateStrategy = builtin{
		unconditional: true, generation: true, returnsDeleted: true,
		defaults: on(func(t *corev1.PodTemplate) { defaultPodSpec(&t.Template.Spec) }),
		validate: checks(func(t *corev1.PodTemplate) field.ErrorList {
			return templateErrors(&t.Template, field.NewPath("template"))
		}),
	}
	replicationControllerStrategy = builtin{
		unconditional: true, status: true, generation: true, orphans: true,
		defaults: on(func(r *corev1.ReplicationController) {
			defaultTo(&r.Spec.Replicas, 1)
			if r.Spec.Template == nil {
				return
			}
			if len(r.Spec.Selector) == 0 {
				r.Spec.Selector = r.Spec.Template.Labels
			}
			if len(r.Labels) == 0 {
				r.Labels = r.Spec.Template.Labels
			}
			defaultPodSpec(&r.Spec.Template.Spec)
		}),
		validate: checks(func(r *corev1.ReplicationController) field.ErrorList {
			spec := field.NewPath("spec")
			var errs field.ErrorList
			if len(r.Spec.Selector) == 0 {
				errs = append(errs, field.Required(spec.Child("selector"), ""))
			}
			if r.Spec.Template == nil {
				return append(errs, field.Required(spec.Child("template"), ""))
			}
			return append(errs, templateErrors(r.Spec.Template, spec.Child("template"))...)
		}),
	}
	controllerRevisionStrategy = builtin{
		unconditional: true,
		validate: checks(func(r *appsv1.ControllerRevision) field.ErrorList {
			if r.Data.Raw == nil && r.Data.Object == nil {
				return field.ErrorList{field.Required(field.NewPath("data"), "data is mandatory")}
			}
			return nil
		}),
		validateUpdate: compares(func(r, old *appsv1.ControllerRevision) field.ErrorList {
			return apivalidation.ValidateImmutableField(r.Data, old.Data, field.NewPath("data"))
		}),
	}
	persistentVolumeStrategy = builtin{
		unconditional: true, status: true, returnsDeleted: true,
		defaults: on(func(v *corev1.PersistentVolume) {
			defaultString(&v.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
			defaultTo(&v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
			if v.Spec.HostPath != nil {
				defaultTo(&v.Spec.HostPath.Type, corev1.HostPathUnset)
			}
			defaultString(&v.Status.Phase, corev1.VolumePending)
		}),
		prepareCreate: func(c *call, o runtime.Object) {
			v := o.(*corev1.PersistentVolume)
			now := metav1.NewTime(c.s.now())
			v.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: &now}
			protect(&v.ObjectMeta, "kubernetes.io/pv-protection")
		},
	}
	claimStrategy = builtin{
		unconditional: true, status: true, returnsDeleted: true,
		defaults: on(defaultClaim),
		prepareCreate: func(_ *call, o runtime.Object) {
			claim := o.(*corev1.PersistentVolumeClaim)
			claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
			protect(&claim.ObjectMeta, "kubernetes.io/pvc-protection")
		},
		validateUpdate: compares(claimChanges),
		validate: checks(func(claim *corev1.PersistentVolumeClaim) field.ErrorList {
			spec := field.NewPath("spec")
			var errs field.ErrorList
			if len(claim.Spec.AccessModes) == 0 {
				errs = append(errs, field.Required(spec.Child("accessModes"), "at least 1 access mode is required"))
			}
			if _, ok := claim.Spec.Resources.Requests[corev1.ResourceStorage]; !ok {
				errs = append(errs, field.Required(spec.Child("resources").Key(string(corev1.ResourceStorage)), ""))
			}
			return errs
		}),
	}
	limitRangeStrategy = builtin{
		unconditional: true, createOnUpdate: true,
		defaults: on(func(l *corev1.LimitRange) {
			for i := range l.Spec.Limits {
				defaultLimits(&l.Spec.Limits[i])
			}
		}),
	}
	endpointsStrategy = builtin{
		unconditional: true, createOnUpdate: true,
		deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
		defaults: on(func(e *corev1.Endpoints) { //nolint:staticcheck // still served
			for i := range e.Subsets {
				for j := range e.Subsets[i].Ports {
					defaultString(&e.Subsets[i].Ports[j].Protocol, corev1.ProtocolTCP)
				}
			}
		}),
	}
	leaseStrategy = builtin{
		createOnUpdate: true,
		validate: checks(func(l *coordinationv1.Lease) field.ErrorList {
			spec := field.NewPath("spec")
			var errs field.ErrorList
			if n := l.Spec.LeaseDurationSeconds; n != nil && *n <= 0 {
				errs = append(errs, field.Invalid(spec.Child("leaseDurationSeconds"), *n, "must be greater than 0"))
			}
			if n := l.Spec.LeaseTransitions; n != nil && *n < 0 {
				errs = append(errs, field.Invalid(spec.Child("leaseTransitions"), *n, "must be greater than or equal to 0"))
			}
			return errs
		}),
	}
	endpointSliceStrategy = builtin{
		unconditional: true, generation: true, labelsCount: true,
		defaults: on(func(e *discoveryv1.EndpointSlice) {
			e.Endpoints, e.Ports = orNil(e.Endpoints), orNil(e.Ports)
			for i := range e.Ports {
				defaultTo(&e.Ports[i].Name, "")
				defaultTo(&e.Ports[i].Protocol, corev1.ProtocolTCP)
			}
		}),
		validate: checks(func(e *discoveryv1.EndpointSlice) field.ErrorList {
			if e.AddressType == "" {
				return field.ErrorList{field.Required(field.NewPath("addressType"), "")}
			}
			return nil
		}),
		validateUpdate: compares(func(e, old *discoveryv1.EndpointSlice) field.ErrorList {
			if e.AddressType != old.AddressType {
				return field.ErrorList{field.Invalid(field.NewPath("addressType"), nil, "field is immutable")}
			}
			return nil
		}),
	}
	ingressStrategy = builtin{
		unconditional: true, status: true, generation: true,
		validate: checks(validateIngress),
	}
	ingressClassStrategy = builtin{
		unconditional: true, generation: true,
		defaults: on(func(i *networkingv1.IngressClass) {
			if i.Spec.Parameters != nil {
				defaultTo(&i.Spec.Parameters.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
			}
		}),
		validate: checks(func(i *networkingv1.IngressClass) field.ErrorList {
			if i.Spec.Controller == "" {
				return field.ErrorList{field.Required(field.NewPath("spec", "controller"), "")}
			}
			return nil
		}),
		validateUpdate: compares(func(i, old *networkingv1.IngressClass) field.ErrorList {
			return apivalidation.ValidateImmutableField(i.Spec.Controller, old.Spec.Controller, field.NewPath("spec", "controller"))
		}),
	}
	networkPolicyStrategy = builtin{
		unconditional: true, generation: true,
		defaults: on(defaultNetworkPolicy),
	}
	disruptionBudgetStrategy = builtin{
		status: true, generation: true, validName: segmentName,
		validate: checks(func(b *policyv1.PodDisruptionBudget) field.ErrorList {
			if b.Spec.MinAvailable != nil && b.Spec.MaxUnavailable != nil {
				return field.ErrorList{field.Invalid(field.NewPath("spec"), internalBudget(b.Spec), "minAvailable and maxUnavailable cannot be both set")}
			}
			return nil
		}),
	}
	storageClassStrategy = builtin{
		unconditional: true, returnsDeleted: true,
		defaults: on(func(s *storagev1.StorageClass) {
			defaultTo(&s.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
			defaultTo(&s.VolumeBindingMode, storagev1.VolumeBindingImmediate)
		}),
		validate: checks(func(s *storagev1.StorageClass) field.ErrorList {
			if s.Provisioner == "" {
				return field.ErrorList{field.Required(field.NewPath("provisioner"), "")}
			}
			return nil
		}),
		validateUpdate: compares(func(s, old *storagev1.StorageClass) field.ErrorList {
			var errs field.ErrorList
			frozen := func(same bool, name string) {
				if !same {
					errs = append(errs, field.Invalid(field.NewPath(name), nil, "field is immutable"))
				}
			}
			frozen(s.Provisioner == old.Provisioner, "provisioner")
			frozen(maps.Equal(s.Parameters, old.Parameters), "parameters")
			frozen(*s.ReclaimPolicy == *old.ReclaimPolicy, "reclaimPolicy")
			frozen(*s.VolumeBindingMode == *old.VolumeBindingMode, "volumeBindingMode")
			return errs
		}),
	}
	csiStrategy       = builtin{returnsDeleted: true}
	csiDriverStrategy = builtin{
		returnsDeleted: true,
		defaults: on(func(d *storagev1.CSIDriver) {
			defaultTo(&d.Spec.AttachRequired, true)
			defaultTo(&d.Spec.PodInfoOnMount, false)
			defaultTo(&d.Spec.StorageCapacity, false)
			defaultTo(&d.Spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
			defaultTo(&d.Spec.RequiresRepublish, false)
			defaultTo(&d.Spec.SELinuxMount, false)
			defaultTo(&d.Spec.PreventPodSchedulingIfMissing, false)
			if len(d.Spec.VolumeLifecycleModes) == 0 {
				d.Spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
			}
		}),
	}
	priorityClassStrategy = builtin{
		unconditional: true, generation: true,
		defaults: on(func(p *schedulingv1.PriorityClass) { defaultTo(&p.PreemptionPolicy, corev1.PreemptLowerPriority) }),
		validateUpdate: compares(func(p, old *schedulingv1.PriorityClass) field.ErrorList {
			if p.Value != old.Value {
				return field.ErrorList{field.Forbidden(field.NewPath("value"), "may not be changed in an update.")}
			}
			return nil
		}),
	}
	autoscalerStrategy = builtin{
		unconditional: true, status: true, generation: true,
		defaults: on(defaultAutoscaler),
		validate: checks(func(a *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
			spec := field.NewPath("spec")
			var errs field.ErrorList
			target := spec.Child("scaleTargetRef")
			if a.Spec.MinReplicas != nil && a.Spec.MaxReplicas < *a.Spec.MinReplicas {
				errs = append(errs, field.Invalid(spec.Child("maxReplicas"), a.Spec.MaxReplicas, "must be greater than or equal to `minReplicas`"))
			}
			if a.Spec.ScaleTargetRef.Kind == "" {
				errs = append(errs, field.Required(target.Child("kind"), ""))
			}
			if a.Spec.ScaleTargetRef.Name == "" {
				errs = append(errs, field.Required(target.Child("name"), ""))
			}
			if a.Spec.ScaleTargetRef.APIVersion == "" {
				errs = append(errs, field.Invalid(target.Child("apiVersion"), "", "apiVersion must specify API group"))
			}
			switch n := a.Spec.MaxReplicas; {
			case n == 0:
				errs = append(errs, field.Required(spec.Child("maxReplicas"), ""))
			case n < 0:
				errs = append(errs, field.Invalid(spec.Child("maxReplicas"), n, "must be greater than 0"))
			}
			return errs
		}),
	}
)

// protect adds the finalizer of the StorageObjectInUseProtection admission plugin; its controllers take it off when
// nothing uses the object.
func protect(meta *metav1.ObjectMeta, finalizer string) {
	if !slices.Contains(meta.Finalizers, finalizer) {
		meta.Finalizers = append(meta.Finalizers, finalizer)
	}
}

func defaultClaim(claim *corev1.PersistentVolumeClaim) {
	defaultTo(&claim.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	defaultString(&claim.Status.Phase, corev1.ClaimPending)
}

func defaultLimits(item *corev1.LimitRangeItem) {
	if item.Type != corev1.LimitTypeContainer {
		return
	}
	fill := func(to *corev1.ResourceList, from corev1.ResourceList) {
		if *to == nil {
			*to = corev1.ResourceList{}
		}
		for name, quantity := range from {
			if _, given := (*to)[name]; !given {
				(*to)[name] = quantity.DeepCopy()
			}
		}
	}
	fill(&item.Default, item.Max)
	fill(&item.DefaultRequest, item.Default)
	fill(&item.DefaultRequest, item.Min)
}

func defaultNetworkPolicy(p *networkingv1.NetworkPolicy) {
	if len(p.Spec.PolicyTypes) == 0 {
		p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(p.Spec.Egress) > 0 {
			p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	ports := func(list []networkingv1.NetworkPolicyPort) {
		for i := range list {
			defaultTo(&list[i].Protocol, corev1.ProtocolTCP)
		}
	}
	for i := range p.Spec.Ingress {
		ports(p.Spec.Ingress[i].Ports)
	}
	for i := range p.Spec.Egress {
		ports(p.Spec.Egress[i].Ports)
	}
}

func validateIngress(in *networkingv1.Ingress) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if len(in.Spec.Rules) == 0 && in.Spec.DefaultBackend == nil {
		return field.ErrorList{field.Invalid(spec, in.Spec.Rules, "either `defaultBackend` or `rules` must be specified")}
	}
	for i, rule := range in.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		paths := spec.Child("rules").Index(i).Child("http", "paths")
		if len(rule.HTTP.Paths) == 0 {
			errs = append(errs, field.Required(paths, ""))
		}
		for j, p := range rule.HTTP.Paths {
			if p.PathType == nil {
				errs = append(errs, field.Required(paths.Index(j).Child("pathType"), "pathType must be specified"))
			}
		}
	}
	return errs
}

func defaultAutoscaler(a *autoscalingv2.HorizontalPodAutoscaler) {
	defaultTo(&a.Spec.MinReplicas, 1)
	if len(a.Spec.Metrics) == 0 {
		utilization := int32(80)
		a.Spec.Metrics = []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &utilization},
			},
		}}
	}
	if b := a.Spec.Behavior; b != nil {
		percent := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15}
		pods := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15}
		zero := int32(0)
		b.ScaleUp = scalingRules(b.ScaleUp, &zero, pods, percent)
		b.ScaleDown = scalingRules(b.ScaleDown, nil, percent)
	}
}

func scalingRules(rules *autoscalingv2.HPAScalingRules, window *int32, policies ...autoscalingv2.HPAScalingPolicy) *autoscalingv2.HPAScalingRules {
	if rules == nil {
		rules = &autoscalingv2.HPAScalingRules{}
	}
	defaultTo(&rules.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if rules.StabilizationWindowSeconds == nil {
		rules.StabilizationWindowSeconds = window
	}
	if rules.Policies == nil {
		rules.Policies = policies
	}
	return rules
}
