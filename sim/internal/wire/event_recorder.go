// This file is for the two parts of client-go that write Events. One sends requests while it holds
// a mutex; the other may go on for a while after its end.

package wire

import (
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/wavetank/wavetank/models/apiserver"
)

// underLock says whether client-go's event broadcaster sends the call to end or refresh a series of
// Events (tools/events/event_broadcaster.go). It holds a mutex until it has its answer, and every
// new Event waits for that mutex. A bubble with a goroutine that waits for a mutex never goes
// quiet. It also takes the series in map order.
func (c *Call) underLock() bool {
	if c.Info.Group != "events.k8s.io" || c.Info.Resource != "events" || !c.Writes() {
		return false
	}
	return calledBy("eventBroadcasterImpl).finishSeries", "eventBroadcasterImpl).refreshExistingEventSeries")
}

// recorder says whether the broadcaster of tools/record sends the call, which
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
func (p *Port) mayHaveShutDown(c *Call) bool {
	return p.Owner != nil && p.Owner.EndsByContext() && c.recorder()
}

// calledBy says whether the calling goroutine is in a function whose name contains one of these.
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

// acknowledge sends such a request like every other one, and answers the broadcaster at once as the
// server would in this moment. The later reply is not delivered: Events are written with best
// effort.
func (p *Port) acknowledge(call *Call) (*apiserver.Response, error) {
	c := p.network
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
	if p.acknowledged.first(call.order(), c.Sched.Now()) {
		c.park(call, "request", func() { c.effect(call) })
	}
	return answer, nil
}

// acknowledged are the requests that were acknowledged at one instant. A series that is over is
// both refreshed and ended in minute 30, by two goroutines that wake up at one instant. If it is
// ended first, it is not refreshed any more; if not, the same request is sent twice. So the second
// one is left out.
type acknowledged struct {
	mu   sync.Mutex
	at   time.Duration
	keys map[string]bool
}

// first reports whether no equal request was acknowledged at the same instant.
func (a *acknowledged) first(key string, now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.keys == nil || a.at != now {
		a.at, a.keys = now, map[string]bool{}
	}
	known := a.keys[key]
	a.keys[key] = true
	return !known
}
