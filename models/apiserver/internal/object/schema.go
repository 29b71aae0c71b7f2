package object

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/wavetank/wavetank/internal/versions"
)

// Schema is the schema of one version of a custom type. It is compiled when the first object of the
// version is written, once per process: compiling costs more than most runs.
type Schema struct {
	Source    *apiextensionsv1.CustomResourceValidation
	HasStatus bool // the version has a status subresource
	Preserve  bool // spec.preserveUnknownFields

	once       sync.Once
	err        error
	structural *structural.Structural
	validator  validation.SchemaValidator
	status     validation.SchemaValidator
	whole      *shape // what validator accepts
	part       *shape // what status accepts
	settled    *settled
	rules      *cel.Validator
	// meta says that the schema or its rules look at metadata, kind or apiVersion.
	meta bool
	// required are the fields without which an object is not whole.
	required []string
}

// compile follows apiextensions-apiserver's pkg/apiserver/customresource_handler.go
// (getOrCreateServingInfoFor).
func (s *Schema) compile() error {
	s.once.Do(func() { s.err = s.compileOnce() })
	return s.err
}

func (s *Schema) compileOnce() error {
	if s.Source == nil || s.Source.OpenAPIV3Schema == nil {
		return nil
	}
	var internal apiextensions.CustomResourceValidation
	err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(s.Source,
		&internal, nil)
	if err != nil {
		return fmt.Errorf("failed to convert CRD validation to internal version: %w", err)
	}
	props := internal.OpenAPIV3Schema
	if s.structural, err = structural.NewStructural(props); err != nil {
		return fmt.Errorf("wavetank: the schema is not structural: %w", err)
	}
	if err = defaulting.PruneDefaults(s.structural); err != nil {
		return err
	}
	s.settled = settledOf(s.structural)
	var document *spec.Schema
	if s.validator, document, err = validation.NewSchemaValidator(props); err != nil {
		return err
	}
	s.whole = shapeOf(document)
	if state, ok := props.Properties["status"]; ok && s.HasStatus {
		if s.status, document, err = validation.NewSchemaValidator(&state); err != nil {
			return err
		}
		s.part = shapeOf(document)
	}
	s.rules = cel.NewValidator(s.structural, true, celconfig.PerCallLimit)
	s.meta, s.required = s.rules != nil || readsMeta(props), props.Required
	return nil
}

// MissesRequired reports whether an object has not all the fields that the schema demands of its
// root.
func (s *Schema) MissesRequired(content map[string]any) bool {
	return s.compile() == nil &&
		slices.ContainsFunc(s.required, func(name string) bool { _, has := content[name]; return !has })
}

// settle is coerce and fillDefaults for content that may share parts with a stored object. It
// changes a copy.
func (s *Schema) settle(content map[string]any, track bool) (map[string]any, []string, error) {
	if err := s.compile(); err != nil {
		return nil, nil, err
	}
	if s.structural == nil || !s.Preserve && s.settled.holds(content) {
		return content, nil, nil
	}
	if less, dropped := s.settled.withoutNulls(content); dropped && !s.Preserve && s.settled.holds(less) {
		return less.(map[string]any), nil, nil
	}
	content = CopyJSON(content).(map[string]any)
	unknown, err := s.coerce(content, track)
	if err == nil {
		s.fillDefaults(content)
	}
	return content, unknown, err
}

// coerce prunes what the schema does not know and drops nulls, in place; it returns the paths of
// what was pruned.
func (s *Schema) coerce(content map[string]any, track bool) ([]string, error) {
	if err := s.compile(); err != nil {
		return nil, err
	}
	if s.structural == nil {
		return nil, nil
	}
	kind, apiVersion := content["kind"], content["apiVersion"]
	var unknown []string
	if !s.Preserve {
		unknown = pruning.PruneWithOptions(content, s.structural, true,
			structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: track})
		defaulting.PruneNonNullableNullsWithoutDefaults(content, s.structural)
	}
	err, more := objectmeta.CoerceWithOptions(nil, content, s.structural, false,
		objectmeta.CoerceOptions{ReturnUnknownFieldPaths: track})
	if err != nil {
		return nil, err
	}
	content["kind"], content["apiVersion"] = kind, apiVersion
	return append(unknown, more...), nil
}

func (s *Schema) fillDefaults(content map[string]any) {
	if s.structural != nil {
		defaulting.Default(content, s.structural)
	}
}

// Validate checks a new object as registry/customresource/strategy.go (Validate) does; errs are
// those found before, and scale checks what the scale subresource relies on.
func (s *Schema) Validate(errs field.ErrorList, content map[string]any, scale field.ErrorList) field.ErrorList {
	if s.compile() != nil || s.structural == nil {
		return append(errs, scale...)
	}
	if !s.whole.fits(content) {
		errs = append(errs, sortErrors(validation.ValidateCustomResource(nil, content, s.validator))...)
	}
	errs = append(errs, scale...)
	errs = append(errs, sortErrors(versions.ValidateEmbedded(content, s.structural))...)
	errs = append(errs, sortErrors(s.repeated(content))...)
	return s.checkRules(errs, content, nil, nil)
}

