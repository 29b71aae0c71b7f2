package registry

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var configMapKind = builtin{
	group: "", version: "v1", kind: "ConfigMap", plural: "configmaps",
	short:    []string{"cm"},
	object:   func() runtime.Object { return &corev1.ConfigMap{} },
	strategy: configMapStrategy,
	columns: &columns{
		shown: []metav1.TableColumnDefinition{textColumn("Data", about(corev1.ConfigMap{}, "data"))},
		cells: func(o runtime.Object) ([]any, []any) {
			m := o.(*corev1.ConfigMap)
			return []any{len(m.Data) + len(m.BinaryData)}, nil
		},
	},
}

// configMapStrategy follows pkg/registry/core/configmap and pkg/apis/core/validation.
var configMapStrategy = strategy{
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
