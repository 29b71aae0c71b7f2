// This file lets only one of two processes write if both believe that they lead. A process that
// begins an action records its name and the time until which it may write. It writes nothing after
// that time, and no other process writes the record before.

package release

import (
	"context"
	"errors"
	"fmt"
	"time"

	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Labels of a release, annotations of its index: the process that makes the attempt, and the time,
// in the format of RFC 3339, after which it writes no more.
const (
	HolderKey = "wavetank.example/holder"
	UntilKey  = "wavetank.example/until"
)

// Slice is how long a pass may write.
const Slice = 20 * time.Second

// Grace is how long after that its last request may still be under way, or clocks may differ.
const Grace = 10 * time.Second

// ErrNotMine says that the record belongs to another process.
var ErrNotMine = errors.New("another process holds the release record")

// ErrTooLate says that a write was not sent because the time for it was over.
var ErrTooLate = errors.New("the time for this attempt is over")

// Over reports whether a time has come, by the first of two clocks: the wall clock, which continues
// while a machine is suspended, or the monotonic clock, which is never set.
func Over(t time.Time) bool {
	now := time.Now()
	return !now.Before(t) || !now.Round(0).Before(t.Round(0))
}

// Later is returned as an error if there is nothing to do for some time, because another process
// may still write. It is not a failure.
type Later time.Duration

// AtOnce is a Later for a record that has changed since it was read.
const AtOnce = Later(time.Millisecond)

// Error implements error.
func (l Later) Error() string { return "to be looked at again in " + time.Duration(l).String() }

// Holder is a process that holds records until a time, by a name that no other process ever had.
// The zero value ignores holders: it may write everything at any time.
type Holder struct {
	Name  string
	Until time.Time
}

// Labels are the labels of a record that the process holds.
func (h Holder) Labels() map[string]string {
	return map[string]string{HolderKey: h.Name, UntilKey: h.Until.UTC().Format(time.RFC3339Nano)}
}

// Holds reports whether the process holds a record until this time.
func (h Holder) Holds(record *corev1.Secret) bool {
	mine := h.Labels()
	return record.Annotations[HolderKey] == mine[HolderKey] && record.Annotations[UntilKey] == mine[UntilKey]
}

// Hold makes it the one who may write, by the Secret of the newest record; unless another one still
// may, or comes before: then the error is [Later]. Changes are annotations to set besides. The
// Secret is replaced only as it was read, so that of two who come at once one gets it; it returns
// what the Secret is then.
func (h Holder) Hold(
	secrets corev1client.SecretInterface, record *corev1.Secret, changes map[string]string,
) (*corev1.Secret, error) {
	t, err := time.Parse(time.RFC3339Nano, record.Annotations[UntilKey])
	if err == nil && record.Annotations[HolderKey] != h.Name {
		if wait := time.Until(t.Add(Grace)); wait > 0 {
			return nil, Later(wait)
		}
	}
	held, err := Annotate(secrets, record, labels.Merge(h.Labels(), changes))
	if apierrors.IsConflict(err) {
		return nil, AtOnce // the record says more than was known
	} else if err != nil {
		return nil, fmt.Errorf("taking over %s: %w", record.Name, err)
	}
	return held, nil
}

// Annotate sets annotations of a Secret, which may be labels of a release, if it has not changed
// since it was read. It returns the new Secret.
func Annotate(
	secrets corev1client.SecretInterface, s *corev1.Secret, changes map[string]string,
) (*corev1.Secret, error) {
	annotated := s.DeepCopy()
	annotated.Annotations = labels.Merge(annotated.Annotations, changes)
	return secrets.Update(context.Background(), annotated, metav1.UpdateOptions{})
}

// mayWrite returns an error unless the holder may overwrite a record. A pending record may be
// overwritten only by its holder.
func (h Holder) mayWrite(record *corev1.Secret) error {
	if h.Name == "" || !Status(record).IsPending() || record.Annotations[HolderKey] == h.Name {
		return nil
	}
	return fmt.Errorf("%s: %w", record.Name, ErrNotMine)
}

// Held are plain Helm's records, which are owned by the owner of the release. A holder's records
// name it, and it does not overwrite a pending record of another holder. Held remembers records as
// it read them first, and replaces only these versions, so each pass needs its own.
type Held struct {
	corev1client.SecretInterface
	owner  metav1.OwnerReference
	holder Holder
	read   map[string]*corev1.Secret
}

func (h *Held) open(secrets corev1client.SecretInterface, of *Client) driver.Driver {
	*h = Held{secrets, of.Marks.Owner, of.Holder, map[string]*corev1.Secret{}}
	return driver.NewSecrets(h)
}

// Mine reports whether a record that has been read was last held by this holder.
func (h *Held) Mine(key string) bool {
	record := h.read[key]
	return record != nil && record.Annotations[HolderKey] == h.holder.Name
}

// Hold holds a release by one of its records that has been read, as [Holder.Hold] does.
func (h *Held) Hold(key string) error {
	record := h.read[key]
	if record == nil {
		return fmt.Errorf("%s has not been read: %w", key, ErrNotMine)
	}
	if h.holder.Holds(record) {
		return nil
	}
	_, err := h.remember(h.holder.Hold(h.SecretInterface, record, nil))
	return err
}

// List implements corev1client.SecretInterface.
func (h *Held) List(ctx context.Context, o metav1.ListOptions) (*corev1.SecretList, error) {
	list, err := h.SecretInterface.List(ctx, o)
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if s := &list.Items[i]; h.read[s.Name] == nil {
			h.read[s.Name] = s
		}
	}
	return list, nil
}

// Create implements corev1client.SecretInterface.
func (h *Held) Create(ctx context.Context, in *corev1.Secret, o metav1.CreateOptions) (*corev1.Secret, error) {
	in.OwnerReferences = append(in.OwnerReferences, h.owner)
	if h.holder.Name != "" {
		in.Annotations = h.holder.Labels()
	}
	return h.remember(h.SecretInterface.Create(ctx, in, o))
}

// Update implements corev1client.SecretInterface. Helm writes whole new records.
func (h *Held) Update(ctx context.Context, in *corev1.Secret, o metav1.UpdateOptions) (*corev1.Secret, error) {
	in.OwnerReferences = append(in.OwnerReferences, h.owner)
	if old := h.read[in.Name]; old != nil && h.holder.Name != "" {
		if err := h.holder.mayWrite(old); err != nil {
			return nil, err
		}
		in.Annotations, in.ResourceVersion = old.Annotations, old.ResourceVersion
	}
	return h.remember(h.SecretInterface.Update(ctx, in, o))
}

func (h *Held) remember(s *corev1.Secret, err error) (*corev1.Secret, error) {
	if err == nil {
		h.read[s.Name] = s
	}
	return s, err
}
