// This file is how the fixed variant distinguishes the API server's answers. 409 and 404, and 422
// for its UID, say that the object is not what it was taken for, 429 and 5xx that the server could
// not; what is left is refused, and will be as long as the input is the same.

package throttle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A call that the server could not perform is made so often again at once, with such pauses: after
// that it has failed.
const (
	again    = 2
	patience = 100 * time.Millisecond
)

// patiently makes a call again that was answered with 429 or 5xx. client-go does so by itself only
// if the server says when. Where nothing is heard of the new call, the answer to the one before
// says more.
func (k *keeper) patiently(ctx context.Context, call func() error) error {
	err := call()
	for n := time.Duration(1); n <= again && k.policy.classify && transient(apierrors.ReasonForError(err)) &&
		pause(ctx, n*patience); n++ {
		if next := call(); next == nil || apierrors.ReasonForError(next) != metav1.StatusReasonUnknown {
			err = next
		}
	}
	return err
}

// transient says whether the server could not perform a request.
func transient(reason metav1.StatusReason) bool {
	switch reason {
	case metav1.StatusReasonTooManyRequests, metav1.StatusReasonInternalError, metav1.StatusReasonServiceUnavailable,
		metav1.StatusReasonServerTimeout, metav1.StatusReasonTimeout:
		return true
	}
	return false
}

// errVanished says that there is nothing left to do for an object.
var errVanished = errors.New("the object has vanished")

// vanished says whether the answer to a write means that. 404 does not where a definition has no
// status subresource, for one, or where it is a webhook that answers so.
func (k *keeper) vanished(ctx context.Context, body *unstructured.Unstructured, answer error) error {
	if _, err := k.latest(ctx, body); err != nil {
		return err
	}
	return fmt.Errorf("patching %s/%s, which is there: %w", body.GetNamespace(), body.GetName(), answer)
}

// another says whether a patch was refused because it is for another UID. That is a conflict to an
// update, but to a patch it is a change of what cannot be changed (apiserver,
// pkg/registry/rest/update.go: Preconditions and BeforeUpdate).
func another(err error) bool {
	return apierrors.IsInvalid(err) &&
		slices.ContainsFunc(details(err).Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

// latest reads an object, which may be another one of that name by now.
func (k *keeper) latest(ctx context.Context, body *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	latest, err := k.client.Resource(Examples).Namespace(body.GetNamespace()).Get(ctx, body.GetName(),
		metav1.GetOptions{})
	switch {
	case missing(err, body), err == nil && latest.GetUID() != body.GetUID():
		return nil, errVanished
	case err != nil:
		return nil, fmt.Errorf("reading %s/%s: %w", body.GetNamespace(), body.GetName(), err)
	}
	return latest, nil
}

// missing says whether it is this object that is not found. An answer of 404 may be about something
// else: a kind that is not served, or a path that a proxy does not know, for which typed clients
// put in the details what they have asked for.
func missing(err error, body *unstructured.Unstructured) bool {
	if !apierrors.IsNotFound(err) || apierrors.IsUnexpectedServerError(err) {
		return false
	}
	d := details(err)
	return d.Group == Examples.Group && d.Kind == Examples.Resource && d.Name == body.GetName()
}

// details are what an answer says of what it is about.
func details(err error) metav1.StatusDetails {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || answer.Status().Details == nil {
		return metav1.StatusDetails{}
	}
	return *answer.Status().Details
}
