package history

import "strings"

// CauseKind is the kind of a [Cause].
type CauseKind string

// The kinds of causes.
const (
	CauseUnknown      CauseKind = "unknown"
	CauseWatch        CauseKind = "watch"         // a watch event: Verb is its type, Object the kind
	CauseInitialList  CauseKind = "initial-list"  // Object is the kind; empty for a handler that joins late
	CauseResync       CauseKind = "resync"        // an informer repeats what it has
	CauseChannel      CauseKind = "channel"       // a goroutine of the program's own
	CauseBackOff      CauseKind = "back-off"      // the timer of a rate-limited requeue
	CauseRequeueAfter CauseKind = "requeue-after" // the timer of RequeueAfter
	CauseRateLimited  CauseKind = "rate-limited"  // a rate-limited requeue without delay
	CauseReply        CauseKind = "reply"         // a reply: Verb, Object and Of are the request
	CauseCallEnd      CauseKind = "call-end"      // a caller gave up: Verb, Object and Of are the request
	CauseWatchEnd     CauseKind = "watch-end"     // the end of a watch of Object
	CauseWatchTimeout CauseKind = "watch-timeout" // the server ended a watch of Object
	CauseWebhook      CauseKind = "webhook"       // a call of the webhook Of
	CauseReconcile    CauseKind = "reconcile"     // the beginning of the reconcile Of
	CauseFault        CauseKind = "fault"         // an injection, which Of describes
	CauseStep         CauseKind = "step"          // a step of a built-in controller, which Of describes
)

// Cause is why a worker dequeued a key. The zero value is that there is no cause on record.
type Cause struct {
	Kind   CauseKind `json:"kind,omitempty"`
	Verb   string    `json:"verb,omitempty"`   // verb of a request, or type of a watch event
	Object string    `json:"object,omitempty"` // Kubernetes kind
	Of     string    `json:"of,omitempty"`     // what else it is about, for people
}

// Timer reports whether a timer of the work queue was the cause.
func (c Cause) Timer() bool { return c.Kind == CauseBackOff || c.Kind == CauseRequeueAfter }

// String is the cause in a few words.
func (c Cause) String() string {
	switch c.Kind {
	case CauseWatch:
		return "watch(" + c.Object + " " + c.Verb + ")"
	case CauseInitialList:
		if c.Object != "" {
			return "initial-list(" + c.Object + ")"
		}
	case CauseBackOff:
		return "timer(backoff)"
	case CauseRequeueAfter:
		return "timer(RequeueAfter)"
	case CauseRateLimited:
		return "backoff"
	case CauseReply:
		return "reply to " + c.request()
	case CauseCallEnd:
		return "end of " + c.request()
	case CauseWatchEnd:
		return "end of the " + c.Object + " watch"
	case CauseWatchTimeout:
		return "time-out of the " + c.Object + " watch"
	case CauseWebhook:
		return "call of webhook " + c.Of
	case CauseReconcile:
		return "reconcile " + c.Of
	case CauseFault, CauseStep:
		return c.Of
	}
	return string(c.Kind)
}

// request is the request of a cause in words.
func (c Cause) request() string {
	s := c.Verb
	for _, word := range []string{c.Object, c.Of} {
		if word != "" {
			s += " " + word
		}
	}
	return strings.TrimSpace(s)
}

// elected reports whether the step made a process the leader. Its queues are then filled with the
// contents of its caches, and that is the cause of its reconciles, not the lease.
func (c Cause) elected() bool {
	if c.Kind != CauseReply || c.Object != "Lease" {
		return false
	}
	return c.Verb == "create" || c.Verb == "update" || c.Verb == "patch"
}

// words is the cause for a rendered history.
func (c Cause) words() string {
	if c.elected() {
		return "the initial list, as the process leads now"
	}
	return c.String()
}
