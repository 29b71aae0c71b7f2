// This file holds the variants: one policy each, and a line for each step from the framework as it
// was to the fixed one. To copy the fixed one, take its policy alone.

package throttle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Variant names one stage of the story. The zero value is V4, the one to use.
type Variant string

// The variants, in the order of the story.
const (
	// V0a logs an error of the framework and continues. The handlers' own writes cause the events
	// of its hot loop.
	V0a Variant = "V0a"
	// V0b is V0a where handlers write to nothing but their children, so that no event follows.
	V0b Variant = "V0b"
	// V0c tries an object again half a second after a failure.
	V0c Variant = "V0c"
	// V1 ends the process, and leaves the rest to the kubelet: pull request 350.
	V1 Variant = "V1"
	// V1h is V1 whose handlers have no error handling of their own.
	V1h Variant = "V1h"
	// V2 throttles the object: pull request 351.
	V2 Variant = "V2"
	// V1V2 is what shipped: V2 for what happens to an object, V1 for the thin layer around it.
	V1V2 Variant = "V1+V2"
	// V3 is V0a with names of annotations that are always legal.
	V3 Variant = "V3"
	// V4w is V4 with a watcher that swallows its errors and asks again.
	V4w Variant = "V4w"
	// V4 is the fixed variant.
	V4 Variant = "V4"
)

// policy is the set of decisions in which the variants differ.
type policy struct {
	// after follows an error on the way of an object through its handlers; around, in the variants
	// that distinguish that, one outside of it.
	after, around func(*keeper, context.Context, *object, *unstructured.Unstructured, error)
	// due reports whether it is time to look at an event. It may wait for that.
	due func(*keeper, context.Context, *object, *unstructured.Unstructured) bool
	// wait has an object looked at again when a handler's own delay is over.
	wait func(*keeper, context.Context, *object, *unstructured.Unstructured, time.Duration)
	// handle calls a handler and writes down what came of it.
	handle func(*keeper, context.Context, *object, *unstructured.Unstructured, *Handler, *Record) error
	key    func(handler string) string
	// fixed has answers of the API server distinguished, and written down on the object what is
	// refused: see answers.go.
	fixed bool
	// mute keeps handlers from writing to the object that they are called for.
	mute bool
	// unhandled passes an error of a handler on as one of the framework.
	unhandled bool
	// tries is how often a call is made that the server could not perform.
	tries int
	// tie is the metadata that a write to the finalizers is tied to.
	tie func(*unstructured.Unstructured) map[string]any
	// watched follows an error of a watcher that another list cannot mend.
	watched func(*keeper, error)
	// linger reports whether a worker keeps its object. It may wait for an event of it.
	linger func(*keeper, context.Context, *object) bool
}

func policies() map[Variant]policy {
	v0a := policy{
		after: swallow, due: (*keeper).dueOrEdited, wait: (*keeper).touchLater,
		handle: (*keeper).handleFirst, key: plainKey, tie: loose, linger: (*keeper).linger, tries: 1,
		watched: (*keeper).stopWatching,
	}
	v0b, v0c, v1, v2, v3 := v0a, v0a, v0a, v0a, v0a
	v0b.mute = true
	v0c.after = (*keeper).insist
	v1.after = (*keeper).crash
	v1h := v1
	v1h.unhandled = true
	v2.after, v2.around, v2.due = (*keeper).throttle, swallow, (*keeper).sleepUntilDue
	v1v2 := v2
	v1v2.around = (*keeper).crash
	v3.key = legalKey
	v4 := policy{
		after: (*keeper).backOff, due: (*keeper).dueOrEdited, wait: (*keeper).comeBack,
		handle: (*keeper).handle, key: legalKey, fixed: true, tie: seen, tries: 3,
		linger: func(*keeper, context.Context, *object) bool { return false }, watched: (*keeper).stopWatching,
	}
	v4w := v4
	v4w.watched = func(*keeper, error) {}
	return map[Variant]policy{V0a: v0a, V0b: v0b, V0c: v0c, V1: v1, V1h: v1h, V2: v2, V1V2: v1v2, V3: v3, V4w: v4w,
		V4: v4, "": v4}
}

