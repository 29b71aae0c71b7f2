package apiserver

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// definitionStrategy follows apiextensions-apiserver's pkg/registry/customresourcedefinition.
var definitionStrategy = builtin{
	status: true, generation: true,
	defaults: on(apiextensionsv1.SetObjectDefaults_CustomResourceDefinition),
	prepareCreate: func(_ *call, o runtime.Object) {
		noteStoredVersion(o.(*apiextensionsv1.CustomResourceDefinition))
	},
	prepareUpdate: func(_ *call, o, _ runtime.Object) {
		noteStoredVersion(o.(*apiextensionsv1.CustomResourceDefinition))
	},
	validateNew: checks(func(crd *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
		if crd.Name == crd.Spec.Names.Plural+"."+crd.Spec.Group {
			return nil
		}
		return field.ErrorList{field.Invalid(metadataPath.Child("name"), crd.Name, `must be spec.names.plural+"."+spec.group`)}
	}),
	validate: checks(validateDefinition),
	validateUpdate: compares(func(crd, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
		spec := field.NewPath("spec")
		errs := apivalidation.ValidateImmutableField(crd.Spec.Scope, old.Spec.Scope, spec.Child("scope"))
		errs = append(errs, apivalidation.ValidateImmutableField(crd.Spec.Group, old.Spec.Group, spec.Child("group"))...)
		errs = append(errs, apivalidation.ValidateImmutableField(crd.Spec.Names.Kind, old.Spec.Names.Kind, spec.Child("names", "kind"))...)
		return append(errs, apivalidation.ValidateImmutableField(crd.Spec.Names.Plural, old.Spec.Names.Plural, spec.Child("names", "plural"))...)
	}),
}

// Install serves custom types: it stores each definition, established at once, or replaces the stored one. Definitions
// are shared between servers and must not be changed afterwards: their schemas are compiled once per process.
func (s *Server) Install(crds ...*apiextensionsv1.CustomResourceDefinition) error {
	for _, crd := range crds {
		if err := s.install(crd); err != nil {
			return fmt.Errorf("install %s: %w", crd.Name, err)
		}
	}
	return nil
}

func (s *Server) install(crd *apiextensionsv1.CustomResourceDefinition) error {
	c := &call{s: s, req: &Request{}, kind: s.registry.byResource("apiextensions.k8s.io", "customresourcedefinitions")}
	c.ver = c.kind.storage
	old, exists := c.lookup(crd.Name)
	if !exists {
		return c.installPrepared(crd)
	}
	draft := c.draftOf(received(sent(crd)), c.ver)
	draft.meta.ResourceVersion = ""
	c.info.Name = crd.Name
	draft.meta.ResourceVersion, draft.meta.UID = old.meta.ResourceVersion, ""
	_, err := c.replace(draft, old, "")
	return err
}

// definitionCommitted keeps the registry in step with the stored definitions and, as the controllers of a real server
// do a moment later, establishes new ones.
func (c *call) definitionCommitted(o *object, removed bool) {
	crd := o.typed.(*apiextensionsv1.CustomResourceDefinition)
	if removed {
		c.s.registry.remove(crd)
		return
	}
	c.s.registry.add(crd)
	if crd.DeletionTimestamp != nil {
		c.cleanUpInstances(o)
		return
	}
	if established(crd) {
		return
	}
	draft := o.draft()
	establish(draft.typed.(*apiextensionsv1.CustomResourceDefinition), metav1.NewTime(c.s.now()))
	if _, err := c.commit(draft, o); err != nil {
		panic("apiserver: a definition could not be established: " + err.Error())
	}
}

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

// noteStoredVersion records the storage version among those that objects may be stored in.
func noteStoredVersion(crd *apiextensionsv1.CustomResourceDefinition) {
	for _, v := range crd.Spec.Versions {
		if v.Storage && !slices.Contains(crd.Status.StoredVersions, v.Name) {
			crd.Status.StoredVersions = append(crd.Status.StoredVersions, v.Name)
		}
	}
}

