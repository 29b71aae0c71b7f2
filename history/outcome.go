package history

import "time"

// OutcomeKind is the kind of an [Outcome].
type OutcomeKind string

// The kinds of outcomes.
const (
	OutcomeSuccess         OutcomeKind = "ok"
	OutcomeRequeue         OutcomeKind = "requeue"          // a rate-limited requeue without an error
	OutcomeRequeueAfter    OutcomeKind = "requeue after"    // After says when
	OutcomeFailure         OutcomeKind = "error"            // Text is the error
	OutcomeTerminalFailure OutcomeKind = "terminal error"   // Text is the error
	OutcomePanic           OutcomeKind = "panic"            // Text is what was panicked with
	OutcomeGoroutineExit   OutcomeKind = "goroutine exited" // the goroutine ended without a return
	OutcomeAsked           OutcomeKind = "asked to stop"    // not ended yet: an incarnation was sent SIGTERM
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
	case OutcomeRequeueAfter:
		return "requeue after " + o.After.String()
	case OutcomeFailure, OutcomeTerminalFailure, OutcomePanic:
		return string(o.Kind) + ": " + o.Text
	case OutcomeGoroutineExit:
		return "the goroutine exited"
	}
	return string(o.Kind)
}

// OK reports whether the reconcile ended without a request to come again.
func (o Outcome) OK() bool { return o.Kind == OutcomeSuccess }

// Failed reports whether it ended with an error or a panic.
func (o Outcome) Failed() bool {
	return o.Kind == OutcomeFailure || o.Kind == OutcomeTerminalFailure || o.Kind == OutcomePanic
}

// Again reports whether the key is dequeued again because of the outcome.
func (o Outcome) Again() bool { return o.Kind != OutcomeSuccess && o.Kind != OutcomeTerminalFailure }

// exit is how an incarnation stopped, in words.
func (o Outcome) exit() string {
	switch o.Kind {
	case "":
		return ""
	case OutcomeSuccess:
		return "exited"
	case OutcomeFailure, OutcomePanic:
		return "exited: " + o.Text
	}
	return string(o.Kind)
}
