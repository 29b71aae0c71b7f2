// This file is about who looks after an object, and when: a worker for each, which knows only the
// newest event.

package throttle

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// object is what the operator remembers of one, as long as the incarnation lasts and the object
// exists.
type object struct {
	newest *unstructured.Unstructured // seen and not looked at
	queued bool                       // has a worker or waits for one
	// fresh is signalled with every event.
	fresh chan struct{}
	// failures in a row, until when they throttle the object, and with which generation of it the
	// last one came.
	failures int
	until    time.Time
	failed   int64
	// conflicts since something has succeeded.
	conflicts int
	// alarm numbers what was said last of when to come back; earlier alarms do not count.
	alarm int
	gone  bool
	// kept are outcomes that are not written down yet, by handler. Only the object's worker looks
	// at them.
	kept map[string]outcome
}

// delays follow the first failure, the second, and so on; the last one is for all that come after.
var delays = []time.Duration{1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610}

// fail counts a failure. It returns for how long the object is throttled, or by when it is tried
// again.
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

func delay(failures int) time.Duration { return delays[min(failures, len(delays)-1)] * time.Second }

// event takes in what the watch says. What came before it and was not looked at is forgotten.
func (k *keeper) event(ctx context.Context, body *unstructured.Unstructured) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.objects[body.GetUID()]
	if o == nil {
		o = &object{fresh: make(chan struct{}, 1), kept: map[string]outcome{}}
		k.objects[body.GetUID()] = o
	}
	k.handOut(ctx, o, body)
}

// handOut gives what is newest of an object to its worker, or to one to come. k.mu is held.
func (k *keeper) handOut(ctx context.Context, o *object, body *unstructured.Unstructured) {
	o.newest = body
	select {
	case o.fresh <- struct{}{}:
	default:
	}
	if !o.queued {
		o.queued = true
		k.waiting = append(k.waiting, o)
		k.hire(ctx)
	}
}

func (k *keeper) forget(body *unstructured.Unstructured) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remove(body.GetUID())
}

// keepOnly forgets the objects that a list does not have: the watch before it may have ended
// without a word of their end.
func (k *keeper) keepOnly(listed []unstructured.Unstructured) {
	there := map[types.UID]bool{}
	for i := range listed {
		there[listed[i].GetUID()] = true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for uid := range k.objects {
		if !there[uid] {
			k.remove(uid)
		}
	}
}

// remove has nobody come back to an object. k.mu is held.
func (k *keeper) remove(uid types.UID) {
	if o := k.objects[uid]; o != nil {
		o.gone, o.newest = true, nil
		delete(k.objects, uid)
	}
}

// hire starts workers for those who wait, as far as the cap allows.
func (k *keeper) hire(ctx context.Context) {
	for len(k.waiting) > 0 && (k.Workers == 0 || k.running < k.Workers) {
		o := k.waiting[0]
		k.waiting = k.waiting[1:]
		k.running++
		k.all.Go(func() { k.work(ctx, o) })
	}
}

// work is what a worker does.
func (k *keeper) work(ctx context.Context, o *object) {
	for {
		body := k.next(ctx, o)
		if body == nil {
			return
		}
		if !k.unthrottled(ctx, o, body) {
			continue
		}
		wait, err := k.look(ctx, o, body)
		switch {
		case errors.Is(err, errVanished):
			k.forget(body)
		case k.policy.classify && apierrors.IsConflict(err) && k.outrun(o):
			k.comeBack(ctx, o, body, 0) // no failure: somebody was faster
		case err != nil:
			k.react(ctx, o, body, err)
		case wait > 0 && k.policy.after == backOff:
			k.succeed(o)
			k.comeBack(ctx, o, body, wait)
		case wait > 0:
			k.succeed(o)
			if k.press(ctx, o, wait) {
				if err := k.patch(ctx, body, "", annotation(touch, now())); err != nil {
					k.react(ctx, o, body, err)
				}
			}
		default:
			k.succeed(o)
		}
	}
}

// next waits for an event, gathers those that follow it closely, and takes the newest. It returns
// nil when the worker has ended, because it was idle for long enough or because the program ends.
func (k *keeper) next(ctx context.Context, o *object) *unstructured.Unstructured {
	idle := time.Now().Add(k.policy.idle)
	for {
		k.mu.Lock()
		pending := o.newest != nil
		if !pending && !time.Now().Before(idle) || ctx.Err() != nil {
			o.queued = false
			k.running--
			k.hire(ctx)
			k.mu.Unlock()
			return nil
		}
		k.mu.Unlock()
		if !pending {
			k.press(ctx, o, time.Until(idle))
			continue
		}
		if !pause(ctx, batch) {
			continue
		}
		k.mu.Lock()
		body := o.newest
		o.newest = nil
		select {
		case <-o.fresh:
		default:
		}
		k.mu.Unlock()
		if body != nil {
			return body
		}
	}
}

// putBack returns an event that was taken and not looked at, unless there is a newer one.
func (k *keeper) putBack(o *object, body *unstructured.Unstructured) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if o.newest == nil && !o.gone {
		o.newest = body
	}
}

// press sleeps until d has passed, which it reports, or an event has come.
func (k *keeper) press(ctx context.Context, o *object, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-o.fresh:
	case <-ctx.Done():
	}
	return false
}

// unthrottled says whether it is time to look at an event. A variant that throttles sleeps until it
// is, or until a newer event has come, which will be looked at instead; one that backs off comes
// back by itself, or for another spec.
func (k *keeper) unthrottled(ctx context.Context, o *object, body *unstructured.Unstructured) bool {
	k.mu.Lock()
	d, failed := time.Until(o.until), o.failed
	k.mu.Unlock()
	switch {
	case d <= 0:
		return true
	case k.policy.after == throttle:
		return k.press(ctx, o, d)
	}
	return failed != body.GetGeneration()
}

// look takes one event through: first what the operator itself wrote on the object, then its
// handlers. An error of the former is around the handlers, and not in the reach of what V2 guards.
// It returns how long a handler is to wait.
func (k *keeper) look(ctx context.Context, o *object, body *unstructured.Unstructured) (time.Duration, error) {
	records, err := k.recall(body)
	if err != nil {
		return 0, &aroundError{err}
	}
	return k.process(ctx, o, body, records)
}

// aroundError is an error of the thin layer around the handlers.
type aroundError struct{ error }

func (e *aroundError) Unwrap() error { return e.error }

// react does what the variant does about an error.
func (k *keeper) react(ctx context.Context, o *object, body *unstructured.Unstructured, err error) {
	what := k.policy.after
	if _, ok := err.(*aroundError); ok {
		what = k.policy.around
	}
	if ctx.Err() != nil {
		return
	}
	switch what {
	case swallow:
	case insist:
		if pause(ctx, 500*time.Millisecond) {
			k.putBack(o, body)
		}
	case crash:
		k.die(err)
		<-ctx.Done()
	case throttle:
		k.press(ctx, o, k.fail(o))
	case backOff:
		k.report(ctx, body, err)
		k.comeBack(ctx, o, body, k.fail(o))
	}
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
