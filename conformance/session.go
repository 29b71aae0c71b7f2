package conformance

// One row on one arm: the client that sends requests, and the record of the replies. Everything
// goes through one recording transport, so raw requests of scripts and those of typed clients are
// observed at the same place, the wire.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// T lets a row send requests to one arm.
type T struct {
	Ctx       context.Context
	Namespace string

	arm     Arm
	started time.Time
	streams []*stream
	born    string // the version at which the row's namespace was made
	hooksCA string // of the webhooks, once they are served
	connection
	observations
	endings
}

// endings owns what is called after the row.
type endings struct{ calls []func() }

// finally has f called after the row. What was passed last is called first.
func (e *endings) finally(f func()) { e.calls = append(e.calls, f) }

// connection owns how requests reach the arm.
type connection struct {
	client *http.Client
	host   string
}

// observations owns what was seen of the arm, for the comparison and for later steps.
type observations struct {
	mu       sync.Mutex
	seen     []Observed
	replies  []reply // what scripts refer to; index 0 is step 1
	speaking string  // the client of the present step
}

// reply is a reply to which a later step may refer.
type reply struct {
	target string
	client string
	code   int
	body   any
}

// Observed is the outcome of one step.
type Observed struct {
	Step   string            `json:"step"`
	Code   int               `json:"code,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Body   any               `json:"body,omitempty"`
	Frames []any             `json:"frames,omitempty"`
	Error  string            `json:"error,omitempty"`
}

// comparedHeaders are those that clients act on.
var comparedHeaders = []string{"Content-Type", "Warning", "Retry-After", "Allow"}

// Observe runs a row against an arm and returns its observations, not yet normalised.
func Observe(ctx context.Context, r Row, arm Arm, namespace string) (observed []Observed, started time.Time,
	err error) {
	t, err := newT(ctx, arm, namespace)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer t.close()
	defer func() {
		if p := recover(); p != nil {
			if a, ok := p.(abort); ok {
				t.note("the row could not continue", string(a))
			} else {
				t.note("panic", fmt.Sprint(p))
			}
			observed, started = t.seen, t.started
		}
	}()
	r.Run(t)
	return t.seen, t.started, nil
}

// abort ends a row whose next step cannot be formed from the replies so far.
type abort string

func newT(ctx context.Context, arm Arm, namespace string) (*T, error) {
	cfg := rest.CopyConfig(arm.Config())
	cfg.UserAgent = "conformance" // which owns what is written under no other name
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}
	host, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, err
	}
	t := &T{
		Ctx: ctx, Namespace: namespace, arm: arm, started: time.Now(),
		connection: connection{client, strings.TrimSuffix(host.String(), "/")},
	}
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, namespace)
	code, _, data, err := t.roundTrip(http.MethodPost, "/api/v1/namespaces", nil, []byte(body))
	if err != nil {
		return nil, err
	}
	if code != http.StatusCreated {
		return nil, fmt.Errorf("%s: creating namespace %s: %d %s", arm.Name(), namespace, code, data)
	}
	t.born = field(decode(data), "rv")
	return t, nil
}

// Do sends one request and observes its reply under the name step.
func (t *T) Do(step, method, path string, header http.Header, body []byte) Observed {
	code, h, data, err := t.roundTrip(method, path, header, body)
	o := observedOf(step, code, h, data, err)
	t.keep(path, o)
	return o
}

func observedOf(step string, code int, h http.Header, data []byte, err error) Observed {
	o := Observed{Step: step, Code: code}
	if err != nil {
		o.Error = err.Error()
		return o
	}
	for _, name := range comparedHeaders {
		if v := strings.Join(h.Values(name), " | "); v != "" {
			if o.Header == nil {
				o.Header = map[string]string{}
			}
			o.Header[name] = v
		}
	}
	o.Body = decode(data)
	return o
}

func (o *observations) keep(target string, seen Observed) {
	o.add(seen, reply{target: target, code: seen.Code, body: seen.Body})
}

// add observes a step, with the reply that later steps may refer to.
func (o *observations) add(seen Observed, r reply) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r.client = o.speaking
	o.seen, o.replies = append(o.seen, seen), append(o.replies, r)
}

// note observes something that is not a reply: the result of a client, or a step that was not
// possible.
func (o *observations) note(step string, value any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = append(o.seen, Observed{Step: step, Body: value})
}

// Note observes what a client made of a reply. A value is compared as JSON, an error as its text.
func (o *observations) Note(step string, value any, err error) {
	if err != nil {
		o.note(step, "error: "+err.Error())
		return
	}
	data, err := json.Marshal(value)
	if err != nil {
		o.note(step, "not JSON: "+err.Error())
		return
	}
	o.note(step, decode(data))
}

// Config is for rows that use a real client; its exchanges are observed too.
func (t *T) Config() *rest.Config {
	cfg := rest.CopyConfig(t.arm.Config())
	cfg.QPS = -1
	cfg.ContentType = "application/json"
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return recorder{t: t, next: next} })
	return cfg
}

type recorder struct {
	t    *T
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (r recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	step := req.Method + " " + req.URL.RequestURI()
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		r.t.keep(step, observedOf(step, 0, nil, nil, err))
		return nil, err
	}
	if req.URL.Query().Get("watch") != "" && resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	data, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(data))
	r.t.keep(step, observedOf(step, resp.StatusCode, resp.Header, data, err))
	return resp, nil
}

func (t *T) roundTrip(method, path string, header http.Header, body []byte) (int, http.Header, []byte, error) {
	resp, err := t.send(t.Ctx, method, path, header, body)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, data, err
}

func (c *connection) send(ctx context.Context, method, path string, header http.Header, body []byte) (*http.Response,
	error) {
	u, err := url.Parse(c.host + path)
	if err != nil {
		return nil, err
	}
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), reader)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		req.Header[k] = v
	}
	return c.client.Do(req)
}

// stream is one open watch: frames are read on a goroutine, so that a read can give up.
type stream struct {
	cancel context.CancelFunc
	frames chan any
}

// Watch opens a stream, or observes why it could not.
func (t *T) Watch(step, path string) {
	ctx, cancel := context.WithCancel(t.Ctx)
	resp, err := t.send(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		cancel()
		t.keep(path, observedOf(step, 0, nil, nil, err))
		t.streams = append(t.streams, nil)
		return
	}
	if resp.StatusCode != http.StatusOK {
		data, err := io.ReadAll(resp.Body)
		cancel()
		t.keep(path, observedOf(step, resp.StatusCode, resp.Header, data, err))
		t.streams = append(t.streams, nil)
		return
	}
	t.keep(path, observedOf(step, resp.StatusCode, resp.Header, nil, nil))
	s := &stream{cancel: cancel, frames: make(chan any, 1<<12)}
	t.streams = append(t.streams, s)
	follow := func() {
		defer close(s.frames)
		defer func() { _ = resp.Body.Close() }()
		in := bufio.NewReader(resp.Body)
		for {
			line, err := in.ReadBytes('\n')
			if f := decode(line); f != nil && !isProgress(f) {
				s.frames <- f
			}
			if err != nil {
				return
			}
		}
	}
	if resp.ContentLength >= 0 { // an answer of its own, whose end is no event
		follow()
		return
	}
	go follow()
}

// isProgress reports whether a frame is a bookmark that only reports the progress of the stream.
// Servers send them at any time, so no two servers send the same. The bookmark that ends the
// initial events is none.
func isProgress(frame any) bool {
	f, _ := frame.(map[string]any)
	object, _ := f["object"].(map[string]any)
	meta, _ := object["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	return f["type"] == "BOOKMARK" && annotations["k8s.io/initial-events-end"] == nil
}

// timeLimit is how long a row waits for an expected frame, and quietPeriod how long for an
// unexpected one.
const (
	timeLimit   = 4 * time.Second
	quietPeriod = 30 * time.Millisecond
)

// Read takes n frames from the nth stream, then those that follow within the quiet period. With n
// below zero it reads to the stream's end.
func (t *T) Read(step string, which, n int) {
	o := Observed{Step: step}
	switch {
	case which < 0 || which >= len(t.streams):
		o.Error = "no such watch"
	case t.streams[which] == nil:
		o.Error = "this watch was refused"
	default:
		o.Frames, o.Error = t.streams[which].read(n, quietPeriodOf(t.arm))
	}
	t.add(o, reply{body: lastObject(o.Frames)})
}

// quietPeriodOf is how long an arm may take to send an unexpected frame. It is zero if the arm
// knows that there is none.
func quietPeriodOf(arm Arm) time.Duration {
	if q, ok := arm.(interface{ Quiet() bool }); ok && q.Quiet() {
		return 0
	}
	return quietPeriod
}

func (s *stream) read(n int, quiet time.Duration) ([]any, string) {
	var frames []any
	limit := time.After(timeLimit)
	for {
		until, enough := limit, n >= 0 && len(frames) >= n
		if enough {
			until = time.After(quiet)
		}
		var frame any
		var open bool
		select { // what has arrived comes before a time that is up
		case frame, open = <-s.frames:
		default:
			select {
			case frame, open = <-s.frames:
			case <-until:
				if enough {
					return frames, ""
				}
				return frames, fmt.Sprintf("gave up after %d frames", len(frames))
			}
		}
		if !open {
			return frames, "end of stream"
		}
		frames = append(frames, frame)
	}
}

func lastObject(frames []any) any {
	if len(frames) == 0 {
		return nil
	}
	f, _ := frames[len(frames)-1].(map[string]any)
	return f["object"]
}

func (t *T) close() {
	for _, f := range slices.Backward(t.calls) {
		f()
	}
	for _, s := range t.streams {
		if s != nil {
			s.cancel()
		}
	}
}
