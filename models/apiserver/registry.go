package apiserver

import (
	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

import (
	"sort"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// kind is one served kind: its type, and the rules for its objects.
type kind struct {
	*object.Type
	// strategy holds the rules of a built-in kind; nil for a custom kind.
	strategy *strategy
	// definition is that of a custom kind; nil for a built-in kind.
	definition *apiextensionsv1.CustomResourceDefinition
	// columns are what tables of a built-in kind show; nil for a kind without tables.
	columns *columns
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
		if k.Group == group && k.Kind == name {
			return k
		}
	}
	return nil
}

// put serves a custom kind, keeping the order by name.
func (r *registry) put(k *kind) {
	name := k.definition.Name
	r.custom[k.Group+"/"+k.Plural] = k
	at := sort.Search(len(r.order), func(i int) bool { return r.order[i].definition.Name >= name })
	if at < len(r.order) && r.order[at].definition.Name == name {
		r.order[at] = k
		return
	}
	r.order = append(r.order, nil)
	copy(r.order[at+1:], r.order[at:])
	r.order[at] = k
}

func (r *registry) remove(crd *apiextensionsv1.CustomResourceDefinition) {
	delete(r.custom, crd.Spec.Group+"/"+crd.Spec.Names.Plural)
	for i, k := range r.order {
		if k.definition.Name == crd.Name {
			r.order = append(r.order[:i:i], r.order[i+1:]...)
			return
		}
	}
}

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
