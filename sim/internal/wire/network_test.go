package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/admission"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// world is an API server with a scheduler that takes the default choices. Its rules are fields,
// so that a test replaces the one that it is about; by default nothing goes wrong and each leg
// takes a millisecond.
type world struct {
	*Network
	latency  func(c *Call, leg story.Kind) time.Duration
	arrive   func(*Call) Ruling
	landed   func(*Call) Ruling
	webhook  func(*Call) Ruling
	lag      func(apiserver.Frame) time.Duration
	fate     func(apiserver.Frame) Fate
	commits  []string
	unknown  []string
	serving  []Endpoint
	replies  []string // in the order in which the callers got them
	streamed []string
}

func (w *world) Quiet() (woke bool) { return false }

func (w *world) Stepped() {}

func (w *world) Held(*sched.Action) time.Duration { return 0 }

func (w *world) Latency(c *Call, leg story.Kind) time.Duration { return w.latency(c, leg) }

func (w *world) Arrive(c *Call) Ruling { return w.arrive(c) }

func (w *world) Landed(c *Call) Ruling { return w.landed(c) }

func (w *world) Webhook(c *Call) Ruling { return w.webhook(c) }

func (w *world) Lag(_ *Stream, f apiserver.Frame) time.Duration { return w.lag(f) }

func (w *world) Fate(_ *Stream, f apiserver.Frame) Fate { return w.fate(f) }

func (w *world) Committed(c apiserver.Change) { w.commits = append(w.commits, c.Type+" "+c.Name) }

func (w *world) UnknownHost(c *Call, clash string) {
	w.unknown = append(w.unknown, strings.TrimSpace(c.Host+" "+clash))
}

func (w *world) Endpoints(*apiserver.WebhookService, string) []Endpoint { return w.serving }

// run calls f with a new world, in a bubble, and ends the world when f has returned.
func run(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		nothing := func(*Call) Ruling { return Ruling{} }
		w := &world{
			latency: func(*Call, story.Kind) time.Duration { return time.Millisecond },
			arrive:  nothing, landed: nothing, webhook: nothing,
			lag:  func(apiserver.Frame) time.Duration { return 0 },
			fate: func(apiserver.Frame) Fate { return Arrives },
		}
		s := sched.New(choice.New(choice.Play(nil)), w)
		server := apiserver.New(apiserver.Options{Now: time.Now, Seed: 1})
		server.SetAdmission(admission.New(server))
		w.Network = New(s, &history.History{}, server, w)
		defer func() { w.Sched.Quiesce(); w.Release(synctest.Wait) }()
		f(t, w)
	})
}

// program is an incarnation with a port, which Kill ends as a crash does.
type program struct {
	*Port
	w      *world
	killed bool
}

func (p *program) EndsByContext() bool { return false }

func (p *program) Kill() { p.killed = true; p.w.Bury(p.Port) }

func (w *world) program(name string) *program {
	p := &program{Port: w.NewPort(name, 1), w: w}
	p.User, p.Groups, p.Owner = name, []string{"system:masters"}, p
	return p
}

// reply is what a caller gets; Done is false while it waits.
type reply struct {
	Done bool
	Code int
	Body string
	Err  error
}

func (r *reply) String() string {
	switch {
	case !r.Done:
		return "waits"
	case r.Err != nil:
		return r.Err.Error()
	}
	return fmt.Sprint(r.Code)
}

// send sends a request on a goroutine of its own, through the port or a client of it.
func (w *world) send(ctx context.Context, rt http.RoundTripper, method, url, body string) *reply {
	if strings.HasPrefix(url, "/") {
		url = "http://" + APIHost + url
	}
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	a := &reply{}
	go func() {
		resp, err := rt.RoundTrip(req)
		w.replies = append(w.replies, method+" "+req.URL.Path)
		a.Done, a.Err = true, err
		if err != nil {
			return
		}
		a.Code = resp.StatusCode
		if resp.ContentLength >= 0 {
			data, _ := io.ReadAll(resp.Body)
			a.Body = string(data)
			return
		}
		w.read(resp.Body)
	}()
	synctest.Wait()
	return a
}

// read notes the events of a stream as they come, and its end.
func (w *world) read(body io.ReadCloser) {
	for d := json.NewDecoder(body); ; {
		var e struct {
			Type   string
			Object struct{ Metadata struct{ Name string } }
		}
		if err := d.Decode(&e); err != nil {
			w.streamed = append(w.streamed, err.Error())
			body.Close()
			return
		}
		w.streamed = append(w.streamed, strings.TrimSpace(e.Type+" "+e.Object.Metadata.Name))
	}
}

const configMaps = "/api/v1/namespaces/default/configmaps"

func configMap(name string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q}}`, name)
}

// create sends a request for a new ConfigMap.
func (w *world) create(p *program, name string) *reply {
	return w.send(context.Background(), p, http.MethodPost, configMaps, configMap(name))
}

// commit creates a ConfigMap at once, as a user of another program does.
func (w *world) commit(t *testing.T, name string) {
	t.Helper()
	w.must(t, configMaps, configMap(name))
}

// must creates an object at once.
func (w *world) must(t *testing.T, path, body string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+APIHost+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp := w.Write("user", apiserver.Request{Method: req.Method, URL: req.URL, Body: []byte(body),
		Header: http.Header{"Content-Type": {"application/json"}}, User: "user", Groups: []string{"system:masters"}})
	if resp.Code >= http.StatusBadRequest {
		t.Fatalf("%d %s", resp.Code, resp.Body)
	}
}

// drain performs all that becomes due before a time.
func (w *world) drain(until time.Duration) {
	w.Sched.Disturb()
	for w.Sched.Step(until) {
	}
}

// stored reports whether the server has a ConfigMap.
func (w *world) stored(name string) bool {
	return w.Server().Typed("", "configmaps", "default", name) != nil
}

// events are the history in short: kind, verb and what was noted.
func (w *world) events() (out []string) {
	for _, e := range w.History.Events {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Kind, e.Verb, e.Ref.Name, e.Note)))
	}
	return out
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

var errLost = errors.New("connection reset by peer")
