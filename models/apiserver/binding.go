package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// serveBinding binds a pod to a node, as a scheduler asks for it: spec.nodeName and the condition
// PodScheduled in one write (pkg/registry/core/pod/storage/storage.go, BindingREST.Create and
// assignPod).
func serveBinding(r *request) (*Response, error) {
	options, err := createOptions(r.query)
	if err != nil {
		return nil, err
	}
	body, err := r.jsonBody()
	if err != nil {
		return nil, err
	}
	w := &write{request: r, writeOptions: options, body: body}
	var b corev1.Binding
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if b.Name != "" && b.Name != w.info.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	switch { // plain errors, which a real server answers with 500
	case b.Target.Kind != "" && b.Target.Kind != "Node":
		return nil, fmt.Errorf(`target.kind: Unsupported value: %q: supported values: "Node", "<empty>"`, b.Target.Kind)
	case b.Target.Name == "":
		return nil, errors.New("target.name: Required value")
	}
	old, err := r.stored()
	if err != nil {
		return nil, err
	}
	if err := w.checkUID(b.UID, old); b.UID != "" && err != nil {
		return nil, err
	}
	if v := b.ResourceVersion; v != "" && v != old.Meta.ResourceVersion {
		return nil, preconditionConflict(w.kind.GroupResource(), w.info.Name, w.etcdKey(w.info.Name),
			fmt.Sprintf("Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s",
				v, old.Meta.ResourceVersion))
	}
	pod := old.Typed.(*corev1.Pod)
	refuse := func(why string) error {
		return apierrors.NewConflict(podBinding, w.info.Name, fmt.Errorf("pod %s %s", w.info.Name, why))
	}
	switch {
	case pod.DeletionTimestamp != nil:
		return nil, refuse("is being deleted, cannot be assigned to a host")
	case pod.Spec.NodeName != "":
		return nil, refuse(fmt.Sprintf("is already assigned to node %q", pod.Spec.NodeName))
	case len(pod.Spec.SchedulingGates) > 0:
		return nil, refuse("has non-empty .spec.schedulingGates")
	}
	if _, err := w.commit(bound(old, &b, w.s.now()), old); err != nil {
		return nil, err
	}
	return jsonResponse(http.StatusCreated, object.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
		Code: http.StatusCreated,
	})), nil
}

// podBinding is what refused bindings are refused about.
var podBinding = corev1.Resource("pods/binding")

// bound is a pod on the node that a binding names.
func bound(old *object.Object, b *corev1.Binding, now time.Time) *object.Object {
	draft := old.Draft()
	pod := draft.Typed.(*corev1.Pod)
	pod.Spec.NodeName = b.Target.Name
	for k, v := range b.Annotations {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, k, v)
	}
	for k, v := range b.Labels {
		metav1.SetMetaDataLabel(&pod.ObjectMeta, k, v)
	}
	pod.Status.NominatedNodeName = ""
	kept := []corev1.PodCondition{}
	for _, cond := range pod.Status.Conditions {
		if cond.Type != corev1.PodScheduled {
			kept = append(kept, cond)
		}
	}
	pod.Status.Conditions = append(kept, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now),
	})
	return draft
}
