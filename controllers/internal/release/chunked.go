// This file stores release records that are too large for one Secret, in the format of
// helm-operator-plugins: an index Secret with the first chunk, and a Secret for each other chunk.

package release

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/rand"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/ptr"
)

// Fields and labels of an index or a chunk.
const (
	chunkField  = "chunk"
	extraField  = "extraChunks"
	ownerLabel  = "owner"
	keyLabel    = "key"
	typeLabel   = "type"
	statusLabel = "status"
)

// maxChunks limits the chunks of a record, and maxChunkSize the bytes in one of them.
const maxChunks, maxChunkSize = 10, 1 << 20

// Chunked is a driver for Helm's storage. It reads from the API server, never from a cache. The
// labels of a release are annotations of its index, because their values need not be valid labels.
//
// The original can leave a torn record behind. It writes an index before the chunks that the index
// names, and deletes the old chunks before it overwrites the index. With a [Holder] the driver
// differs in three ways:
//   - Chunks are written before the index that names them, and unnamed chunks are deleted last. At
//     any moment, a record is the old one or the new one.
//   - After a failed write it writes nothing more. Helm only logs a failure to mark the old record
//     as superseded, and would then mark a second record as deployed. So every attempt needs a
//     driver of its own.
//   - It overwrites a pending record only if the holder owns it and it has not changed since.
type Chunked struct {
	// Secrets are those of the records' namespace. [Clients.For] sets it.
	Secrets corev1client.SecretInterface
	// Owner is the value of the label owner, instead of Helm's.
	Owner string
	// Size of a chunk in bytes; 1 MiB, the maximum, if zero.
	Size int

	parent metav1.OwnerReference // the owner of the indices; an index owns its chunks
	holder Holder
	failed error // of a holder's write
}

func (c *Chunked) open(secrets corev1client.SecretInterface, of *Client) driver.Driver {
	c.Secrets, c.parent, c.holder = secrets, of.Marks.Owner, of.Holder
	return c
}

// Name implements driver.Driver.
func (c *Chunked) Name() string { return c.Owner + "/chunked" }

func (c *Chunked) careful() bool { return c.holder.Name != "" }

// Create implements driver.Driver.
func (c *Chunked) Create(key string, rls *release.Release) error { return c.put(key, rls, nil) }

// Update implements driver.Driver.
func (c *Chunked) Update(key string, rls *release.Release) error {
	if c.failed != nil {
		return fmt.Errorf("writing %s after a record that could not be written: %w", key, c.failed)
	}
	old, err := c.Index(key)
	if err == nil {
		err = c.put(key, rls, old)
	}
	if c.careful() {
		c.failed = err
	}
	return err
}

// put writes a record. If old is not nil, it is the index that is overwritten.
func (c *Chunked) put(key string, rls *release.Release, old *corev1.Secret) error {
	index, chunks, err := c.encode(key, rls)
	if err != nil {
		return err
	}
	now := strconv.FormatInt(time.Now().Unix(), 10)
	index.Labels["createdAt"] = now
	if old != nil {
		index.Labels["createdAt"], index.Labels["modifiedAt"] = old.Labels["createdAt"], now
	}
	if !c.careful() {
		if old != nil {
			if err := c.deleteAll(key, labels.Set{typeLabel: "chunk"}); err != nil {
				return err
			}
		}
		if index, err = c.putIndex(index, old); err != nil {
			return err
		}
		return c.write(chunks, index)
	}
	if old != nil {
		if err := c.holder.mayWrite(old); err != nil {
			return err
		}
		index.ResourceVersion = old.ResourceVersion
		index.Annotations[HolderKey] = old.Annotations[HolderKey]
		index.Annotations[UntilKey] = old.Annotations[UntilKey]
	}
	if err := c.write(chunks, old); err != nil {
		return err
	}
	if index, err = c.putIndex(index, old); err != nil {
		return err
	}
	return c.tidy(index)
}

