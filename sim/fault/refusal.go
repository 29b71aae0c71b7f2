package fault

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Rejected refuses writes to an object, one or several in a row, with the message. They are
// answered as invalid (422), as by a schema, or as denied by an admission webhook (403). A deletion
// can only be denied.
func Rejected(message string, scopes ...Scope) Fault {
	return declare("Rejected", "", scopes, func(c core) inject.Fault {
		return &rejected{c, message, map[string]refusal{}}
	})
}

type rejected struct {
	core
	message  string
	refusals map[string]refusal // by process and object
}

// refusal is how writes to an object are refused, and how many more of them.
type refusal struct {
	denied bool
	left   int
}

// inARow is how many writes to one object are refused.
var inARow = []int{1, 3, 10}

// Arrive implements [inject.Arriver].
func (r *rejected) Arrive(c *wire.Call) wire.Ruling {
	if c.Host != "" || !c.Writes() {
		return wire.Ruling{}
	}
	var seen func() // of the request at which it is injected
	key := c.Port.Process + " " + c.Ref().String()
	current := r.refusals[key]
	if current.left == 0 || r.env.Ended() || !r.reaches(c) {
		v := r.injectedAt(c, "", 1+2*len(inARow), 24, 6)
		if v == 0 {
			return wire.Ruling{}
		}
		current, seen = refusal{denied: v%2 == 0, left: inARow[(v-1)/2]}, r.observed
	}
	current.left--
	r.refusals[key] = current
	s := r.invalid(c)
	if current.denied || strings.HasPrefix(c.Verb(), "delete") {
		s = r.denied()
	}
	r.note(c, fmt.Sprintf("%d for", s.Code))
	return wire.Ruling{Answer: statusAnswer(s), Seen: seen}
}

// invalid is what a server answers whose schema does not allow the object.
func (r *rejected) invalid(c *wire.Call) metav1.Status {
	kind := schema.GroupKind{Group: c.Info.Group, Kind: c.Kind}
	return metav1.Status{
		Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
		Message: fmt.Sprintf("%s %q is invalid: %s", kind, c.Info.Name, r.message),
		Details: &metav1.StatusDetails{
			Name: c.Info.Name, Group: c.Info.Group, Kind: c.Kind,
			Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Message: r.message}},
		},
	}
}

// denied is what a server answers whose admission webhook does not allow the object.
func (r *rejected) denied() metav1.Status {
	return metav1.Status{
		Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Message: fmt.Sprintf("admission webhook %q denied the request: %s", "wavetank.example", r.message),
	}
}

// Forbidden takes the rights to one resource away from a process for up to d, as when its
// RoleBinding is deleted and created again. Every request for that resource is answered with 403,
// including the request that opens a watch. A watch that is open stays open.
func Forbidden(d time.Duration, scopes ...Scope) Fault {
	return declare("Forbidden", d.String(), scopes,
		func(c core) inject.Fault { return &forbidden{newLasting(c)} }).upTo(d)
}

type forbidden struct{ lasting } // by process and resource

// Arrive implements [inject.Arriver].
func (f *forbidden) Arrive(c *wire.Call) wire.Ruling {
	if c.Host != "" || c.Idle() || !f.reaches(c) {
		return wire.Ruling{}
	}
	seen, befalls := f.befalls(c, c.Port.Process+" "+c.Cluster+" "+c.Info.Group+"/"+c.Info.Resource)
	if !befalls {
		return wire.Ruling{}
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
	of := schema.GroupResource{Group: c.Info.Group, Resource: c.Info.Resource}
	return apierrors.NewForbidden(of, c.Info.Name,
		fmt.Errorf("User %q cannot %s resource %q in API group %q %s", //nolint:staticcheck // as upstream words it
			c.Port.User, c.Verb(), resource, c.Info.Group, where)).ErrStatus
}
