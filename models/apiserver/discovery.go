package apiserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"mime"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// serverVersion is what /version answers: the release whose behaviour the model follows.
const serverVersion = `{"major":"1","minor":"37","gitVersion":"v1.37.1","gitCommit":"","gitTreeState":"clean",` +
	`"buildDate":"1970-01-01T00:00:00Z","goVersion":"go1.26","compiler":"gc","platform":"linux/amd64"}`

// discovery answers what a server serves: the paths that name no resource.
type discovery struct{ registry *registry.Registry }

func (d discovery) serve(req *Request) (*Response, error) {
	path := strings.TrimSuffix(req.URL.Path, "/")
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		return nil, errNoSuchPath
	}
	switch path {
	case "/version":
		return jsonResponse(http.StatusOK, []byte(serverVersion)), nil
	case "/healthz", "/livez", "/readyz":
		r := jsonResponse(http.StatusOK, []byte("ok"))
		r.Header.Set("Content-Type", "text/plain; charset=utf-8")
		return r, nil
	case "/api":
		if wantsAggregated(req) {
			return d.aggregated(true), nil
		}
		return encoded200(metav1.APIVersions{
			TypeMeta: metav1.TypeMeta{Kind: "APIVersions"},
			Versions: []string{"v1"},
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{
				{ClientCIDR: "0.0.0.0/0", ServerAddress: "127.0.0.1:443"},
			},
		}), nil
	case "/apis":
		if wantsAggregated(req) {
			return d.aggregated(false), nil
		}
		return encoded200(d.groupList()), nil
	}
	if strings.HasPrefix(path, "/openapi") {
		return serveOpenAPI(d.registry, path)
	}
	for _, served := range unmodelledPaths {
		if rest, ok := strings.CutPrefix(path, served); ok && (rest == "" || rest[0] == '/') {
			return nil, NotModelled("the path %s", path)
		}
	}
	return d.version(strings.Split(strings.Trim(path, "/"), "/"))
}

// unmodelledPaths are served by a real server, with what is below them, and not by the model
// (staging/src/k8s.io/apiserver/pkg/server/routes and healthz, pkg/routes/openidmetadata.go in the
// Kubernetes tree).
var unmodelledPaths = []string{"/metrics", "/healthz", "/livez", "/readyz", "/openid/v1/jwks",
	"/.well-known/openid-configuration"}

// version serves /api/v1, /apis/<group> and /apis/<group>/<version>.
func (d discovery) version(parts []string) (*Response, error) {
	switch {
	case len(parts) == 2 && parts[0] == "api" && parts[1] == "v1":
		return encoded200(d.resourceList("", "v1")), nil
	case len(parts) == 2 && parts[0] == "apis":
		for _, g := range d.groupList().Groups {
			if g.Name == parts[1] {
				g.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
				return encoded200(g), nil
			}
		}
	case len(parts) == 3 && parts[0] == "apis":
		if list := d.resourceList(parts[1], parts[2]); len(list.APIResources) > 0 {
			return encoded200(list), nil
		}
		for k := range d.registry.All {
			if k.Group == parts[1] && k.Builtin {
				return nil, errNoSuchResource
			}
		}
	}
	return nil, errNoSuchPath
}

// groupVersions lists the served versions of each group: built-in groups first, then custom ones by
// name, versions in order of preference.
func (d discovery) groupVersions() (groups []string, versions map[string][]string) {
	versions = map[string][]string{}
	var customGroups []string
	for k := range d.registry.All {
		if k.Group == "" {
			continue
		}
		if _, known := versions[k.Group]; !known {
			if !k.Builtin {
				customGroups = append(customGroups, k.Group)
			} else {
				groups = append(groups, k.Group)
			}
		}
		for _, v := range k.Versions {
			if v.Served && !slices.Contains(versions[k.Group], v.Name) {
				versions[k.Group] = append(versions[k.Group], v.Name)
			}
		}
	}
	for _, names := range versions {
		sort.SliceStable(names, func(i, j int) bool { return object.NewerVersion(names[i], names[j]) })
	}
	sort.SliceStable(groups, func(i, j int) bool { return groupRank(groups[i]) < groupRank(groups[j]) })
	sort.Strings(customGroups)
	return append(groups, customGroups...), versions
}

