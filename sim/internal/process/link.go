package process

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// This file has the messages between a world and an incarnation that is an operating system process
// of its own. They go through two pipes, so each message is taken after those that were sent before
// it. The incarnation ends when its pipe does.

// message is one of these.
type message struct {
	Launch *Launch      `json:",omitempty"` // to the incarnation, first
	Answer *wire.Answer `json:",omitempty"` // to the incarnation
	Turn   *turnOf      `json:",omitempty"` // to the incarnation, which answers with a report
	Sent   *wire.Sent   `json:",omitempty"` // to the world
	Cancel int64        `json:",omitempty"` // to the world: the program gives a request up
	Report *report      `json:",omitempty"` // to the world
}

// Launch is what an incarnation must know to begin.
type Launch struct {
	Process     string
	Incarnation int
	// Choices are those of the story. They lead to the program.
	Choices    choice.Sequence
	Kubeconfig string // of the API server, whose kinds the program asks for
	Paced      bool   // timers fire by themselves
	Now        time.Duration
}

// turnOf has the incarnation do something, and wait until it is quiet.
type turnOf struct {
	Now     time.Duration
	Cause   *history.Cause `json:",omitempty"` // of what the program does
	Perform int64          `json:",omitempty"` // the action
	Fire    string         `json:",omitempty"` // the dequeue whose timer fires
	Inspect bool           `json:",omitempty"` // look for cached objects that were changed
}

// report is what an incarnation is like when it is quiet.
type report struct {
	Events  []history.Event `json:",omitempty"` // since the last report
	Actions []farAction     `json:",omitempty"` // that wait
	Timers  []string        `json:",omitempty"` // dequeues that wait for timers
	Crashed bool            `json:",omitempty"` // a panic has ended the program
	Exit    *FarExit        `json:",omitempty"` // the program has ended
	// Refused is what the incarnation cannot do.
	Refused string `json:",omitempty"`
}

// farAction is an action that waits in an incarnation.
type farAction struct {
	ID               int64
	Order, Actor, Of string
	Words, Detail    string
	HasDetail        bool
	Idle, Chatter    bool
}

// FarExit is how a program in another process ended.
type FarExit struct {
	Message string // "" if it returned no error
	Setup   bool   // it was the setup function that failed
	Panic   string // what it panicked with
	Stack   string
}

// Error implements error.
func (f *FarExit) Error() string { return f.Message }

// link is one end of the connection. Any goroutine may send.
type link struct {
	in  *json.Decoder
	mu  sync.Mutex
	out *json.Encoder
}

func newLink(in io.Reader, out io.Writer) *link {
	return &link{in: json.NewDecoder(in), out: json.NewEncoder(out)}
}

func (l *link) send(m message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Encode(m)
}
