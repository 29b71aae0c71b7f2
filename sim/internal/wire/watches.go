package wire

import (
	"fmt"
	"io"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Watches are the open watch streams. They deliver what the store's history has for them.
type Watches struct {
	*recorder
	rules   Rules
	streams []*Stream
	lost    lostWatches
	prompt  func(*Stream) bool // which streams deliver without a lag at the moment; nil for none
	passing *passing
}

// Lost are the watches that living processes may be waiting to open again.
func (w *Watches) Lost() []*LostWatch { return w.lost.pending() }

// open begins the stream of a watch that has been served.
func (w *Watches) open(call *Call) *Stream {
	s := &Stream{Port: call.Port, Kind: call.Kind, Call: call, watch: call.Watched()}
	s.body = newBody(call.http.Context())
	s.body.onClose = func() {
		w.Sched.Note(call.order(), func() { w.close(s) })
	}
	s.body.onCancel = func() { w.giveUp(s) }
	w.streams = append(w.streams, s)
	w.limit(s, s.timeLimit()*s.stretch())
	w.next(s)
	return s
}

// limit ends a stream after a time; never if that is 0.
func (w *Watches) limit(s *Stream, d time.Duration) {
	if d <= 0 {
		return
	}
	s.timeout = &sched.Action{
		Order: s.Call.order(), Idle: true,
		Actor: s.Port.Actor(s.Call.order()),
		What:  func() string { return "time-out of " + s.String() },
		Delay: func() time.Duration { return d },
		Do: func() {
			w.Sched.SetCurrent(history.Cause{Kind: history.CauseWatchTimeout, Object: s.Kind})
			if s.Port.eventless == nil {
				s.Port.eventless = map[string]int{}
			}
			s.Port.eventless[s.Call.order()]++
			w.hangUp(s)
		},
	}
	w.Sched.Park(s.timeout)
}

// awake makes a stream last no longer than usual, as there is an event.
func (w *Watches) awake(s *Stream) {
	if s.stretch() > 1 && s.timeout != nil {
		w.Sched.Drop(s.timeout)
		w.limit(s, s.timeLimit())
	}
	delete(s.Port.eventless, s.Call.order())
}

// Streams are the open watches.
func (w *Watches) Streams() []*Stream { return w.streams }

// close forgets a stream that is over.
func (w *Watches) close(s *Stream) {
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
			w.Sched.Drop(a)
		}
	}
	for i, other := range w.streams {
		if other == s {
			w.streams = append(w.streams[:i], w.streams[i+1:]...)
			break
		}
	}
}

// giveUp ends a stream whose context has ended in a step of its own, for the reasons of
// [Network.giveUp]. A client that closes the stream in the same moment, as reflectors do, needs no
// such step.
func (w *Watches) giveUp(s *Stream) {
	if s.Port.Dead() {
		s.body.end(io.EOF)
		return
	}
	a := &sched.Action{
		Order: s.Call.order(),
		Actor: s.Call.Actor(),
		What:  func() string { return "end of " + s.String() },
		Do: func() {
			w.Sched.SetCurrent(history.Cause{Kind: history.CauseWatchEnd, Object: s.Kind})
			s.body.end(io.EOF)
			w.close(s)
		},
		Idle: s.Call.Idle(), Chatter: s.Call.Ref().Chatter(),
	}
	s.body.mu.Lock()
	s.cancelled = a
	s.body.mu.Unlock()
	w.Sched.Park(a)
}

// Pump lets every stream that has something new queue its next delivery. Call it after each change
// of the store.
func (w *Watches) Pump() {
	for _, s := range w.streams {
		w.next(s)
	}
}

// next queues the delivery of the stream's next frame, if there is one and none is queued.
func (w *Watches) next(s *Stream) {
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
		What:  func() string { return "delivery of " + described(f) + " to " + s.String() },
		Delay: func() time.Duration {
			if w.prompts(s) {
				return 0
			}
			return w.rules.Lag(s, f)
		},
		Do:   func() { w.deliver(s) },
		Idle: s.Call.Idle(), Chatter: s.Call.Ref().Chatter(),
	}
	w.Sched.Park(s.head)
}

