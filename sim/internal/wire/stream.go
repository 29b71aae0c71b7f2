package wire

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Stream is one open watch: a cursor at the server and a response body that a reflector reads.
type Stream struct {
	Port *Port
	Kind string
	Call *Call

	watch   *apiserver.Watch
	body    *body
	head    *sched.Action // delivers the next frame
	timeout *sched.Action
	// cancelled ends the stream because its context has ended; the body's mutex guards it.
	cancelled *sched.Action
	closed    bool
}

// String is the stream in words.
func (s *Stream) String() string { return s.Kind + " watch of " + s.Port.Name() }

func (c *Network) open(call *Call) *Stream {
	s := &Stream{Port: call.Port, Kind: call.Kind, Call: call, watch: call.Response.Watch}
	s.body = newBody(call.http.Context())
	s.body.onClose = func() {
		c.Sched.Note(call.order(), func() { c.close(s) })
	}
	s.body.onCancel = func() { c.giveUp(s) }
	c.streams = append(c.streams, s)
	c.limit(s, s.timeLimit()*s.stretch())
	c.next(s)
	return s
}

// limit ends a stream after a time; never if that is 0.
func (c *Network) limit(s *Stream, d time.Duration) {
	if d <= 0 {
		return
	}
	s.timeout = &sched.Action{
		Order: s.Call.order(), Idle: true,
		Actor: choice.Actor{Process: s.Port.Name(), Name: s.Call.order()},
		What:  func() string { return "time-out of " + s.String() },
		Delay: func() time.Duration { return d },
		Do: func() {
			c.Sched.SetCurrent(history.Cause{Kind: history.CauseWatchTimeout, Object: s.Kind})
			if s.Port.eventless == nil {
				s.Port.eventless = map[string]int{}
			}
			s.Port.eventless[s.Call.order()]++
			c.hangUp(s)
		},
	}
	c.Sched.Park(s.timeout)
}

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

