package object

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

// Type describes one served type. It is made once per process (built-in types) or once per
// definition (custom types), never changes, and is shared by all servers.
type Type struct {
	Group, Kind, List, Plural, Singular string

	Short, Categories []string
	Namespaced        bool
	// Verbs of the main resource; nil for all of them.
	Verbs []string
	// Versions are the served and unserved versions, in order of preference.
	Versions []*Version
	Storage  *Version
	// Table names the collection that holds the objects. Types that show the same objects under
	// two groups share it.
	Table string

	// Builtin says that objects are held as their Go type. Custom objects are held as decoded JSON.
	Builtin bool
	// Defaults fills what the defaulting functions of a built-in type fill; nil for none.
	Defaults func(runtime.Object)
	// Resets are the fields of a built-in object that a write of the object cannot change, besides
	// the status. StatusResets are those that a write of the status cannot change, besides the
	// spec.
	Resets, StatusResets []string
	// Types say how field managers read the objects.
	Types func() (managedfields.TypeConverter, error)
}

// Version is one version of a type.
type Version struct {
	Type   *Type
	Name   string
	Served bool
	// Prefix is how an encoded object of this version starts, up to its metadata.
	Prefix string
	// Warning is sent with each reply when the version is deprecated.
	Warning      string
	Subresources []*Subresource
	// Schema is that of a custom type.
	Schema *Schema
	// Fields are the selectable fields besides metadata.name and metadata.namespace.
	Fields map[string]func(*Object) string
	// FromStored turns a stored object into this version's typed form, and stored back, for
	// built-in types that are served in two forms.
	FromStored func(runtime.Object) runtime.Object
	ToStored   func(runtime.Object) runtime.Object
	New        func() runtime.Object
	managers   fieldManagers
}

// Subresource is a part of an object served under its own path.
type Subresource struct {
	Name string
	// Kind, group and version are set when the subresource speaks another type than its parent.
	Kind, Group, Version string
	Verbs                []string
	Scale                *ScalePaths
}

// ScaleKind is what every scale subresource speaks.
var ScaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// readWrite are the verbs of the subresources status and scale.
var readWrite = []string{"get", "patch", "update"}

// StatusSubresource is the subresource through which a status is written.
func StatusSubresource() *Subresource { return &Subresource{Name: "status", Verbs: readWrite} }

// ScaleSubresource is the subresource through which replicas are written.
func ScaleSubresource(paths *ScalePaths) *Subresource {
	return &Subresource{
		Name: "scale", Kind: ScaleKind.Kind, Group: ScaleKind.Group, Version: ScaleKind.Version,
		Verbs: readWrite, Scale: paths,
	}
}

var (
	allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	// customVerbs are the same in the order in which discovery shows them for custom types.
	customVerbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
)

// VerbList are the verbs of the main resource, in the order in which discovery shows them.
func (t *Type) VerbList() []string {
	switch {
	case t.Verbs != nil:
		return t.Verbs
	case t.Builtin:
		return allVerbs
	default:
		return customVerbs
	}
}

// Allows reports whether the main resource has a verb.
func (t *Type) Allows(verb string) bool { return slices.Contains(t.VerbList(), verb) }

// Version finds a served version.
func (t *Type) Version(name string) *Version {
	for _, v := range t.Versions {
		if v.Name == name && v.Served {
			return v
		}
	}
	return nil
}

// GroupKind names the type in errors.
func (t *Type) GroupKind() schema.GroupKind { return schema.GroupKind{Group: t.Group, Kind: t.Kind} }

// GroupResource names the resource in errors.
func (t *Type) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: t.Group, Resource: t.Plural}
}

// APIVersion is the group and the version as objects carry them.
func (v *Version) APIVersion() string { return v.GVK().GroupVersion().String() }

// GVK is the group, version and kind.
func (v *Version) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: v.Type.Group, Version: v.Name, Kind: v.Type.Kind}
}

// GVR is the group, version and resource.
func (v *Version) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: v.Type.Group, Version: v.Name, Resource: v.Type.Plural}
}

// Subresource finds a subresource by its name.
func (v *Version) Subresource(name string) *Subresource {
	for _, sub := range v.Subresources {
		if sub.Name == name {
			return sub
		}
	}
	return nil
}

// NewerVersion orders versions as discovery does: stable before beta before alpha, then by number,
// highest first.
func NewerVersion(a, b string) bool { return utilversion.CompareKubeAwareVersionStrings(a, b) > 0 }

// Link fills the parts of a type that follow from others.
func (t *Type) Link() {
	if t.List == "" {
		t.List = t.Kind + "List"
	}
	if t.Singular == "" {
		t.Singular = strings.ToLower(t.Kind)
	}
	if t.Table == "" {
		t.Table = t.Group + "/" + t.Plural
	}
	switch {
	case !t.Builtin:
		t.Types = sync.OnceValues(t.customTypes)
	case t.Group == apiextensionsv1.GroupName:
		t.Types = definitionTypes
	default:
		t.Types = builtinTypes
	}
	for _, v := range t.Versions {
		v.Type = t
		v.Prefix = `{"kind":"` + t.Kind + `","apiVersion":"` + v.APIVersion() + `",`
	}
}
