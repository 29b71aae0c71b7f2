package process

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"

	"github.com/wavetank/wavetank/history"
)

// A key that was put off is dequeued when virtual time has been set to its time, or when its timer
// is asked for. No time passes.
func TestScriptedTimersDoNotWait(t *testing.T) {
	for _, priority := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { scriptedTimers(t, priority) })
	}
}

func scriptedTimers(t *testing.T, priority bool) {
	w := newWorld()
	w.ScriptedTimers = true
	s := w.Sched
	s.SetNow(0)
	w.Start("op", func(ctx context.Context, cfg *rest.Config) error {
		i, err := IncarnationOf(cfg)
		if err != nil {
			return err
		}
		backOff := workqueue.NewTypedItemExponentialFailureRateLimiter[request](time.Minute, time.Hour)
		lim := &limiter{rateLimiter: backOff}
		var q workQueue
		q, lim.q = i.controllers.observeQueue(&observedController{name: "c"}, plainQueue(priority, lim))
		defer q.ShutDown()
		q.AddAfter(request{NamespacedName: types.NamespacedName{Name: "timer"}}, time.Hour)
		q.AddRateLimited(request{NamespacedName: types.NamespacedName{Name: "back-off"}})
		go func() {
			for item, down := q.Get(); !down; item, down = q.Get() {
				q.Done(item)
			}
		}()
		<-ctx.Done()
		return nil
	}, Settings{})
	began := time.Now()
	dequeues := func() (out []string) {
		s.Quiesce()
		for _, a := range s.Pending() {
			if strings.HasPrefix(a.Words(), "hand-out of ") {
				s.Perform(a)
			}
		}
		for _, e := range w.History.Events {
			if e.Kind == history.Dequeue {
				name := e.Reconcile.Key.Name
				out = append(out, fmt.Sprintf("%s at %v, ready at %v after %v", name, e.At, e.Ready, e.Wait))
			}
		}
		return out
	}
	for _, a := range s.Pending() {
		s.Perform(a)
	}
	if got := dequeues(); got != nil {
		t.Errorf("priority %t, at first: %q", priority, got)
	}
	s.SetNow(time.Minute)
	want := []string{"back-off at 1m0s, ready at 1m0s after 1m0s"}
	if got := dequeues(); !slices.Equal(got, want) {
		t.Errorf("priority %t, after a minute: %q, want %q", priority, got, want)
	}
	for _, name := range []string{"back-off", "timer"} {
		found := w.FireTimer(func(words string) bool { return strings.Contains(words, name) })
		if found != (name == "timer") {
			t.Errorf("priority %t: a timer of %s is pending: %t", priority, name, found)
		}
	}
	want = append(want, "timer at 1m0s, ready at 1m0s after 1h0m0s")
	if got := dequeues(); !slices.Equal(got, want) {
		t.Errorf("priority %t, when the timer was asked for: %q, want %q", priority, got, want)
	}
	if d := time.Since(began); d > 0 {
		t.Errorf("priority %t: it took %v", priority, d)
	}
	w.Teardown(synctest.Wait)
}
