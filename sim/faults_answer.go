package sim

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Rejected refuses writes to an object, one or several in a row, with the message: as invalid (422), as a schema does, or
// as denied by an admission webhook (403). Deletions can only be denied.
func Rejected(message string, scopes ...Scope) Fault {
	return &rejected{newFault("Rejected", scopes), message, map[string]refusal{}}
}

type rejected struct {
	fault
	message string
	refused map[string]refusal // by process and object
}

// refusal is how writes to an object are refused, and how many more of them.
type refusal struct {
	denied bool
	left   int
}

// inARow is how many writes to one object are refused.
var inARow = []int{1, 3, 10}

func (f *rejected) fresh() Fault {
	return &rejected{f.fault, f.message, map[string]refusal{}}
}

func (f *rejected) arrive(w *World, c *wire.Call) wire.Ruling {
	if c.Host != "" || !c.Writes() {
		return wire.Ruling{}
	}
	var seen func() // of the request at which it is injected
	key := c.Port.Process + " " + c.Ref().String()
	r := f.refused[key]
	if r.left == 0 || w.healed || !f.scope.reaches(c) {
		v := f.hits(w, c, "", 1+2*len(inARow), 24, 6)
		if v == 0 {
			return wire.Ruling{}
		}
		r, seen = refusal{denied: v%2 == 0, left: inARow[(v-1)/2]}, f.seen
	}
	r.left--
	f.refused[key] = r
	if strings.HasPrefix(c.Verb(), "delete") {
		r.denied = true
	}
	s := metav1.Status{Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
		Message: fmt.Sprintf("%s %q is invalid: %s", schema.GroupKind{Group: c.Info.Group, Kind: c.Kind}, c.Info.Name, f.message),
		Details: &metav1.StatusDetails{Name: c.Info.Name, Group: c.Info.Group, Kind: c.Kind,
			Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Message: f.message}}}}
	if r.denied {
		s = metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
			Message: fmt.Sprintf("admission webhook %q denied the request: %s", "wavetank.example", f.message)}
	}
	f.mark(w, c, fmt.Sprintf("%d for", s.Code))
	return wire.Ruling{Answer: statusAnswer(s), Seen: seen}
}

// Forbidden takes the rights to one resource away from a process for up to d, as when its RoleBinding is deleted and made
// again: every request for that resource is answered 403, opening a watch included; a watch that is open stays open.
func Forbidden(d time.Duration, scopes ...Scope) Fault {
	return &forbidden{newFault(fmt.Sprintf("Forbidden(%v)", d), scopes), d, map[string]time.Duration{}}
}

type forbidden struct {
	fault
	max   time.Duration
	until map[string]time.Duration // by process and resource
}

func (f *forbidden) fresh() Fault { return &forbidden{f.fault, f.max, map[string]time.Duration{}} }

func (f *forbidden) heal(*World) { clear(f.until) }

func (f *forbidden) arrive(w *World, c *wire.Call) wire.Ruling {
	if c.Host != "" || c.Idle() || !f.scope.reaches(c) {
		return wire.Ruling{}
	}
	var seen func() // of the request at which it is injected
	key := c.Port.Process + " " + c.Cluster + " " + c.Info.Group + "/" + c.Info.Resource
	if w.healed || f.until[key] <= w.sched.Now() {
		v := f.hits(w, c, "", len(windowLevels), 40, 12)
		if v == 0 {
			return wire.Ruling{}
		}
		d := f.max / time.Duration(windowLevels[v])
		f.until[key], seen = w.sched.Now()+d, f.seen
		f.mark(w, c, fmt.Sprintf("for %v, beginning with", d))
	}
	return wire.Ruling{Answer: statusAnswer(forbiddenStatus(c)), Seen: seen}
}

// forbiddenStatus is what kube-apiserver says when no role allows a request
// (staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go).
func forbiddenStatus(c *wire.Call) metav1.Status {
	resource := c.Info.Resource
	if c.Info.Subresource != "" {
		resource += "/" + c.Info.Subresource
	}
	where := "at the cluster scope"
	if c.Info.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", c.Info.Namespace)
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: c.Info.Group, Resource: c.Info.Resource}, c.Info.Name,
		fmt.Errorf("User %q cannot %s resource %q in API group %q %s", //nolint:staticcheck // as upstream words it
			c.Port.User, c.Verb(), resource, c.Info.Group, where)).ErrStatus
}

// WebhookDown makes nobody answer at an admission webhook for windows of up to d, wherever it is served. Writes that it is
// asked about fail with 500, or pass without it, as its failurePolicy says. Named narrows it to one webhook, by the name
// that its configuration gives it. w.Apply and w.Remove try again every second, after ten minutes without faults.
func WebhookDown(d time.Duration, scopes ...Scope) Fault {
	return &webhookDown{newFault(fmt.Sprintf("WebhookDown(%v)", d), scopes).taking("Named"), d, map[string]time.Duration{}}
}

type webhookDown struct {
	fault
	max   time.Duration
	until map[string]time.Duration // by webhook
}

func (f *webhookDown) fresh() Fault { return &webhookDown{f.fault, f.max, map[string]time.Duration{}} }

func (f *webhookDown) heal(*World) { clear(f.until) }

// Webhook implements wire.Rules.
func (r rules) Webhook(c *wire.Call) wire.Ruling {
	for _, f := range r.w.faults {
		if f, ok := f.(*webhookDown); ok && f.refuses(r.w, c) {
			return wire.Ruling{Lose: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}}
		}
	}
	return wire.Ruling{}
}

func (f *webhookDown) refuses(w *World, c *wire.Call) bool {
	if f.scope.name != "" && f.scope.name != c.Webhook {
		return false
	}
	if w.healed || f.until[c.Webhook] <= w.sched.Now() {
		v := f.strikes(w, c.Webhook, len(windowLevels), 12, 3)
		if v == 0 {
			return false
		}
		d := f.max / time.Duration(windowLevels[v])
		f.until[c.Webhook] = w.sched.Now() + d
		w.note(history.Event{Kind: history.Fault, Process: c.Port.Process, Note: fmt.Sprintf("%s: nobody answers at webhook %s for %v", f.name, c.Webhook, d)})
		f.seen()
	}
	return true
}

// SlowNamespace makes each step of the namespace controller take up to d longer, and with it the end of a namespace.
func SlowNamespace(d time.Duration, scopes ...Scope) Fault {
	return &slowNamespace{newFault(fmt.Sprintf("SlowNamespace(%v)", d), scopes).taking("Named"), d}
}

type slowNamespace struct {
	fault
	max time.Duration
}

func (f *slowNamespace) fresh() Fault { c := *f; return &c }

// actorDelay is asked as a built-in controller wants to take a step; the key ends with the namespace's name.
func (f *slowNamespace) actorDelay(w *World, actor, key string) time.Duration {
	if actor != "namespace-controller" || f.scope.name != "" && key != f.scope.name && !strings.HasSuffix(key, " "+f.scope.name) {
		return 0
	}
	v := f.strikes(w, key, len(lagLevels), 6, 2)
	if v == 0 {
		return 0
	}
	f.seen()
	return f.max / time.Duration(lagLevels[v])
}
