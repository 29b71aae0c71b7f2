// Package child runs incarnations that are operating system processes of their own. A world and an
// incarnation send each other messages through two pipes, so each message is taken after those that
// were sent before it. The incarnation ends when its pipe does.
package child

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Message is sent between a world and an incarnation.
type Message struct {
	Launch *Launch      `json:",omitempty"` // to the incarnation, first
	Answer *wire.Answer `json:",omitempty"` // to the incarnation
	Turn   *Turn        `json:",omitempty"` // to the incarnation, which answers with a report
	Sent   *wire.Sent   `json:",omitempty"` // to the world
	Cancel int64        `json:",omitempty"` // to the world: the program gives a request up
	Report *Report      `json:",omitempty"` // to the world
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

// Turn has the incarnation do something, and wait until it is quiet.
type Turn struct {
	Now     time.Duration
	Cause   *history.Cause `json:",omitempty"` // of what the program does
	Perform int64          `json:",omitempty"` // the action
	Fire    string         `json:",omitempty"` // the dequeue whose timer fires
	Inspect bool           `json:",omitempty"` // look for cached objects that were changed
}

// Report is what an incarnation is like when it is quiet.
type Report struct {
	Events  []history.Event `json:",omitempty"` // since the last report
	Actions []Action        `json:",omitempty"` // that wait
	Timers  []string        `json:",omitempty"` // dequeues that wait for timers
	Crashed bool            `json:",omitempty"` // a panic has ended the program
	Exit    *Exit           `json:",omitempty"` // the program has ended
	// Refused is what the incarnation cannot do.
	Refused string `json:",omitempty"`
}

// Action is an action that waits in an incarnation.
type Action struct {
	ID               int64
	Order, Actor, Of string
	Words, Detail    string
	HasDetail        bool
	Idle, Chatter    bool
}

// Exit is how a program in another process ended.
type Exit struct {
	Message string // "" if it returned no error
	Setup   bool   // it was the setup function that failed
	Panic   string // what it panicked with
	Stack   string
}

// Error implements error.
func (e *Exit) Error() string { return e.Message }

// Link is one end of the connection. Any goroutine may send.
type Link struct {
	in  *json.Decoder
	mu  sync.Mutex
	out *json.Encoder
}

func newLink(in io.Reader, out io.Writer) *Link {
	return &Link{in: json.NewDecoder(in), out: json.NewEncoder(out)}
}

// The file descriptors of the pipes, as exec.Cmd.ExtraFiles has them.
const (
	pipeIn  = 3
	pipeOut = 4
)

// Inherited returns the link of the incarnation that this process is.
func Inherited() (*Link, error) {
	in, err := pipe(pipeIn)
	if err != nil {
		return nil, err
	}
	out, err := pipe(pipeOut)
	if err != nil {
		return nil, err
	}
	return newLink(in, out), nil
}

// Receive returns the next message.
func (l *Link) Receive() (m Message, err error) {
	err = l.in.Decode(&m)
	return m, err
}

// Send sends a message. It is an error if the other end has gone.
func (l *Link) Send(m Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Encode(m)
}
