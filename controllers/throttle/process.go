// This file is the way of an object through its handlers. All that is known of it stands on the
// object.

package throttle

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Finalizer keeps an object until the operator has let go of it.
const Finalizer = Domain + "/KopfFinalizerMarker"

// touch is the annotation by which the operator wakes itself when a handler's time has come.
const touch = Domain + "/touch-dummy"

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
			return 0, k.record(ctx, o, k.same(body), body, h, o.kept[h.ID].value)
		case r.about(body) && r.done():
		case r.about(body) && d > 0:
			if wait == 0 || d < wait {
				wait = d
			}
		default:
			return 0, k.handle(ctx, o, body, h, r)
		}
	}
	if wait == 0 && k.policy.report {
		return 0, k.conclude(ctx, body, records)
	}
	return wait, nil
}

// handle calls a handler and records what came of it: on the body first, then in the status.
func (k *keeper) handle(ctx context.Context, o *object, body *unstructured.Unstructured, h *Handler, r *Record) error {
	if !r.about(body) {
		r = &Record{Change: body.GetGeneration(), Started: now()}
	}
	task := Task{Object: body, Client: k.client, Mute: k.policy.mute}
	if k.policy.intent {
		r.Delayed = later(delay(r.Attempts)) // should nothing be heard of this attempt
		r.Attempts++
		value, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if err := k.record(ctx, o, k.seen(body), body, h, string(value)); err != nil {
			return err
		}
		task.Token = token(body, h)
	}
	result, err := h.Do(ctx, task)
	if ctx.Err() != nil {
		return ctx.Err() // the handler was interrupted
	}
	r.take(h, result, err)
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if k.policy.classify {
		o.kept[h.ID] = outcome{body.GetGeneration(), string(value)}
	}
	if err := k.record(ctx, o, k.same(body), body, h, string(value)); err != nil || !r.Success {
		return err
	}
	if k.policy.report {
		return nil // the event of this write brings it to the end: see conclude
	}
	return k.patch(ctx, body, "status",
		map[string]any{"status": map[string]any{"handlers": map[string]any{h.ID: result}}})
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
	return k.status(ctx, body, k.seen(body), map[string]any{"handlers": results}, metav1.ConditionTrue, "Handled",
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
	maps.Copy(meta, k.seen(body))
	return k.patch(ctx, body, "", map[string]any{"metadata": meta})
}

// seen is the part of a write by which it is refused if somebody else has written since: only the
// fixed variant looks.
func (k *keeper) seen(body *unstructured.Unstructured) map[string]any {
	if !k.policy.intent {
		return nil
	}
	return map[string]any{"resourceVersion": body.GetResourceVersion()}
}

// same is the part of a write by which it is refused if another object has the name by now: only
// the fixed variant looks.
func (k *keeper) same(body *unstructured.Unstructured) map[string]any {
	if !k.policy.classify {
		return nil
	}
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
	case k.policy.classify && (apierrors.IsNotFound(err) || another(err)):
		return k.vanished(ctx, body, err)
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("patching %s/%s: %w", body.GetNamespace(), body.GetName(), err)
	}
	return nil
}
