// This file is the way of an object through its handlers, and what is written down of them on the
// object: all that is known of it stands there.

package throttle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
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

// Domain is the prefix of all annotations of the operator.
const Domain = "kopf.zalando.org"

// Finalizer keeps an object until the operator releases it.
const Finalizer = Domain + "/KopfFinalizerMarker"

// Handler is called once for every generation of an object.
type Handler struct {
	// ID names it, and the annotation that its progress stands in.
	ID string
	// When reports whether it is called for an object; nil for all.
	When func(object *unstructured.Unstructured) bool
	// Do is the body. What it returns is shown in the status. An error is temporary.
	Do func(ctx context.Context, t Task) (result any, err error)
	// Retry is how long after an error it is called again; 60 s if zero.
	Retry time.Duration
}

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

// process takes the object one handler further. The write that records it causes the next event. If
// all that is left has to wait, it returns for how long. At the end the status shows the records.
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
		r, kept := records[h.ID], o.kept[h.ID]
		switch {
		case h.When != nil && !h.When(body):
		case kept != nil && kept.Change == r.Change && !kept.Stopped.Equal(r.Stopped): // it is not written down
			return 0, k.conserve(ctx, o, body, h)
		case r.Success:
			results[h.ID] = r.Result
		case time.Until(r.Delayed) > 0:
			wait = min(time.Until(r.Delayed), cmp.Or(wait, math.MaxInt64))
		default:
			return 0, k.policy.handle(k, ctx, o, body, h, r)
		}
	}
	if wait == 0 && k.policy.fixed {
		c := metav1.Condition{Status: metav1.ConditionTrue, Reason: "Handled", Message: "every handler has been called"}
		err = k.status(ctx, body, seen(body), map[string]any{"handlers": results}, c)
	}
	return wait, err
}

// handle calls a handler. It first persists an intent, whose token names what the handler makes. A
// 409 for the intent means that the object was read too early; the next event brings a newer one.
func (k *keeper) handle(ctx context.Context, o *object, body *unstructured.Unstructured, h *Handler, r *Record) error {
	r.Delayed = later(delay(r.Attempts)) // should nothing be heard of this attempt
	r.Attempts++
	if err := k.record(ctx, body, seen(body), h, r); err != nil {
		return err
	}
	token := digest(fmt.Sprintf("%s/%s/%d", body.GetUID(), h.ID, body.GetGeneration()))
	result, err := h.Do(ctx, Task{Object: body, Client: k.client, Token: token})
	if ctx.Err() != nil {
		return ctx.Err() // the handler was interrupted
	}
	r.take(h, result, err)
	o.kept[h.ID] = r
	return k.conserve(ctx, o, body, h)
}

// conserve writes down the outcome of a call, and keeps it until that has worked, because the
// handler must not be called again for the same input. An outcome belongs to one UID only.
func (k *keeper) conserve(ctx context.Context, o *object, body *unstructured.Unstructured, h *Handler) error {
	same := map[string]any{"uid": string(body.GetUID())}
	err := k.record(ctx, body, same, h, o.kept[h.ID])
	if err == nil {
		delete(o.kept, h.ID)
	}
	return err
}

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

// seen is the metadata by which a write is refused if the object has changed since it was read. A
// UID alone does not protect the status (apiextensions-apiserver, status_strategy.go).
func seen(body *unstructured.Unstructured) map[string]any {
	return map[string]any{"resourceVersion": body.GetResourceVersion()}
}

// patch changes the object or its status. The fixed variant returns errVanished if the object no
// longer exists; the others take every 404 for a success. But a 404 may be about a missing status
// subresource, or a webhook's. A patch with another UID is refused (apiserver, update.go:
// BeforeUpdate).
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
	switch notFound := apierrors.IsNotFound(err); {
	case err == nil, notFound && !k.policy.fixed:
		return nil
	case notFound, cause.Field == "metadata.uid":
		if _, unread := k.latest(ctx, body); unread != nil {
			return unread
		}
	}
	return fmt.Errorf("patching %s/%s: %w", body.GetNamespace(), body.GetName(), err)
}

// Record is a handler's progress, as it stands in an annotation.
type Record struct {
	// Change is the generation of the object that the handler was called for.
	Change int64 `json:"change"`
	// Stopped is when the last call ended; until Delayed there is no other.
	Stopped time.Time `json:"stopped,omitzero"`
	Delayed time.Time `json:"delayed,omitzero"`
	// Attempts are counted before the handler is called, where that is persisted.
	Attempts int  `json:"attempts,omitempty"`
	Success  bool `json:"success,omitempty"`
	// Message is the last error; Result what a successful handler returned.
	Message string `json:"message,omitempty"`
	Result  any    `json:"result,omitempty"`
}

func later(d time.Duration) time.Time { return time.Now().Add(d).UTC() }

// take writes down what a call of the handler came to.
func (r *Record) take(h *Handler, result any, err error) {
	r.Stopped, r.Delayed, r.Message = later(0), time.Time{}, ""
	if err != nil {
		r.Delayed, r.Message = later(cmp.Or(h.Retry, time.Minute)), err.Error()
		return
	}
	r.Success, r.Result = true, result
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
			r = &Record{Change: body.GetGeneration()}
		}
		records[k.Handlers[i].ID] = r
	}
	return records, nil
}

// legalKey is the name of a handler's annotation. It shortens one that is too long, and puts a hash
// of the whole in the place of the rest.
func legalKey(handler string) string {
	key := Domain + "/" + handler
	if len(validation.IsQualifiedName(key)) == 0 {
		return key
	}
	legal := regexp.MustCompile(`[^-_.0-9A-Za-z]`).ReplaceAllString(handler, "-")
	return Domain + "/h-" + legal[:min(len(legal), 40)] + "-" + digest(handler)
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:10] }
