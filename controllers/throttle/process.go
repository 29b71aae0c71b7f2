// This file is the way of an object through its handlers, and what is written down of them on the
// object: all that is known of it stands there.

package throttle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"
)

// Domain is the prefix of all annotations of the operator, and Finalizer keeps an object until the
// operator has let go of it.
const Domain, Finalizer = "kopf.zalando.org", Domain + "/KopfFinalizerMarker"

// Handler is called once for every generation of an object.
type Handler struct {
	// ID names it, and the annotation that its progress stands in.
	ID string
	// When says of which objects it is called; nil for all.
	When func(object *unstructured.Unstructured) bool
	// Do is the body. What it returns is shown in the status. An error is temporary unless it is a
	// PermanentError.
	Do func(ctx context.Context, t Task) (result any, err error)
	// Retry is how long after a temporary error it is called again; 60 s if zero. Retries is how
	// many calls there are at most; 0 for any number.
	Retry   time.Duration
	Retries int
}

// PermanentError is an error of a handler that is not worth another call.
type PermanentError struct{ Err error }

func (e *PermanentError) Error() string { return e.Err.Error() }

// Task is what a handler is given.
type Task struct {
	Object *unstructured.Unstructured
	Client dynamic.Interface
	// Token is the same for every call that is about the same generation of the object; empty if
	// the operator cannot promise that.
	Token string
	// Mute handlers are to write to nothing but what they make.
	Mute bool
}

// process takes the object one handler further; the write that records it is the event that leads
// on. If all that is left to do has to wait, it returns for how long. In the end it makes the
// status say what the records say, whatever became of earlier attempts.
func (k *keeper) process(ctx context.Context, o *object, body *unstructured.Unstructured) (wait time.Duration,
	err error) {
	records, err := k.recall(body)
	if err != nil {
		return 0, err
	}
	finalizers := body.GetFinalizers()
	marked, deleted := slices.Contains(finalizers, Finalizer), body.GetDeletionTimestamp() != nil
	switch {
	case deleted && !marked:
		return 0, nil
	case deleted:
		finalizers = slices.DeleteFunc(finalizers, func(f string) bool { return f == Finalizer })
		return 0, k.set(ctx, body, k.policy.tie(body), "finalizers", finalizers)
	case !marked:
		return 0, k.set(ctx, body, k.policy.tie(body), "finalizers", append(finalizers, Finalizer))
	}
	results := map[string]any{}
	for i := range k.Handlers {
		h := &k.Handlers[i]
		switch r := records[h.ID]; {
		case h.When != nil && !h.When(body):
		case o.keeps(body, k.policy.key(h.ID), h):
			return 0, k.conserve(ctx, o, body, h)
		case r.Success:
			results[h.ID] = r.Result
		case r.Failure:
		case time.Until(r.Delayed) > 0:
			wait = min(time.Until(r.Delayed), cmp.Or(wait, math.MaxInt64))
		default:
			return 0, k.policy.handle(k, ctx, o, body, h, r)
		}
	}
	if wait == 0 && k.policy.fixed {
		err = k.status(ctx, body, seen(body), map[string]any{"handlers": results}, metav1.Condition{
			Status: metav1.ConditionTrue, Reason: "Handled", Message: "every handler has been called",
		})
	}
	return wait, err
}

// handle calls a handler. What it is about to do is persisted before, and names what it makes. An
// intent stands on what was read: an answer of 409 says that it was not the newest, which another
// attempt will bring.
func (k *keeper) handle(ctx context.Context, o *object, body *unstructured.Unstructured, h *Handler, r *Record) error {
	r.Delayed = later(delay(r.Attempts)) // should nothing be heard of this attempt
	r.Attempts++
	if err := k.record(ctx, body, seen(body), h, r); err != nil {
		return err
	}
	result, err := h.Do(ctx, Task{Object: body, Client: k.client, Token: token(body, h)})
	if ctx.Err() != nil {
		return ctx.Err() // the handler was interrupted
	}
	r.take(h, result, err)
	o.kept[h.ID] = r
	return k.conserve(ctx, o, body, h)
}

// conserve writes down what a call came to, and keeps it until that has worked: while the input is
// the same the handler need not, and must not, be called again for it. An outcome has happened,
// whatever has become of the object meanwhile; but it is of no other object that may have the name
// by now.
func (k *keeper) conserve(ctx context.Context, o *object, body *unstructured.Unstructured, h *Handler) error {
	same := map[string]any{"uid": string(body.GetUID())}
	err := k.record(ctx, body, same, h, o.kept[h.ID])
	if err == nil {
		delete(o.kept, h.ID)
	}
	return err
}

// keeps says whether there is an outcome for the object as it is that does not stand on it.
func (o *object) keeps(body *unstructured.Unstructured, key string, h *Handler) bool {
	kept := o.kept[h.ID]
	value, err := json.Marshal(kept)
	return err == nil && kept != nil && kept.Change == body.GetGeneration() && string(value) != body.GetAnnotations()[key]
}

// record persists a handler's record.
func (k *keeper) record(ctx context.Context, body *unstructured.Unstructured, tie map[string]any, h *Handler,
	r *Record) error {
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return k.set(ctx, body, tie, "annotations", map[string]any{k.policy.key(h.ID): string(value)})
}

