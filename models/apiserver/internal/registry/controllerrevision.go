package registry

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var controllerRevisionKind = builtin{
	group: "apps", version: "v1", kind: "ControllerRevision", plural: "controllerrevisions",
	object:   func() runtime.Object { return &appsv1.ControllerRevision{} },
	strategy: controllerRevisionStrategy,
}

var controllerRevisionStrategy = strategy{
	Unconditional: true,
	Validate: checks(func(r *appsv1.ControllerRevision) field.ErrorList {
		if r.Data.Raw == nil && r.Data.Object == nil {
			return field.ErrorList{field.Required(field.NewPath("data"), "data is mandatory")}
		}
		return nil
	}),
	validateUpdate: compares(func(r, old *appsv1.ControllerRevision) field.ErrorList {
		return frozen(nil, change{"data", r.Data, old.Data})
	}),
}
