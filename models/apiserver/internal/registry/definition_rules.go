package registry

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// The defaults and the rules of a definition's schema, checked by the packages with which a real
// server checks them. The package that calls them there (pkg/apis/apiextensions/validation) is not
// used: it links gRPC and OpenTelemetry, for the URL of a conversion webhook.

// maxRuleCost bounds the estimated cost of a rule (StaticEstimatedCostLimit there).
const maxRuleCost = 10_000_000

// validateDefaultsAndRules checks the defaults of a structural schema and, if they fit it, the
// rules.
func validateDefaultsAndRules(path *field.Path, props *apiextensions.JSONSchemaProps, s *structural.Structural,
) field.ErrorList {
	errs, err := defaulting.ValidateDefaults(context.Background(), path, s, true, true)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	case len(errs) > 0:
		return sortedByField(errs)
	}
	c := ruleChecker{env: environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())}
	c.check(path, props, true, 1)
	return c.errs
}

// sortedByField orders errors that were found in the order of a map.
func sortedByField(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		switch {
		case a.Field < b.Field:
			return -1
		case a.Field > b.Field:
			return 1
		}
		return 0
	})
	return errs
}

// ruleChecker compiles the x-kubernetes-validations of a schema.
type ruleChecker struct {
	env  *environment.EnvSet
	errs field.ErrorList
}

// unbounded is the number of elements that a schema allows without a limit.
const unbounded = math.MaxUint64

// check compiles the rules of a schema and of those below it. elements is how many values of the
// schema an object may have.
func (r *ruleChecker) check(path *field.Path, s *apiextensions.JSONSchemaProps, root bool, elements uint64) {
	if len(s.XValidations) > 0 {
		r.compile(path.Child("x-kubernetes-validations"), s, root || s.XEmbeddedResource, elements)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		r.check(path.Child("properties").Key(name), &p, false, elements)
	}
	if a := s.AdditionalProperties; a != nil && a.Schema != nil {
		r.check(path.Child("additionalProperties"), a.Schema, false, times(elements, limitOf(s.MaxProperties)))
	}
	if s.Items != nil && s.Items.Schema != nil {
		r.check(path.Child("items"), s.Items.Schema, false, times(elements, limitOf(s.MaxItems)))
	}
}

func (r *ruleChecker) compile(path *field.Path, s *apiextensions.JSONSchemaProps, root bool, elements uint64) {
	node, err := structural.NewStructural(s)
	if err != nil {
		r.errs = append(r.errs, field.InternalError(path, err))
		return
	}
	results, err := cel.Compile(node, model.SchemaDeclType(node, root), celconfig.PerCallLimit, r.env,
		cel.NewExpressionsEnvLoader())
	if err != nil {
		r.errs = append(r.errs, field.InternalError(path, err))
		return
	}
	for i, result := range results {
		at := path.Index(i)
		if strings.TrimSpace(s.XValidations[i].Rule) == "" {
			r.errs = append(r.errs, field.Required(at.Child("rule"), "rule is not specified"))
			continue
		}
		most := elements
		if most == unbounded {
			most = result.MaxCardinality // as many as fit into a request
		}
		r.bound(at.Child("rule"), "estimated rule cost", times(result.MaxCost, most))
		if result.Error != nil {
			r.errs = append(r.errs, field.Invalid(at.Child("rule"), s.XValidations[i], result.Error.Detail))
		}
		if result.MessageExpressionError != nil {
			r.errs = append(r.errs,
				field.Invalid(at.Child("messageExpression"), s.XValidations[i], result.MessageExpressionError.Detail))
		} else {
			r.bound(at.Child("messageExpression"), "estimated messageExpression cost", result.MessageExpressionMaxCost)
		}
	}
}

// bound refuses an expression that may cost too much, in the words of a real server.
func (r *ruleChecker) bound(path *field.Path, what string, cost uint64) {
	if cost <= maxRuleCost {
		return
	}
	factor := fmt.Sprintf("%.1fx", float64(cost)/maxRuleCost)
	switch {
	case cost > 100*maxRuleCost:
		factor = "more than 100x"
	case cost < maxRuleCost*3/2:
		factor = fmt.Sprintf("%fx", float64(cost)/maxRuleCost)
	}
	r.errs = append(r.errs, field.Forbidden(path, fmt.Sprintf("%s exceeds budget by factor of %s (try simplifying the "+
		"rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
		what, factor)))
}

func limitOf(limit *int64) uint64 {
	if limit == nil {
		return unbounded
	}
	return uint64(max(0, *limit))
}

// times multiplies, and does not overflow.
func times(a, b uint64) uint64 {
	if a != 0 && b > unbounded/a {
		return unbounded
	}
	return a * b
}
