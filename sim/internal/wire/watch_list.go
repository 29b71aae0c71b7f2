package wire

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver"
)

// This file lets informers that a process makes itself, as client-go's factories do, list first and
// then watch.
//
// client-go's reflector asks for a watch that begins with all objects (KEP-3157). It puts them into
// a map and passes them to the informer in map order (tools/cache/reflector.go, watchList). A
// handler that adds to a queue of its own would work in another order in each run. A list keeps its
// order. So the request is refused as by a server whose feature WatchList is off, and the reflector
// falls back to a list.
//
// The harness makes the informers of managers itself, and its queue observer orders what they add.

type sortedKey struct{}

// WithSortedInformer marks the requests of an informer that the harness has made.
func WithSortedInformer(ctx context.Context) context.Context {
	return context.WithValue(ctx, sortedKey{}, true)
}

func isSorted(ctx context.Context) bool { return ctx.Value(sortedKey{}) != nil }

// streamsList reports whether a request is for a watch that begins with all objects.
func streamsList(c *Call) bool {
	if c.Info.Verb != "watch" {
		return false
	}
	streams, _ := strconv.ParseBool(c.Request.URL.Query().Get("sendInitialEvents"))
	return streams
}

// withoutWatchList is the answer of a server that streams no lists (apimachinery,
// metav1/validation/validation.go).
func withoutWatchList() *apiserver.Response {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity,
		Message: "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch " +
			"unless the WatchList feature gate is enabled",
	})
	if err != nil {
		panic(err) // it is made of strings
	}
	return &apiserver.Response{Code: http.StatusUnprocessableEntity, Body: body}
}
