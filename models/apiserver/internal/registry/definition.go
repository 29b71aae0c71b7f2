package registry

import (
	"fmt"
	"sort"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

type (
	definitionSpec    = apiextensionsv1.CustomResourceDefinitionSpec
	definitionVersion = apiextensionsv1.CustomResourceDefinitionVersion
)

// Established reports whether a definition is established.
func Established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
}

// Establish accepts the names of a new definition. The next call establishes it.
func Establish(crd *apiextensionsv1.CustomResourceDefinition, now metav1.Time) {
	established, reason := apiextensionsv1.ConditionFalse, "Installing"
	if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) {
		established, reason = apiextensionsv1.ConditionTrue, "InitialNamesAccepted"
	}
	crd.Status.AcceptedNames = *crd.Spec.Names.DeepCopy()
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: now,
			Reason: "NoConflicts", Message: "no conflicts found"},
		{Type: apiextensionsv1.Established, Status: established, LastTransitionTime: now,
			Reason: reason, Message: "the initial names have been accepted"},
	}
}

// Terminate sets how far the deletion of a definition is.
func Terminate(
	crd *apiextensionsv1.CustomResourceDefinition, now metav1.Time, status apiextensionsv1.ConditionStatus,
	reason, message string,
) {
	c := apihelpers.FindCRDCondition(crd, apiextensionsv1.Terminating)
	if c == nil {
		crd.Status.Conditions = append(crd.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{})
		c = &crd.Status.Conditions[len(crd.Status.Conditions)-1]
	}
	if c.Status == status {
		now = c.LastTransitionTime
	}
	*c = apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Terminating, Status: status,
		LastTransitionTime: now, Reason: reason, Message: message}
}

// compiled are the kinds made from definitions, by what distinguishes two definitions: a process
// compiles each once.
var compiled struct {
	sync.Mutex
	byName map[string][]*Kind
}

// KindOfDefinition returns the kind that a stored definition stands for, shared with every server
// that has an equal one.
func KindOfDefinition(crd *apiextensionsv1.CustomResourceDefinition) *Kind {
	compiled.Lock()
	defer compiled.Unlock()
	for _, k := range compiled.byName[crd.Name] {
		if equality.Semantic.DeepEqual(&k.Definition.Spec, &crd.Spec) {
			return k
		}
	}
	k := newCustomKind(crd.DeepCopy())
	if compiled.byName == nil {
		compiled.byName = map[string][]*Kind{}
	}
	compiled.byName[crd.Name] = append(compiled.byName[crd.Name], k)
	return k
}

func newCustomKind(crd *apiextensionsv1.CustomResourceDefinition) *Kind {
	spec := &crd.Spec
	k := &object.Type{
		Group: spec.Group, Kind: spec.Names.Kind, List: spec.Names.ListKind, Plural: spec.Names.Plural,
		Singular: spec.Names.Singular, Short: spec.Names.ShortNames, Categories: spec.Names.Categories,
		Namespaced: spec.Scope == apiextensionsv1.NamespaceScoped,
	}
	for i := range spec.Versions {
		v := newCustomVersion(spec, &spec.Versions[i])
		k.Versions = append(k.Versions, v)
		if spec.Versions[i].Storage {
			k.Storage = v
		}
	}
	sort.SliceStable(k.Versions,
		func(i, j int) bool { return object.NewerVersion(k.Versions[i].Name, k.Versions[j].Name) })
	k.Link()
	return &Kind{Type: k, Definition: crd}
}

func newCustomVersion(spec *definitionSpec, in *definitionVersion) *object.Version {
	v := &object.Version{Name: in.Name, Served: in.Served, Fields: object.CustomFields(in.SelectableFields)}
	v.Schema = &object.Schema{Source: in.Schema, Preserve: spec.PreserveUnknownFields}
	if in.Deprecated {
		v.Warning = deprecationWarning(spec, in)
	}
	if in.Subresources == nil {
		return v
	}
	if in.Subresources.Status != nil {
		v.Schema.HasStatus = true
		v.Subresources = append(v.Subresources, object.StatusSubresource())
	}
	if scale := in.Subresources.Scale; scale != nil {
		v.Subresources = append(v.Subresources, object.ScaleSubresource(object.CustomScale(scale)))
	}
	return v
}

// deprecationWarning is the definition's own text or the standard one
// (apiextensions-apiserver's pkg/apiserver/customresource_handler.go, defaultDeprecationWarning).
func deprecationWarning(spec *definitionSpec, v *definitionVersion) string {
	if v.DeprecationWarning != nil {
		return *v.DeprecationWarning
	}
	text := fmt.Sprintf("%s/%s %s is deprecated", spec.Group, v.Name, spec.Names.Kind)
	best := ""
	for _, other := range spec.Versions {
		if other.Served && !other.Deprecated && object.NewerVersion(other.Name, v.Name) &&
			(best == "" || object.NewerVersion(other.Name, best)) {
			best = other.Name
		}
	}
	if best == "" {
		return text
	}
	return fmt.Sprintf("%s; use %s/%s %s", text, spec.Group, best, spec.Names.Kind)
}