// awake makes a stream last no longer than usual, as there is an event.
func (c *Network) awake(s *Stream) {
	if s.stretch() > 1 && s.timeout != nil {
		c.Sched.Drop(s.timeout)
		c.limit(s, s.timeLimit())
	}
	delete(s.Port.eventless, s.Call.order())
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

// Streams are the open watches.
func (c *Network) Streams() []*Stream { return c.streams }

func (c *Network) close(s *Stream) {
	if s.closed {
		return
	}
	s.closed = true
	s.watch.Close()
	s.body.mu.Lock()
	cancelled := s.cancelled
	s.body.mu.Unlock()
	if cancelled != nil {
		s.body.end(io.EOF) // its reader waits for this step
	}
	for _, a := range []*sched.Action{s.head, s.timeout, cancelled} {
		if a != nil {
			c.Sched.Drop(a)
		}
	}
	for i, other := range c.streams {
		if other == s {
			c.streams = append(c.streams[:i], c.streams[i+1:]...)
			break
		}
	}
}

// giveUp ends a stream whose context has ended in a step of its own, for the reasons of
// [Call.giveUp]. A client that closes the stream in the same moment, as reflectors do, needs no
// such step.
func (c *Network) giveUp(s *Stream) {
	if s.Port.Dead() {
		s.body.end(io.EOF)
		return
	}
	a := &sched.Action{
		Order: s.Call.order(),
		Actor: s.Call.Actor(),
		What:  func() string { return "end of " + s.String() },
		Do: func() {
			c.Sched.SetCurrent(history.Cause{Kind: history.CauseWatchEnd, Object: s.Kind})
			s.body.end(io.EOF)
			c.close(s)
		},
		Idle: s.Call.Idle(),
	}
	s.body.mu.Lock()
	s.cancelled = a
	s.body.mu.Unlock()
	c.Sched.Park(a)
}

// Pump lets every stream that has something new queue its next delivery. Call it after each change
// of the store.
func (c *Network) Pump() {
	for _, s := range c.streams {
		c.next(s)
	}
}

// next queues the delivery of the stream's next frame, if there is one and none is queued.
func (c *Network) next(s *Stream) {
	if s.head != nil || s.closed {
		return
	}
	f, ok := s.watch.Peek()
	if !ok {
		return
	}
	s.head = &sched.Action{
		Order: s.Call.order(),
		Actor: s.Call.Actor(),
		What:  func() string { return fmt.Sprintf("delivery of %s %s/%s to %s", f.Type, f.Namespace, f.Name, s) },
		Delay: func() time.Duration { return c.observer.Lag(s, f) },
		Do:    func() { c.deliver(s) },
		Idle:  s.Call.Idle(),
	}
	c.Sched.Park(s.head)
}

// Fate is what happens to a stream when its next frame is due.
type Fate int

// The fates of a stream.
const (
	Arrives Fate = iota // the frame is delivered
	Drops               // the connection ends before the frame
	Expires             // the server sends 410 Gone in place of the frame, and ends the stream
	Waits               // the frame lags once more
)

// Behind is the number of changes that the stream has not delivered.
func (s *Stream) Behind() int { return s.watch.Behind() }

// end is the end of a stream, as its fate says.
func (c *Network) end(s *Stream, fate Fate) {
	c.Sched.SetCurrent(history.Cause{Kind: history.CauseWatchEnd, Object: s.Kind})
	if fate == Expires {
		f := s.watch.Expired()
		c.History.Add(c.delivery(s, f, f.Data))
		s.body.write(f.Data)
	}
	c.hangUp(s)
}

// hangUp ends a stream from the server's side.
func (c *Network) hangUp(s *Stream) {
	s.body.end(io.EOF)
	c.close(s)
	c.noteLostWatch(s.Call, 0)
}

// delivery is the event of a frame's arrival.
func (c *Network) delivery(s *Stream, f apiserver.Frame, data []byte) history.Event {
	ref := history.Ref{Group: s.Call.Info.Group, Kind: s.Kind, Namespace: f.Namespace, Name: f.Name}
	ref.Cluster = s.Call.Cluster
	return history.Event{
		Step: c.Sched.Steps(), At: c.Sched.Now(), Kind: history.Deliver,
		Process: s.Port.Process, Incarnation: s.Port.Incarnation,
		Verb: f.Type, Ref: ref, Revision: f.Revision, Server: c.server.Revision(), Received: data,
	}
}

// deliver delivers the next frame. The initial events of a watch-list are delivered together, as a
// list would be.
func (c *Network) deliver(s *Stream) {
	s.head = nil
	if next, ok := s.watch.Peek(); ok {
		switch fate := c.observer.Fate(s, next); fate {
		case Arrives:
		case Waits:
			c.next(s)
			return
		default:
			c.end(s, fate)
			return
		}
	}
	var data []byte
	n := 0
	var f apiserver.Frame
	for {
		g, ok := s.watch.Peek()
		if !ok || n > 0 && !(f.Initial && g.Initial) {
			break
		}
		f, _ = s.watch.Next()
		data = append(data, f.Data...)
		n++
	}
	if n == 0 {
		return
	}
	e := c.delivery(s, f, data)
	cause := history.Cause{Kind: history.CauseWatch, Object: s.Kind, Verb: f.Type}
	if f.Initial {
		e.Verb, e.Note = "LIST", fmt.Sprintf("%d initial", n-1)
		e.Ref.Namespace, e.Ref.Name = "", ""
		cause = history.Cause{Kind: history.CauseInitialList, Object: s.Kind}
	}
	c.History.Add(e)
	c.Sched.SetCurrent(cause)
	c.awake(s)
	s.body.write(data)
	if f.Type == string(watch.Error) {
		c.noteLostWatch(s.Call, 0) // its reader closes it, and lists anew after a while
	}
	c.next(s)
}

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
// nobody receives any more, and watch.Filter would keep its goroutine.
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

// Close implements io.Closer.
func (b *body) Close() error {
	b.closing.Do(func() {
		close(b.done)
		b.onClose()
	})
	return nil
}
