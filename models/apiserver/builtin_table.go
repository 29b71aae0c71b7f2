package apiserver

import (
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// row is one line of the table of built-in types.
type row struct {
	group, version, kind, plural string

	object     func() runtime.Object
	short      []string
	categories []string
	cluster    bool // not in a namespace
	scale      bool
	strategy   builtin
	// fields are the selectable fields besides name and namespace.
	fields map[string]func(*object) string
}

// kinds is a set of kinds with an index.
type kinds struct {
	order      []*kind
	byResource map[string]*kind
}

// builtinKinds is the table of built-in types, made once per process.
var builtinKinds = sync.OnceValue(func() *kinds {
	all := &kinds{byResource: map[string]*kind{}}
	for i := range builtinRows {
		all.add(builtinRows[i].kindOf())
	}
	all.addEvents()
	return all
})

func (s *kinds) add(k *kind) {
	k.link()
	s.order = append(s.order, k)
	s.byResource[k.group+"/"+k.plural] = k
}

func (r *row) kindOf() *kind {
	v := &version{name: r.version, served: true, newObject: r.object, fields: r.fields, warning: r.strategy.deprecation}
	k := &kind{
		group: r.group, kind: r.kind, plural: r.plural, short: r.short, categories: r.categories,
		namespaced: !r.cluster, versions: []*version{v}, storage: v, builtin: &r.strategy,
	}
	if r.strategy.status {
		v.subs = append(v.subs, &subresource{name: "status", verbs: []string{"get", "patch", "update"}})
	}
	if r.scale {
		v.subs = append(v.subs, &subresource{
			name: "scale", kind: scaleKind.Kind, group: scaleKind.Group, version: scaleKind.Version,
			verbs: []string{"get", "patch", "update"}, scale: builtinScale,
		})
	}
	if r.plural == "pods" {
		v.subs = append(v.subs, &subresource{name: "binding", kind: "Binding", version: "v1", verbs: []string{"create"}})
	}
	if r.plural == "namespaces" {
		v.subs = append(v.subs, &subresource{name: "finalize", verbs: []string{"update"}})
		k.verbs = []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	}
	return k
}

// addEvents serves the events of the core group under events.k8s.io too: the same objects in another form.
func (s *kinds) addEvents() {
	core := s.byResource["/events"]
	v := &version{
		name: "v1", served: true, newObject: func() runtime.Object { return &eventsv1.Event{} },
		converted: eventFromCore, stored: eventToCore, fields: newEventFields,
	}
	s.add(&kind{
		group: "events.k8s.io", kind: "Event", plural: "events", short: core.short, namespaced: true,
		versions: []*version{v}, storage: core.storage, table: core.table, builtin: &newEventStrategy,
	})
}

// builtinRows are the built-in types that the model serves, with the facts that kube-apiserver keeps in their strategies
// and storage under pkg/registry of the Kubernetes tree.
var builtinRows = []row{
	{group: "", version: "v1", kind: "Namespace", plural: "namespaces", short: []string{"ns"}, cluster: true,
		object: func() runtime.Object { return &corev1.Namespace{} }, strategy: namespaceStrategy, fields: namespaceFields},
	{group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", short: []string{"cm"},
		object: func() runtime.Object { return &corev1.ConfigMap{} }, strategy: configMapStrategy},
	{group: "", version: "v1", kind: "Secret", plural: "secrets",
		object: func() runtime.Object { return &corev1.Secret{} }, strategy: secretStrategy, fields: secretFields},
	{group: "", version: "v1", kind: "Service", plural: "services", short: []string{"svc"}, categories: []string{"all"},
		object: func() runtime.Object { return &corev1.Service{} }, strategy: serviceStrategy, fields: serviceFields},
	{group: "", version: "v1", kind: "ServiceAccount", plural: "serviceaccounts", short: []string{"sa"},
		object: func() runtime.Object { return &corev1.ServiceAccount{} }, strategy: serviceAccountStrategy},
	{group: "", version: "v1", kind: "Pod", plural: "pods", short: []string{"po"}, categories: []string{"all"},
		object: func() runtime.Object { return &corev1.Pod{} }, strategy: podStrategy, fields: podFields},
	{group: "", version: "v1", kind: "PodTemplate", plural: "podtemplates",
		object: func() runtime.Object { return &corev1.PodTemplate{} }, strategy: podTemplateStrategy},
	{group: "", version: "v1", kind: "ReplicationController", plural: "replicationcontrollers", short: []string{"rc"},
		categories: []string{"all"}, scale: true,
		object: func() runtime.Object { return &corev1.ReplicationController{} }, strategy: replicationControllerStrategy,
		fields: replicationControllerFields},
	{group: "", version: "v1", kind: "Endpoints", plural: "endpoints", short: []string{"ep"},
		object: func() runtime.Object { return &corev1.Endpoints{} }, strategy: endpointsStrategy}, //nolint:staticcheck // still served
	{group: "", version: "v1", kind: "Event", plural: "events", short: []string{"ev"},
		object: func() runtime.Object { return &corev1.Event{} }, strategy: eventStrategy, fields: eventFields},
	{group: "", version: "v1", kind: "Node", plural: "nodes", short: []string{"no"}, cluster: true,
		object: func() runtime.Object { return &corev1.Node{} }, strategy: nodeStrategy, fields: nodeFields},
	{group: "", version: "v1", kind: "PersistentVolume", plural: "persistentvolumes", short: []string{"pv"}, cluster: true,
		object: func() runtime.Object { return &corev1.PersistentVolume{} }, strategy: persistentVolumeStrategy},
	{group: "", version: "v1", kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims", short: []string{"pvc"},
		object: func() runtime.Object { return &corev1.PersistentVolumeClaim{} }, strategy: claimStrategy},
	{group: "", version: "v1", kind: "ResourceQuota", plural: "resourcequotas", short: []string{"quota"},
		object: func() runtime.Object { return &corev1.ResourceQuota{} }, strategy: quotaStrategy},
	{group: "", version: "v1", kind: "LimitRange", plural: "limitranges", short: []string{"limits"},
		object: func() runtime.Object { return &corev1.LimitRange{} }, strategy: limitRangeStrategy},

	{group: "apps", version: "v1", kind: "Deployment", plural: "deployments", short: []string{"deploy"},
		categories: []string{"all"}, scale: true,
		object: func() runtime.Object { return &appsv1.Deployment{} }, strategy: deploymentStrategy},
	{group: "apps", version: "v1", kind: "ReplicaSet", plural: "replicasets", short: []string{"rs"},
		categories: []string{"all"}, scale: true,
		object: func() runtime.Object { return &appsv1.ReplicaSet{} }, strategy: replicaSetStrategy},
	{group: "apps", version: "v1", kind: "StatefulSet", plural: "statefulsets", short: []string{"sts"},
		categories: []string{"all"}, scale: true,
		object: func() runtime.Object { return &appsv1.StatefulSet{} }, strategy: statefulSetStrategy},
	{group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", short: []string{"ds"}, categories: []string{"all"},
		object: func() runtime.Object { return &appsv1.DaemonSet{} }, strategy: daemonSetStrategy},
	{group: "apps", version: "v1", kind: "ControllerRevision", plural: "controllerrevisions",
		object: func() runtime.Object { return &appsv1.ControllerRevision{} }, strategy: controllerRevisionStrategy},

	{group: "batch", version: "v1", kind: "Job", plural: "jobs", categories: []string{"all"},
		object: func() runtime.Object { return &batchv1.Job{} }, strategy: jobStrategy, fields: jobFields},
	{group: "batch", version: "v1", kind: "CronJob", plural: "cronjobs", short: []string{"cj"}, categories: []string{"all"},
		object: func() runtime.Object { return &batchv1.CronJob{} }, strategy: cronJobStrategy},

	{group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers",
		short: []string{"hpa"}, categories: []string{"all"},
		object: func() runtime.Object { return &autoscalingv2.HorizontalPodAutoscaler{} }, strategy: autoscalerStrategy},

	{group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases",
		object: func() runtime.Object { return &coordinationv1.Lease{} }, strategy: leaseStrategy},

	{group: "discovery.k8s.io", version: "v1", kind: "EndpointSlice", plural: "endpointslices",
		object: func() runtime.Object { return &discoveryv1.EndpointSlice{} }, strategy: endpointSliceStrategy},

	{group: "networking.k8s.io", version: "v1", kind: "Ingress", plural: "ingresses", short: []string{"ing"},
		object: func() runtime.Object { return &networkingv1.Ingress{} }, strategy: ingressStrategy},
	{group: "networking.k8s.io", version: "v1", kind: "IngressClass", plural: "ingressclasses", cluster: true,
		object: func() runtime.Object { return &networkingv1.IngressClass{} }, strategy: ingressClassStrategy},
	{group: "networking.k8s.io", version: "v1", kind: "NetworkPolicy", plural: "networkpolicies", short: []string{"netpol"},
		object: func() runtime.Object { return &networkingv1.NetworkPolicy{} }, strategy: networkPolicyStrategy},

	{group: "policy", version: "v1", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets", short: []string{"pdb"},
		object: func() runtime.Object { return &policyv1.PodDisruptionBudget{} }, strategy: disruptionBudgetStrategy},

	{group: "rbac.authorization.k8s.io", version: "v1", kind: "Role", plural: "roles",
		object: func() runtime.Object { return &rbacv1.Role{} }, strategy: roleStrategy},
	{group: "rbac.authorization.k8s.io", version: "v1", kind: "RoleBinding", plural: "rolebindings",
		object: func() runtime.Object { return &rbacv1.RoleBinding{} }, strategy: roleBindingStrategy},
	{group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole", plural: "clusterroles", cluster: true,
		object: func() runtime.Object { return &rbacv1.ClusterRole{} }, strategy: clusterRoleStrategy},
	{group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRoleBinding", plural: "clusterrolebindings", cluster: true,
		object: func() runtime.Object { return &rbacv1.ClusterRoleBinding{} }, strategy: clusterRoleBindingStrategy},

	{group: "storage.k8s.io", version: "v1", kind: "StorageClass", plural: "storageclasses", short: []string{"sc"}, cluster: true,
		object: func() runtime.Object { return &storagev1.StorageClass{} }, strategy: storageClassStrategy},
	{group: "storage.k8s.io", version: "v1", kind: "VolumeAttachment", plural: "volumeattachments", cluster: true,
		object: func() runtime.Object { return &storagev1.VolumeAttachment{} }, strategy: volumeAttachmentStrategy},
	{group: "storage.k8s.io", version: "v1", kind: "CSIDriver", plural: "csidrivers", cluster: true,
		object: func() runtime.Object { return &storagev1.CSIDriver{} }, strategy: csiDriverStrategy},
	{group: "storage.k8s.io", version: "v1", kind: "CSINode", plural: "csinodes", cluster: true,
		object: func() runtime.Object { return &storagev1.CSINode{} }, strategy: csiStrategy},

	{group: "scheduling.k8s.io", version: "v1", kind: "PriorityClass", plural: "priorityclasses", short: []string{"pc"}, cluster: true,
		object: func() runtime.Object { return &schedulingv1.PriorityClass{} }, strategy: priorityClassStrategy},

	{group: "node.k8s.io", version: "v1", kind: "RuntimeClass", plural: "runtimeclasses", cluster: true,
		object: func() runtime.Object { return &nodev1.RuntimeClass{} }, strategy: runtimeClassStrategy},

	{group: "certificates.k8s.io", version: "v1", kind: "CertificateSigningRequest", plural: "certificatesigningrequests",
		short: []string{"csr"}, cluster: true,
		object: func() runtime.Object { return &certificatesv1.CertificateSigningRequest{} }, strategy: certificateStrategy,
		fields: certificateFields},

	{group: "admissionregistration.k8s.io", version: "v1", kind: "ValidatingWebhookConfiguration",
		plural: "validatingwebhookconfigurations", categories: []string{"api-extensions"}, cluster: true,
		object:   func() runtime.Object { return &admissionv1.ValidatingWebhookConfiguration{} },
		strategy: validatingWebhookStrategy},
	{group: "admissionregistration.k8s.io", version: "v1", kind: "MutatingWebhookConfiguration",
		plural: "mutatingwebhookconfigurations", categories: []string{"api-extensions"}, cluster: true,
		object:   func() runtime.Object { return &admissionv1.MutatingWebhookConfiguration{} },
		strategy: mutatingWebhookStrategy},

	{group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition", plural: "customresourcedefinitions",
		short: []string{"crd", "crds"}, categories: []string{"api-extensions"}, cluster: true,
		object:   func() runtime.Object { return &apiextensionsv1.CustomResourceDefinition{} },
		strategy: definitionStrategy},
}