func (c *Chunked) putIndex(index, old *corev1.Secret) (made *corev1.Secret, err error) {
	if old != nil {
		if made, err = c.Secrets.Update(context.Background(), index, metav1.UpdateOptions{}); err != nil {
			err = fmt.Errorf("writing the index of %s: %w", index.Name, err)
		}
		return made, err
	}
	made, err = c.Secrets.Create(context.Background(), index, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return made, driver.ErrReleaseExists
	} else if err != nil {
		err = fmt.Errorf("creating the index of %s: %w", index.Name, err)
	}
	return made, err
}

// Delete implements driver.Driver. [Chunked.DeleteRaw] deletes a record that cannot be read.
func (c *Chunked) Delete(key string) (*release.Release, error) {
	rls, err := c.Get(key)
	if err == nil {
		err = c.DeleteRaw(key)
	}
	return rls, err
}

// DeleteRaw deletes all Secrets of a record, whatever they contain.
func (c *Chunked) DeleteRaw(key string) error { return c.deleteAll(key, nil) }

// Get implements driver.Driver.
func (c *Chunked) Get(key string) (*release.Release, error) {
	index, err := c.Index(key)
	if err != nil {
		return nil, err
	}
	return c.Decode(index)
}

// Index returns the index Secret of a record.
func (c *Chunked) Index(key string) (*corev1.Secret, error) {
	index, err := c.Secrets.Get(context.Background(), key, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, driver.ErrReleaseNotFound
	}
	return index, err
}

// List implements driver.Driver. No action on a single release calls it.
func (c *Chunked) List(func(*release.Release) bool) ([]*release.Release, error) {
	return nil, errors.ErrUnsupported
}

// Query implements driver.Driver. Helm asks for owner=helm, which means this owner.
func (c *Chunked) Query(want map[string]string) (out []*release.Release, err error) {
	indices, err := c.Indices(want)
	if err != nil {
		return nil, err
	}
	for i := range indices {
		r, err := c.Decode(&indices[i])
		if err != nil {
			return nil, fmt.Errorf("query: %w", err)
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, driver.ErrReleaseNotFound
	}
	return out, nil
}

// Indices returns the index Secrets with these labels, oldest revision first.
func (c *Chunked) Indices(want map[string]string) ([]corev1.Secret, error) {
	all := labels.Merge(want, labels.Set{ownerLabel: c.Owner, typeLabel: "index"})
	list, err := c.Secrets.List(context.Background(), metav1.ListOptions{LabelSelector: all.AsSelector().String()})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list.Items, func(a, b corev1.Secret) int { return Revision(&a) - Revision(&b) })
	return list.Items, nil
}

// Revision returns the revision of a record by its index. It is 0 for nil, and for a Secret that no
// driver made.
func Revision(index *corev1.Secret) int {
	if index == nil {
		return 0
	}
	n, _ := strconv.Atoi(index.Labels["version"])
	return n
}

// Status returns the status of a record by its index.
func Status(index *corev1.Secret) release.Status { return release.Status(index.Labels[statusLabel]) }

// ErrTorn is the error for a record that will never be readable.
var ErrTorn = errors.New("the release record is torn")

// Decode reads a record. The error is [ErrTorn] if a chunk is missing or the chunks do not fit.
// Other errors may be temporary.
func (c *Chunked) Decode(index *corev1.Secret) (*release.Release, error) {
	var extra []string
	if err := json.Unmarshal(index.Data[extraField], &extra); err != nil {
		return nil, fmt.Errorf("%w: the names of the chunks of %s: %w", ErrTorn, index.Name, err)
	}
	data := bytes.NewBuffer(slices.Clone(index.Data[chunkField]))
	for i, name := range extra {
		chunk, err := c.Secrets.Get(context.Background(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("%w: chunk %d of %s: %w", ErrTorn, i+2, index.Name, err)
		} else if err != nil {
			return nil, fmt.Errorf("reading chunk %d of %s: %w", i+2, index.Name, err)
		}
		data.Write(chunk.Data[chunkField])
	}
	rls := &release.Release{}
	z, err := gzip.NewReader(data)
	if err == nil {
		err = json.NewDecoder(z).Decode(rls)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, z) // reads up to the checksum
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTorn, index.Name, err)
	}
	rls.Labels = maps.Clone(index.Annotations)
	return rls, nil
}

