package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// serveEviction deletes a pod unless that would violate its PodDisruptionBudget, whose status the
// disruption controller keeps (pkg/registry/core/pod/storage/eviction.go). Webhooks are not asked.
func serveEviction(r *request) (*Response, error) {
	w, err := r.createWrite()
	if err != nil {
		return nil, err
	}
	e := eviction{write: w, opts: &metav1.DeleteOptions{}}
	body := policyv1.Eviction{DeleteOptions: e.opts}
	if err := json.Unmarshal(w.body, &body); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if err := w.info.matchNamespace(&body.ObjectMeta); err != nil {
		return nil, err
	}
	if body.Name != w.info.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	if body.DeleteOptions != nil {
		e.opts = body.DeleteOptions
	}
	w.dryRun = w.dryRun || len(e.opts.DryRun) > 0
	old, err := r.stored()
	if err != nil {
		return nil, err
	}
	pod := old.Typed.(*corev1.Pod)
	guarded := pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodPending &&
		pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
	if guarded {
		if err := e.permit(pod); err != nil {
			return nil, err
		}
	}
	if err := invalidOptions("DeleteOptions", metavalidation.ValidateDeleteOptions(e.opts)); err != nil {
		return nil, err
	}
	if !w.dryRun {
		if old, err = e.announce(old); err != nil {
			return nil, err
		}
	}
	if _, _, err := (&deletion{w, e.opts}).perform(old); err != nil {
		return nil, err
	}
	return jsonResponse(http.StatusCreated, object.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
		Code: http.StatusCreated,
	})), nil
}

// eviction is a write that evicts a pod, with the options of the deletion.
type eviction struct {
	*write
	opts *metav1.DeleteOptions
}

// permit asks the budget of a pod, and uses it up. A pod that is not ready needs none while enough
// others are healthy.
func (e *eviction) permit(pod *corev1.Pod) error {
	var of []*policyv1.PodDisruptionBudget
	for o := range e.s.EachTyped("policy", "poddisruptionbudgets", pod.Namespace) {
		b := o.(*policyv1.PodDisruptionBudget)
		if s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil && s.Matches(labels.Set(pod.Labels)) {
			of = append(of, b)
		}
	}
	switch len(of) {
	case 0:
		return nil
	case 1:
	default:
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
		}}
	}
	b := of[0]
	ready := false
	for _, c := range pod.Status.Conditions {
		ready = ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	always := b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	enough := b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
	if !ready && (always || enough) {
		return nil
	}
	if err := refusal(b); err != nil || e.dryRun {
		return err
	}
	return e.change(e.s, "policy", "poddisruptionbudgets", b.Namespace, b.Name, func(o runtime.Object) {
		s := &o.(*policyv1.PodDisruptionBudget).Status
		if s.DisruptionsAllowed--; s.DisruptionsAllowed == 0 {
			meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: policyv1.DisruptionAllowedCondition,
				Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason,
				ObservedGeneration: s.ObservedGeneration, LastTransitionTime: metav1.NewTime(e.s.now())})
		}
		if s.DisruptedPods == nil {
			s.DisruptedPods = map[string]metav1.Time{}
		}
		s.DisruptedPods[pod.Name] = metav1.NewTime(e.s.now())
	})
}

// refusal is why a budget allows no eviction; nil if it allows one (checkAndDecrement).
func refusal(b *policyv1.PodDisruptionBudget) error {
	s, denied := &b.Status, "The disruption budget "+b.Name+" does not allow evicting pods currently"
	because := func(err *apierrors.StatusError, cause string) error {
		err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes,
			metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: cause})
		return err
	}
	const tooMany = "Cannot evict pod as it would violate the pod's disruption budget."
	const maxDisrupted = 2000 // MaxDisruptedPodSize
	switch c := meta.FindStatusCondition(s.Conditions, policyv1.DisruptionAllowedCondition); {
	case s.ObservedGeneration < b.Generation:
		return because(apierrors.NewTooManyRequests(tooMany, 10),
			"The disruption budget "+b.Name+" is still being processed by the server.")
	case len(s.DisruptedPods) > maxDisrupted:
		return because(apierrors.NewForbidden(policyv1.Resource("poddisruptionbudget"), b.Name, errors.New(
			"DisruptedPods map too big - too many evictions not confirmed by PDB controller")),
			denied+": too many pending evictions not confirmed by PDB controller")
	case s.DisruptionsAllowed > 0:
		return nil
	default:
		cause, said := denied, c != nil && c.Status == metav1.ConditionFalse && c.Message != ""
		switch {
		case said && c.Reason == policyv1.SyncFailedReason:
			cause += " because it failed sync: " + c.Message
		case s.CurrentHealthy <= s.DesiredHealthy:
			cause = fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name,
				s.DesiredHealthy, s.CurrentHealthy)
		case said:
			cause += " (" + c.Reason + "): " + c.Message
		}
		return because(apierrors.NewTooManyRequests(tooMany, 0), cause)
	}
}

// announce adds the condition that tells why the pod goes (addConditionAndDeletePod).
func (e *eviction) announce(old *object.Object) (*object.Object, error) {
	p := e.opts.Preconditions
	if p != nil {
		stated := *p // without empty ones, which only the deletion refuses
		if ptr.Deref(p.UID, "") == "" {
			stated.UID = nil
		}
		if ptr.Deref(p.ResourceVersion, "") == "" {
			stated.ResourceVersion = nil
		}
		if err := e.kind.CheckPreconditions(&stated, old); err != nil {
			return nil, err
		}
	}
	draft := old.Draft()
	s := &draft.Typed.(*corev1.Pod).Status
	set := corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
		Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
		LastTransitionTime: metav1.NewTime(e.s.now())}
	kept := s.Conditions[:0:0]
	for _, c := range s.Conditions {
		switch {
		case c.Type != set.Type:
			kept = append(kept, c)
		case c.Status == set.Status:
			set.LastTransitionTime = c.LastTransitionTime
		}
	}
	s.Conditions = append(kept, set)
	stored, err := e.commit(draft, old)
	if err == nil && p != nil && p.ResourceVersion != nil {
		e.opts = e.opts.DeepCopy()
		e.opts.Preconditions.ResourceVersion = &stored.Meta.ResourceVersion
	}
	return stored, err
}
