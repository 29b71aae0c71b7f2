package property

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
)

// BackoffSettled holds if a controller that keeps failing does so at the pace of its back-off: it
// makes one attempt in each back-off period of a key, and the back-off does not shrink. For Always.
//
// An attempt is a reconcile that sends a request for which attempt returns true. If attempt is nil,
// any request counts that may change something other than a status, a Lease or an Event. A back-off
// period begins with a dequeue that the back-off timer caused, and ends with the next such dequeue.
// Dequeues by watch events, resyncs and other timers lie within a period. The property is judged
// from the first back-off whose delay is longer than slowest, the time that clean-ups in the
// scenario take.
//
// It starts again after a disturbance, after an informer has listed again, and when an attempt
// succeeds: the reconcile ends without an error, and none of its requests that count was refused.
// Creating an object that exists, or deleting one that does not, is a success. It also starts again
// when a watch event arrives whose change was committed before the period began or by a reconcile
// of another key, or that is the key's first creation or first change of an object of its kind
// since the last disturbance. Changes of a status do not count.
func BackoffSettled(controller string, slowest time.Duration,
	attempt func(*history.Event) bool) Property {
	if attempt == nil {
		attempt = mutates
	}
	return perRun(func() judge {
		b := backOffs{controller, slowest, attempt, map[string]*period{}, map[revisionOf]commit{}, map[string]bool{}}
		var disturbed disturbances
		return judge{event: func(_ *history.History, e *history.Event) error {
			if disturbed.by(e) {
				clear(b.periods)
				clear(b.done)
			}
			b.learn(e)
			if e.Reconcile.Controller != controller {
				return nil
			}
			return b.event(e, e.Actor()+" "+e.Reconcile.Key.String())
		}}
	})
}

// backOffs are the back-off periods of a controller's keys.
type backOffs struct {
	controller string
	slowest    time.Duration
	attempt    func(*history.Event) bool
	periods    map[string]*period // by incarnation and key
	committed  map[revisionOf]commit
	done       map[string]bool // by key: kinds that it has created or changed since the last disturbance
}

// commit is when a change was committed, and by which key of which incarnation.
type commit struct {
	at       history.Time
	by       string
	progress bool
}

// revisionOf is a resource version of one cluster.
type revisionOf struct {
	cluster  string
	revision int64
}

// period is a back-off period that has begun.
type period struct {
	delay    time.Duration // the back-off that led to it
	begun    history.Time
	attempts int
	last     history.Reconcile // that made the last attempt
	cause    history.Cause     // of the last dequeue
	refused  bool              // an attempt of the current reconcile was
}

// learn restarts the periods of keys that a list reaches, that a watch event reaches late, or that
// it informs of a change by another key or of progress.
func (b *backOffs) learn(e *history.Event) {
	for _, c := range e.Changes {
		key := e.Reconcile.Key.String()
		did := strings.Join([]string{e.Process, key, c.Type, c.Ref.Group, c.Ref.Kind}, " ")
		b.committed[revisionOf{c.Ref.Cluster, c.Revision}] = commit{c.At, e.Actor() + " " + key,
			e.Sub != "status" && e.Verb != "delete" && !b.done[did]}
		b.done[did] = b.done[did] || e.Sub != "status"
	}
	listed := gotList(e)
	if e.Kind != history.Deliver && !listed {
		return
	}
	change, known := b.committed[revisionOf{e.Ref.Cluster, e.Revision}]
	maps.DeleteFunc(b.periods, func(name string, p *period) bool {
		return (listed || known && (change.at < p.begun || change.by != name || change.progress)) &&
			strings.HasPrefix(name, e.Actor()+" ")
	})
}

// gotList reports whether an informer has got a list: as one reply, or as watch events.
func gotList(e *history.Event) bool {
	return e.Kind == history.Reply && e.Verb == "list" && e.Reconcile.None() ||
		e.Kind == history.Deliver && e.Verb == "LIST"
}

