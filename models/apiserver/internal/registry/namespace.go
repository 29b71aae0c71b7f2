package registry

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Its strategy follows pkg/registry/core/namespace.
var namespaceKind = builtin{
	group: "", version: "v1", kind: "Namespace", plural: "namespaces",
	short: []string{"ns"}, cluster: true,
	object: func() runtime.Object { return &corev1.Namespace{} },
	strategy: strategy{
		Unconditional: true, status: true, ReturnsDeleted: true,
		validName: apivalidation.ValidateNamespaceName,
		defaults: on(func(n *corev1.Namespace) {
			if n.Name == "" {
				return
			}
			setLabel(&n.Labels, corev1.LabelMetadataName, n.Name)
		}),
		prepareCreate: func(_ Write, o runtime.Object) {
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
		prepareUpdate: func(_ Write, o, old runtime.Object) {
			o.(*corev1.Namespace).Spec = *old.(*corev1.Namespace).Spec.DeepCopy()
		},
		Validate: checks(func(n *corev1.Namespace) field.ErrorList {
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
				return field.ErrorList{field.Invalid(path, n.Status.Phase,
					"may only be 'Active' if `deletionTimestamp` is empty")}
			case n.DeletionTimestamp != nil && n.Status.Phase != corev1.NamespaceTerminating:
				return field.ErrorList{field.Invalid(path, n.Status.Phase,
					"may only be 'Terminating' if `deletionTimestamp` is not empty")}
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
	},
	fields: namespaceFields,
	verbs:  []string{"create", "delete", "get", "list", "patch", "update", "watch"},
	subs:   []*object.Subresource{{Name: "finalize", Verbs: []string{"update"}}},
	columns: &columns{
		shown: []metav1.TableColumnDefinition{textColumn("Status", "The status of the namespace")},
		cells: func(o runtime.Object) ([]any, []any) { return []any{string(o.(*corev1.Namespace).Status.Phase)}, nil },
	},
}

var namespaceFields = map[string]func(*object.Object) string{
	"status.phase": selects(func(n *corev1.Namespace) string { return string(n.Status.Phase) }),
}

func finalizerNameErrors(name string, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateFinalizerName(name, path)
	if !strings.Contains(name, "/") && !standardFinalizer(name) {
		errs = append(errs, field.Invalid(path, name,
			"name is neither a standard finalizer name nor is it fully qualified"))
	}
	return errs
}
