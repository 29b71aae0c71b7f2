// This file distinguishes the API server's answers, reports on the object what is wrong, and tries
// again. 409, 404, and 422 for its UID mean that the object has changed. 429 and 5xx mean that the
// server failed. All others are refusals, which last as long as the input is the same.

package throttle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

// delays follow the first failure, the second, and so on; the last one is for all that come after.
var delays = []time.Duration{1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610}

func delay(failures int) time.Duration { return delays[min(failures, len(delays)-1)] * time.Second }

// fail counts a failure. It returns for how long the object is delayed. The keeper's mu is held.
func (o *object) fail() time.Duration {
	d := delay(o.failures)
	o.failures++
	o.until = time.Now().Add(d)
	return d
}

// dueOrEdited reports whether it is time to look at an event: the delay is over, or the spec is
// another than that of the failure.
func (k *keeper) dueOrEdited(_ context.Context, o *object, body *unstructured.Unstructured) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return time.Until(o.until) <= 0 || o.failed != body.GetGeneration()
}

// races is how many conflicts in a row are no failure. More than that do not end by themselves.
const races = 2

// backOff says on the object what is wrong, and comes back to it on the schedule.
func (k *keeper) backOff(ctx context.Context, o *object, body *unstructured.Unstructured, err error) {
	switch {
	case errors.Is(err, errVanished):
		k.forget(body.GetUID())
	case apierrors.IsConflict(err) && o.conflicts < races: // no failure: another writer was faster
		o.conflicts++
		k.comeBack(ctx, o, body, 0)
	default:
		k.report(ctx, body, err)
		k.mu.Lock()
		d := o.fail()
		k.mu.Unlock()
		k.comeBack(ctx, o, body, d)
	}
}

// comeBack has an object read when its time has come, and handed out as an event would. No worker
// waits for that, and until then only another spec is a reason to look at it.
func (k *keeper) comeBack(ctx context.Context, o *object, body *unstructured.Unstructured, d time.Duration) {
	alarm, cancel := context.WithCancel(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	o.cancel()
	o.until, o.failed, o.cancel = time.Now().Add(d), body.GetGeneration(), cancel
	k.all.Go(func() {
		for pause(alarm, d) {
			latest, err := k.latest(alarm, body)
			if errors.Is(err, errVanished) {
				k.forget(body.GetUID())
				return
			}
			k.mu.Lock()
			switch {
			case alarm.Err() != nil: // it is gone, or another retry replaces this one
			case err != nil:
				d = o.fail()
			default:
				cancel()
				k.handOut(ctx, o, latest)
			}
			k.mu.Unlock()
		}
	})
}

// patiently makes a call again, at once and not for long, that was answered with 429 or 5xx: after
// that it has failed. client-go does so by itself only if the server says when.
func (k *keeper) patiently(call func() error) error {
	patience := wait.Backoff{Steps: k.policy.tries, Duration: 100 * time.Millisecond, Factor: 2}
	return retry.OnError(patience, func(err error) bool { return transient.Has(apierrors.ReasonForError(err)) }, call)
}

// transient are reasons for which the server could not perform a request.
var transient = sets.New(metav1.StatusReasonTooManyRequests, metav1.StatusReasonInternalError,
	metav1.StatusReasonServiceUnavailable, metav1.StatusReasonServerTimeout, metav1.StatusReasonTimeout)

// errVanished says that there is nothing left to do for an object.
var errVanished = errors.New("the object has vanished")

// latest reads an object, which may be another one of that name by now.
func (k *keeper) latest(ctx context.Context, body *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	latest, err := k.client.Resource(Examples).Namespace(body.GetNamespace()).Get(ctx, body.GetName(),
		metav1.GetOptions{})
	switch {
	case missing(err, body), err == nil && latest.GetUID() != body.GetUID():
		return nil, errVanished
	case err != nil:
		return nil, fmt.Errorf("reading %s/%s: %w", body.GetNamespace(), body.GetName(), err)
	}
	return latest, nil
}

// missing reports whether this object is not found. An answer of 404 may be about something else: a
// kind that is not served, or a path that a proxy does not know.
func missing(err error, body *unstructured.Unstructured) bool {
	var answer apierrors.APIStatus
	want := apierrors.NewNotFound(Examples.GroupResource(), body.GetName()).Status().Details
	return apierrors.IsNotFound(err) && errors.As(err, &answer) && reflect.DeepEqual(answer.Status().Details, want)
}

// HandledCondition reports whether the operator is done with the object, or what keeps it from
// that.
const HandledCondition = "Handled"

// report writes down an error. The object is tried again even if that fails. The write has no
// precondition: if another object has the name by now, that object's own outcome replaces it.
func (k *keeper) report(ctx context.Context, body *unstructured.Unstructured, err error) {
	if apierrors.IsConflict(err) { // what was read is old, and perhaps of another object than has the name now
		switch latest, unread := k.latest(ctx, body); {
		case errors.Is(unread, errVanished):
			return
		case unread == nil:
			body = latest
		}
	}
	reason := cmp.Or(string(apierrors.ReasonForError(err)), noAnswer)
	old := meta.FindStatusCondition(conditions(body), HandledCondition)
	if old != nil && old.Status == metav1.ConditionFalse && weight(old.Reason) > weight(reason) {
		return
	}
	c := metav1.Condition{Status: metav1.ConditionFalse, Reason: reason, Message: err.Error()}
	refused := k.status(ctx, body, map[string]any{}, map[string]any{}, c)
	if refused == nil || errors.Is(refused, errVanished) {
		return
	}
	event := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": reason,
		"message":       fmt.Sprintf("%v; the status cannot say so: %v", err, refused),
		"metadata":      map[string]any{"generateName": body.GetName() + "."},
		"lastTimestamp": time.Now().UTC().Format(time.RFC3339), "source": map[string]any{"component": "throttle"},
		"involvedObject": map[string]any{"apiVersion": body.GetAPIVersion(), "kind": body.GetKind(),
			"namespace": body.GetNamespace(), "name": body.GetName(), "uid": string(body.GetUID())},
	}}
	events := k.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"})
	_, _ = events.Namespace(body.GetNamespace()).Create(ctx, event, metav1.CreateOptions{})
}

