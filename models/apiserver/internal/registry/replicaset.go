package registry

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var replicaSetKind = builtin{
	group: "apps", version: "v1", kind: "ReplicaSet", plural: "replicasets",
	short: []string{"rs"}, categories: []string{"all"}, scale: true,
	object:   func() runtime.Object { return &appsv1.ReplicaSet{} },
	strategy: replicaSetStrategy,
}

var replicaSetStrategy = strategy{
	Unconditional: true, status: true, generation: true,
	defaults: on(func(r *appsv1.ReplicaSet) {
		defaultTo(&r.Spec.Replicas, 1)
		defaultPodSpec(&r.Spec.Template.Spec)
	}),
	Validate: checks(func(r *appsv1.ReplicaSet) field.ErrorList {
		return workloadErrors("deployment", r.Spec.Replicas, r.Spec.Selector, &r.Spec.Template)
	}),
	validateUpdate: compares(func(r, old *appsv1.ReplicaSet) field.ErrorList {
		return frozen(field.NewPath("spec"), change{"selector", r.Spec.Selector, old.Spec.Selector})
	}),
	validateStatus: replicaSetStatusErrors,
}

func replicaSetStatusErrors(o, _ runtime.Object) field.ErrorList {
	s := o.(*appsv1.ReplicaSet).Status
	return countErrors(s.ObservedGeneration, s.Replicas, s.ReadyReplicas, s.AvailableReplicas, "readyReplicas",
		count{"fullyLabeledReplicas", s.FullyLabeledReplicas})
}
