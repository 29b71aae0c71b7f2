package registry

import (
	"reflect"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

var serviceAccountKind = builtin{
	group: "", version: "v1", kind: "ServiceAccount", plural: "serviceaccounts",
	short:    []string{"sa"},
	object:   func() runtime.Object { return &corev1.ServiceAccount{} },
	strategy: strategy{Unconditional: true, ReturnsDeleted: true},
	subs: []*object.Subresource{{Name: "token", Kind: "TokenRequest", Group: "authentication.k8s.io", Version: "v1",
		Verbs: []string{"create"}}},
	columns: &columns{
		cells: func(runtime.Object) ([]any, []any) { return nil, nil },
	},
}

var quotaKind = builtin{
	group: "", version: "v1", kind: "ResourceQuota", plural: "resourcequotas",
	short:    []string{"quota"},
	object:   func() runtime.Object { return &corev1.ResourceQuota{} },
	strategy: strategy{Unconditional: true, status: true, ReturnsDeleted: true},
}

var limitRangeKind = builtin{
	group: "", version: "v1", kind: "LimitRange", plural: "limitranges",
	short:  []string{"limits"},
	object: func() runtime.Object { return &corev1.LimitRange{} },
	strategy: strategy{
		Unconditional: true, CreateOnUpdate: true,
		defaults: on(func(l *corev1.LimitRange) {
			for i := range l.Spec.Limits {
				defaultLimits(&l.Spec.Limits[i])
			}
		}),
	},
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

var podTemplateKind = builtin{
	group: "", version: "v1", kind: "PodTemplate", plural: "podtemplates",
	object: func() runtime.Object { return &corev1.PodTemplate{} },
	strategy: strategy{
		Unconditional: true, generation: true, ReturnsDeleted: true,
		defaults: on(func(t *corev1.PodTemplate) { defaultPodSpec(&t.Template.Spec) }),
		Validate: checks(func(t *corev1.PodTemplate) field.ErrorList {
			return templateErrors(&t.Template, field.NewPath("template"))
		}),
	},
}

var replicationControllerKind = builtin{
	group: "", version: "v1", kind: "ReplicationController", plural: "replicationcontrollers",
	short: []string{"rc"}, categories: []string{"all"}, scale: true,
	object: func() runtime.Object { return &corev1.ReplicationController{} },
	strategy: strategy{
		Unconditional: true, status: true, generation: true, orphans: true,
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
		Validate: checks(func(r *corev1.ReplicationController) field.ErrorList {
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
	},
	fields: replicationControllerFields,
}

var replicationControllerFields = map[string]func(*object.Object) string{
	"status.replicas": selects(func(r *corev1.ReplicationController) string {
		return strconv.Itoa(int(r.Status.Replicas))
	}),
}

var endpointsKind = builtin{
	group: "", version: "v1", kind: "Endpoints", plural: "endpoints",
	short:  []string{"ep"},
	object: func() runtime.Object { return &corev1.Endpoints{} }, //nolint:staticcheck // still served
	strategy: strategy{
		Unconditional: true, CreateOnUpdate: true,
		deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
		defaults: on(func(e *corev1.Endpoints) { //nolint:staticcheck // still served
			for i := range e.Subsets {
				for j := range e.Subsets[i].Ports {
					defaultString(&e.Subsets[i].Ports[j].Protocol, corev1.ProtocolTCP)
				}
			}
		}),
	},
}

// Its strategy follows pkg/registry/core/node and the TaintNodesByCondition admission plugin.
var nodeKind = builtin{
	group: "", version: "v1", kind: "Node", plural: "nodes",
	short: []string{"no"}, cluster: true,
	object: func() runtime.Object { return &corev1.Node{} },
	strategy: strategy{
		Unconditional: true, status: true, Unmodelled: []string{"proxy"},
		prepareCreate: func(_ Write, o runtime.Object) {
			n := o.(*corev1.Node)
			for _, taint := range n.Spec.Taints {
				if taint.Key == corev1.TaintNodeNotReady && taint.Effect == corev1.TaintEffectNoSchedule {
					return
				}
			}
			n.Spec.Taints = append(n.Spec.Taints,
				corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
		},
	},
	fields: nodeFields,
}

var nodeFields = map[string]func(*object.Object) string{
	"spec.unschedulable": selects(func(n *corev1.Node) string { return strconv.FormatBool(n.Spec.Unschedulable) }),
}

// Its strategy follows pkg/registry/core/configmap and pkg/apis/core/validation.
var configMapKind = builtin{
	group: "", version: "v1", kind: "ConfigMap", plural: "configmaps",
	short:  []string{"cm"},
	object: func() runtime.Object { return &corev1.ConfigMap{} },
	strategy: strategy{
		Unconditional: true,
		Validate:      checks(validateConfigMap),
		validateUpdate: compares(func(m, old *corev1.ConfigMap) field.ErrorList {
			if old.Immutable == nil || !*old.Immutable {
				return nil
			}
			var errs field.ErrorList
			if m.Immutable == nil || !*m.Immutable {
				errs = append(errs, immutable("immutable"))
			}
			if !reflect.DeepEqual(m.Data, old.Data) {
				errs = append(errs, immutable("data"))
			}
			if !reflect.DeepEqual(m.BinaryData, old.BinaryData) {
				errs = append(errs, immutable("binaryData"))
			}
			return errs
		}),
	},
	columns: &columns{
		shown: []metav1.TableColumnDefinition{textColumn("Data", about(corev1.ConfigMap{}, "data"))},
		cells: func(o runtime.Object) ([]any, []any) {
			m := o.(*corev1.ConfigMap)
			return []any{len(m.Data) + len(m.BinaryData)}, nil
		},
	},
}

func validateConfigMap(m *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for _, key := range sortedKeys(m.Data) {
		errs = append(errs, invalid(field.NewPath("data").Key(key), key, validation.IsConfigMapKey(key))...)
		if _, twice := m.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key,
				"duplicate of key present in binaryData"))
		}
		size += len(m.Data[key])
	}
	for _, key := range sortedKeys(m.BinaryData) {
		errs = append(errs, invalid(field.NewPath("binaryData").Key(key), key, validation.IsConfigMapKey(key))...)
		size += len(m.BinaryData[key])
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}