// noAnswer is the reason where there was no answer that could give one.
const noAnswer = "Failed"

// weight orders reasons by how much they tell. Failures that may pass must not replace a refusal.
func weight(reason string) int {
	switch r := metav1.StatusReason(reason); {
	case reason == noAnswer:
		return 0
	case transient.Has(r), r == metav1.StatusReasonConflict:
		return 1
	}
	return 2
}

// status writes the condition and what else there is to say, unless the object says so already.
func (k *keeper) status(ctx context.Context, body *unstructured.Unstructured, metadata, status map[string]any,
	c metav1.Condition) error {
	all := conditions(body)
	c.Type, c.ObservedGeneration = HandledCondition, body.GetGeneration()
	meta.SetStatusCondition(&all, c)
	status["conditions"] = all
	before, errBefore := json.Marshal(map[string]any{"status": body.Object["status"]})
	change, errChange := json.Marshal(map[string]any{"status": status})
	after, err := jsonpatch.MergePatch(before, change)
	if errors.Join(errBefore, errChange, err) == nil && jsonpatch.Equal(before, after) {
		return nil
	}
	return k.patch(ctx, body, map[string]any{"metadata": metadata, "status": status}, "status")
}

// conditions are those of the object, without what the operator has said of another spec.
func conditions(body *unstructured.Unstructured) []metav1.Condition {
	var said struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	status, _, _ := unstructured.NestedMap(body.Object, "status")
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(status, &said) // what cannot be read says nothing
	return slices.DeleteFunc(said.Conditions, func(c metav1.Condition) bool {
		return c.Type == HandledCondition && c.ObservedGeneration != body.GetGeneration()
	})
}

// failuresSaid is how many failures in a row an object has had by the schedule, by what it says of
// itself: what an earlier incarnation remembered is gone.
func failuresSaid(body *unstructured.Unstructured) (n int) {
	c := meta.FindStatusCondition(conditions(body), HandledCondition)
	if c == nil || c.Status != metav1.ConditionFalse {
		return 0
	}
	for passed := time.Since(c.LastTransitionTime.Time) - delay(0); passed >= 0 && n < len(delays); n++ {
		passed -= delay(n + 1)
	}
	return n
}
