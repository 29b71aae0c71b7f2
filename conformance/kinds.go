package conformance

// The short names by which scripts call resources. A list of its own and not discovery, because
// discovery is among the things under test.

import (
	"fmt"
	"strings"
)

type kind struct {
	apiVersion string
	kind       string
	resource   string
	cluster    bool
}

func (k kind) base() string {
	if !strings.Contains(k.apiVersion, "/") {
		return "/api/" + k.apiVersion
	}
	return "/apis/" + k.apiVersion
}

// kinds is keyed by the name that scripts use.
var kinds = map[string]kind{
	"ns":      {"v1", "Namespace", "namespaces", true},
	"node":    {"v1", "Node", "nodes", true},
	"pv":      {"v1", "PersistentVolume", "persistentvolumes", true},
	"cm":      {"v1", "ConfigMap", "configmaps", false},
	"secret":  {"v1", "Secret", "secrets", false},
	"svc":     {"v1", "Service", "services", false},
	"sa":      {"v1", "ServiceAccount", "serviceaccounts", false},
	"pod":     {"v1", "Pod", "pods", false},
	"pvc":     {"v1", "PersistentVolumeClaim", "persistentvolumeclaims", false},
	"ep":      {"v1", "Endpoints", "endpoints", false},
	"event":   {"v1", "Event", "events", false},
	"quota":   {"v1", "ResourceQuota", "resourcequotas", false},
	"limit":   {"v1", "LimitRange", "limitranges", false},
	"rc":      {"v1", "ReplicationController", "replicationcontrollers", false},
	"podtpl":  {"v1", "PodTemplate", "podtemplates", false},
	"deploy":  {"apps/v1", "Deployment", "deployments", false},
	"sts":     {"apps/v1", "StatefulSet", "statefulsets", false},
	"ds":      {"apps/v1", "DaemonSet", "daemonsets", false},
	"rs":      {"apps/v1", "ReplicaSet", "replicasets", false},
	"ctrlrev": {"apps/v1", "ControllerRevision", "controllerrevisions", false},
	"job":     {"batch/v1", "Job", "jobs", false},
	"cronjob": {"batch/v1", "CronJob", "cronjobs", false},
	"role":    {"rbac.authorization.k8s.io/v1", "Role", "roles", false},
	"rb":      {"rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", false},
	"cr":      {"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", true},
	"crb":     {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", true},
	"lease":   {"coordination.k8s.io/v1", "Lease", "leases", false},
	"slice":   {"discovery.k8s.io/v1", "EndpointSlice", "endpointslices", false},
	"ing":     {"networking.k8s.io/v1", "Ingress", "ingresses", false},
	"ingcls":  {"networking.k8s.io/v1", "IngressClass", "ingressclasses", true},
	"netpol":  {"networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", false},
	"pdb":     {"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", false},
	"hpa":     {"autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", false},
	"hpa1":    {"autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", false},
	"sc":      {"storage.k8s.io/v1", "StorageClass", "storageclasses", true},
	"csidrv":  {"storage.k8s.io/v1", "CSIDriver", "csidrivers", true},
	"pc":      {"scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", true},
	"vwc": {
		"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", true,
	},
	"mwc": {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations",
		true},
	"crd":    {"apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", true},
	"ev1":    {"events.k8s.io/v1", "Event", "events", false},
	"widget": {crdGroup + "/v1", "Widget", "widgets", false},
	"gadget": {crdGroup + "/v1", "Gadget", "gadgets", false},
	"realm":  {crdGroup + "/v1", "Realm", "realms", true},
	// Of the row's own group, see gizmos.go.
	"gizmo":  {"$ns.example/v1", "Gizmo", "gizmos", false},
	"gizmo2": {"$ns.example/v2", "Gizmo", "gizmos", false},
}

// path turns a script's target into a URL path and query. A target is `kind`, `kind/name` or
// `kind/name/subresource` with an optional `?query`; `kind@namespace` leaves the row's namespace,
// `kind@*` lists all of them. A target that starts with a slash is a path already.
func path(target, namespace string) (string, kind, error) {
	if strings.HasPrefix(target, "/") {
		return target, kind{}, nil
	}
	target, query, hasQuery := strings.Cut(target, "?")
	head, rest, hasName := strings.Cut(target, "/")
	head, elsewhere, moved := strings.Cut(head, "@")
	k, ok := kinds[head]
	if !ok {
		return "", kind{}, fmt.Errorf("no kind is called %q", head)
	}
	k.apiVersion = strings.ReplaceAll(k.apiVersion, "$ns", namespace)
	if moved {
		namespace = elsewhere
	}
	p := k.base()
	if !k.cluster && namespace != "*" {
		p += "/namespaces/" + namespace
	}
	p += "/" + k.resource
	if hasName {
		p += "/" + rest
	}
	if hasQuery {
		p += "?" + query
	}
	return p, k, nil
}
