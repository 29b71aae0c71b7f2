// This file exists for two clients of client-go's that write Events: one talks to the server while it holds a mutex, the other
// may go on for a while when it has ended.

package wire

import (
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/wavetank/wavetank/models/apiserver"
)

// underLock says whether the event broadcaster of client-go ends or refreshes its series of Events
// (tools/events/event_broadcaster.go): it holds, until it has its answer, the mutex that every new Event of the program
// waits for, and a goroutine that waits for a mutex never lets the bubble go quiet. It also takes the series in the order
// of a map.
func (c *Call) underLock() bool {
	if c.Info.Group != "events.k8s.io" || c.Info.Resource != "events" || !c.Writes() {
		return false
	}
	return calledBy("eventBroadcasterImpl).finishSeries", "eventBroadcasterImpl).refreshExistingEventSeries")
}

// recorder says whether it is the broadcaster of tools/record that sends the call: mgr.GetEventRecorderFor has one. One that is
// shut down while it sends, or waits to try again, chooses at random between the Events that it still has and its end.
func (c *Call) recorder() bool {
	return c.Host == "" && c.Info.Group == "" && c.Info.Resource == "events" && c.Writes() && calledBy("tools/record.recordEvent")
}

// calledBy says whether the calling goroutine is in a function in whose name stands one of these.
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

// acknowledge sends such a request on its way like every other one, and tells the broadcaster at once what it would have
// been told if the request had arrived in this moment. What comes of it later nobody hears: an Event is written with best
// effort.
func (p *Port) acknowledge(call *Call) (*apiserver.Response, error) {
	c := p.cluster
	answer := &apiserver.Response{Code: http.StatusCreated, Body: call.Request.Body}
	if call.Request.Method == http.MethodPatch {
		get := call.Request
		get.Method, get.Body, get.URL = http.MethodGet, nil, &url.URL{Path: call.Request.URL.Path}
		c.mu.Lock()
		answer = c.serverOf(call).Handle(&get)
		c.mu.Unlock()
		if answer.Code != http.StatusOK {
			return answer, nil
		}
		var err error
		if answer.Body, err = jsonpatch.MergePatch(answer.Body, call.Request.Body); err != nil {
			return nil, err
		}
	}
	c.park(call, "request", func() { c.effect(call) })
	return answer, nil
}
