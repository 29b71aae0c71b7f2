package registry

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Its strategy follows apiextensions-apiserver's pkg/registry/customresourcedefinition.
var definitionKind = builtin{
	group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition", plural: "customresourcedefinitions",
	short: []string{"crd", "crds"}, categories: []string{"api-extensions"}, cluster: true,
	object: func() runtime.Object { return &apiextensionsv1.CustomResourceDefinition{} },
	strategy: strategy{
		status: true, generation: true,
		defaults: on(apiextensionsv1.SetObjectDefaults_CustomResourceDefinition),
		prepareCreate: func(_ Write, o runtime.Object) {
			noteStoredVersion(o.(*apiextensionsv1.CustomResourceDefinition))
		},
		prepareUpdate: func(_ Write, o, _ runtime.Object) {
			noteStoredVersion(o.(*apiextensionsv1.CustomResourceDefinition))
		},
		validateNew: checks(func(crd *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
			if crd.Name == crd.Spec.Names.Plural+"."+crd.Spec.Group {
				return nil
			}
			return field.ErrorList{field.Invalid(metadataPath.Child("name"), crd.Name,
				`must be spec.names.plural+"."+spec.group`)}
		}),
		Validate: checks(validateDefinition),
		validateUpdate: compares(func(crd, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
			now, before := &crd.Spec, &old.Spec
			return append(frozen(field.NewPath("spec"),
				change{"scope", now.Scope, before.Scope},
				change{"group", now.Group, before.Group},
				change{"names.kind", now.Names.Kind, before.Names.Kind},
				change{"names.plural", now.Names.Plural, before.Names.Plural}), missingVersions(crd)...)
		}),
	},
}

// noteStoredVersion records the storage version among those that objects may be stored in.
func noteStoredVersion(crd *apiextensionsv1.CustomResourceDefinition) {
	for _, v := range crd.Spec.Versions {
		if v.Storage && !slices.Contains(crd.Status.StoredVersions, v.Name) {
			crd.Status.StoredVersions = append(crd.Status.StoredVersions, v.Name)
		}
	}
}

// missingVersions are the versions that objects may be stored in and that the definition no longer
// has. See ValidateCustomResourceDefinitionStoredVersions in pkg/apis/apiextensions/validation.
func missingVersions(crd *apiextensionsv1.CustomResourceDefinition) (errs field.ErrorList) {
	for i, name := range crd.Status.StoredVersions {
		has := func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == name }
		if !slices.ContainsFunc(crd.Spec.Versions, has) {
			why := fmt.Sprintf("missing from spec.versions; %[1]s was previously a storage version, and must remain "+
				"in spec.versions until a storage migration ensures no data remains persisted in %[1]s and removes "+
				"%[1]s from status.storedVersions", name)
			errs = append(errs, field.Invalid(field.NewPath("status", "storedVersions").Index(i), name, why))
		}
	}
	return errs
}

// validateDefinition checks what the model relies on; a real server checks more.
func validateDefinition(crd *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if s := crd.Spec.Scope; s == "" {
		errs = append(errs, field.Required(spec.Child("scope"), ""))
	} else if s != apiextensionsv1.ClusterScoped && s != apiextensionsv1.NamespaceScoped {
		errs = append(errs, field.NotSupported(spec.Child("scope"), s,
			[]string{string(apiextensionsv1.ClusterScoped), string(apiextensionsv1.NamespaceScoped)}))
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
		errs = append(errs, field.Invalid(spec.Child("versions"), len(crd.Spec.Versions),
			"must have exactly one version marked as storage version"))
	}
	if c := crd.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter &&
		len(crd.Spec.Versions) > 1 {
		errs = append(errs, field.Forbidden(spec.Child("conversion", "strategy"),
			"wavetank: models/apiserver does not model conversion webhooks"))
	}
	return errs
}

// validateStructure checks what every schema must have (pkg/apiserver/schema, ValidateStructural),
// that its types are types, and then its defaults and rules. A single version's schema is called by
// the place that it has in the server's own form of a definition.
func validateStructure(crd *apiextensionsv1.CustomResourceDefinition, i int) field.ErrorList {
	path := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
	if len(crd.Spec.Versions) == 1 {
		path = field.NewPath("spec", "validation", "openAPIV3Schema")
	}
	var internal apiextensions.CustomResourceValidation
	err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(
		crd.Spec.Versions[i].Schema, &internal, nil)
	if err != nil {
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	}
	s, err := structural.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	}
	if errs := append(validateTypes(path, s), structural.ValidateStructural(path, s)...); len(errs) > 0 {
		return errs
	}
	return validateDefaultsAndRules(path, internal.OpenAPIV3Schema, s)
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
