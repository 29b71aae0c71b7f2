package conformance

// The model arm: models/apiserver behind an [http.RoundTripper], so that the same clients reach it.

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/models/admission"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/quota"
	"github.com/wavetank/wavetank/models/rbac"
)

// Model is one model of the API server with the table's custom resources installed.
type Model struct {
	mu     sync.Mutex
	moved  *sync.Cond // broadcast after every request: watches may have something to deliver
	idle   *sync.Cond // broadcast when a watch has delivered everything
	open   map[*pump]bool
	server *apiserver.Server
}

// StartModel makes a model. Rows get one each, so that a row that breaks it breaks no other.
func StartModel() (*Model, error) { return startModel(false) }

// startModel makes a model that keeps track of fields from the first write on, or only where
// something was applied, and that has more custom resources than the table's.
func startModel(track bool, more ...*apiextensionsv1.CustomResourceDefinition) (*Model, error) {
	m := &Model{server: apiserver.New(apiserver.Options{Now: time.Now, Seed: 1, TrackFields: track}),
		open: map[*pump]bool{}}
	m.moved, m.idle = sync.NewCond(&m.mu), sync.NewCond(&m.mu)
	m.server.SetAuthorizer(rbac.New(m.server))
	m.server.SetAdmission(admission.New(m.server))
	quota.Enforce(m.server)
	m.server.SetWebhooks(reach)
	for _, crd := range append(CRDs(), more...) {
		if err := m.server.Install(crd); err != nil {
			return nil, err
		}
	}
	// The real server does not remember its first moments either: its caches begin when it has
	// started.
	m.server.Compact(m.server.Revision())
	return m, nil
}

// Name implements [Arm].
func (*Model) Name() string { return "model" }

// Config implements [Arm].
func (m *Model) Config() *rest.Config {
	return &rest.Config{Host: "https://model.invalid", Transport: m, QPS: -1}
}

// Compact implements [Arm].
func (m *Model) Compact(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.server.Compact(m.server.Revision())
	return nil
}

// Quiet waits until every open watch has delivered what there is, which the model can tell and a
// real server cannot. It is false when a watch has ended, whose last words may still be on their
// way to the reader.
func (m *Model) Quiet() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.busy() {
		m.idle.Wait()
	}
	for p := range m.open {
		if p.done {
			return false
		}
	}
	return true
}

// wake has every watch look again.
func (m *Model) wake() {
	for p := range m.open {
		p.waiting = false
	}
	m.moved.Broadcast()
}

func (m *Model) busy() bool {
	for p := range m.open {
		if !p.waiting && !p.done {
			return true
		}
	}
	return false
}

// RoundTrip implements [http.RoundTripper].
func (m *Model) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		_ = req.Body.Close()
	}
	header, body, err := apiserver.JSONBody(req.Header, body)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.wake()
	r := m.server.Handle(&apiserver.Request{
		Method: req.Method, URL: req.URL, Header: header, Body: body,
		User: "admin", Groups: []string{"system:masters", "system:authenticated"},
	})
	contentType, body := r.Sent()
	resp := &http.Response{
		StatusCode: r.Code, Status: http.StatusText(r.Code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.Header.Clone(), Request: req,
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	resp.Header.Set("Content-Type", contentType)
	if r.Watch != nil {
		resp.ContentLength, resp.Body = -1, m.pump(req.Context(), r.Watch)
	}
	return resp, nil
}

// pump is a watch's body: each read waits until the watch has a frame, the client is gone or its
// time is up. The model itself has no time, so the deadline that the client asked for is kept here.
type pump struct {
	m     *Model
	watch *apiserver.Watch
	left  []byte
	done  bool
	// waiting says that the reader has taken every frame and is back for more.
	waiting bool
	timer   *time.Timer
	stop    func() bool
}

func (m *Model) pump(ctx context.Context, w *apiserver.Watch) *pump {
	p := &pump{m: m, watch: w}
	m.open[p] = true
	p.stop = context.AfterFunc(ctx, p.end)
	if d := w.Timeout(); d > 0 {
		p.timer = time.AfterFunc(d, p.end)
	}
	return p
}

func (p *pump) end() {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	p.done = true
	p.m.moved.Broadcast()
	p.m.idle.Broadcast()
}

// Read implements [io.Reader].
func (p *pump) Read(b []byte) (int, error) {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	for len(p.left) == 0 {
		if p.done {
			return 0, io.EOF
		}
		frame, ok := p.watch.Next()
		if !ok {
			p.waiting = true
			p.m.idle.Broadcast()
			p.m.moved.Wait()
			p.waiting = false
			continue
		}
		p.left = frame.Data
		p.done = frame.Type == "ERROR"
	}
	n := copy(b, p.left)
	p.left = p.left[n:]
	return n, nil
}

// Close implements [io.Closer].
func (p *pump) Close() error {
	p.stop()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.end()
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	p.watch.Close()
	delete(p.m.open, p)
	p.m.idle.Broadcast()
	return nil
}
