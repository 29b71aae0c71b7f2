// This file is the way of an object through its handlers, and what is written down of them on the
// object: all that is known of it stands there.

package throttle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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

func (h *Handler) retry() time.Duration { return cmp.Or(h.Retry, time.Minute) }

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
// on. If all that is left to do has to wait, it returns for how long.
func (k *keeper) process(ctx context.Context, o *object, body *unstructured.Unstructured,
	records map[string]*Record) (time.Duration, error) {
	marked := slices.Contains(body.GetFinalizers(), Finalizer)
	switch {
	case body.GetDeletionTimestamp() != nil && marked:
		left := slices.DeleteFunc(slices.Clone(body.GetFinalizers()), func(f string) bool { return f == Finalizer })
		return 0, k.finalizers(ctx, body, left)
	case body.GetDeletionTimestamp() != nil:
		return 0, nil
	case !marked:
		return 0, k.finalizers(ctx, body, append(body.GetFinalizers(), Finalizer))
	}
	var wait time.Duration
	for i := range k.Handlers {
		h := &k.Handlers[i]
		r := records[h.ID]
		switch d := r.wait(); {
		case h.When != nil && !h.When(body):
		case o.keeps(body, k.policy.key(h.ID), h):
			return 0, k.record(ctx, o, same(body), body, h, o.kept[h.ID].value)
		case r.about(body) && r.done():
		case r.about(body) && d > 0:
			if wait == 0 || d < wait {
				wait = d
			}
		default:
			if !r.about(body) {
				r = &Record{Change: body.GetGeneration(), Started: now()}
			}
			return 0, k.policy.handle(k, ctx, o, body, h, r)
		}
	}
	if wait == 0 && k.policy.fixed {
		return 0, k.conclude(ctx, body, records)
	}
	return wait, nil
}

// handle calls a handler. What it is about to do is persisted before, and names what it makes; what
// came of it is kept until it is written down.
func (k *keeper) handle(ctx context.Context, o *object, body *unstructured.Unstructured, h *Handler, r *Record) error {
	r.Delayed = later(delay(r.Attempts)) // should nothing be heard of this attempt
	r.Attempts++
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := k.record(ctx, o, seen(body), body, h, string(value)); err != nil {
		return err
	}
	result, err := h.Do(ctx, Task{Object: body, Client: k.client, Token: token(body, h)})
	if ctx.Err() != nil {
		return ctx.Err() // the handler was interrupted
	}
	r.take(h, result, err)
	if value, err = json.Marshal(r); err != nil {
		return err
	}
	o.kept[h.ID] = outcome{body.GetGeneration(), string(value)}
	return k.record(ctx, o, same(body), body, h, string(value)) // its event leads on: see conclude
}

// conclude makes the status say what the records say, whatever became of earlier attempts. It is
// written to nothing but what was read: the UID would not do, for a custom resource's status is
// written without a look at that (apiextensions-apiserver,
// pkg/registry/customresource/status_strategy.go).
func (k *keeper) conclude(ctx context.Context, body *unstructured.Unstructured, records map[string]*Record) error {
	results := map[string]any{}
	for i := range k.Handlers {
		if r := records[k.Handlers[i].ID]; r.about(body) && r.Success {
			results[k.Handlers[i].ID] = r.Result
		}
	}
	return k.status(ctx, body, seen(body), map[string]any{"handlers": results}, metav1.ConditionTrue, "Handled",
		"every handler has been called")
}

// record persists a handler's record. An intent stands on what was read: an answer of 409 says that
// it was not the newest, which another attempt will bring. An outcome has happened, whatever has
// become of the object meanwhile; but it is of no other object that may have the name by now.
func (k *keeper) record(ctx context.Context, o *object, only map[string]any, body *unstructured.Unstructured,
	h *Handler, value string) error {
	change := annotation(k.policy.key(h.ID), value)
	maps.Copy(change["metadata"].(map[string]any), only)
	err := k.patch(ctx, body, "", change)
	if err == nil && o.kept[h.ID].value == value {
		delete(o.kept, h.ID)
	}
	return err
}

// outcome is what a call came to and what could not be written down yet. While the input is the
// same the handler need not, and must not, be called again for it: only the write is tried again.
type outcome struct {
	change int64
	value  string
}

// keeps says whether there is an outcome for the object as it is that does not stand on it.
func (o *object) keeps(body *unstructured.Unstructured, key string, h *Handler) bool {
	kept, ok := o.kept[h.ID]
	return ok && kept.change == body.GetGeneration() && kept.value != body.GetAnnotations()[key]
}

