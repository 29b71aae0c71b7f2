// This file is for the two parts of client-go that write Events. One sends requests while it holds
// a mutex; the other may go on for a while after its end.

package wire

import (
	"runtime"
	"slices"
	"strings"
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