// Variants lists every variant in the order of the story.
func Variants() []Variant { return []Variant{V0a, V0b, V0c, V1, V1h, V2, V1V2, V3, V4w, V4} }

func (v Variant) policy() (policy, error) {
	p, ok := policies()[v]
	if !ok {
		return policy{}, fmt.Errorf("throttle: there is no variant %q; the variants are %v", string(v), Variants())
	}
	return p, nil
}

func plainKey(handler string) string { return Domain + "/" + handler }

// loose is what a write has that is tied to nothing.
func loose(*unstructured.Unstructured) map[string]any { return map[string]any{} }

// swallow loses the event.
func swallow(*keeper, context.Context, *object, *unstructured.Unstructured, error) {}

// insist tries the object again half a second later, or a newer event of it.
func (k *keeper) insist(ctx context.Context, o *object, body *unstructured.Unstructured, _ error) {
	if pause(ctx, 500*time.Millisecond) {
		k.putBack(o, body)
	}
}

// putBack has an event looked at, unless there is a newer one or the object is gone.
func (k *keeper) putBack(o *object, body *unstructured.Unstructured) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.objects[body.GetUID()] == o && len(o.events) == 0 {
		o.events <- body
	}
}

// press sleeps until d has passed, which it reports, or an event has come.
func (k *keeper) press(ctx context.Context, o *object, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case body := <-o.events:
		k.putBack(o, body)
	case <-ctx.Done():
	}
	return false
}

// linger keeps the worker for another event of the object, for five seconds.
func (k *keeper) linger(ctx context.Context, o *object) bool {
	const idle = 5 * time.Second
	for end := time.Now().Add(idle); len(o.events) == 0 && time.Now().Before(end) && ctx.Err() == nil; {
		k.press(ctx, o, time.Until(end))
	}
	return len(o.events) > 0
}

func (k *keeper) crash(ctx context.Context, _ *object, _ *unstructured.Unstructured, err error) {
	k.die(err)
	<-ctx.Done()
}

// throttle sleeps before the worker looks at the newest event.
func (k *keeper) throttle(ctx context.Context, o *object, body *unstructured.Unstructured, err error) {
	if errors.As(err, &unreadable{}) {
		k.policy.around(k, ctx, o, body, err)
		return
	}
	k.mu.Lock()
	d := o.fail()
	k.mu.Unlock()
	k.press(ctx, o, d)
}

// sleepUntilDue sleeps until the delay is over, or until a newer event has come, which will be
// looked at instead.
func (k *keeper) sleepUntilDue(ctx context.Context, o *object, _ *unstructured.Unstructured) bool {
	k.mu.Lock()
	d := time.Until(o.until)
	k.mu.Unlock()
	return d <= 0 || k.press(ctx, o, d)
}

// touchLater wakes the operator by an annotation when a handler's time has come.
func (k *keeper) touchLater(ctx context.Context, o *object, body *unstructured.Unstructured, d time.Duration) {
	if !k.press(ctx, o, d) {
		return
	}
	touch := map[string]any{Domain + "/touch-dummy": later(0).Format(time.RFC3339Nano)}
	err := k.set(ctx, body, loose(body), "annotations", touch)
	if err != nil && ctx.Err() == nil {
		k.policy.after(k, ctx, o, body, err)
	}
}

// handleFirst writes down what came of a handler's call: on the body first, then in the status.
func (k *keeper) handleFirst(ctx context.Context, _ *object, body *unstructured.Unstructured, h *Handler,
	r *Record) error {
	result, err := h.Do(ctx, Task{Object: body, Client: k.client, Mute: k.policy.mute})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && k.policy.unhandled {
		return err
	}
	r.take(h, result, err)
	if err := k.record(ctx, body, loose(body), h, r); err != nil || !r.Success {
		return err
	}
	return k.patch(ctx, body,
		map[string]any{"status": map[string]any{"handlers": map[string]any{h.ID: result}}}, "status")
}