// validateDefinition checks what the model relies on; a real server checks more.
func validateDefinition(crd *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if s := crd.Spec.Scope; s == "" {
		errs = append(errs, field.Required(spec.Child("scope"), ""))
	} else if s != apiextensionsv1.ClusterScoped && s != apiextensionsv1.NamespaceScoped {
		errs = append(errs, field.NotSupported(spec.Child("scope"), s, []string{string(apiextensionsv1.ClusterScoped), string(apiextensionsv1.NamespaceScoped)}))
	}
	storage := 0
	for i, v := range crd.Spec.Versions {
		if v.Storage {
			storage++
		}
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			errs = append(errs, field.Required(spec.Child("versions").Index(i).Child("schema", "openAPIV3Schema"), ""))
		} else {
			errs = append(errs, validateStructure(crd, i)...)
		}
	}
	if storage != 1 {
		errs = append(errs, field.Invalid(spec.Child("versions"), len(crd.Spec.Versions), "must have exactly one version marked as storage version"))
	}
	if c := crd.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter && len(crd.Spec.Versions) > 1 {
		errs = append(errs, field.Forbidden(spec.Child("conversion", "strategy"), "wavetank: models/apiserver does not model conversion webhooks"))
	}
	return errs
}

// validateStructure checks what every schema must have (pkg/apiserver/schema, ValidateStructural), and that its types are
// types. A single version's schema is called by the place that it has in the server's own form of a definition.
func validateStructure(crd *apiextensionsv1.CustomResourceDefinition, i int) field.ErrorList {
	path := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
	if len(crd.Spec.Versions) == 1 {
		path = field.NewPath("spec", "validation", "openAPIV3Schema")
	}
	var internal apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(crd.Spec.Versions[i].Schema, &internal, nil); err != nil {
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	}
	s, err := structural.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	}
	return append(validateTypes(path, s), structural.ValidateStructural(path, s)...)
}

var schemaTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

func validateTypes(path *field.Path, s *structural.Structural) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	if s.Type != "" && !slices.Contains(schemaTypes, s.Type) {
		errs = append(errs, field.NotSupported(path.Child("type"), s.Type, schemaTypes))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		errs = append(errs, validateTypes(path.Child("properties").Key(name), &p)...)
	}
	if s.AdditionalProperties != nil {
		errs = append(errs, validateTypes(path.Child("additionalProperties"), s.AdditionalProperties.Structural)...)
	}
	return append(errs, validateTypes(path.Child("items"), s.Items)...)
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
		if equality.Semantic.DeepEqual(&k.custom.definition.Spec, &crd.Spec) {
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
	k := &kind{
		group: spec.Group, kind: spec.Names.Kind, list: spec.Names.ListKind, plural: spec.Names.Plural,
		singular: spec.Names.Singular, short: spec.Names.ShortNames, categories: spec.Names.Categories,
		namespaced: spec.Scope == apiextensionsv1.NamespaceScoped,
		custom:     &custom{definition: crd},
	}
	for i := range spec.Versions {
		v := newCustomVersion(spec, &spec.Versions[i])
		k.versions = append(k.versions, v)
		if spec.Versions[i].Storage {
			k.storage = v
		}
	}
	sort.SliceStable(k.versions, func(i, j int) bool { return newerVersion(k.versions[i].name, k.versions[j].name) })
	return k.link()
}

func newCustomVersion(spec *apiextensionsv1.CustomResourceDefinitionSpec, in *apiextensionsv1.CustomResourceDefinitionVersion) *version {
	v := &version{name: in.Name, served: in.Served}
	v.schema = &schemaOf{source: in.Schema, preserve: spec.PreserveUnknownFields}
	if in.Deprecated {
		v.warning = deprecationWarning(spec, in)
	}
	readWrite := []string{"get", "patch", "update"}
	if sub := in.Subresources; sub != nil {
		if sub.Status != nil {
			v.schema.hasState = true
			v.subs = append(v.subs, &subresource{name: "status", verbs: readWrite})
		}
		if sub.Scale != nil {
			v.subs = append(v.subs, &subresource{
				name: "scale", kind: scaleKind.Kind, group: scaleKind.Group, version: scaleKind.Version,
				verbs: readWrite, scale: customScale(sub.Scale),
			})
		}
	}
	v.fields = customFields(in.SelectableFields)
	return v
}

func (r *registry) add(crd *apiextensionsv1.CustomResourceDefinition) { r.put(kindOfDefinition(crd)) }

// put serves a custom kind, keeping the order by name.
func (r *registry) put(k *kind) {
	name := k.custom.definition.Name
	r.custom[k.group+"/"+k.plural] = k
	at := sort.Search(len(r.order), func(i int) bool { return r.order[i].custom.definition.Name >= name })
	if at < len(r.order) && r.order[at].custom.definition.Name == name {
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
		if k.custom.definition.Name == crd.Name {
			r.order = append(r.order[:i:i], r.order[i+1:]...)
			return
		}
	}
}