// encode makes the index and the chunks of a record. The name of a chunk is a hash of its content.
func (c *Chunked) encode(key string, rls *release.Release) (*corev1.Secret, []*corev1.Secret, error) {
	buf := &bytes.Buffer{}
	z := gzip.NewWriter(buf)
	if err := errors.Join(json.NewEncoder(z).Encode(rls), z.Close()); err != nil {
		return nil, nil, fmt.Errorf("encoding %s: %w", key, err)
	}
	pieces := slices.Collect(slices.Chunk(buf.Bytes(), cmp.Or(c.Size, maxChunkSize)))
	if len(pieces) > maxChunks {
		return nil, nil, fmt.Errorf("%s is too large: it needs %d chunks, and %d are the most", key, len(pieces),
			maxChunks)
	}
	names, chunks := []string{}, []*corev1.Secret(nil)
	for _, piece := range pieces[1:] {
		h := fnv.New64a()
		h.Write(piece)
		name := key + "-" + rand.SafeEncodeString(fmt.Sprint(h.Sum64()))
		names = append(names, name)
		chunks = append(chunks, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name,
				Labels: map[string]string{ownerLabel: c.Owner, keyLabel: key, typeLabel: "chunk"}},
			Type: "operatorframework.io/chunk.v1", Immutable: ptr.To(true), Data: map[string][]byte{chunkField: piece},
		})
	}
	list, err := json.Marshal(names)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: key, OwnerReferences: []metav1.OwnerReference{c.parent}, Annotations: labels.Merge(rls.Labels, nil),
			Labels: map[string]string{ownerLabel: c.Owner, keyLabel: key, typeLabel: "index", "name": rls.Name,
				statusLabel: rls.Info.Status.String(), "version": strconv.Itoa(rls.Version)},
		},
		Type: "operatorframework.io/index.v1", Immutable: ptr.To(false),
		Data: map[string][]byte{chunkField: pieces[0], extraField: list},
	}, chunks, err
}

// write creates chunk Secrets. Their owner is the index, or the owner of the index if there is no
// index yet. A holder accepts a chunk that exists, because it has the same content.
func (c *Chunked) write(chunks []*corev1.Secret, index *corev1.Secret) error {
	owner := c.parent
	if index != nil {
		owner = metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: index.Name, UID: index.UID,
			Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(false)}
	}
	for i, chunk := range chunks {
		chunk.OwnerReferences = []metav1.OwnerReference{owner}
		_, err := c.Secrets.Create(context.Background(), chunk, metav1.CreateOptions{})
		if err != nil && !(c.careful() && apierrors.IsAlreadyExists(err)) {
			return fmt.Errorf("creating chunk %d: %w", i+2, err)
		}
	}
	return nil
}

// tidy deletes the chunks of a record that its index does not name.
func (c *Chunked) tidy(index *corev1.Secret) error {
	var keep []string
	if err := json.Unmarshal(index.Data[extraField], &keep); err != nil {
		return err
	}
	list, err := c.Secrets.List(context.Background(), c.of(index.Name, labels.Set{typeLabel: "chunk"}))
	if err != nil {
		return err
	}
	for _, chunk := range list.Items {
		if slices.Contains(keep, chunk.Name) {
			continue
		}
		err := c.Secrets.Delete(context.Background(), chunk.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting a chunk that belongs to no record: %w", err)
		}
	}
	return nil
}

func (c *Chunked) deleteAll(key string, which labels.Set) error {
	err := c.Secrets.DeleteCollection(context.Background(), metav1.DeleteOptions{}, c.of(key, which))
	if err != nil {
		return fmt.Errorf("deleting Secrets of %s: %w", key, err)
	}
	return nil
}

// of selects Secrets of a record.
func (c *Chunked) of(key string, which labels.Set) metav1.ListOptions {
	all := labels.Merge(labels.Set{ownerLabel: c.Owner, keyLabel: key}, which)
	return metav1.ListOptions{LabelSelector: all.AsSelector().String()}
}