// set changes a part of the metadata. A merge patch replaces lists, and adds to maps.
func (k *keeper) set(ctx context.Context, body *unstructured.Unstructured, tie map[string]any, part string,
	value any) error {
	tie[part] = value
	return k.patch(ctx, body, map[string]any{"metadata": tie})
}

// seen is the metadata by which a write is refused if somebody else has written since. The UID
// would not do for the status, as a custom resource's is written without a look at that
// (apiextensions-apiserver, pkg/registry/customresource/status_strategy.go).
func seen(body *unstructured.Unstructured) map[string]any {
	return map[string]any{"resourceVersion": body.GetResourceVersion()}
}

// patch changes the object or its status. The fixed variant says by errVanished that there is no
// such object any more; the others take every 404 for that, and that for a success. A patch for
// another UID is refused as a change of what cannot be changed (apiserver,
// pkg/registry/rest/update.go: Preconditions and BeforeUpdate); and 404 may be about a definition
// without a status subresource, or a webhook may answer so.
func (k *keeper) patch(ctx context.Context, body *unstructured.Unstructured, change map[string]any,
	subresources ...string) error {
	data, err := json.Marshal(change)
	if err != nil {
		return err
	}
	err = k.patiently(func() error {
		_, err := k.client.Resource(Examples).Namespace(body.GetNamespace()).
			Patch(ctx, body.GetName(), types.MergePatchType, data, metav1.PatchOptions{}, subresources...)
		return err
	})
	cause, _ := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	if k.policy.fixed && (apierrors.IsNotFound(err) || cause.Field == "metadata.uid") {
		if _, unread := k.latest(ctx, body); unread != nil {
			return unread
		}
	}
	if err == nil || apierrors.IsNotFound(err) && !k.policy.fixed {
		return nil
	}
	return fmt.Errorf("patching %s/%s: %w", body.GetNamespace(), body.GetName(), err)
}

// Record is a handler's progress, as it stands in an annotation.
type Record struct {
	// Change is the generation of the object that the handler was called for.
	Change int64 `json:"change"`
	// Started, Stopped and Delayed are times; until the last the handler is not called again.
	Started time.Time `json:"started,omitzero"`
	Stopped time.Time `json:"stopped,omitzero"`
	Delayed time.Time `json:"delayed,omitzero"`
	Retries int       `json:"retries,omitempty"`
	// Attempts are counted before the handler is called, where that is persisted; Retries after it
	// has failed.
	Attempts int  `json:"attempts,omitempty"`
	Success  bool `json:"success,omitempty"`
	Failure  bool `json:"failure,omitempty"`
	// Message is the last error; Result what a successful handler returned.
	Message string `json:"message,omitempty"`
	Result  any    `json:"result,omitempty"`
}

func later(d time.Duration) time.Time { return time.Now().Add(d).UTC() }

// take writes down what a call of the handler came to, by the handler's own policy of retries.
func (r *Record) take(h *Handler, result any, err error) {
	r.Message, r.Delayed = "", time.Time{}
	var permanent *PermanentError
	switch {
	case err == nil:
		r.Success, r.Result, r.Stopped = true, result, later(0)
		return
	case errors.As(err, &permanent) || h.Retries > 0 && r.Retries+1 >= h.Retries:
		r.Failure, r.Stopped = true, later(0)
	default:
		r.Delayed = later(cmp.Or(h.Retry, time.Minute))
	}
	r.Retries++
	r.Message = err.Error()
}

// unreadable is an error in what the operator itself wrote on the object.
type unreadable struct{ error }

// recall reads that, by handler. A record of an earlier generation is none.
func (k *keeper) recall(body *unstructured.Unstructured) (map[string]*Record, error) {
	records := map[string]*Record{}
	for i := range k.Handlers {
		r := &Record{}
		key := k.policy.key(k.Handlers[i].ID)
		if data, ok := body.GetAnnotations()[key]; ok {
			if err := json.Unmarshal([]byte(data), r); err != nil {
				return nil, unreadable{fmt.Errorf("metadata.annotations[%s] cannot be read: %w", key, err)}
			}
		}
		if r.Change != body.GetGeneration() {
			r = &Record{Change: body.GetGeneration(), Started: later(0)}
		}
		records[k.Handlers[i].ID] = r
	}
	return records, nil
}

// plainKey takes the handler's name as it is.
func plainKey(handler string) string { return Domain + "/" + handler }

// legalKey shortens a name that is too long, and puts a hash of the whole in the place of the rest.
func legalKey(handler string) string {
	if len(validation.IsQualifiedName(plainKey(handler))) == 0 {
		return plainKey(handler)
	}
	legal := regexp.MustCompile(`[^-_.0-9A-Za-z]`).ReplaceAllString(handler, "-")
	return Domain + "/h-" + legal[:min(len(legal), 40)] + "-" + digest(handler)
}

// token names what a handler makes for one generation of one object: the same, however often it is
// called.
func token(body *unstructured.Unstructured, h *Handler) string {
	return digest(fmt.Sprintf("%s/%s/%d", body.GetUID(), h.ID, body.GetGeneration()))
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:10] }
