package admission

import (
	"context"
	"strings"
	"sync"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/wavetank/wavetank/internal/kept"
	"github.com/wavetank/wavetank/internal/versions"
	"github.com/wavetank/wavetank/models/apiserver"
)

// exempt says that a write concerns admission itself, which webhooks are not asked about.
func exempt(a *apiserver.Attempt) bool {
	return rules.IsExemptAdmissionConfigurationResource(attributes(a))
}

// attributes are the attempt as upstream's matchers see it.
func attributes(a *apiserver.Attempt) admission.Attributes {
	return admission.NewAttributesRecord(decoded(a.Object), decoded(a.Old), a.Kind, a.Namespace, a.Name, a.Resource(),
		a.Info.Subresource,
		admission.Operation(a.Operation), decoded(a.Options), a.DryRun,
		&user.DefaultInfo{Name: a.Request.User, UID: a.Request.UID, Groups: a.Request.Groups, Extra: a.Request.Extra})
}

// decoded is an encoded object; nil for none.
var decoded = kept.Of(func(raw []byte) runtime.Object {
	if raw == nil {
		return nil
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		return nil
	}
	return u
})

// concerned says in which form a webhook is to be asked about an attempt; nil when it is not to be
// asked (generic/webhook.go, ShouldCallHook).
func (w *Webhooks) concerned(h *hook, a *apiserver.Attempt) (*apiserver.Attempt, error) {
	attr := attributes(a)
	inNamespace, namespaceErr := w.inNamespace(h, attr)
	if !inNamespace && namespaceErr == nil {
		return nil, nil
	}
	if selected, err := selects(h.ObjectSelector, attr.GetObject(), attr.GetOldObject()); err != nil || !selected {
		return nil, err
	}
	to := h.matching(a)
	if to == nil {
		return nil, nil
	}
	if namespaceErr != nil {
		return nil, namespaceErr
	}
	if a.Scale {
		return nil, apiserver.NotModelled("webhook %q of %s, which asks to be told of scales", h.Name, h.configuration)
	}
	if len(h.MatchConditions) == 0 {
		return to, nil
	}
	return h.meets(to)
}

// matching is the attempt in the first form that the rules want to hear of: as it was made, or in
// another version of its type.
func (h *hook) matching(a *apiserver.Attempt) *apiserver.Attempt {
	if h.wants(a) {
		return a
	}
	if h.MatchPolicy != nil && *h.MatchPolicy == admissionregv1.Exact {
		return nil
	}
	for i := range h.Rules {
		for _, version := range a.Versions() {
			if other := a.In(version); other != nil && version != a.Info.Version {
				if m := (rules.Matcher{Rule: h.Rules[i], Attr: attributes(other)}); m.Matches() {
					return other
				}
			}
		}
	}
	return nil
}

func (h *hook) wants(a *apiserver.Attempt) bool {
	attr := attributes(a)
	for i := range h.Rules {
		if m := (rules.Matcher{Rule: h.Rules[i], Attr: attr}); m.Matches() {
			return true
		}
	}
	return false
}

// inNamespace judges the namespaceSelector by the labels of the attempt's namespace; for a
// Namespace that is written, by its own (predicates/namespace/matcher.go).
func (w *Webhooks) inNamespace(h *hook, attr admission.Attributes) (bool, error) {
	namespaces := attr.GetResource().Resource == "namespaces"
	if attr.GetNamespace() == "" && !namespaces {
		return true, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(h.NamespaceSelector)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if h.NamespaceSelector == nil || selector.Empty() {
		return true, nil
	}
	if namespaces && attr.GetSubresource() == "" && attr.GetOperation() != admission.Delete {
		return selector.Matches(labelsOf(attr.GetObject())), nil
	}
	n, ok := w.server.Typed("", "namespaces", "", attr.GetNamespace()).(*corev1.Namespace)
	if !ok {
		return false, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, attr.GetNamespace())
	}
	return selector.Matches(labels.Set(n.Labels)), nil
}

// selects reports whether a selector chooses one of the objects (predicates/object/matcher.go).
func selects(s *metav1.LabelSelector, objects ...runtime.Object) (bool, error) {
	if s == nil {
		return true, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if selector.Empty() {
		return true, nil
	}
	for _, o := range objects {
		if o != nil && selector.Matches(labelsOf(o)) {
			return true, nil
		}
	}
	return false, nil
}

func labelsOf(o runtime.Object) labels.Set {
	if u, ok := o.(*unstructured.Unstructured); ok {
		return u.GetLabels()
	}
	return nil
}

// meets evaluates the matchConditions.
func (h *hook) meets(a *apiserver.Attempt) (*apiserver.Attempt, error) {
	for _, c := range h.MatchConditions {
		if strings.Contains(c.Expression, "authorizer") {
			return nil, apiserver.NotModelled("matchCondition %q of webhook %q, which asks the authorizer", c.Name,
				h.Name)
		}
	}
	attr := attributes(a)
	versioned := &admission.VersionedAttributes{Attributes: attr, VersionedKind: a.Kind}
	versions.SetVersionedObject(&versioned.VersionedOldObject, attr.GetOldObject())
	versions.SetVersionedObject(&versioned.VersionedObject, attr.GetObject())
	result := matcherOf(h).Match(context.Background(), versioned, nil, nil)
	switch {
	case result.Error != nil:
		return nil, apierrors.NewForbidden(a.Resource().GroupResource(), a.Name, result.Error)
	case !result.Matches:
		return nil, nil
	}
	return a, nil
}

// compiler compiles matchConditions; making one takes some milliseconds, so it is made when first
// needed and kept.
var compiler = sync.OnceValue(func() cel.ConditionCompiler {
	return cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
})

// compiled are the conditions that this process has met, by what they say.
var compiled sync.Map

func matcherOf(h *hook) matchconditions.Matcher {
	policy := admissionregv1.Fail
	if h.ignores() {
		policy = admissionregv1.Ignore
	}
	key := string(policy)
	var expressions []cel.ExpressionAccessor
	for _, c := range h.MatchConditions {
		key += "\x00" + c.Name + "\x00" + c.Expression
		expressions = append(expressions, &matchconditions.MatchCondition{Name: c.Name, Expression: c.Expression})
	}
	if m, ok := compiled.Load(key); ok {
		return m.(matchconditions.Matcher)
	}
	m := matchconditions.NewMatcher(
		compiler().CompileCondition(expressions, cel.OptionalVariableDeclarations{HasAuthorizer: true},
			environment.StoredExpressions), &policy, "webhook", "admit", h.Name)
	compiled.Store(key, m)
	return m
}
