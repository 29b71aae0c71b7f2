package process

import (
	"runtime"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
)

// keys are the records of the keys of one queue, which guards them with its mutex.
type keys struct {
	controller string
	priority   bool          // which queue's rules hold
	next       time.Duration // no timer is due before; after it some may have fired since the last quiet moment
	all        map[request]*key
	// live are the keys of which something may be pending or in progress: those that were used
	// since the last look through them, and those of which something was pending then.
	live map[request]*key
}

func newKeys(controller string, priority bool) keys {
	return keys{controller, priority, never, map[request]*key{}, map[request]*key{}}
}

// of returns the record of a key.
func (k *keys) of(item request) *key {
	one := k.all[item]
	if one == nil {
		one = &key{priority: k.priority}
		one.fired, one.owed = map[history.CauseKind]int{}, map[history.CauseKind]time.Duration{}
		k.all[item] = one
	}
	k.live[item] = one
	return one
}

// named is a key of the controller in the history.
func (k *keys) named(item request) history.Key {
	return history.Key{Controller: k.controller, Namespace: item.Namespace, Name: item.Name}
}

// each calls f for every key of which something is pending or in progress, in no order, until f
// returns false.
func (k *keys) each(f func(request, *key) bool) {
	for item, one := range k.live {
		if one.idle() {
			delete(k.live, item)
		} else if !f(item, one) {
			return
		}
	}
}

// fire fires the timers that are due. The world must be quiet.
func (k *keys) fire(now time.Duration) {
	if k.next > now {
		return
	}
	k.next = never
	k.each(func(_ request, one *key) bool {
		if one.fire(now); one.timer != nil {
			k.next = min(k.next, one.timer.due)
		}
		return true
	})
}

// after notes a timer.
func (k *keys) after(item request, t timer) {
	if k.of(item).after(t) {
		k.next = min(k.next, t.due)
	}
}

// shut forgets what is pending.
func (k *keys) shut() {
	k.next = never
	for _, one := range k.live {
		one.shut()
	}
}

// causeWithoutStep is the cause of an add that follows no step but the passing of time. It is an
// informer that repeats what it had already (for a handler that joins late, or as a resync), or a
// goroutine of the program's own through a channel.
func (k *keys) causeWithoutStep(item request) history.Cause {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		fromInformer := strings.Contains(f.Function, "tools/cache.(*processorListener)") ||
			strings.HasSuffix(f.Function, "(*orderedHandler).deliverReady")
		switch {
		case fromInformer && k.all[item] == nil:
			return history.Cause{Kind: history.CauseInitialList}
		case fromInformer:
			return history.Cause{Kind: history.CauseResync}
		case !more:
			return history.Cause{Kind: history.CauseChannel}
		}
	}
}