// groupOrder is the order in which discovery shows the built-in groups.
var groupOrder = []string{"", "apps", "events.k8s.io", "autoscaling", "batch", "certificates.k8s.io",
	"networking.k8s.io",
	"policy", "rbac.authorization.k8s.io", "storage.k8s.io", "admissionregistration.k8s.io", "apiextensions.k8s.io",
	"scheduling.k8s.io", "coordination.k8s.io", "node.k8s.io", "discovery.k8s.io"}

func groupRank(group string) int {
	for i, name := range groupOrder {
		if name == group {
			return i
		}
	}
	return len(groupOrder)
}

func (d discovery) groupList() *metav1.APIGroupList {
	out := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	groups, versions := d.groupVersions()
	for _, group := range groups {
		g := metav1.APIGroup{Name: group}
		for _, name := range versions[group] {
			g.Versions = append(g.Versions,
				metav1.GroupVersionForDiscovery{GroupVersion: group + "/" + name, Version: name})
		}
		if len(g.Versions) == 0 {
			continue
		}
		g.PreferredVersion = g.Versions[0]
		out.Groups = append(out.Groups, g)
	}
	return out
}

func (d discovery) resourceList(group, name string) *metav1.APIResourceList {
	gv := name
	if group != "" {
		gv = group + "/" + name
	}
	out := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: gv,
		APIResources: []metav1.APIResource{},
	}
	for k := range d.registry.All {
		if k.Group != group {
			continue
		}
		if v := k.Version(name); v != nil {
			out.APIResources = append(out.APIResources, apiResources(v)...)
		}
	}
	// Subresources stay behind their resource in the order in which the type lists them.
	sort.SliceStable(out.APIResources, func(i, j int) bool {
		return topName(out.APIResources[i].Name) < topName(out.APIResources[j].Name)
	})
	return out
}

