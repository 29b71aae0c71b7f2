// This file lets only one of two processes write that both believe that they are the leader. Who
// begins an action writes into its record its name and until when it may write. It writes nothing
// after that, and nobody else touches the record before.

package release

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// Labels of a release, annotations of its index: the process that makes the attempt, and the time,
// in the format of RFC 3339, after which it writes no more.
const (
	HolderKey = "wavetank.example/holder"
	UntilKey  = "wavetank.example/until"
)

// Slice is how long a pass may write, and Grace how long after that its last request may still be
// under way, or clocks may differ.
const Slice, Grace = 20 * time.Second, 10 * time.Second

// ErrNotMine says that the record belongs to another process.
var ErrNotMine = errors.New("another process holds the release record")

// ErrTooLate says that a write was not sent because the time for it was over.
var ErrTooLate = errors.New("the time for this attempt is over")

// Until gives a context's requests a time after which those that write are not sent any more. It
// has an effect only on connections from [Fenced].
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
	if t, ok := r.Context().Value(untilKey{}).(time.Time); ok && r.Method != http.MethodGet && Over(t) {
		if r.Body != nil {
			_ = r.Body.Close() // as http.RoundTripper demands, also of who refuses
		}
		return nil, ErrTooLate
	}
	return f.next.RoundTrip(r)
}

// Over says whether a time has come: by the clock that goes on while a machine is suspended, or by
// the one that nobody sets, whichever says so first.
func Over(t time.Time) bool {
	now := time.Now()
	return !now.Before(t) || !now.Round(0).Before(t.Round(0))
}

// Later is an error that is none: there is nothing to do for so long, because another process may
// still write.
type Later time.Duration

// AtOnce is a Later for what has changed since it was read.
const AtOnce = Later(time.Millisecond)

// Error implements error.
func (l Later) Error() string { return "to be looked at again in " + time.Duration(l).String() }

// Holds says whether a record is held by this holder until this very time.
func Holds(record *corev1.Secret, holder, until string) bool {
	return record.Annotations[HolderKey] == holder && record.Annotations[UntilKey] == until
}

// Hold makes a holder the one who may write, until a time as [UntilKey] has it, by the Secret of
// the newest record; unless another one still may, or comes before: then the error is [Later].
// Changes are annotations to set besides. The Secret is replaced only as it was read, so that of
// two who come at once one gets it; it returns what the Secret is then.
func Hold(
	secrets corev1client.SecretInterface, record *corev1.Secret, holder, until string, changes map[string]string,
) (*corev1.Secret, error) {
	t, err := time.Parse(time.RFC3339Nano, record.Annotations[UntilKey])
	if err == nil && record.Annotations[HolderKey] != holder {
		if wait := time.Until(t.Add(Grace)); wait > 0 {
			return nil, Later(wait)
		}
	}
	mine := map[string]string{HolderKey: holder, UntilKey: until}
	maps.Copy(mine, changes)
	held, err := annotate(secrets, record, mine)
	switch {
	case apierrors.IsConflict(err):
		return nil, AtOnce // the record says more than was known
	case err != nil:
		return nil, fmt.Errorf("taking over %s: %w", record.Name, err)
	}
	return held, nil
}

// annotate sets annotations of a Secret if it is as it was read.
func annotate(
	secrets corev1client.SecretInterface, s *corev1.Secret, changes map[string]string,
) (*corev1.Secret, error) {
	annotated := s.DeepCopy()
	if annotated.Annotations == nil {
		annotated.Annotations = map[string]string{}
	}
	maps.Copy(annotated.Annotations, changes)
	return secrets.Update(context.Background(), annotated, metav1.UpdateOptions{})
}

// mayWrite says whether a holder may write over a record: anybody over one that is at rest, else
// only whoever holds it.
func mayWrite(holder string, record *corev1.Secret) error {
	if holder == "" || !Status(record).IsPending() || record.Annotations[HolderKey] == holder {
		return nil
	}
	return fmt.Errorf("%s: %w", record.Name, ErrNotMine)
}

// Held is a client of plain Helm's records for one holder. Whatever record it makes says who that
// is; one that is pending and another's it does not write over. It remembers records as it read
// them first, and replaces them only as such: have one for each pass.
type Held struct {
	corev1client.SecretInterface
	Holder, Until string

	read map[string]*corev1.Secret
}

// Mine says whether a record that has been read was last held by this holder.
func (h *Held) Mine(key string) bool {
	record := h.read[key]
	return record != nil && record.Annotations[HolderKey] == h.Holder
}

// Hold holds a release by one of its records that has been read, as [Hold] does.
func (h *Held) Hold(key string) error {
	record := h.read[key]
	if record == nil {
		return fmt.Errorf("%s has not been read: %w", key, ErrNotMine)
	}
	if Holds(record, h.Holder, h.Until) {
		return nil
	}
	held, err := Hold(h.SecretInterface, record, h.Holder, h.Until, nil)
	if err == nil {
		h.read[key] = held
	}
	return err
}

// List implements corev1client.SecretInterface.
func (h *Held) List(ctx context.Context, o metav1.ListOptions) (*corev1.SecretList, error) {
	list, err := h.SecretInterface.List(ctx, o)
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if h.read[list.Items[i].Name] == nil {
			h.remember(&list.Items[i], nil)
		}
	}
	return list, nil
}

// Create implements corev1client.SecretInterface.
func (h *Held) Create(ctx context.Context, in *corev1.Secret, o metav1.CreateOptions) (*corev1.Secret, error) {
	in.Annotations = map[string]string{HolderKey: h.Holder, UntilKey: h.Until}
	return h.remember(h.SecretInterface.Create(ctx, in, o))
}

// Update implements corev1client.SecretInterface. Helm writes whole records, made afresh.
func (h *Held) Update(ctx context.Context, in *corev1.Secret, o metav1.UpdateOptions) (*corev1.Secret, error) {
	if old := h.read[in.Name]; old != nil {
		if err := mayWrite(h.Holder, old); err != nil {
			return nil, err
		}
		in.Annotations, in.ResourceVersion = old.Annotations, old.ResourceVersion
	}
	return h.remember(h.SecretInterface.Update(ctx, in, o))
}

func (h *Held) remember(s *corev1.Secret, err error) (*corev1.Secret, error) {
	if err != nil {
		return nil, err
	}
	if h.read == nil {
		h.read = map[string]*corev1.Secret{}
	}
	h.read[s.Name] = s
	return s, nil
}
