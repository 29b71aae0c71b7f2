package wire

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Stream is one open watch: a cursor at the server and a response body that a reflector reads.
type Stream struct {
	Port *Port
	Kind string
	Call *Call

	watch   Events
	body    *body
	head    *sched.Action // delivers the next frame
	timeout *sched.Action
	// cancelled ends the stream because its context has ended; the body's mutex guards it.
	cancelled *sched.Action
	closed    bool
}

// String is the stream in words.
func (s *Stream) String() string { return s.Kind + " watch of " + s.Port.Name() }

// A watch without an event ends after the usual time usualTimeouts times in a row. After that it
// lasts twice as long each time, up to maxStretch times as long, which is about two days. Otherwise
// three months in which nothing happens would take as many steps as a long run has.
const (
	usualTimeouts = 24
	maxStretch    = 1 << 8
)

// stretch is how many times longer than usual a stream lasts because those before it had no event.
func (s *Stream) stretch() time.Duration {
	n := s.Port.eventless[s.Call.order()] - usualTimeouts
	if n < 0 || s.watch.Timeout() < 5*time.Minute { // the client has asked for that time
		return 1
	}
	return time.Duration(min(2<<min(n, 16), maxStretch))
}

// timeLimit is how long the server keeps the watch open. Reflectors ask for a random time of 5 to
// 10 minutes. Which of them draws first is not the scheduler's choice, so the time within that
// range is derived from what they watch.
func (s *Stream) timeLimit() time.Duration {
	d := s.watch.Timeout()
	if d < 5*time.Minute {
		return d
	}
	f := fnv.New64a()
	s.Call.order()
	io.WriteString(f, s.Call.subjectKey)
	return 5*time.Minute + time.Duration(f.Sum64()%300)*time.Second
}

// Behind is the number of changes that the stream has not delivered.
func (s *Stream) Behind() int { return s.watch.Behind() }

// body is the response body of a watch. Frames are written on the scheduling goroutine and read by
// the client.
type body struct {
	ctx      context.Context
	onClose  func() // the reader has closed it
	onCancel func() // ctx has ended: end must be called, now or later

	mu        sync.Mutex
	buf       []byte
	err       error
	ready     chan struct{}
	done      chan struct{}
	closing   sync.Once
	cancelled sync.Once
}

func newBody(ctx context.Context) *body {
	return &body{ctx: ctx, ready: make(chan struct{}, 1), done: make(chan struct{})}
}

func (b *body) write(p []byte) {
	b.mu.Lock()
	b.buf = append(b.buf, p...)
	b.mu.Unlock()
	b.signal()
}

func (b *body) end(err error) {
	b.mu.Lock()
	if b.err == nil {
		b.err = err
	}
	b.mu.Unlock()
	b.signal()
}

func (b *body) signal() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// Read implements io.Reader. It blocks on channels of the bubble only, so the bubble is quiet while
// a reader waits. After Close it returns io.EOF: client-go would make an event of an error, which
// is not received any more, and watch.Filter would keep its goroutine.
func (b *body) Read(p []byte) (int, error) {
	for {
		b.mu.Lock()
		if len(b.buf) > 0 {
			n := copy(p, b.buf)
			b.buf = b.buf[n:]
			b.mu.Unlock()
			return n, nil
		}
		err := b.err
		b.mu.Unlock()
		if err != nil {
			return 0, err
		}
		select {
		case <-b.ready:
			continue
		case <-b.done:
			return 0, io.EOF
		case <-b.ctx.Done():
		}
		b.cancelled.Do(b.onCancel)
		select {
		case <-b.ready:
		case <-b.done:
			return 0, io.EOF
		}
	}
}

func (b *body) Close() error {
	b.closing.Do(func() {
		close(b.done)
		b.onClose()
	})
	return nil
}

// httpResponse is a response as a client gets it, with a stream or the body.
func httpResponse(req *http.Request, r *apiserver.Response, stream io.ReadCloser) *http.Response {
	h := r.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	out := &http.Response{
		StatusCode: r.Code, Status: fmt.Sprintf("%d %s", r.Code, http.StatusText(r.Code)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: req, ContentLength: int64(len(r.Body)),
	}
	if stream != nil {
		out.ContentLength = -1
		out.Body = stream
		return out
	}
	out.Body = io.NopCloser(bytes.NewReader(r.Body))
	return out
}
