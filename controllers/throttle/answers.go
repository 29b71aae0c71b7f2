// This file distinguishes the API server's answers, says on the object what is wrong, and comes
// back to it. 409 and 404, and 422 for its UID, say that the object is not what it was taken for,
// 429 and 5xx that the server could not; what is left is refused, and will be as long as the input
// is the same.

package throttle

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// delays follow the first failure, the second, and so on; the last one is for all that come after.
var delays = []time.Duration{1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610}

func delay(failures int) time.Duration { return delays[min(failures, len(delays)-1)] * time.Second }

// fail counts a failure. It returns for how long the object is delayed.
func (k *keeper) fail(o *object) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	d := delay(o.failures)
	o.failures++
	o.until = time.Now().Add(d)
	return d
}

// succeed forgets the failures: the next one is the first.
func (k *keeper) succeed(o *object) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o.failures, o.conflicts, o.until = 0, 0, time.Time{}
	o.alarm++
}

// races is how many conflicts in a row are nothing but that somebody was faster. What goes on
// longer will go on.
const races = 2

// outrun counts a conflict, and says whether it is one of those.
func (k *keeper) outrun(o *object) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	o.conflicts++
	return o.conflicts <= races
}

// dueOrEdited says whether it is time to look at an event: the delay is over, or the spec is
// another than that of the failure.
func (k *keeper) dueOrEdited(_ context.Context, o *object, body *unstructured.Unstructured) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return time.Until(o.until) <= 0 || o.failed != body.GetGeneration()
}

// backOff says on the object what is wrong, and comes back to it on the schedule.
func (k *keeper) backOff(ctx context.Context, o *object, body *unstructured.Unstructured, err error) {
	k.report(ctx, body, err)
	k.comeBack(ctx, o, body, k.fail(o))
}

// comeBack has an object read when its time has come, and handed out as an event would. No worker
// waits for that, and until then only another spec is a reason to look at it.
func (k *keeper) comeBack(ctx context.Context, o *object, body *unstructured.Unstructured, d time.Duration) {
	k.mu.Lock()
	o.until, o.failed = time.Now().Add(d), body.GetGeneration()
	o.alarm++
	alarm := o.alarm
	k.mu.Unlock()
	k.all.Go(func() {
		for pause(ctx, d) {
			k.mu.Lock()
			stale := o.alarm != alarm || o.gone
			k.mu.Unlock()
			if stale {
				return
			}
			latest, err := k.latest(ctx, body)
			k.mu.Lock()
			// Somebody else may come back meanwhile, who must not be made to wait longer by a
			// failure of this one.
			stale = o.alarm != alarm || o.gone
			if err == nil && !stale {
				k.handOut(ctx, o, latest)
			}
			k.mu.Unlock()
			switch {
			case err == nil || stale:
				return
			case errors.Is(err, errVanished):
				k.forget(body)
				return
			}
			d = k.fail(o)
		}
	})
}

// A call that the server could not perform is made so often again at once, with such pauses: after
// that it has failed.
const (
	again    = 2
	patience = 100 * time.Millisecond
)

// patiently makes a call again that was answered with 429 or 5xx. client-go does so by itself only
// if the server says when. Where nothing is heard of the new call, the answer to the one before
// says more.
func (k *keeper) patiently(ctx context.Context, call func() error) error {
	err := call()
	for n := time.Duration(1); n <= again && k.policy.fixed && transient(apierrors.ReasonForError(err)) &&
		pause(ctx, n*patience); n++ {
		if next := call(); next == nil || apierrors.ReasonForError(next) != metav1.StatusReasonUnknown {
			err = next
		}
	}
	return err
}

// transient says whether the server could not perform a request.
func transient(reason metav1.StatusReason) bool {
	switch reason {
	case metav1.StatusReasonTooManyRequests, metav1.StatusReasonInternalError, metav1.StatusReasonServiceUnavailable,
		metav1.StatusReasonServerTimeout, metav1.StatusReasonTimeout:
		return true
	}
	return false
}

// errVanished says that there is nothing left to do for an object.
var errVanished = errors.New("the object has vanished")

// vanished says whether the answer to a write means that. 404 does not where a definition has no
// status subresource, for one, or where it is a webhook that answers so.
func (k *keeper) vanished(ctx context.Context, body *unstructured.Unstructured, answer error) error {
	if _, err := k.latest(ctx, body); err != nil {
		return err
	}
	return fmt.Errorf("patching %s/%s, which is there: %w", body.GetNamespace(), body.GetName(), answer)
}

// another says whether a patch was refused because it is for another UID. That is a conflict to an
// update, but to a patch it is a change of what cannot be changed (apiserver,
// pkg/registry/rest/update.go: Preconditions and BeforeUpdate).
func another(err error) bool {
	return apierrors.IsInvalid(err) &&
		slices.ContainsFunc(details(err).Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

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

// missing says whether it is this object that is not found. An answer of 404 may be about something
// else: a kind that is not served, or a path that a proxy does not know, for which typed clients
// put in the details what they have asked for.
func missing(err error, body *unstructured.Unstructured) bool {
	if !apierrors.IsNotFound(err) || apierrors.IsUnexpectedServerError(err) {
		return false
	}
	d := details(err)
	return d.Group == Examples.Group && d.Kind == Examples.Resource && d.Name == body.GetName()
}

// details are what an answer says of what it is about.
func details(err error) metav1.StatusDetails {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || answer.Status().Details == nil {
		return metav1.StatusDetails{}
	}
	return *answer.Status().Details
}

// HandledCondition says whether the operator has come to an end with the object, or what keeps it
// from that.
const HandledCondition = "Handled"

// Events are written where an object's status is refused.
var Events = schema.GroupVersionResource{Version: "v1", Resource: "events"}

// report writes down an error. Whether that works is not a reason for another error: the object is
// tried again anyway. Nor is it tied to what was read: where another object has the name by now,
// that one's own end is another status, and replaces it.
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
	since := any(time.Now().UTC().Format(time.RFC3339))
	if old["status"] == string(status) && old["observedGeneration"] == body.GetGeneration() {
		since = cmp.Or(old["lastTransitionTime"], since)
	}
	change := map[string]any{"conditions": []any{map[string]any{
		"type": HandledCondition, "status": string(status), "reason": reason, "message": message,
		"observedGeneration": body.GetGeneration(), "lastTransitionTime": since,
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

// failuresSaid is how many failures in a row an object has had by the schedule, by what it says of
// itself: what an earlier incarnation remembered is gone.
func failuresSaid(body *unstructured.Unstructured) (n int) {
	c := condition(body)
	text, _ := c["lastTransitionTime"].(string)
	since, err := time.Parse(time.RFC3339, text)
	if err != nil || c["status"] != string(metav1.ConditionFalse) || c["observedGeneration"] != body.GetGeneration() {
		return 0
	}
	for passed := time.Since(since) - delay(0); passed >= 0 && n < len(delays); n++ {
		passed -= delay(n + 1)
	}
	return n
}
