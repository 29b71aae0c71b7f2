package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bindPod binds a pod to a node, as a scheduler asks for it: spec.nodeName and the condition PodScheduled in one write
// (pkg/registry/core/pod/storage/storage.go, BindingREST.Create and assignPod).
func (c *call) bindPod() (*Response, error) {
	if err := c.readBody(); err != nil {
		return nil, err
	}
	var b corev1.Binding
	if err := json.Unmarshal(c.req.Body, &b); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if b.Name != "" && b.Name != c.info.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	if b.Target.Kind != "" && b.Target.Kind != "Node" || b.Target.Name == "" {
		return nil, notModelled("a binding to %q %q: bind to a Node by its name", b.Target.Kind, b.Target.Name)
	}
	old, exists := c.lookup(c.info.Name)
	if !exists {
		return nil, apierrors.NewNotFound(c.kind.groupResource(), c.info.Name)
	}
	if err := c.checkUID(b.UID, old); b.UID != "" && err != nil {
		return nil, err
	}
	pod := old.typed.(*corev1.Pod)
	refuse := func(why string) error {
		return apierrors.NewConflict(podBinding, c.info.Name, fmt.Errorf("pod %s %s", c.info.Name, why))
	}
	switch {
	case pod.DeletionTimestamp != nil:
		return nil, refuse("is being deleted, cannot be assigned to a host")
	case pod.Spec.NodeName != "":
		return nil, refuse(fmt.Sprintf("is already assigned to node %q", pod.Spec.NodeName))
	case len(pod.Spec.SchedulingGates) > 0:
		return nil, refuse("has non-empty .spec.schedulingGates")
	}
	draft := old.draft()
	bound := draft.typed.(*corev1.Pod)
	bound.Spec.NodeName = b.Target.Name
	kept := []corev1.PodCondition{}
	for _, cond := range bound.Status.Conditions {
		if cond.Type != corev1.PodScheduled {
			kept = append(kept, cond)
		}
	}
	bound.Status.Conditions = append(kept, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(c.s.now()), ObservedGeneration: bound.Generation})
	c.own(draft, old, "binding")
	if _, err := c.commit(draft, old); err != nil {
		return nil, err
	}
	return jsonResponse(http.StatusCreated, encodeStatus(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess, Code: http.StatusCreated,
	})), nil
}

// podBinding is what refused bindings are refused about.
var podBinding = corev1.Resource("pods/binding")
