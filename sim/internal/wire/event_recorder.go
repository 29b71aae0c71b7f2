// This file holds the rules for requests with which client-go's event broadcasters write Events.
// One broadcaster sends while it holds a mutex, see underLock. The requests of the other
// are kept while an incarnation ends, because their end would draw random numbers: see lingering.

package wire

import (
	"runtime"
	"slices"
	"strings"
	"sync"
)

// underLock reports whether client-go's event broadcaster sends the call to end or refresh a series
// of Events (tools/events/event_broadcaster.go). It holds a mutex until it has its answer, and
// every new Event waits for that mutex. A bubble with a goroutine that waits for a mutex never goes
// quiet. It also takes the series in map order.
func underLock(c *Call) bool {
	if c.Info.Group != "events.k8s.io" || c.Info.Resource != "events" || !c.Writes() {
		return false
	}
	return calledBy("eventBroadcasterImpl).finishSeries", "eventBroadcasterImpl).refreshExistingEventSeries")
}

// recorder reports whether the broadcaster of tools/record sends the call, which
// mgr.GetEventRecorderFor uses. When it is shut down while it sends, or waits to try again, it
// chooses at random between the Events that it still has and its end.
func (c *Call) recorder() bool {
	writes := c.Host == "" && c.Info.Group == "" && c.Info.Resource == "events" && c.Writes()
	return writes && calledBy("tools/record.recordEvent")
}

// mayHaveShutDown reports whether the call comes from a broadcaster of tools/record that may have
// been shut down already: one that the program gave the context of its main function. Such a
// broadcaster chooses at random between the Events that it still has and its end, so its requests
// are not sent. A manager ends its broadcaster last.
func (c *Call) mayHaveShutDown() bool {
	return c.Port.Owner != nil && c.Port.Owner.EndsByContext() && c.recorder()
}

// calledBy reports whether the calling goroutine is in a function whose name contains one of these.
func calledBy(names ...string) bool {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if slices.ContainsFunc(names, func(s string) bool { return strings.Contains(f.Function, s) }) {
			return true
		}
		if !more {
			return false
		}
	}
}

// lingers reports whether a call of a dead incarnation waits until its goroutines may end. Every
// other one is refused.
//
//   - After an error the event recorder draws a random number, to know when to try again. Later
//     incarnations would get other random numbers from run to run.
//   - After an error a leader loses its lease. controller-runtime notes that without a mutex while
//     it stops, which is a data race. No real process has it, as a killed one notes nothing.
func lingers(c *Call) bool { return c.recorder() || c.Idle() && calledBy("LeaderElector).renew.") }

// lingering are the calls of dead incarnations that linger.
type lingering struct {
	mu        sync.Mutex
	all       []*Call
	dismissed map[*Port]bool // the goroutines of these dead incarnations may end
	over      bool           // the run has ended, and nothing lingers any more
}

// add reports whether the call lingers.
func (l *lingering) add(call *Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.dismissed[call.Port] {
		return false
	}
	l.all = append(l.all, call)
	return true
}

// release removes the kept calls of one port, or of all ports for nil, and returns them.
func (l *lingering) release(p *Port) (out []*Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dismissed == nil {
		l.dismissed = map[*Port]bool{}
	}
	l.dismissed[p], l.over = true, l.over || p == nil
	l.all = slices.DeleteFunc(l.all, func(call *Call) bool {
		ends := p == nil || call.Port == p
		if ends {
			out = append(out, call)
		}
		return ends
	})
	return out
}
