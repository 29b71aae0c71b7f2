package apiserver

import (
	"slices"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind describes one served type. It is made once per process (built-ins) or once per definition (custom types), never
// changes, and is shared by all servers.
type kind struct {
	group, kind, list, plural, singular string

	short, categories []string
	namespaced        bool
	// verbs of the main resource; nil for all of them.
	verbs []string
	// versions are the served and unserved versions, in order of preference.
	versions []*version
	storage  *version
	// table names the collection that holds the objects: types that show the same objects under two groups share it.
	table string

	builtin *builtin
	custom  *custom
}

// version is one version of a kind.
type version struct {
	kind   *kind
	name   string
	served bool
	// prefix is how an encoded object of this version starts, up to its metadata.
	prefix string
	// warning is sent with each reply when the version is deprecated.
	warning string
	subs    []*subresource
	schema  *schemaOf
	// fields are the selectable fields besides metadata.name and metadata.namespace.
	fields map[string]func(*object) string
	// converted turns a stored object into this version's typed form, and stored back, for built-ins served twice.
	converted func(runtime.Object) runtime.Object
	stored    func(runtime.Object) runtime.Object
	newObject func() runtime.Object
	owners    fieldManagers
}

// subresource is a part of an object served under its own path.
type subresource struct {
	name string
	// kind and its group and version when the subresource speaks another type than its parent.
	kind, group, version string
	verbs                []string
	scale                *scalePaths
}

var (
	allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	// customVerbs are the same in the order in which discovery shows them for custom types.
	customVerbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
)

func (k *kind) allows(verb string) bool {
	verbs := k.verbs
	if verbs == nil {
		verbs = allVerbs
	}
	return slices.Contains(verbs, verb)
}

func (k *kind) version(name string) *version {
	for _, v := range k.versions {
		if v.name == name && v.served {
			return v
		}
	}
	return nil
}

func (k *kind) groupKind() schema.GroupKind { return schema.GroupKind{Group: k.group, Kind: k.kind} }

func (k *kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.group, Resource: k.plural}
}

func (v *version) apiVersion() string {
	if v.kind.group == "" {
		return v.name
	}
	return v.kind.group + "/" + v.name
}

func (v *version) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: v.kind.group, Version: v.name, Kind: v.kind.kind}
}

func (v *version) subresource(name string) *subresource {
	for _, sub := range v.subs {
		if sub.name == name {
			return sub
		}
	}
	return nil
}

// link fills the parts of a kind that follow from others.
func (k *kind) link() *kind {
	if k.list == "" {
		k.list = k.kind + "List"
	}
	if k.singular == "" {
		k.singular = strings.ToLower(k.kind)
	}
	if k.table == "" {
		k.table = k.group + "/" + k.plural
	}
	for _, v := range k.versions {
		v.kind = k
		v.prefix = `{"kind":"` + k.kind + `","apiVersion":"` + v.apiVersion() + `",`
	}
	return k
}

// registry is the set of kinds that one server serves: the built-in ones and those of its definitions.
type registry struct {
	custom map[string]*kind // by group/plural
	order  []*kind          // custom kinds by name of definition
}

func (r *registry) byResource(group, plural string) *kind {
	if k := builtinKinds().byResource[group+"/"+plural]; k != nil {
		return k
	}
	if k := reviewKinds().byResource[group+"/"+plural]; k != nil {
		return k
	}
	return r.custom[group+"/"+plural]
}

// all yields every kind: built-in ones in their table's order, then custom ones by name.
func (r *registry) all(yield func(*kind) bool) {
	for _, k := range builtinKinds().order {
		if !yield(k) {
			return
		}
	}
	for _, k := range r.order {
		if !yield(k) {
			return
		}
	}
}

func (r *registry) byKind(group, name string) *kind {
	for k := range r.all {
		if k.group == group && k.kind == name {
			return k
		}
	}
	return nil
}

// scaleKind is what every scale subresource speaks.
var scaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// unmodelled are the built-in types that a real server serves and the model does not, by group.
var unmodelled = map[string][]string{
	"":                             {"bindings", "componentstatuses"},
	"apiregistration.k8s.io":       {"apiservices"},
	"authentication.k8s.io":        {"selfsubjectreviews", "tokenreviews"},
	"authorization.k8s.io":         {"selfsubjectrulesreviews"},
	"certificates.k8s.io":          {"clustertrustbundles", "podcertificaterequests"},
	"networking.k8s.io":            {"ipaddresses", "servicecidrs"},
	"storage.k8s.io":               {"csistoragecapacities", "volumeattributesclasses"},
	"admissionregistration.k8s.io": {"mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "validatingadmissionpolicies", "validatingadmissionpolicybindings"},
	"resource.k8s.io":              {"deviceclasses", "devicetaintrules", "resourceclaims", "resourceclaimtemplates", "resourceslices"},
	"flowcontrol.apiserver.k8s.io": {"flowschemas", "prioritylevelconfigurations"},
	"storagemigration.k8s.io":      {"storageversionmigrations"},
}
