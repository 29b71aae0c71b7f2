// Package registry holds the kinds that the API model serves and the rules for their objects: names
// and verbs, defaults, validation, what a create, an update and a deletion prepare.
//
// Each built-in kind has a file of its own, which follows kube-apiserver's strategy for it. Custom
// kinds are made from their definitions. The package stores nothing and knows no request.
package registry

import (
	"sort"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Kind is one served kind: its type, and the rules for its objects.
type Kind struct {
	*object.Type
	// Strategy holds the rules of a built-in kind; nil for a custom kind.
	Strategy *strategy
	// Definition is that of a custom kind; nil for a built-in kind.
	Definition *apiextensionsv1.CustomResourceDefinition
	// Columns are what tables of a built-in kind show; nil for a kind without tables.
	Columns *columns
}

// Registry is the set of kinds that one server serves: the built-in ones and those of its
// definitions.
type Registry struct {
	Custom map[string]*Kind // by group/plural
	Order  []*Kind          // custom kinds by name of definition
}

// ByResource finds a kind by the name of its resource; nil when it is not served.
func (r *Registry) ByResource(group, plural string) *Kind {
	if k := Builtins().ByResource[group+"/"+plural]; k != nil {
		return k
	}
	if k := Reviews().ByResource[group+"/"+plural]; k != nil {
		return k
	}
	return r.Custom[group+"/"+plural]
}

// All yields every kind: built-in ones in their table's order, then custom ones by name.
func (r *Registry) All(yield func(*Kind) bool) {
	for _, k := range Builtins().Order {
		if !yield(k) {
			return
		}
	}
	for _, k := range r.Order {
		if !yield(k) {
			return
		}
	}
}

// ByKind finds a kind by its name; nil when it is not served.
func (r *Registry) ByKind(group, name string) *Kind {
	for k := range r.All {
		if k.Group == group && k.Kind == name {
			return k
		}
	}
	return nil
}

// Put serves a custom kind, keeping the order by name.
func (r *Registry) Put(k *Kind) {
	name := k.Definition.Name
	r.Custom[k.Group+"/"+k.Plural] = k
	at := sort.Search(len(r.Order), func(i int) bool { return r.Order[i].Definition.Name >= name })
	if at < len(r.Order) && r.Order[at].Definition.Name == name {
		r.Order[at] = k
		return
	}
	r.Order = append(r.Order, nil)
	copy(r.Order[at+1:], r.Order[at:])
	r.Order[at] = k
}

// Remove no longer serves the kind of a definition.
func (r *Registry) Remove(crd *apiextensionsv1.CustomResourceDefinition) {
	delete(r.Custom, crd.Spec.Group+"/"+crd.Spec.Names.Plural)
	for i, k := range r.Order {
		if k.Definition.Name == crd.Name {
			r.Order = append(r.Order[:i:i], r.Order[i+1:]...)
			return
		}
	}
}

// Unmodelled are the built-in types that a real server serves and the model does not, by group.
var Unmodelled = map[string][]string{
	"":                       {"bindings", "componentstatuses"},
	"apiregistration.k8s.io": {"apiservices"},
	"authentication.k8s.io":  {"selfsubjectreviews", "tokenreviews"},
	"authorization.k8s.io":   {"selfsubjectrulesreviews"},
	"certificates.k8s.io":    {"clustertrustbundles", "podcertificaterequests"},
	"networking.k8s.io":      {"ipaddresses", "servicecidrs"},
	"storage.k8s.io":         {"csistoragecapacities", "volumeattributesclasses"},
	"admissionregistration.k8s.io": {"mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
		"validatingadmissionpolicies", "validatingadmissionpolicybindings"},
	"resource.k8s.io": {"deviceclasses", "devicetaintrules", "resourceclaims", "resourceclaimtemplates",
		"resourceslices"},
	"flowcontrol.apiserver.k8s.io": {"flowschemas", "prioritylevelconfigurations"},
	"storagemigration.k8s.io":      {"storageversionmigrations"},
}
