package apiserver

import (
	"reflect"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// namespaceStrategy follows pkg/registry/core/namespace.
var namespaceStrategy = builtin{
	unconditional: true, status: true, returnsDeleted: true,
	validName: apivalidation.ValidateNamespaceName,
	defaults: on(func(n *corev1.Namespace) {
		if n.Name == "" {
			return
		}
		setLabel(&n.Labels, corev1.LabelMetadataName, n.Name)
	}),
	prepareCreate: func(_ *call, o runtime.Object) {
		n := o.(*corev1.Namespace)
		n.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
		for _, f := range n.Spec.Finalizers {
			if f == corev1.FinalizerKubernetes {
				return
			}
		}
		n.Spec.Finalizers = append(n.Spec.Finalizers, corev1.FinalizerKubernetes)
	},
	canonicalize: on(func(n *corev1.Namespace) { setLabel(&n.Labels, corev1.LabelMetadataName, n.Name) }),
	prepareUpdate: func(_ *call, o, old runtime.Object) {
		o.(*corev1.Namespace).Spec = *old.(*corev1.Namespace).Spec.DeepCopy()
	},
	validate: checks(func(n *corev1.Namespace) field.ErrorList {
		var errs field.ErrorList
		path := field.NewPath("spec", "finalizers")
		for _, f := range n.Spec.Finalizers {
			errs = append(errs, finalizerNameErrors(string(f), path)...)
		}
		return errs
	}),
	validateStatus: compares(func(n, _ *corev1.Namespace) field.ErrorList {
		path := field.NewPath("status", "Phase")
		switch {
		case n.DeletionTimestamp == nil && n.Status.Phase != corev1.NamespaceActive:
			return field.ErrorList{field.Invalid(path, n.Status.Phase, "may only be 'Active' if `deletionTimestamp` is empty")}
		case n.DeletionTimestamp != nil && n.Status.Phase != corev1.NamespaceTerminating:
			return field.ErrorList{field.Invalid(path, n.Status.Phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")}
		}
		return nil
	}),
	validateFinalize: compares(func(n, _ *corev1.Namespace) field.ErrorList {
		var errs field.ErrorList
		for i, f := range n.Spec.Finalizers {
			errs = append(errs, finalizerNameErrors(string(f), field.NewPath("spec", "finalizers").Index(i))...)
		}
		return errs
	}),
}

func finalizerNameErrors(name string, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateFinalizerName(name, path)
	if !strings.Contains(name, "/") && !standardFinalizer(name) {
		errs = append(errs, field.Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified"))
	}
	return errs
}

func setLabel(labels *map[string]string, name, value string) {
	if *labels == nil {
		*labels = map[string]string{}
	}
	(*labels)[name] = value
}

var namespaceFields = map[string]func(*object) string{
	"status.phase": func(o *object) string { return string(o.typed.(*corev1.Namespace).Status.Phase) },
}

// configMapStrategy follows pkg/registry/core/configmap and pkg/apis/core/validation.
var configMapStrategy = builtin{
	unconditional: true,
	validate:      checks(validateConfigMap),
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
}

func immutable(name string) *field.Error {
	return field.Forbidden(field.NewPath(name), "field is immutable when `immutable` is set")
}

func validateConfigMap(m *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for _, key := range sortedKeys(m.Data) {
		errs = append(errs, invalid(field.NewPath("data").Key(key), key, validation.IsConfigMapKey(key))...)
		if _, twice := m.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
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

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
