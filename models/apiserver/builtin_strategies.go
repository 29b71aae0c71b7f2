package apiserver

// The strategies whose rules are flags alone. Those with behaviour have files of their own.
var (
	serviceAccountStrategy = builtin{unconditional: true, returnsDeleted: true, unmodelled: []string{"token"}}
	podTemplateStrategy    = builtin{unconditional: true, returnsDeleted: true}
	limitRangeStrategy     = builtin{unconditional: true, createOnUpdate: true}
	quotaStrategy          = builtin{unconditional: true, status: true, returnsDeleted: true}
	endpointsStrategy      = builtin{unconditional: true, createOnUpdate: true}

	controllerRevisionStrategy    = builtin{unconditional: true}
	replicationControllerStrategy = builtin{unconditional: true, status: true, generation: true, orphans: true}

	autoscalerStrategy    = builtin{unconditional: true, status: true, generation: true}
	leaseStrategy         = builtin{createOnUpdate: true}
	endpointSliceStrategy = builtin{unconditional: true, generation: true}

	ingressStrategy       = builtin{unconditional: true, status: true, generation: true}
	ingressClassStrategy  = builtin{unconditional: true, generation: true}
	networkPolicyStrategy = builtin{unconditional: true, generation: true}

	disruptionBudgetStrategy = builtin{status: true, generation: true}

	rbacStrategy               = builtin{unconditional: true, createOnUpdate: true}
	roleBindingStrategy        = rbacStrategy
	clusterRoleBindingStrategy = rbacStrategy

	storageClassStrategy     = builtin{unconditional: true, returnsDeleted: true}
	volumeAttachmentStrategy = builtin{status: true, returnsDeleted: true}
	csiStrategy              = builtin{returnsDeleted: true}

	priorityClassStrategy = builtin{unconditional: true}
	runtimeClassStrategy  = builtin{createOnUpdate: true}
	certificateStrategy   = builtin{unconditional: true, status: true, unmodelled: []string{"approval"}}

	validatingWebhookStrategy = builtin{generation: true}
	mutatingWebhookStrategy   = builtin{generation: true}

	nodeStrategy             = builtin{unconditional: true, status: true, unmodelled: []string{"proxy"}}
	persistentVolumeStrategy = builtin{unconditional: true, status: true, returnsDeleted: true}
	claimStrategy            = builtin{unconditional: true, status: true, returnsDeleted: true}

	serviceStrategy = builtin{unconditional: true, createOnUpdate: true, status: true, returnsDeleted: true, unmodelled: []string{"proxy"}}
	podStrategy     = builtin{unconditional: true, status: true, generation: true, returnsDeleted: true,
		unmodelled: []string{"log", "exec", "attach", "portforward", "proxy", "eviction", "binding", "ephemeralcontainers", "resize"}}

	deploymentStrategy  = builtin{unconditional: true, status: true, generation: true}
	replicaSetStrategy  = builtin{unconditional: true, status: true, generation: true}
	statefulSetStrategy = builtin{unconditional: true, status: true, generation: true}
	daemonSetStrategy   = builtin{unconditional: true, status: true, generation: true}
	jobStrategy         = builtin{unconditional: true, status: true, generation: true, orphans: true}
	cronJobStrategy     = builtin{unconditional: true, status: true, generation: true}
)