// finalizers replaces the list, which is what a merge patch does with lists.
func (k *keeper) finalizers(ctx context.Context, body *unstructured.Unstructured, list []string) error {
	meta := map[string]any{"finalizers": list}
	if k.policy.fixed {
		maps.Copy(meta, seen(body))
	}
	return k.patch(ctx, body, "", map[string]any{"metadata": meta})
}

// seen is the part of a write by which it is refused if somebody else has written since.
func seen(body *unstructured.Unstructured) map[string]any {
	return map[string]any{"resourceVersion": body.GetResourceVersion()}
}

// same is the part of a write by which it is refused if another object has the name by now.
func same(body *unstructured.Unstructured) map[string]any {
	return map[string]any{"uid": string(body.GetUID())}
}

func annotation(key, value string) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}}
}

// patch changes the object or its status. The fixed variant says by errVanished that there is no
// such object any more; the others take every 404 for that, and that for a success.
func (k *keeper) patch(ctx context.Context, body *unstructured.Unstructured, sub string, change map[string]any) error {
	data, err := json.Marshal(change)
	if err != nil {
		return err
	}
	var subs []string
	if sub != "" {
		subs = []string{sub}
	}
	err = k.patiently(ctx, func() error {
		_, err := k.client.Resource(Examples).Namespace(body.GetNamespace()).
			Patch(ctx, body.GetName(), types.MergePatchType, data, metav1.PatchOptions{}, subs...)
		return err
	})
	switch {
	case k.policy.fixed && (apierrors.IsNotFound(err) || another(err)):
		return k.vanished(ctx, body, err)
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("patching %s/%s: %w", body.GetNamespace(), body.GetName(), err)
	}
	return nil
}

// Record is a handler's progress, as it stands in an annotation.
type Record struct {
	// Change is the generation of the object that the handler was called for.
	Change int64 `json:"change"`
	// Started, Stopped and Delayed are times; until the last the handler is not called again.
	Started string `json:"started,omitempty"`
	Stopped string `json:"stopped,omitempty"`
	Delayed string `json:"delayed,omitempty"`
	Retries int    `json:"retries,omitempty"`
	// Attempts are counted before the handler is called, where that is persisted; Retries after it
	// has failed.
	Attempts int  `json:"attempts,omitempty"`
	Success  bool `json:"success,omitempty"`
	Failure  bool `json:"failure,omitempty"`
	// Message is the last error; Result what a successful handler returned.
	Message string `json:"message,omitempty"`
	Result  any    `json:"result,omitempty"`
}

func now() string { return later(0) }

func later(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339Nano) }

// about says whether there is a record of the object's present generation.
func (r *Record) about(body *unstructured.Unstructured) bool {
	return r != nil && r.Change == body.GetGeneration()
}

func (r *Record) done() bool { return r.Success || r.Failure }

// wait is how long the handler must not be called again.
func (r *Record) wait() time.Duration {
	if r == nil || r.Delayed == "" {
		return 0
	}
	until, err := time.Parse(time.RFC3339Nano, r.Delayed)
	if err != nil {
		return 0
	}
	return time.Until(until)
}

// take writes down what a call of the handler came to, by the handler's own policy of retries.
func (r *Record) take(h *Handler, result any, err error) {
	r.Message, r.Delayed = "", ""
	var permanent *PermanentError
	switch {
	case err == nil:
		r.Success, r.Result, r.Stopped = true, result, now()
		return
	case errors.As(err, &permanent) || h.Retries > 0 && r.Retries+1 >= h.Retries:
		r.Failure, r.Stopped = true, now()
	default:
		r.Delayed = later(h.retry())
	}
	r.Retries++
	r.Message = err.Error()
}

// recall reads what the operator wrote on the object, by handler.
func (k *keeper) recall(body *unstructured.Unstructured) (map[string]*Record, error) {
	records := map[string]*Record{}
	for i := range k.Handlers {
		id := k.Handlers[i].ID
		data, ok := body.GetAnnotations()[k.policy.key(id)]
		if !ok {
			continue
		}
		r := &Record{}
		if err := json.Unmarshal([]byte(data), r); err != nil {
			return nil, fmt.Errorf("metadata.annotations[%s] cannot be read: %w", k.policy.key(id), err)
		}
		records[id] = r
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
	hash := sha256.Sum256([]byte(handler))
	legal := strings.Map(func(r rune) rune {
		if r < 128 &&
			(r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '-'
	}, handler)
	return Domain + "/h-" + legal[:min(len(legal), 40)] + "-" + hex.EncodeToString(hash[:5])
}

// token names what a handler makes for one generation of one object: the same, however often it is
// called.
func token(body *unstructured.Unstructured, h *Handler) string {
	hash := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", body.GetUID(), h.ID, body.GetGeneration()))
	return hex.EncodeToString(hash[:5])
}
