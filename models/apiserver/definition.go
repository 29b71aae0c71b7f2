package apiserver

import (
	"fmt"
	"sort"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			return condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

func establish(crd *apiextensionsv1.CustomResourceDefinition, now metav1.Time) {
	crd.Status.AcceptedNames = *crd.Spec.Names.DeepCopy()
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: now,
			Reason: "NoConflicts", Message: "no conflicts found"},
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: now,
			Reason: "InitialNamesAccepted", Message: "the initial names have been accepted"},
	}
}

// compiled are the kinds made from definitions, by what distinguishes two definitions: a process compiles each once.
var compiled struct {
	sync.Mutex
	byName map[string][]*kind
}

// kindOfDefinition returns the kind that a stored definition stands for, shared with every server that has an equal one.
func kindOfDefinition(crd *apiextensionsv1.CustomResourceDefinition) *kind {
	compiled.Lock()
	defer compiled.Unlock()
	for _, k := range compiled.byName[crd.Name] {
		if equality.Semantic.DeepEqual(&k.definition.Spec, &crd.Spec) {
			return k
		}
	}
	k := newCustomKind(crd.DeepCopy())
	if compiled.byName == nil {
		compiled.byName = map[string][]*kind{}
	}
	compiled.byName[crd.Name] = append(compiled.byName[crd.Name], k)
	return k
}

func newCustomKind(crd *apiextensionsv1.CustomResourceDefinition) *kind {
	spec := &crd.Spec
	k := &apiType{
		group: spec.Group, kind: spec.Names.Kind, list: spec.Names.ListKind, plural: spec.Names.Plural,
		singular: spec.Names.Singular, short: spec.Names.ShortNames, categories: spec.Names.Categories,
		namespaced: spec.Scope == apiextensionsv1.NamespaceScoped,
	}
	for i := range spec.Versions {
		v := newCustomVersion(spec, &spec.Versions[i])
		k.versions = append(k.versions, v)
		if spec.Versions[i].Storage {
			k.storage = v
		}
	}
	sort.SliceStable(k.versions, func(i, j int) bool { return newerVersion(k.versions[i].name, k.versions[j].name) })
	k.link()
	return &kind{apiType: k, definition: crd}
}

func newCustomVersion(spec *apiextensionsv1.CustomResourceDefinitionSpec, in *apiextensionsv1.CustomResourceDefinitionVersion) *version {
	v := &version{name: in.Name, served: in.Served, fields: customFields(in.SelectableFields)}
	v.schema = &schemaOf{source: in.Schema, preserve: spec.PreserveUnknownFields}
	if in.Deprecated {
		v.warning = deprecationWarning(spec, in)
	}
	if in.Subresources == nil {
		return v
	}
	if in.Subresources.Status != nil {
		v.schema.hasState = true
		v.subs = append(v.subs, statusSubresource())
	}
	if scale := in.Subresources.Scale; scale != nil {
		v.subs = append(v.subs, scaleSubresource(customScale(scale)))
	}
	return v
}

// deprecationWarning is the definition's own text or the standard one
// (apiextensions-apiserver's pkg/apiserver/customresource_handler.go, defaultDeprecationWarning).
func deprecationWarning(spec *apiextensionsv1.CustomResourceDefinitionSpec, v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	if v.DeprecationWarning != nil {
		return *v.DeprecationWarning
	}
	text := fmt.Sprintf("%s/%s %s is deprecated", spec.Group, v.Name, spec.Names.Kind)
	best := ""
	for _, other := range spec.Versions {
		if other.Served && !other.Deprecated && newerVersion(other.Name, v.Name) && (best == "" || newerVersion(other.Name, best)) {
			best = other.Name
		}
	}
	if best == "" {
		return text
	}
	return fmt.Sprintf("%s; use %s/%s %s", text, spec.Group, best, spec.Names.Kind)
}
