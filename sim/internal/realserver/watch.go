package realserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// events are what a watch of the server has sent and the world has not delivered.
type events struct {
	server  *Server
	cancel  context.CancelFunc
	arrived func()
	mirror  *mirror
	timeout time.Duration

	mu      sync.Mutex
	frames  []apiserver.Frame
	initial []apiserver.Frame // until the server has sent all of them
	begun   bool              // the initial events are over, or there are none
	reached string            // the resource version of the last frame
	ended   bool
	over    bool // nothing is delivered any more
	expired bool // a fault says that the server has forgotten its place
}

// Watch implements wire.Backend.
func (s *Server) Watch(req *apiserver.Request, arrived func()) (*apiserver.Response, wire.Events) {
	info, _ := req.Info()
	m := s.mirrorOf(info)
	ctx, cancel := context.WithCancel(s.ctx)
	resp, err := s.send(ctx, req)
	if err != nil {
		cancel()
		return s.unreachable(err), nil
	}
	if resp.StatusCode != http.StatusOK {
		defer cancel()
		return s.answer(resp), nil
	}
	q := req.URL.Query()
	e := &events{server: s, cancel: cancel, arrived: arrived, mirror: m, begun: q.Get("sendInitialEvents") != "true"}
	if n, err := strconv.Atoi(q.Get("timeoutSeconds")); err == nil {
		e.timeout = time.Duration(n) * time.Second
	}
	go e.read(resp)
	return &apiserver.Response{Code: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}}, e
}

// read takes in what the server sends until the stream ends.
func (e *events) read(resp *http.Response) {
	defer func() {
		_ = resp.Body.Close()
		e.mu.Lock()
		e.ended = true
		e.mu.Unlock()
		e.arrived()
	}()
	d := json.NewDecoder(resp.Body)
	for {
		var got event
		if d.Decode(&got) != nil {
			return
		}
		got.Object = e.server.restore(got.Object)
		if e.take(got) {
			e.arrived()
		}
	}
}

// take takes in an event. It reports whether there is something new to deliver. Bookmarks that only
// say how far the server is are left out.
func (e *events) take(got event) bool {
	var h head
	if json.Unmarshal(got.Object, &h) != nil || e.mirror != nil && e.mirror.isHidden(got.Object) {
		return false
	}
	revision, _ := strconv.ParseInt(h.Metadata.ResourceVersion, 10, 64)
	f := apiserver.Frame{Type: got.Type, Revision: revision, Namespace: h.Metadata.Namespace, Name: h.Metadata.Name,
		Data: fmt.Appendf(nil, "{\"type\":%q,\"object\":%s}\n", got.Type, got.Object)}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reached = h.Metadata.ResourceVersion
	last := got.Type == string(watch.Bookmark)
	switch {
	case e.over:
		return false
	case !e.begun && got.Type != string(watch.Error):
		f.Initial = true
		e.initial = append(e.initial, f)
		if last && h.Metadata.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
			e.frames, e.initial, e.begun = append(e.frames, e.initial...), nil, true
			return true
		}
		return false
	case last:
		return false
	}
	e.frames = append(e.frames, f)
	return true
}

// Expire implements wire.Events.
func (e *events) Expire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.expired = true
}

// Peek implements wire.Events.
func (e *events) Peek() (apiserver.Frame, bool) {
	e.mu.Lock()
	expired := e.expired
	e.mu.Unlock()
	if expired {
		return e.Expired(), true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.frames) == 0 {
		return apiserver.Frame{}, false
	}
	return e.frames[0], true
}

// Next implements wire.Events.
func (e *events) Next() (apiserver.Frame, bool) {
	f, ok := e.Peek()
	if ok {
		e.mu.Lock()
		if e.expired { // nothing comes after the error
			e.expired, e.over, e.frames = false, true, nil
		} else {
			e.frames = e.frames[1:]
		}
		e.mu.Unlock()
	}
	return f, ok
}

// Behind implements wire.Events.
func (e *events) Behind() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.frames)
}

// Ended reports whether the server has ended the watch.
func (e *events) Ended() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ended
}

// Timeout implements wire.Events.
func (e *events) Timeout() time.Duration { return e.timeout }

// Close implements wire.Events.
func (e *events) Close() { e.cancel() }

// Expired implements wire.Events. It is what kube-apiserver sends when etcd has forgotten the place
// of a watch.
func (e *events) Expired() apiserver.Frame {
	e.mu.Lock()
	defer e.mu.Unlock()
	status, _ := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: http.StatusGone,
		Message: "too old resource version: " + e.reached})
	return apiserver.Frame{Type: string(watch.Error),
		Data: fmt.Appendf(nil, "{\"type\":\"ERROR\",\"object\":%s}\n", status)}
}