// ValidateUpdate checks a changed object; what was invalid before and has not changed is let pass.
// A status update is held against the schema of the status alone. What is let pass though a rule
// forbids it is warned of.
func (s *Schema) ValidateUpdate(
	errs field.ErrorList, content, old map[string]any, status bool, scale field.ErrorList, warn func(string),
) field.ErrorList {
	if s.compile() != nil || s.structural == nil {
		return append(errs, scale...)
	}
	if !s.meta && EqualJSON(content, old) {
		// What has not changed is not held against an update.
		return append(errs, scale...)
	}
	errs = append(errs, s.schemaErrors(content, old, status)...)
	errs = append(errs, scale...)
	if !status {
		errs = append(errs, sortErrors(versions.ValidateEmbedded(content, s.structural))...)
	}
	repeated := s.repeated(content)
	if len(repeated) > 0 && len(s.repeated(old)) == 0 {
		errs = append(errs, sortErrors(repeated)...)
	}
	return s.checkRules(errs, content, old, warn)
}

// repeated finds the repeated elements of lists that are sets or maps.
func (s *Schema) repeated(content map[string]any) field.ErrorList {
	if s.settled.unique(content) {
		return nil
	}
	return listtype.ValidateListSetsAndMaps(nil, s.structural, content)
}

// schemaErrors holds an update against the schema. Comparing with the old object can only excuse
// errors, so the costly comparison is made when there are some.
func (s *Schema) schemaErrors(content, old map[string]any, status bool) field.ErrorList {
	if !status {
		if s.whole.fits(content) {
			return nil
		}
		return sortErrors(validation.ValidateCustomResourceUpdate(nil, content, old, s.validator,
			validation.WithRatcheting(s.correlate(content, old))))
	}
	state, ok := content["status"]
	path := field.NewPath("status")
	if !ok || s.status == nil || s.part.fits(state) {
		return nil
	}
	return sortErrors(validation.ValidateCustomResourceUpdate(path, state, old["status"], s.status,
		validation.WithRatcheting(s.correlate(content, old).Key("status"))))
}

func (s *Schema) correlate(content, old map[string]any) *common.CorrelatedObject {
	return common.NewCorrelatedObject(content, old, &model.Structural{Structural: s.structural})
}

// checkRules evaluates x-kubernetes-validations, unless the object does not even fit its schema.
func (s *Schema) checkRules(errs field.ErrorList, content, old map[string]any, warn func(string)) field.ErrorList {
	if s.rules == nil {
		return errs
	}
	if err := blocking(errs); err != nil {
		return append(errs, err)
	}
	ctx, budget := context.Background(), int64(celconfig.RuntimeCELCostBudget)
	if old == nil {
		more, _ := s.rules.Validate(ctx, nil, s.structural, content, nil, budget)
		return append(errs, sortErrors(more)...)
	}
	more, _ := s.rules.Validate(ctx, nil, s.structural, content, old, budget)
	if len(more) > 0 {
		var passed collector
		ctx = warning.WithWarningRecorder(ctx, &passed)
		more, _ = s.rules.Validate(ctx, nil, s.structural, content, old, budget,
			cel.WithRatcheting(s.correlate(content, old)))
		sort.Strings(passed) // they come in the order of a map
		for _, text := range passed {
			warn(text)
		}
	}
	return append(errs, sortErrors(more)...)
}

// collector keeps warnings.
type collector []string

func (c *collector) AddWarning(_, text string) { *c = append(*c, text) }

// blocking says that rules cannot be evaluated because the object does not even fit its schema
// (registry/customresource/strategy.go, hasBlockingErr).
func blocking(errs field.ErrorList) *field.Error {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany,
			field.ErrorTypeTypeInvalid:
			return field.Invalid(nil, nil,
				"some validation rules were not checked because the object was invalid; correct the existing errors "+
					"to complete validation")
		}
	}
	return nil
}

// readsMeta reports whether a schema says anything about metadata, kind or apiVersion beyond their
// types, or has rules that may. When it does not, validation can leave them out.
func readsMeta(props *apiextensions.JSONSchemaProps) bool {
	if len(props.AllOf)+len(props.AnyOf)+len(props.OneOf)+len(props.PatternProperties) > 0 || props.Not != nil ||
		props.MinProperties != nil || props.MaxProperties != nil || props.AdditionalProperties != nil {
		return true
	}
	for _, name := range []string{"metadata", "kind", "apiVersion"} {
		if slices.Contains(props.Required, name) {
			return true
		}
		plain := apiextensions.JSONSchemaProps{Type: props.Properties[name].Type,
			Description: props.Properties[name].Description}
		if !equality.Semantic.DeepEqual(props.Properties[name], plain) {
			return true
		}
	}
	return false
}

// sortErrors orders errors by field, for validators that walk objects in the random order of a map.
func sortErrors(errs field.ErrorList) field.ErrorList {
	sort.SliceStable(errs, func(i, j int) bool {
		if errs[i].Field != errs[j].Field {
			return errs[i].Field < errs[j].Field
		}
		return errs[i].Error() < errs[j].Error()
	})
	return errs
}
