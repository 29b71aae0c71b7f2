package fault

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// LostReply makes a write end in a time-out for its caller. The write may have taken effect or not,
// and the caller cannot tell. It affects requests to the API server and to hosts outside the
// cluster.
func LostReply(scopes ...Scope) Fault {
	return declare("LostReply", "", scopes, func(c core) inject.Fault { return &lostReply{c} })
}

type lostReply struct{ core }

// Arrive implements [inject.Arriver].
func (l *lostReply) Arrive(c *wire.Call) wire.Ruling { return l.lose(c, "not applied") }

// Landed implements [inject.Lander].
func (l *lostReply) Landed(c *wire.Call) wire.Ruling { return l.lose(c, "applied") }

func (l *lostReply) lose(c *wire.Call, how string) wire.Ruling {
	if !c.Writes() || l.injectedAt(c, how, 2, 24, 6) == 0 {
		return wire.Ruling{}
	}
	l.note(c, how+",")
	return wire.Ruling{Lose: &timeoutError{}, Seen: l.observed}
}

// timeoutError is the net.Error of a reply that never came.
type timeoutError struct{}

func (*timeoutError) Error() string   { return "i/o timeout (wavetank lost the reply)" }
func (*timeoutError) Timeout() bool   { return true }
func (*timeoutError) Temporary() bool { return true }

// Conflict lets another writer change an object just before a write to it arrives. The other writer
// changes an annotation, and with it the resource version. A write with an optimistic lock is
// answered with 409; a write without one overwrites the change.
func Conflict(scopes ...Scope) Fault {
	return declare("Conflict", "", scopes, func(c core) inject.Fault { return &conflict{core: c} })
}

type conflict struct {
	core
	touched int
}

// Arrive implements [inject.Arriver].
func (c *conflict) Arrive(call *wire.Call) wire.Ruling {
	if call.Host != "" || call.Cluster != "" || !call.Writes() || call.Info.Name == "" || call.Verb() == "delete" ||
		c.injectedAt(call, "", 2, 16, 4) == 0 {
		return wire.Ruling{}
	}
	c.note(call, "another writer comes before")
	c.touched++
	body := fmt.Sprintf(`{"metadata":{"annotations":{"wavetank.example/touched":"%d times"}}}`, c.touched)
	patchAsAnother(c.env, call, []byte(body))
	c.observed()
	return wire.Ruling{}
}

// otherWriter is the process name under which faults write.
const otherWriter = "another writer"

// patchAsAnother lets another writer patch the object that a call is about to write.
func patchAsAnother(env inject.Env, c *wire.Call, patch []byte) {
	u := *c.Request.URL
	u.RawQuery = ""
	if c.Info.Subresource != "" {
		u.Path = strings.TrimSuffix(u.Path, "/"+c.Info.Subresource)
	}
	env.Write(otherWriter, apiserver.Request{
		Method: http.MethodPatch, URL: &u, Body: patch, User: otherWriter, Groups: []string{"system:masters"},
		Header: http.Header{"Content-Type": {"application/merge-patch+json"}},
	})
}

// ServerError answers requests with 429 (and Retry-After), 500, 503 or 504 without performing them,
// or performs them and answers 500.
func ServerError(scopes ...Scope) Fault {
	return declare("ServerError", "", scopes, func(c core) inject.Fault { return &serverError{c} })
}

type serverError struct{ core }

// serverErrors are the answers to choose from. The first stands for none.
var serverErrors = []metav1.Status{
	{},
	{
		Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
		Message: "Internal error occurred: wavetank says so",
	},
	{
		Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable,
		Message: "the server is currently unable to handle the request",
	},
	{
		Code: http.StatusTooManyRequests, Reason: metav1.StatusReasonTooManyRequests,
		Message: "too many requests, please try again later",
		Details: &metav1.StatusDetails{RetryAfterSeconds: 1},
	},
	{
		Code: http.StatusGatewayTimeout, Reason: metav1.StatusReasonTimeout,
		Message: "Timeout: request did not complete within the allotted timeout",
	},
}

// Arrive implements [inject.Arriver].
func (s *serverError) Arrive(c *wire.Call) wire.Ruling {
	if c.Host != "" {
		return wire.Ruling{}
	}
	v := s.injectedAt(c, "not applied", len(serverErrors), 24, 6)
	if v == 0 {
		return wire.Ruling{}
	}
	s.note(c, fmt.Sprintf("%d for", serverErrors[v].Code))
	return wire.Ruling{Answer: statusAnswer(serverErrors[v]), Seen: s.observed}
}

// Landed implements [inject.Lander].
func (s *serverError) Landed(c *wire.Call) wire.Ruling {
	if c.Host != "" || !c.Writes() || s.injectedAt(c, "applied", 2, 32, 8) == 0 {
		return wire.Ruling{}
	}
	s.note(c, "500 after applying")
	return wire.Ruling{Answer: statusAnswer(serverErrors[1]), Seen: s.observed}
}

func statusAnswer(s metav1.Status) *apiserver.Response {
	s.Kind, s.APIVersion, s.Status = "Status", "v1", metav1.StatusFailure
	body, _ := json.Marshal(s)
	r := &apiserver.Response{Code: int(s.Code), Body: body, Header: http.Header{"Content-Type": {"application/json"}}}
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		r.Header.Set("Retry-After", fmt.Sprint(s.Details.RetryAfterSeconds))
	}
	return r
}

// Unreachable cuts a process off from the API server for windows of up to d. Its requests are
// refused at the socket, and its watches deliver nothing until the window ends.
func Unreachable(d time.Duration, scopes ...In) Fault {
	return declare("Unreachable", d.String(), scopes,
		func(c core) inject.Fault { return &unreachable{newLasting(c)} }).upTo(d)
}

type unreachable struct{ lasting } // by process

// refused is what the caller sees when a connection is refused.
func refused() error { return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED} }

// Arrive implements [inject.Arriver].
func (u *unreachable) Arrive(c *wire.Call) wire.Ruling {
	if c.Host != "" || !u.covers(c.Port.Process, "", "", c.Ref()) {
		return wire.Ruling{}
	}
	seen, befalls := u.befalls(c, c.Port.Process)
	if !befalls {
		return wire.Ruling{}
	}
	return wire.Ruling{Seen: seen, Lose: refused()}
}

// Lag implements [inject.Lagger].
func (u *unreachable) Lag(s *wire.Stream, _ apiserver.Frame) time.Duration {
	return u.remaining(s.Port.Process)
}

// Fate implements [inject.FateDecider]: the window may have begun when the event was on its way.
func (u *unreachable) Fate(s *wire.Stream, _ apiserver.Frame) wire.Fate {
	if u.remaining(s.Port.Process) > 0 {
		return wire.Waits
	}
	return wire.Arrives
}
