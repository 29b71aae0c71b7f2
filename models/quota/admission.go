package quota

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	quota "k8s.io/apiserver/pkg/quota/v1"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Enforce has a server enforce the ResourceQuotas and LimitRanges that it stores. As on a real
// server, LimitRanges come before webhooks, and quotas after them.
func Enforce(s *apiserver.Server) {
	if _, enforced := s.Admission().(*enforcer); !enforced {
		s.SetAdmission(&enforcer{s, s.Admission()})
	}
}

// enforcer enforces quotas and limit ranges around the admission that was there before.
type enforcer struct {
	server *apiserver.Server
	other  apiserver.Admission // nil if there was none
}

// Active implements [apiserver.Admission].
func (e *enforcer) Active() bool {
	for _, resource := range []string{"resourcequotas", "limitranges"} {
		for range e.server.EachTyped("", resource, "") {
			return true
		}
	}
	return e.otherActive()
}

func (e *enforcer) otherActive() bool { return e.other != nil && e.other.Active() }

// Mutate implements [apiserver.Admission].
func (e *enforcer) Mutate(a *apiserver.Attempt) error {
	if p, ok := a.Typed().(*corev1.Pod); ok && a.Operation == "CREATE" && a.Info.Subresource == "" {
		if err := e.defaults(a, p.DeepCopy()); err != nil {
			return err
		}
	}
	if e.otherActive() {
		return e.other.Mutate(a)
	}
	return nil
}

// Validate implements [apiserver.Admission].
func (e *enforcer) Validate(a *apiserver.Attempt) error {
	checked := a.Operation != "DELETE" && a.Info.Subresource == "" && a.Info.Namespace != ""
	if checked {
		if err := e.limit(a); err != nil {
			return forbidden(a, err)
		}
	}
	if e.otherActive() {
		if err := e.other.Validate(a); err != nil {
			return err
		}
	}
	if !checked {
		return nil
	}
	return e.charge(a)
}

func forbidden(a *apiserver.Attempt, err error) error {
	return apierrors.NewForbidden(a.Resource().GroupResource(), a.Name, err)
}

// stored are the objects of a type in a namespace, by name.
func stored[T any](s *apiserver.Server, resource, namespace string) (out []*T) {
	for o := range s.EachTyped("", resource, namespace) {
		out = append(out, any(o).(*T))
	}
	return out
}

// charge checks a write against the quotas of its namespace, and adds what it uses to their status
// (CheckRequest and checkQuotas of k8s.io/apiserver/pkg/admission/plugin/resourcequota).
func (e *enforcer) charge(a *apiserver.Attempt) error {
	var charged []*corev1.ResourceQuota
	for _, q := range stored[corev1.ResourceQuota](e.server, "resourcequotas", a.Info.Namespace) {
		used, err := e.used(a, q)
		if err != nil {
			return err
		}
		if used != nil && !apiequality.Semantic.DeepEqual(used, q.Status.Used) {
			q = q.DeepCopy()
			q.Status.Used = used
			charged = append(charged, q)
		}
	}
	if a.DryRun {
		return nil
	}
	for _, q := range charged {
		err := a.Change("", "resourcequotas", q.Name, func(o runtime.Object) {
			o.(*corev1.ResourceQuota).Status = q.Status
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// used is what a quota has used after a write; nil if the write does not count against it.
func (e *enforcer) used(a *apiserver.Attempt, q *corev1.ResourceQuota) (corev1.ResourceList, error) {
	of, o, old := a.Resource().GroupResource(), a.Typed(), a.OldTyped()
	names := tracked(of, q.Status.Hard)
	if len(names) == 0 || !judges(of, o, old) {
		return nil, nil
	}
	in, err := inScope(q, o)
	if err != nil || !in {
		return nil, err
	}
	if p, ok := o.(*corev1.Pod); ok {
		if err := unspecified(p, names); err != nil {
			return nil, forbidden(a, fmt.Errorf("failed quota: %s: %w", q.Name, err))
		}
	}
	for _, name := range names {
		if _, known := q.Status.Used[name]; !known {
			return nil, forbidden(a, fmt.Errorf("status unknown for quota: %s, resources: %s", q.Name, joined(names)))
		}
	}
	now := a.Now()
	delta := quota.Mask(usage(of, o, now), names)
	if old != nil {
		was, err := inScope(q, old)
		if err != nil {
			return nil, err
		}
		if was {
			delta = quota.SubtractWithNonNegativeResult(delta, quota.Mask(usage(of, old, now), names))
		}
	}
	if delta = quota.RemoveZeros(delta); len(delta) == 0 {
		return nil, nil
	}
	used := quota.Add(q.Status.Used, delta)
	if ok, over := quota.LessThanOrEqual(quota.Mask(used, quota.ResourceNames(delta)), q.Status.Hard); !ok {
		return nil, forbidden(a, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s", q.Name,
			printed(quota.Mask(delta, over)), printed(quota.Mask(q.Status.Used, over)),
			printed(quota.Mask(q.Status.Hard, over))))
	}
	return used, nil
}

// judges reports whether a write may change what its object uses (Handles).
func judges(of schema.GroupResource, o, old runtime.Object) bool {
	p, isPod := o.(*corev1.Pod)
	switch {
	case old == nil, of == services, of == claims:
		return true
	case isPod:
		return terminating(p) != terminating(old.(*corev1.Pod))
	}
	return false
}

// unspecified complains about containers without what a quota limits (podEvaluator, Constraints).
func unspecified(p *corev1.Pod, names []corev1.ResourceName) error {
	if p.Spec.Resources != nil && len(p.Spec.Resources.Requests)+len(p.Spec.Resources.Limits) > 0 {
		return nil
	}
	var out []string
	for _, name := range names {
		bare := strings.TrimPrefix(strings.TrimPrefix(string(name), requests), limits)
		if bare != string(corev1.ResourceCPU) && bare != string(corev1.ResourceMemory) {
			continue
		}
		var lack []string
		for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
			if _, there := compute(c.Resources.Requests, c.Resources.Limits)[name]; !there {
				lack = append(lack, c.Name)
			}
		}
		slices.Sort(lack)
		if len(lack) > 0 {
			out = append(out, string(name)+" for: "+strings.Join(slices.Compact(lack), ","))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return errors.New("must specify " + strings.Join(out, "; "))
}

func joined(names []corev1.ResourceName) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = string(name)
	}
	return strings.Join(out, ",")
}

// printed is a list as messages show it.
func printed(l corev1.ResourceList) string {
	var out []string
	for name, q := range l {
		out = append(out, string(name)+"="+q.String())
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}
