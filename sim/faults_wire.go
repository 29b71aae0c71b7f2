package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// LostReply makes a write end in a time-out for its caller: the write may have taken effect or not, and the caller
// cannot tell. It strikes requests to the API server and to the outside alike.
func LostReply(scopes ...Scope) Fault { return &lostReply{newFault("LostReply", scopes)} }

type lostReply struct{ fault }

func (f *lostReply) fresh() Fault { c := *f; return &c }

func (f *lostReply) arrive(w *World, c *wire.Call) wire.Ruling { return f.lose(w, c, "not applied") }
func (f *lostReply) land(w *World, c *wire.Call) wire.Ruling   { return f.lose(w, c, "applied") }

func (f *lostReply) lose(w *World, c *wire.Call, how string) wire.Ruling {
	if !c.Writes() || f.hits(w, c, how, 2, 24, 6) == 0 {
		return wire.Ruling{}
	}
	f.mark(w, c, how+",")
	return wire.Ruling{Lose: &timeoutError{}, Seen: f.seen}
}

// timeoutError is the net.Error of a reply that never came.
type timeoutError struct{}

func (*timeoutError) Error() string   { return "i/o timeout (wavetank lost the reply)" }
func (*timeoutError) Timeout() bool   { return true }
func (*timeoutError) Temporary() bool { return true }

// Conflict lets another writer touch an object just before a write to it arrives: an annotation changes, and with it the
// resource version. A write with an optimistic lock is answered with 409; one without overwrites.
func Conflict(scopes ...Scope) Fault { return &conflict{newFault("Conflict", scopes), 0} }

type conflict struct {
	fault
	touched int
}

func (f *conflict) fresh() Fault { c := *f; return &c }

// otherWriter is the process name under which [Conflict] writes.
const otherWriter = "another writer"

func (f *conflict) arrive(w *World, c *wire.Call) wire.Ruling {
	if c.Host != "" || c.Cluster != "" || !c.Writes() || c.Info.Name == "" || c.Verb() == "delete" || f.hits(w, c, "", 2, 16, 4) == 0 {
		return wire.Ruling{}
	}
	f.mark(w, c, "another writer comes before")
	f.touched++
	body, _ := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
		"wavetank.example/touched": fmt.Sprintf("%d times", f.touched)}}})
	u := *c.Request.URL
	u.RawQuery = ""
	if c.Info.Subresource != "" {
		u.Path = u.Path[:len(u.Path)-len(c.Info.Subresource)-1]
	}
	w.wire.Write(otherWriter, apiserver.Request{
		Method: http.MethodPatch, URL: &u, Body: body, User: otherWriter, Groups: []string{"system:masters"},
		Header: http.Header{"Content-Type": {"application/merge-patch+json"}},
	})
	f.seen()
	return wire.Ruling{}
}

// ServerError answers requests with 429 (and Retry-After), 500, 503 or 504 instead of performing them, or performs them
// and answers 500.
func ServerError(scopes ...Scope) Fault { return &serverError{newFault("ServerError", scopes)} }

type serverError struct{ fault }

func (f *serverError) fresh() Fault { c := *f; return &c }

var serverErrors = []metav1.Status{
	{},
	{Code: 500, Reason: metav1.StatusReasonInternalError, Message: "Internal error occurred: wavetank says so"},
	{Code: 503, Reason: metav1.StatusReasonServiceUnavailable, Message: "the server is currently unable to handle the request"},
	{Code: 429, Reason: metav1.StatusReasonTooManyRequests, Message: "too many requests, please try again later",
		Details: &metav1.StatusDetails{RetryAfterSeconds: 1}},
	{Code: 504, Reason: metav1.StatusReasonTimeout, Message: "Timeout: request did not complete within the allotted timeout"},
}

func (f *serverError) arrive(w *World, c *wire.Call) wire.Ruling {
	if c.Host != "" {
		return wire.Ruling{}
	}
	v := f.hits(w, c, "not applied", len(serverErrors), 24, 6)
	if v == 0 {
		return wire.Ruling{}
	}
	f.mark(w, c, fmt.Sprintf("%d for", serverErrors[v].Code))
	return wire.Ruling{Answer: statusAnswer(serverErrors[v]), Seen: f.seen}
}