// storageHash tells clients whether two types share their storage
// (staging/src/k8s.io/apiserver/pkg/endpoints/discovery/storageversionhash.go).
func storageHash(k *object.Type) string {
	sum := sha256.Sum256([]byte(k.Storage.Type.Group + "/" + k.Storage.Name + "/" + k.Storage.Type.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

func topName(resource string) string {
	name, _, _ := strings.Cut(resource, "/")
	return name
}

func apiResources(v *object.Version) []metav1.APIResource {
	k := v.Type
	out := []metav1.APIResource{{
		Name: k.Plural, SingularName: k.Singular, Namespaced: k.Namespaced, Kind: k.Kind,
		Verbs: k.VerbList(), ShortNames: k.Short, Categories: k.Categories, StorageVersionHash: storageHash(k),
	}}
	for _, sub := range v.Subresources {
		r := metav1.APIResource{Name: k.Plural + "/" + sub.Name, Namespaced: k.Namespaced, Kind: k.Kind,
			Verbs: sub.Verbs}
		if sub.Kind != "" {
			r.Kind, r.Group, r.Version = sub.Kind, sub.Group, sub.Version
		}
		out = append(out, r)
	}
	return out
}

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

func wantsAggregated(req *Request) bool {
	for clause := range strings.SplitSeq(req.Header.Get("Accept"), ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(clause))
		if err == nil && media == "application/json" && params["as"] == "APIGroupDiscoveryList" && params["v"] == "v2" {
			return true
		}
	}
	return false
}

// aggregated is the discovery of all groups in one document. The built-in part is encoded once per
// process; the custom part is put together from groups that are encoded once per set of
// definitions.
func (d discovery) aggregated(core bool) *Response {
	b := []byte(`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[`)
	if core {
		b = append(b, builtinDiscovery().core...)
	} else {
		b = append(b, builtinDiscovery().groups...)
		for _, raw := range customDiscovery(d.registry) {
			b = append(append(b, ','), raw...)
		}
	}
	r := jsonResponse(http.StatusOK, append(b, ']', '}'))
	r.Header.Set("Content-Type", aggregatedType)
	return r
}

var builtinDiscovery = sync.OnceValue(func() (out struct{ core, groups []byte }) {
	var order []string
	byGroup := map[string][]*registry.Kind{}
	for _, k := range registry.Builtins().Order {
		if byGroup[k.Group] == nil {
			order = append(order, k.Group)
		}
		byGroup[k.Group] = append(byGroup[k.Group], k)
	}
	sort.SliceStable(order, func(i, j int) bool { return groupRank(order[i]) < groupRank(order[j]) })
	var groups [][]byte
	for _, group := range order {
		raw := discoveryOf(group, byGroup[group])
		if group == "" {
			out.core = raw
			continue
		}
		groups = append(groups, raw)
	}
	out.groups = bytes.Join(groups, []byte{','})
	return out
})

// customDiscovery are the encoded custom groups, by name.
func customDiscovery(r *registry.Registry) [][]byte {
	byGroup := map[string][]*registry.Kind{}
	for _, k := range r.Order {
		byGroup[k.Group] = append(byGroup[k.Group], k)
	}
	var out [][]byte
	for _, group := range slices.Sorted(maps.Keys(byGroup)) {
		out = append(out, discoveryOf(group, byGroup[group]))
	}
	return out
}

func discoveryOf(group string, members []*registry.Kind) []byte {
	doc := discoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group}}
	var names []string
	for _, k := range members {
		for _, v := range k.Versions {
			if v.Served && !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	sort.SliceStable(names, func(i, j int) bool { return object.NewerVersion(names[i], names[j]) })
	for _, name := range names {
		entry := discoveryv2.APIVersionDiscovery{Version: name, Freshness: discoveryv2.DiscoveryFreshnessCurrent}
		for _, k := range members {
			if v := k.Version(name); v != nil {
				entry.Resources = append(entry.Resources, resourceDiscovery(v))
			}
		}
		sort.SliceStable(entry.Resources,
			func(i, j int) bool { return entry.Resources[i].Resource < entry.Resources[j].Resource })
		doc.Versions = append(doc.Versions, entry)
	}
	return object.Marshal(doc)
}

func resourceDiscovery(v *object.Version) discoveryv2.APIResourceDiscovery {
	k := v.Type
	scope := discoveryv2.ScopeCluster
	if k.Namespaced {
		scope = discoveryv2.ScopeNamespace
	}
	own := metav1.GroupVersionKind{Group: k.Group, Version: v.Name, Kind: k.Kind}
	if k.Builtin {
		own = metav1.GroupVersionKind{Kind: k.Kind} // empty stands for the document's own group and version
	}
	out := discoveryv2.APIResourceDiscovery{
		Resource:     k.Plural,
		ResponseKind: own.DeepCopy(),
		Scope:        scope, SingularResource: k.Singular, Verbs: k.VerbList(), ShortNames: k.Short,
		Categories: k.Categories,
	}
	for _, sub := range v.Subresources {
		kind := own.DeepCopy()
		if sub.Kind != "" {
			kind = &metav1.GroupVersionKind{Group: sub.Group, Version: sub.Version, Kind: sub.Kind}
		}
		out.Subresources = append(out.Subresources, discoveryv2.APISubresourceDiscovery{
			Subresource: sub.Name, ResponseKind: kind, Verbs: sub.Verbs,
		})
	}
	if k.Builtin {
		sort.Slice(out.Subresources,
			func(i, j int) bool { return out.Subresources[i].Subresource < out.Subresources[j].Subresource })
	}
	return out
}
