// This file exists so that of two processes, each of which believes that it is the leader, only one writes: who begins an
// action writes into its record who he is and until when he may write, writes nothing after that, and nobody else touches
// the record before.

package release

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// Labels of a release, annotations of its index: the process that makes the attempt, and the time, in the format of RFC
// 3339, after which it writes no more.
const (
	HolderKey = "wavetank.example/holder"
	UntilKey  = "wavetank.example/until"
)

// ErrNotMine says that the record belongs to another process.
var ErrNotMine = errors.New("another process holds the release record")

// ErrTooLate says that a write was not sent because the time for it was over.
var ErrTooLate = errors.New("the time for this attempt is over")

// Until gives a context's requests a time after which those that write are not sent any more. It has an effect only on
// connections from [Fenced].
func Until(ctx context.Context, t time.Time) context.Context {
	return context.WithValue(ctx, untilKey{}, t)
}

type untilKey struct{}

// Fenced is a connection that honours [Until].
func Fenced(config *rest.Config) *rest.Config {
	fenced := rest.CopyConfig(config)
	fenced.Wrap(func(next http.RoundTripper) http.RoundTripper { return fence{next} })
	return fenced
}

type fence struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (f fence) RoundTrip(r *http.Request) (*http.Response, error) {
	if t, ok := r.Context().Value(untilKey{}).(time.Time); ok && r.Method != http.MethodGet && !time.Now().Before(t) {
		return nil, ErrTooLate
	}
	return f.next.RoundTrip(r)
}

// Hold makes the driver's holder the one who may go on with a record, until a time, unless another one still may: then it
// says how long that is. Changes are annotations to set besides. The index is replaced only as it was read, so that of
// two who come at once one gets it.
func (c *Chunked) Hold(index *corev1.Secret, until time.Time, grace time.Duration, changes map[string]string) (wait time.Duration, err error) {
	if t, err := time.Parse(time.RFC3339Nano, index.Annotations[UntilKey]); err == nil && index.Annotations[HolderKey] != c.Holder {
		if wait := time.Until(t.Add(grace)); wait > 0 {
			return wait, nil
		}
	}
	held := map[string]string{HolderKey: c.Holder, UntilKey: until.UTC().Format(time.RFC3339Nano)}
	maps.Copy(held, changes)
	if err := c.Annotate(index, held); err != nil {
		return 0, fmt.Errorf("taking over %s: %w", index.Name, err)
	}
	return 0, nil
}

// mine says whether the driver may write over a record: anybody over one that is at rest, else only its holder.
func (c *Chunked) mine(index *corev1.Secret) error {
	if c.Holder == "" || !Status(index).IsPending() || index.Annotations[HolderKey] == c.Holder {
		return nil
	}
	return fmt.Errorf("%s: %w", index.Name, ErrNotMine)
}