func (f *serverError) land(w *World, c *wire.Call) wire.Ruling {
	if c.Host != "" || !c.Writes() || f.hits(w, c, "applied", 2, 32, 8) == 0 {
		return wire.Ruling{}
	}
	f.mark(w, c, "500 after applying")
	return wire.Ruling{Answer: statusAnswer(serverErrors[1]), Seen: f.seen}
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

// Unreachable cuts a process off from the API server for windows of up to d: its requests are refused at the socket and its watches hear
// nothing until the window ends.
func Unreachable(d time.Duration, scopes ...Scope) Fault {
	return &unreachable{newFault(fmt.Sprintf("Unreachable(%v)", d), scopes).taking("In"), d, map[string]time.Duration{}}
}

type unreachable struct {
	fault
	max   time.Duration
	until map[string]time.Duration // end of the window, by process
}

func (f *unreachable) fresh() Fault { return &unreachable{f.fault, f.max, map[string]time.Duration{}} }

func (f *unreachable) heal(*World) { clear(f.until) }

var windowLevels = []int64{0, 256, 64, 16, 4, 2, 1}

func (f *unreachable) arrive(w *World, c *wire.Call) wire.Ruling {
	if c.Host != "" || !f.scope.covers(c.Port.Process, "", "", c.Ref()) {
		return wire.Ruling{}
	}
	var seen func() // of the request at which it is injected
	if f.remaining(w, c.Port.Process) == 0 {
		v := f.hits(w, c, "", len(windowLevels), 40, 12)
		if v == 0 {
			return wire.Ruling{}
		}
		d := f.max / time.Duration(windowLevels[v])
		f.until[c.Port.Process], seen = w.sched.Now()+d, f.seen
		f.mark(w, c, fmt.Sprintf("for %v, beginning with", d))
	}
	return wire.Ruling{Seen: seen, Lose: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}}
}

// remaining is how long the process's window still lasts.
func (f *unreachable) remaining(w *World, process string) time.Duration {
	if w.healed {
		return 0
	}
	return max(0, f.until[process]-w.sched.Now())
}

// fate implements ender: what a lag could not foresee, as the window began when the event was on its way.
func (f *unreachable) fate(w *World, s *wire.Stream, _ apiserver.Frame) wire.Fate {
	if f.remaining(w, s.Port.Process) > 0 {
		return wire.Waits
	}
	return wire.Arrives
}

// SlowEffect makes calls to the outside take up to d longer: the effect happens, the reply comes late.
func SlowEffect(d time.Duration, scopes ...Scope) Fault {
	return &slowEffect{newFault(fmt.Sprintf("SlowEffect(%v)", d), scopes), d}
}

type slowEffect struct {
	fault
	max time.Duration
}

func (f *slowEffect) fresh() Fault { c := *f; return &c }

func (f *slowEffect) delay(w *World, c *wire.Call) time.Duration {
	if c.Host == "" {
		return 0
	}
	v := f.hits(w, c, "", len(lagLevels), 6, 2)
	if v == 0 {
		return 0
	}
	f.seen()
	return f.max / time.Duration(lagLevels[v])
}

// FailedEffect makes the outside answer 500 to a write without performing it.
func FailedEffect(scopes ...Scope) Fault { return &failedEffect{newFault("FailedEffect", scopes)} }

type failedEffect struct{ fault }

func (f *failedEffect) fresh() Fault { c := *f; return &c }

func (f *failedEffect) arrive(w *World, c *wire.Call) wire.Ruling {
	if c.Host == "" || !c.Writes() || f.hits(w, c, "", 2, 12, 3) == 0 {
		return wire.Ruling{}
	}
	f.mark(w, c, "500 for")
	return wire.Ruling{Seen: f.seen, Answer: &apiserver.Response{Code: 500, Header: http.Header{"Content-Type": {"text/plain"}},
		Body: bytes.NewBufferString("wavetank: the outside world failed\n").Bytes()}}
}

// DoubledEffect makes a write to the outside arrive twice, as a proxy that retries does.
func DoubledEffect(scopes ...Scope) Fault { return &doubledEffect{newFault("DoubledEffect", scopes)} }

type doubledEffect struct{ fault }

func (f *doubledEffect) fresh() Fault { c := *f; return &c }

func (f *doubledEffect) arrive(w *World, c *wire.Call) wire.Ruling {
	if c.Host == "" || !c.Writes() || f.hits(w, c, "", 2, 12, 3) == 0 {
		return wire.Ruling{}
	}
	f.mark(w, c, "twice,")
	f.seen()
	return wire.Ruling{Again: true}
}
