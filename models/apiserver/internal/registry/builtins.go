package registry

import (
	"sync"
)

// Builtins are the built-in kinds, made once per process.
var Builtins = sync.OnceValue(func() *Index {
	all := kindsOf(builtins)
	all.addEvents()
	return all
})

// Reviews are the kinds of access reviews, made once per process.
var Reviews = sync.OnceValue(func() *Index { return kindsOf(reviews) })

// Known reports whether a built-in type is served.
func Known(group, version, name string) bool {
	for _, k := range Builtins().Order {
		if k.Group == group && k.Kind == name && k.Version(version) != nil {
			return true
		}
	}
	return false
}

// builtins are the built-in kinds that the model serves, in the order in which they are listed.
var builtins = []*builtin{
	&namespaceKind, &configMapKind, &secretKind, &serviceKind, &serviceAccountKind, &podKind,
	&podTemplateKind, &replicationControllerKind, &endpointsKind, &eventKind, &nodeKind,
	&persistentVolumeKind, &claimKind, &quotaKind, &limitRangeKind, &deploymentKind,
	&replicaSetKind, &statefulSetKind, &daemonSetKind, &controllerRevisionKind, &jobKind,
	&cronJobKind, &autoscalerKind, &leaseKind, &endpointSliceKind, &ingressKind,
	&ingressClassKind, &networkPolicyKind, &disruptionBudgetKind, &roleKind, &roleBindingKind,
	&clusterRoleKind, &clusterRoleBindingKind, &storageClassKind, &volumeAttachmentKind,
	&csiDriverKind, &csiNodeKind, &priorityClassKind, &runtimeClassKind, &certificateKind,
	&validatingWebhookKind, &mutatingWebhookKind, &definitionKind,
}

// reviews are the kinds of access reviews.
var reviews = []*builtin{
	&selfReviewKind, &subjectReviewKind, &localReviewKind,
}
