package conformance

// Discovery: which groups, versions and resources there are, by what names, and what can be done
// with them. RESTMappers, kubectl and the garbage collector all begin here.

import (
	"net/http"
	"strings"
)

// servedResources lists what operators use, by group and version.
var servedResources = []struct{ groupVersion, resources string }{
	{"v1", "namespaces namespaces/status namespaces/finalize nodes nodes/status persistentvolumes configmaps " +
		"secrets services " +
		"services/status serviceaccounts pods pods/status persistentvolumeclaims persistentvolumeclaims/status " +
		"endpoints events " +
		"resourcequotas resourcequotas/status limitranges replicationcontrollers replicationcontrollers/scale " +
		"podtemplates"},
	{"apps/v1",
		"deployments deployments/status deployments/scale statefulsets statefulsets/status statefulsets/scale " +
			"daemonsets daemonsets/status replicasets replicasets/status replicasets/scale controllerrevisions"},
	{"batch/v1", "jobs jobs/status cronjobs cronjobs/status"},
	{"rbac.authorization.k8s.io/v1", "roles rolebindings clusterroles clusterrolebindings"},
	{"coordination.k8s.io/v1", "leases"},
	{"discovery.k8s.io/v1", "endpointslices"},
	{"networking.k8s.io/v1", "ingresses ingresses/status ingressclasses networkpolicies"},
	{"policy/v1", "poddisruptionbudgets poddisruptionbudgets/status"},
	{"autoscaling/v2", "horizontalpodautoscalers horizontalpodautoscalers/status"},
	{"storage.k8s.io/v1", "storageclasses csidrivers"},
	{"scheduling.k8s.io/v1", "priorityclasses"},
	{"admissionregistration.k8s.io/v1", "validatingwebhookconfigurations mutatingwebhookconfigurations"},
	{"apiextensions.k8s.io/v1", "customresourcedefinitions customresourcedefinitions/status"},
	{"events.k8s.io/v1", "events"},
	{crdGroup + "/v1", "widgets widgets/status widgets/scale gadgets realms"},
}

// rowsDiscovery are keyed by area and name.
var rowsDiscovery = map[string]func(*T){
	"discovery: the version says which Kubernetes this is": func(t *T) {
		_, _, data, err := t.roundTrip(http.MethodGet, "/version", nil, nil)
		v, _ := decode(data).(map[string]any)
		t.Note("major and minor", []any{v["major"], v["minor"]}, err)
	},
	"discovery: OpenAPI": func(t *T) {
		code, _, data, err := t.roundTrip(http.MethodGet, "/openapi/v3", nil, nil)
		if code == http.StatusOK {
			data = nil // a list of every group; that there is one is all that is asked
		}
		t.Note("code", code, err)
		t.note("reply", decode(data))
	},
	"discovery: the group list knows the custom group": func(t *T) {
		_, _, data, err := t.roundTrip(http.MethodGet, "/apis", nil, nil)
		list, _ := decode(data).(map[string]any)
		t.Note("entry", pick(list["groups"], "name", crdGroup), err)
	},
	"discovery: aggregated discovery shows the custom group": func(t *T) {
		t.Note("entry", aggregated(t, "/apis", crdGroup), nil)
	},
	"discovery: aggregated discovery shows deployments": func(t *T) {
		group, _ := aggregated(t, "/apis", "apps").(map[string]any)
		versions, _ := group["versions"].([]any)
		if len(versions) == 0 {
			t.note("versions", nil)
			return
		}
		v1, _ := versions[0].(map[string]any)
		t.Note("entry", pick(v1["resources"], "resource", "deployments"), nil)
	},
}

// discoveryRows makes a row of every served resource and one of every group's version.
func discoveryRows() []Row {
	var rows []Row
	for _, s := range servedResources {
		root := "/apis/"
		if !strings.Contains(s.groupVersion, "/") {
			root = "/api/"
		}
		for name := range strings.FieldsSeq(s.resources) {
			title := "resource " + s.groupVersion + " " + name
			rows = append(rows, Row{Area: "discovery", Name: title, Run: func(t *T) {
				code, _, data, err := t.roundTrip(http.MethodGet, root+s.groupVersion, nil, nil)
				list, _ := decode(data).(map[string]any)
				t.Note("code", code, err)
				t.Note("entry", pick(list["resources"], "name", name), nil)
			}})
		}
		if group, version, ok := strings.Cut(s.groupVersion, "/"); ok {
			rows = append(rows, Row{Area: "discovery", Name: "group version " + s.groupVersion, Run: func(t *T) {
				_, _, data, err := t.roundTrip(http.MethodGet, "/apis", nil, nil)
				list, _ := decode(data).(map[string]any)
				entry, _ := pick(list["groups"], "name", group).(map[string]any)
				t.Note("entry", pick(entry["versions"], "version", version), err)
			}})
		}
	}
	return rows
}

// aggregated takes one group from the newer form of discovery, in which one reply holds everything.
func aggregated(t *T, path, group string) any {
	header := http.Header{"Accept": {"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}}
	_, h, data, err := t.roundTrip(http.MethodGet, path, header, nil)
	t.Note("content type", h.Get("Content-Type"), err)
	list, _ := decode(data).(map[string]any)
	items, _ := list["items"].([]any)
	for _, i := range items {
		item, _ := i.(map[string]any)
		meta, _ := item["metadata"].(map[string]any)
		if meta["name"] == group {
			delete(meta, "creationTimestamp")
			return item
		}
	}
	return nil
}

// pick takes the entry of a list whose key has the wanted value.
func pick(list any, key, want string) any {
	entries, _ := list.([]any)
	for _, e := range entries {
		if m, _ := e.(map[string]any); m[key] == want {
			delete(m, "storageVersionHash")
			return m
		}
	}
	return nil
}
