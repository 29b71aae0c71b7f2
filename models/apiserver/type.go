package apiserver

import (
	"slices"
	"strings"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilversion "k8s.io/apimachinery/pkg/version"
)

// apiType describes one served type. It is made once per process (built-in types) or once per
// definition (custom types), never changes, and is shared by all servers.
type apiType struct {
	group, kind, list, plural, singular string

	short, categories []string
	namespaced        bool
	// verbs of the main resource; nil for all of them.
	verbs []string
	// versions are the served and unserved versions, in order of preference.
	versions []*version
	storage  *version
	// table names the collection that holds the objects. Types that show the same objects under
	// two groups share it.
	table string

	// builtin says that objects are held as their Go type. Custom objects are held as decoded JSON.
	builtin bool
	// defaults fills what the defaulting functions of a built-in type fill; nil for none.
	defaults func(runtime.Object)
	// resets and statusResets are the fields that a write of a built-in object and one of its status
	// cannot change, besides the status and the spec.
	resets, statusResets []string
	// types say how field managers read the objects.
	types func() (managedfields.TypeConverter, error)
}

// version is one version of a type.
type version struct {
	kind   *apiType
	name   string
	served bool
	// prefix is how an encoded object of this version starts, up to its metadata.
	prefix string
	// warning is sent with each reply when the version is deprecated.
	warning string
	subs    []*subresource
	// schema is that of a custom type.
	schema *schemaOf
	// fields are the selectable fields besides metadata.name and metadata.namespace.
	fields map[string]func(*object) string
	// converted turns a stored object into this version's typed form, and stored back, for
	// built-in types that are served in two forms.
	converted func(runtime.Object) runtime.Object
	stored    func(runtime.Object) runtime.Object
	newObject func() runtime.Object
	managers  fieldManagers
}

// subresource is a part of an object served under its own path.
type subresource struct {
	name string
	// kind, group and version are set when the subresource speaks another type than its parent.
	kind, group, version string
	verbs                []string
	scale                *scalePaths
}

// scaleKind is what every scale subresource speaks.
var scaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// readWrite are the verbs of the subresources status and scale.
var readWrite = []string{"get", "patch", "update"}

// statusSubresource is the subresource through which a status is written.
func statusSubresource() *subresource { return &subresource{name: "status", verbs: readWrite} }

// scaleSubresource is the subresource through which replicas are written.
func scaleSubresource(paths *scalePaths) *subresource {
	return &subresource{
		name: "scale", kind: scaleKind.Kind, group: scaleKind.Group, version: scaleKind.Version,
		verbs: readWrite, scale: paths,
	}
}

var (
	allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	// customVerbs are the same in the order in which discovery shows them for custom types.
	customVerbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
)

// verbList are the verbs of the main resource, in the order in which discovery shows them.
func (k *apiType) verbList() []string {
	switch {
	case k.verbs != nil:
		return k.verbs
	case k.builtin:
		return allVerbs
	default:
		return customVerbs
	}
}

func (k *apiType) allows(verb string) bool { return slices.Contains(k.verbList(), verb) }

// version finds a served version.
func (k *apiType) version(name string) *version {
	for _, v := range k.versions {
		if v.name == name && v.served {
			return v
		}
	}
	return nil
}

func (k *apiType) groupKind() schema.GroupKind { return schema.GroupKind{Group: k.group, Kind: k.kind} }

func (k *apiType) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.group, Resource: k.plural}
}

func (v *version) apiVersion() string { return v.gvk().GroupVersion().String() }

func (v *version) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: v.kind.group, Version: v.name, Kind: v.kind.kind}
}

func (v *version) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: v.kind.group, Version: v.name, Resource: v.kind.plural}
}

// subresource finds a subresource by its name.
func (v *version) subresource(name string) *subresource {
	for _, sub := range v.subs {
		if sub.name == name {
			return sub
		}
	}
	return nil
}

// newerVersion orders versions as discovery does: stable before beta before alpha, then by number,
// highest first.
func newerVersion(a, b string) bool { return utilversion.CompareKubeAwareVersionStrings(a, b) > 0 }

// link fills the parts of a type that follow from others.
func (k *apiType) link() {
	if k.list == "" {
		k.list = k.kind + "List"
	}
	if k.singular == "" {
		k.singular = strings.ToLower(k.kind)
	}
	if k.table == "" {
		k.table = k.group + "/" + k.plural
	}
	switch {
	case !k.builtin:
		k.types = sync.OnceValues(k.customTypes)
	case k.group == apiextensionsv1.GroupName:
		k.types = definitionTypes
	default:
		k.types = builtinTypes
	}
	for _, v := range k.versions {
		v.kind = k
		v.prefix = `{"kind":"` + k.kind + `","apiVersion":"` + v.apiVersion() + `",`
	}
}
