// This file is how the fixed variant says what it cannot do: on the object, or beside it where even
// that is refused.

package throttle

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// HandledCondition says whether the operator has come to an end with the object, or what keeps it
// from that.
const HandledCondition = "Handled"

// Events are written where an object's status is refused.
var Events = schema.GroupVersionResource{Version: "v1", Resource: "events"}

// report writes down an error. Whether that works is not a reason for another error: the object is
// tried again anyway. Nor is it tied to what was read: where another object has the name by now,
// that one's own end is another status, and replaces it.
func (k *keeper) report(ctx context.Context, body *unstructured.Unstructured, err error) {
	if !k.policy.report {
		return
	}
	if apierrors.IsConflict(err) { // what was read is old, and perhaps of another object than has the name now
		switch latest, unread := k.latest(ctx, body); {
		case errors.Is(unread, errVanished):
			return
		case unread == nil:
			body = latest
		}
	}
	reason := cmp.Or(string(apierrors.ReasonForError(err)), noAnswer)
	if old := condition(body); old["status"] == string(metav1.ConditionFalse) &&
		old["observedGeneration"] == body.GetGeneration() &&
		weight(old["reason"]) > weight(reason) {
		return
	}
	refused := k.status(ctx, body, nil, nil, metav1.ConditionFalse, reason, err.Error())
	if refused == nil || errors.Is(refused, errVanished) {
		return
	}
	message := fmt.Sprintf("%v; the status cannot say so: %v", err, refused)
	stamp := time.Now().UTC().Format(time.RFC3339)
	event := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": reason, "message": message,
		"metadata":       map[string]any{"generateName": body.GetName() + "."},
		"firstTimestamp": stamp, "lastTimestamp": stamp, "count": int64(1),
		"source": map[string]any{"component": "throttle"},
		"involvedObject": map[string]any{
			"apiVersion": body.GetAPIVersion(), "kind": body.GetKind(),
			"namespace": body.GetNamespace(), "name": body.GetName(), "uid": string(body.GetUID()),
		},
	}}
	_, _ = k.client.Resource(Events).Namespace(body.GetNamespace()).Create(ctx, event, metav1.CreateOptions{})
}

// noAnswer is the reason where there was no answer that could give one.
const noAnswer = "Failed"

// weight orders reasons by how much they say: what the server could not do, or nobody heard of, or
// somebody else was faster with, may pass, and must not take the place of what is refused.
func weight(reason any) int {
	switch s, _ := reason.(string); {
	case s == noAnswer:
		return 0
	case transient(metav1.StatusReason(s)), s == string(metav1.StatusReasonConflict):
		return 1
	}
	return 2
}

// status writes the condition, and more if there is more to say; nothing if the object says so
// already.
func (k *keeper) status(ctx context.Context, body *unstructured.Unstructured, only, more map[string]any,
	status metav1.ConditionStatus, reason, message string) error {
	old := condition(body)
	if old["status"] == string(status) && old["message"] == message &&
		old["observedGeneration"] == body.GetGeneration() &&
		stands(body.Object["status"], more) {
		return nil
	}
	change := map[string]any{"conditions": []any{map[string]any{
		"type": HandledCondition, "status": string(status), "reason": reason, "message": message,
		"observedGeneration": body.GetGeneration(), "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}}}
	maps.Copy(change, more)
	write := map[string]any{"status": change}
	if only != nil {
		write["metadata"] = only
	}
	return k.patch(ctx, body, "status", write)
}

// stands says whether a merge patch of something would change nothing. What it sets is compared as
// JSON, in which a number is the same whichever Go type it was read into.
func stands(old any, change map[string]any) bool {
	have, ok := old.(map[string]any)
	for key, ought := range change {
		is, there := have[key]
		switch part, nested := ought.(map[string]any); {
		case nested && !stands(is, part), ought == nil && there:
			return false
		case !nested && ought != nil:
			a, errA := json.Marshal(is)
			b, errB := json.Marshal(ought)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				return false
			}
		}
	}
	return ok
}

// condition is what the object says of itself; nil if nothing.
func condition(body *unstructured.Unstructured) map[string]any {
	all, _, _ := unstructured.NestedSlice(body.Object, "status", "conditions")
	for _, c := range all {
		if c, ok := c.(map[string]any); ok && c["type"] == HandledCondition {
			return c
		}
	}
	return nil
}
