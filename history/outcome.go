package history

import "time"

// OutcomeKind is the kind of an [Outcome].
type OutcomeKind string

// The kinds of outcomes.
const (
	Success         OutcomeKind = "ok"
	Requeue         OutcomeKind = "requeue"          // a rate-limited requeue without an error
	RequeueAfter    OutcomeKind = "requeue after"    // After says when
	Failure         OutcomeKind = "error"            // Text is the error
	TerminalFailure OutcomeKind = "terminal error"   // Text is the error
	Panic           OutcomeKind = "panic"            // Text is what was panicked with
	GoroutineExit   OutcomeKind = "goroutine exited" // the goroutine ended without a return
	Asked           OutcomeKind = "asked to stop"    // not ended yet: an incarnation was sent SIGTERM
)

// Outcome is how a reconcile ended, or an incarnation. The zero value is that nothing has ended.
type Outcome struct {
	Kind  OutcomeKind   `json:"kind,omitempty"`
	Text  string        `json:"text,omitempty"`  // for people
	After time.Duration `json:"after,omitempty"` // nanoseconds
}

// String is the outcome of a reconcile in words.
func (o Outcome) String() string {
	switch o.Kind {
	case RequeueAfter:
		return "requeue after " + o.After.String()
	case Failure, TerminalFailure, Panic:
		return string(o.Kind) + ": " + o.Text
	case GoroutineExit:
		return "the goroutine exited"
	}
	return string(o.Kind)
}

// OK reports whether the reconcile ended without a request to come again.
func (o Outcome) OK() bool { return o.Kind == Success }

// Failed reports whether it ended with an error or a panic.
func (o Outcome) Failed() bool {
	return o.Kind == Failure || o.Kind == TerminalFailure || o.Kind == Panic
}

// Again reports whether the key is dequeued again because of the outcome.
func (o Outcome) Again() bool { return o.Kind != Success && o.Kind != TerminalFailure }

// exit is how an incarnation stopped, in words.
func (o Outcome) exit() string {
	switch o.Kind {
	case "":
		return ""
	case Success:
		return "exited"
	case Failure, Panic:
		return "exited: " + o.Text
	}
	return string(o.Kind)
}