// Deliver performs the pending deliveries of one kind to an incarnation, without a lag, until it
// has received everything. It returns how many there were. An incarnation may have no watch of the
// kind at the moment.
func (w *Watches) Deliver(incarnation, kind string) (n int) {
	w.prompt = func(s *Stream) bool {
		return s.Port.Name() == incarnation && s.Kind == kind && s.Call.Cluster == ""
	}
	defer func() { w.prompt = nil }()
	for i := 0; i < len(w.streams); {
		s := w.streams[i]
		if s.head == nil || !w.prompts(s) {
			i++
			continue
		}
		w.Sched.Perform(s.head)
		i, n = 0, n+1
	}
	return n
}

func (w *Watches) prompts(s *Stream) bool { return w.prompt != nil && w.prompt(s) }

// described is a frame in words. The initial events are delivered together.
func described(f apiserver.Frame) string {
	if f.Initial {
		return "the initial list"
	}
	return fmt.Sprintf("%s %s/%s", f.Type, f.Namespace, f.Name)
}

// end is the end of a stream, as its fate says.
func (w *Watches) end(s *Stream, fate Fate) {
	w.Sched.SetCurrent(history.Cause{Kind: history.CauseWatchEnd, Object: s.Kind})
	if fate == Expires {
		f := s.watch.Expired()
		w.History.Add(w.delivery(s, f, f.Data))
		s.body.write(f.Data)
	}
	w.hangUp(s)
}

// hangUp ends a stream from the server's side.
func (w *Watches) hangUp(s *Stream) {
	s.body.end(io.EOF)
	w.close(s)
	w.lost.add(s.Call, 0)
}

// deliver delivers the next frame. The initial events of a watch-list are delivered together, as a
// list would be.
func (w *Watches) deliver(s *Stream) {
	s.head = nil
	if next, ok := s.watch.Peek(); ok && !w.prompts(s) {
		switch fate := w.rules.Fate(s, next); fate {
		case Arrives:
		case Waits:
			w.next(s)
			return
		default:
			w.end(s, fate)
			return
		}
	}
	var data, sent []byte
	n := 0
	var f apiserver.Frame
	for {
		g, ok := s.watch.Peek()
		if !ok || n > 0 && !(f.Initial && g.Initial) {
			break
		}
		f, _ = s.watch.Next()
		data = append(data, f.Data...)
		sent = append(sent, w.passing.frame(s, f)...)
		n++
	}
	if n == 0 {
		return
	}
	e := w.delivery(s, f, data)
	cause := history.Cause{Kind: history.CauseWatch, Object: s.Kind, Verb: f.Type}
	if f.Initial {
		e.Verb, e.Note = "LIST", fmt.Sprintf("%d initial", n-1)
		e.Ref.Namespace, e.Ref.Name = "", ""
		cause = history.Cause{Kind: history.CauseInitialList, Object: s.Kind}
	}
	w.History.Add(e)
	w.Sched.SetCurrent(cause)
	w.awake(s)
	s.body.write(sent)
	if f.Type == string(watch.Error) {
		w.lost.add(s.Call, 0) // its reader closes it, and lists again after a while
	}
	w.next(s)
}

// bury closes the streams of a dead incarnation.
func (w *Watches) bury(p *Port) {
	for _, s := range slices.Clone(w.streams) {
		if s.Port == p {
			w.close(s)
		}
	}
}

// release ends all streams, one at a time.
func (w *Watches) release(wait func()) {
	for _, s := range slices.Clone(w.streams) {
		s.body.end(io.EOF)
		w.close(s)
		wait()
	}
}

// ended is implemented by events that the server may end.
type ended interface{ Ended() bool }

// of is the open stream of a call; nil if there is none.
func (w *Watches) of(call *Call) *Stream {
	for _, s := range w.streams {
		if s.Call == call {
			return s
		}
	}
	return nil
}

// arrived is called when the backend has sent an event, or has ended the watch.
func (w *Watches) arrived(s *Stream) {
	w.next(s)
	if e, ok := s.watch.(ended); ok && e.Ended() && s.head == nil {
		w.hangUp(s)
	}
}
