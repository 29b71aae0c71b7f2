package registry

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var leaseKind = builtin{
	group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases",
	object:   func() runtime.Object { return &coordinationv1.Lease{} },
	strategy: leaseStrategy,
}

var leaseStrategy = strategy{
	CreateOnUpdate: true,
	Validate: checks(func(l *coordinationv1.Lease) field.ErrorList {
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
