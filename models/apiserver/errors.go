package apiserver

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// DoesNotModel begins the message of [NotModelled].
const DoesNotModel = "wavetank: models/apiserver does not model "

// NotModelled is the refusal of what a real server does and the models do not.
func NotModelled(format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotImplemented,
		Reason:  "NotModelled",
		Message: DoesNotModel + fmt.Sprintf(format, args...),
	}}
}

// plainError is a reply that is not a Status: what kube-apiserver answers on paths that nothing
// handles.
type plainError struct {
	code int
	text string
}

func (p *plainError) Error() string { return p.text }

// The answers to requests that reach no resource.
var (
	errNoSuchPath     = &plainError{http.StatusNotFound, "404 page not found\n"}
	errNoSuchResource = routeError(http.StatusNotFound, metav1.StatusReasonNotFound,
		"the server could not find the requested resource")
	errNoSuchVerb = routeError(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
		"the server does not allow this method on the requested resource")
	errPatchType = routeError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"415: Unsupported Media Type")
)

// routeError is the answer when a group is served but its router has no place for the request.
func routeError(code int32, reason metav1.StatusReason, text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: text, Details: &metav1.StatusDetails{},
	}}
}

// statusOf turns any error into the Status that is sent to the client, as
// staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/status.go does: an
// error that is no status error is a 500.
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
	return apierrors.NewConflict(resource, name, errors.New(optimisticLock))
}

// preconditionConflict is what a failed precondition on a stored object answers, as staging's
// apiserver/pkg/storage/interfaces.go (Preconditions.Check) and storage/errors.go word it.
func preconditionConflict(resource schema.GroupResource, name, key, message string) error {
	return apierrors.NewConflict(resource, name, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, message))
}

// failedPrecondition says what of an object does not meet a precondition, as the kinds with a
// storage of their own word it.
func failedPrecondition(p *metav1.Preconditions, meta *metav1.ObjectMeta) string {
	switch {
	case p == nil:
		return ""
	case p.UID != nil && *p.UID != meta.UID:
		return fmt.Sprintf("UID in precondition: %v, UID in object meta: %v", *p.UID, meta.UID)
	case p.ResourceVersion != nil && *p.ResourceVersion != meta.ResourceVersion:
		return fmt.Sprintf("ResourceVersion in precondition: %v, ResourceVersion in object meta: %v",
			*p.ResourceVersion, meta.ResourceVersion)
	}
	return ""
}
