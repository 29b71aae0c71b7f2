package process

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/admission"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// world is a world without faults, in which the oldest action is always next. Requests and
// replies take a millisecond each.
type world struct {
	*Supervisor
	arrive   func(*wire.Call)                  // called as a request takes effect
	lag      time.Duration                     // of watch events
	onQuiet  func()                            // called when every goroutine is blocked
	held     func(*sched.Action) time.Duration // nil to hold nothing
	dequeued []string
	exits    []error
	gone     bool // a process that exits is not started again
	dialled  []string
}

func newWorld() *world {
	w := &world{}
	h := &history.History{}
	s := sched.New(choice.New(choice.Play(nil)), w)
	server := apiserver.New(apiserver.Options{Now: time.Now})
	server.SetAdmission(admission.New(server))
	w.Supervisor = New(s, h, wire.New(s, h, server, w), logr.Discard(), w)
	return w
}

// create creates an object at once, as a user does.
func (w *world) create(t *testing.T, path, body string) { w.write(t, http.MethodPost, path, body) }

func (w *world) write(t *testing.T, method, path, body string) {
	t.Helper()
	req := apiserver.Request{Method: method, URL: &url.URL{Path: path}, Body: []byte(body), User: "user",
		Groups: []string{"system:masters"}, Header: http.Header{"Content-Type": {"application/json"}}}
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	if resp := w.Wire.Write("user", req); resp.Code >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d %s", method, path, resp.Code, resp.Body)
	}
	w.Sched.Disturb()
}

func (w *world) Quiet() (woke bool) {
	if woke = w.Flush(); !woke && w.onQuiet != nil {
		w.onQuiet()
	}
	return woke
}

func (w *world) Stepped() {}

func (w *world) Held(a *sched.Action) time.Duration {
	if w.held == nil {
		return 0
	}
	return w.held(a)
}

func (w *world) Latency(*wire.Call, story.Kind) time.Duration { return time.Millisecond }

func (w *world) Arrive(c *wire.Call) wire.Ruling {
	if w.arrive != nil {
		w.arrive(c)
	}
	return wire.Ruling{}
}

func (w *world) Landed(*wire.Call) wire.Ruling { return wire.Ruling{} }

func (w *world) Webhook(*wire.Call) wire.Ruling { return wire.Ruling{} }

func (w *world) Lag(*wire.Stream, apiserver.Frame) time.Duration { return w.lag }

func (w *world) Fate(*wire.Stream, apiserver.Frame) wire.Fate { return wire.Arrives }

func (w *world) Committed(apiserver.Change) {}

func (w *world) UnknownHost(*wire.Call, string) {}

func (w *world) Dequeued(l *Incarnation, controller string, item request) {
	w.dequeued = append(w.dequeued, l.Name()+" "+controller+" "+item.String())
}

func (w *world) Exited(_ *Incarnation, err error) (restart bool) {
	w.exits = append(w.exits, err)
	return !w.gone
}

func (w *world) Dialled(process, address, at string, _ bool) {
	w.dialled = append(w.dialled, process+" "+address+" "+at)
}