// event judges an event of the controller, about the key with the name.
func (b *backOffs) event(e *history.Event, name string) error {
	p := b.periods[name]
	if p == nil {
		if e.Kind == history.Dequeue && e.Cause.Kind == history.CauseBackOff && e.Wait > b.slowest {
			b.periods[name] = &period{delay: e.Wait, begun: e.At}
		}
		return nil
	}
	switch e.Kind {
	case history.Dequeue:
		p.refused = false
		if e.Cause.Kind != history.CauseBackOff {
			p.cause = e.Cause
			return nil
		}
		if breaks("BackoffSettled: the back-off shrinks", e.Wait < p.delay) {
			return fmt.Errorf("the back-off of %s shrank from %v (until %s) to %v (until %s)",
				name, p.delay, history.Clock(p.begun), e.Wait, history.Clock(e.At))
		}
		*p = period{delay: e.Wait, begun: e.At}
	case history.Request:
		if !b.attempt(e) {
			return nil
		}
		p.refused = p.refused || e.Code >= http.StatusBadRequest && !doneAlready(e)
		if p.last == e.Reconcile {
			return nil
		}
		p.attempts++
		if breaks("BackoffSettled: a second attempt", p.attempts > 1) {
			return fmt.Errorf("%s made attempt %d in the back-off period that began at %s: %s in reconcile %q, "+
				"because of %s", name, p.attempts, history.Clock(p.begun), what(e), e.Reconcile.String(), p.cause)
		}
		p.last = e.Reconcile
	case history.Done:
		if p.last == e.Reconcile && !p.refused && (e.Outcome.OK() || e.Outcome.Kind == history.OutcomeRequeueAfter) {
			delete(b.periods, name)
		}
	}
	return nil
}

// doneAlready reports whether a request was refused because its effect was there.
func doneAlready(e *history.Event) bool {
	return e.Verb == "create" && e.Code == http.StatusConflict || e.Verb == "delete" && e.Code == http.StatusNotFound
}

// mutates reports whether a request may change something other than a status, a Lease or an Event.
func mutates(e *history.Event) bool {
	switch e.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return e.Sub != "status" && !e.Ref.Chatter()
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

// NoStarvation holds if no key, or none of the given keys, waits for a worker for longer than bound
// (virtual time) after its queue could have handed it out. For Always. A key waits while all
// workers are busy with other keys, so a bound of a few seconds finds reconcilers that block. The
// key's own last reconcile does not count as waiting, nor does time in which the process does not
// lead, or is frozen by fault.Pause.
func NoStarvation(bound time.Duration, of ...history.Key) Property {
	return perRun(func() judge {
		return judge{event: func(_ *history.History, e *history.Event) error {
			judged := e.Kind == history.Dequeue && (len(of) == 0 || slices.Contains(of, e.Reconcile.Key))
			if judged && breaks("NoStarvation: a long wait", e.At-e.Ready > bound) {
				return fmt.Errorf("%s %s was ready at %s and got a worker at %s, %v later; %v are allowed",
					e.Actor(), e.Reconcile.Key, history.Clock(e.Ready), history.Clock(e.At), e.At-e.Ready, bound)
			}
			return nil
		}}
	})
}

// NoPanic holds if no reconcile panics and none ends its goroutine with runtime.Goexit. For Always;
// it is a default property. controller-runtime recovers panics and retries with back-off, unless
// RecoverPanic is false. A test that looks only at objects may not notice. Without recovery the
// process dies and is restarted. A worker whose goroutine has ended is not replaced, and its key is
// not retried.
func NoPanic() Property {
	return perRun(func() judge {
		return judge{event: func(_ *history.History, e *history.Event) error {
			if e.Kind == history.Done &&
				breaks("NoPanic: an outcome that is the goroutine's exit",
					e.Outcome.Kind == history.OutcomeGoroutineExit) {
				return fmt.Errorf("reconcile %q of %s ended its goroutine at %s by runtime.Goexit, "+
					"as t.FailNow does%s: its worker is gone and takes no further key; return an error instead",
					e.Reconcile.String(), e.Actor(), history.Clock(e.At), line(e))
			}
			if e.Kind == history.Done &&
				breaks("NoPanic: an outcome that is a panic", e.Outcome.Kind == history.OutcomePanic) {
				return fmt.Errorf("reconcile %q of %s panicked at %s%s: %s", e.Reconcile.String(), e.Actor(),
					history.Clock(e.At), line(e), e.Outcome.Text)
			}
			return nil
		}}
	})
}

// line is where the program ended a reconcile, for a sentence; "" if that is not known.
func line(e *history.Event) string {
	if e.Source == "" {
		return ""
	}
	return " in " + e.Source
}

// CacheUntouched holds if no program changes an object of an informer's cache in place. For Always;
// it is a default property. All readers share the objects of a cache. Handlers, predicates and
// mapping functions receive the shared objects themselves, and so do readers with
// UnsafeDisableDeepCopy. The harness compares each object with what the server sent: when it leaves
// the cache, at each Settle and at the end of the run.
func CacheUntouched() Property {
	return perRun(func() judge {
		return judge{event: func(_ *history.History, e *history.Event) error {
			if breaks("CacheUntouched: a change in place", e.Kind == history.Mutation) {
				return fmt.Errorf("%s (rv %d) was changed in place in a cache of %s: %s", e.Ref, e.Revision, e.Actor(),
					e.Note)
			}
			return nil
		}}
	})
}
