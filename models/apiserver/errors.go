package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// notModelled is the reply to what a real server would do and the model does not.
func notModelled(format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotImplemented,
		Reason:  "NotModelled",
		Message: "wavetank: models/apiserver does not model " + fmt.Sprintf(format, args...),
	}}
}

// plainError is a reply that is not a Status: what kube-apiserver answers on paths that nothing handles.
type plainError struct {
	code int
	text string
}

func (e *plainError) Error() string { return e.text }

// The answers to requests that reach no resource.
var (
	errNoSuchPath     = &plainError{http.StatusNotFound, "404 page not found\n"}
	errNoSuchResource = routeError(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
	errNoSuchVerb     = routeError(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
		"the server does not allow this method on the requested resource")
	errPatchType = routeError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "415: Unsupported Media Type")
)

// routeError is the answer when a group is served but its router has no place for the request.
func routeError(code int32, reason metav1.StatusReason, text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: text, Details: &metav1.StatusDetails{},
	}}
}

// statusOf turns any error into the Status that goes on the wire, as
// staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/status.go does: what is no status error is a 500.
func statusOf(err error) metav1.Status {
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	if s, ok := err.(apierrors.APIStatus); ok {
		status = s.Status()
		if status.Status == "" {
			status.Status = metav1.StatusFailure
		}
		if status.Code == 0 {
			status.Code = http.StatusInternalServerError
		}
	}
	status.Kind, status.APIVersion = "Status", "v1"
	return status
}

// errorResponse is the reply for a failed request.
func errorResponse(err error) *Response {
	if plain, ok := err.(*plainError); ok {
		return &Response{
			Code:   plain.code,
			Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
			Body:   []byte(plain.text),
		}
	}
	status := statusOf(err)
	r := jsonResponse(int(status.Code), encodeStatus(status))
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		r.Header.Set("Retry-After", fmt.Sprint(status.Details.RetryAfterSeconds))
	}
	return r
}

func encodeStatus(status metav1.Status) []byte {
	raw, err := json.Marshal(status)
	if err != nil {
		panic("apiserver: a status that cannot be encoded: " + err.Error())
	}
	return raw
}

func jsonResponse(code int, body []byte) *Response {
	return &Response{Code: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// tooLargeRevision is the answer to a request for a revision that does not exist yet
// (staging/src/k8s.io/apiserver/pkg/storage/errors.go).
func tooLargeRevision(wanted, current int64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", wanted, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type:    metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version",
	}}
	return err
}

const optimisticLock = "the object has been modified; please apply your changes to the latest version and try again"

func lockConflict(resource schema.GroupResource, name string) error {
	return apierrors.NewConflict(resource, name, fmt.Errorf(optimisticLock))
}

// preconditionConflict is what a failed precondition on a stored object answers, as staging's
// apiserver/pkg/storage/interfaces.go (Preconditions.Check) and storage/errors.go word it.
func preconditionConflict(resource schema.GroupResource, name, key, message string) error {
	return apierrors.NewConflict(resource, name, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, message))
}

// invalid is the refusal of an object. Errors that read the same are reported once, as filtering does in
// staging/src/k8s.io/apimachinery/pkg/api/validate/errors.go (FilterCoveredHandwrittenErrors) for built-in types.
func (c *call) invalid(draft *object, errs field.ErrorList) error {
	name, gk := draft.meta.Name, c.kind.storage.kind.groupKind() // an event of either group is refused as a core one
	if draft.sentKind != "" {
		// A custom object is refused under the type that it claims to be of.
		gk.Kind, gk.Group = draft.sentKind, ""
		if group, _, found := strings.Cut(draft.sentVersion, "/"); found {
			gk.Group = group
		}
	}
	sortRuns(errs)
	if c.kind.builtin != nil {
		var kept field.ErrorList
		seen := map[string]bool{}
		for _, err := range errs {
			if text := err.Error(); !seen[text] {
				seen[text] = true
				kept = append(kept, err)
			}
		}
		errs = kept
	}
	return apierrors.NewInvalid(gk, name, errs)
}

// sortRuns orders neighbouring errors about the same field. The validation library reports labels and annotations in
// the random order of a map; a model must not.
func sortRuns(errs field.ErrorList) {
	for i := 0; i < len(errs); {
		j := i + 1
		for j < len(errs) && errs[j].Field == errs[i].Field {
			j++
		}
		run := errs[i:j]
		sort.SliceStable(run, func(a, b int) bool { return run[a].Error() < run[b].Error() })
		i = j
	}
}

// sortErrors orders errors by field, for validators that walk objects in the random order of a map.
func sortErrors(errs field.ErrorList) field.ErrorList {
	sort.SliceStable(errs, func(i, j int) bool {
		if errs[i].Field != errs[j].Field {
			return errs[i].Field < errs[j].Field
		}
		return errs[i].Error() < errs[j].Error()
	})
	return errs
}
