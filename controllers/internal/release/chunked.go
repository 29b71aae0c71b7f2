// This file keeps release records that are larger than one Secret may be: an index Secret with
// the first piece in it, and a chunk Secret for each of the others. It is how helm-operator-plugins
// keeps them for operator-controller.

package release

import (
	"bytes"
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

// The types of the Secrets.
const (
	IndexType = corev1.SecretType("operatorframework.io/index.v1")
	ChunkType = corev1.SecretType("operatorframework.io/chunk.v1")
)

// Names within an index or a chunk.
const (
	chunkField  = "chunk"
	extraField  = "extraChunks"
	ownerLabel  = "owner"
	keyLabel    = "key"
	typeLabel   = "type"
	statusLabel = "status"
)

// Chunked is a driver for Helm's storage. It reads from the API server, never from a cache. The
// labels of a release are annotations of its index: their values need not be fit for labels.
//
// As upstream writes them, records can be torn: an index is written before the chunks that it
// names, and the chunks of the record before are deleted before it is overwritten. Set Careful for
// one that cannot.
type Chunked struct {
	Secrets corev1client.SecretInterface
	// Owner is the value of the label owner, instead of Helm's.
	Owner string
	// For is the object that owns the indices, with which the records go. Chunks are owned by their
	// index.
	For metav1.OwnerReference
	// Size of a chunk in bytes; 1 MiB, the most that fits, if zero. Most is how many a record may
	// have; 10 if zero.
	Size, Most int
	// Careful writes the chunks of a record before the index that names them and removes what no
	// index names any more last, so that at any moment a record is the old or the new one. And it
	// writes no record after it has failed to write another: Helm only logs it when it cannot say
	// that the record before is superseded, and would go on to call the new one deployed beside it.
	// So every attempt needs a driver of its own.
	Careful bool
	// Holder, if set, is who may overwrite a record that is pending: its own, and only as it was
	// read. See [HolderKey].
	Holder string

	failed error // what a careful driver could not write
}

// Name implements driver.Driver.
func (c *Chunked) Name() string { return c.Owner + "/chunked" }

// Create implements driver.Driver.
func (c *Chunked) Create(key string, rls *release.Release) error {
	index, chunks, err := c.encode(key, rls)
	if err != nil {
		return err
	}
	index.Labels["createdAt"] = strconv.FormatInt(time.Now().Unix(), 10)
	if c.Careful {
		if err := c.write(chunks, nil); err != nil {
			return err
		}
	}
	made, err := c.Secrets.Create(context.Background(), index, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return driver.ErrReleaseExists
	} else if err != nil {
		return fmt.Errorf("creating the index of %s: %w", key, err)
	}
	if c.Careful {
		return c.tidy(made)
	}
	return c.write(chunks, made)
}

// Update implements driver.Driver.
func (c *Chunked) Update(key string, rls *release.Release) error {
	if c.failed != nil {
		return fmt.Errorf("writing %s after a record that could not be written: %w", key, c.failed)
	}
	err := c.update(key, rls)
	if c.Careful {
		c.failed = err
	}
	return err
}

func (c *Chunked) update(key string, rls *release.Release) error {
	old, err := c.Index(key)
	if err != nil {
		return err
	}
	index, chunks, err := c.encode(key, rls)
	if err != nil {
		return err
	}
	index.Labels["createdAt"] = old.Labels["createdAt"]
	index.Labels["modifiedAt"] = strconv.FormatInt(time.Now().Unix(), 10)
	if err := mayWrite(c.Holder, old); err != nil {
		return err
	}
	if c.Holder != "" {
		index.ResourceVersion = old.ResourceVersion
		for _, k := range []string{HolderKey, UntilKey} {
			index.Annotations[k] = old.Annotations[k]
		}
	}
	if c.Careful {
		if err := c.write(chunks, old); err != nil {
			return err
		}
	} else if err := c.deleteAll(key, string(ChunkType)); err != nil {
		return err
	}
	made, err := c.Secrets.Update(context.Background(), index, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("writing the index of %s: %w", key, err)
	}
	if c.Careful {
		return c.tidy(made)
	}
	return c.write(chunks, made)
}

// Delete implements driver.Driver. A record that cannot be read cannot be deleted: see
// [Chunked.DeleteRaw].
func (c *Chunked) Delete(key string) (*release.Release, error) {
	rls, err := c.Get(key)
	if err != nil {
		return nil, err
	}
	return rls, c.DeleteRaw(key)
}

// DeleteRaw deletes all Secrets of a record, whatever is in them.
func (c *Chunked) DeleteRaw(key string) error { return c.deleteAll(key, "") }

// Get implements driver.Driver.
func (c *Chunked) Get(key string) (*release.Release, error) {
	index, err := c.Index(key)
	if err != nil {
		return nil, err
	}
	return c.Decode(index)
}

// Index is the index Secret of a record.
func (c *Chunked) Index(key string) (*corev1.Secret, error) {
	index, err := c.Secrets.Get(context.Background(), key, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, driver.ErrReleaseNotFound
	}
	return index, err
}

// List implements driver.Driver.
func (c *Chunked) List(filter func(*release.Release) bool) ([]*release.Release, error) {
	all, err := c.Query(nil)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, nil
	}
	return slices.DeleteFunc(all, func(r *release.Release) bool { return !filter(r) }), err
}

// Query implements driver.Driver. Helm asks for owner=helm; here that is this owner.
func (c *Chunked) Query(want map[string]string) ([]*release.Release, error) {
	indices, err := c.Indices(want)
	if err != nil {
		return nil, err
	}
	var out []*release.Release
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

// Indices are the index Secrets with these labels, oldest revision first.
func (c *Chunked) Indices(want map[string]string) ([]corev1.Secret, error) {
	set := labels.Set{}
	maps.Copy(set, want)
	set[ownerLabel], set[typeLabel] = c.Owner, "index"
	list, err := c.Secrets.List(context.Background(), metav1.ListOptions{LabelSelector: set.AsSelector().String()})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list.Items, func(a, b corev1.Secret) int { return Revision(&a) - Revision(&b) })
	return list.Items, nil
}

// Annotate sets annotations of an index, which are labels of the release, if the index is as it was
// read. It returns what the index is now.
func (c *Chunked) Annotate(index *corev1.Secret, changes map[string]string) (*corev1.Secret, error) {
	return annotate(c.Secrets, index, changes)
}

// Revision of a record, by its index; 0 if there is none.
func Revision(index *corev1.Secret) int {
	if index == nil {
		return 0
	}
	n, err := strconv.Atoi(index.Labels["version"])
	if err != nil {
		return 0 // not made by a driver
	}
	return n
}

// Status of a record, by its index.
func Status(index *corev1.Secret) release.Status { return release.Status(index.Labels[statusLabel]) }

// ErrTorn says that a record cannot be read, and never will be.
var ErrTorn = errors.New("the release record is torn")

// Decode puts a record together. The error is [ErrTorn] if a piece of it is missing or they do not
// fit; what the server answers otherwise may be over in a moment.
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
	if err := unpack(data, rls); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTorn, index.Name, err)
	}
	rls.Labels = maps.Clone(index.Annotations)
	return rls, nil
}

func unpack(data io.Reader, into any) error {
	z, err := gzip.NewReader(data)
	if err != nil {
		return err
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, into)
}

// encode makes the index and the chunks of a record. Chunks are named by their content.
func (c *Chunked) encode(key string, rls *release.Release) (*corev1.Secret, []*corev1.Secret, error) {
	buf := &bytes.Buffer{}
	z := gzip.NewWriter(buf)
	if err := errors.Join(json.NewEncoder(z).Encode(rls), z.Close()); err != nil {
		return nil, nil, fmt.Errorf("encoding %s: %w", key, err)
	}
	size, most := c.Size, c.Most
	if size == 0 {
		size = 1 << 20
	}
	if most == 0 {
		most = 10
	}
	pieces := slices.Collect(slices.Chunk(buf.Bytes(), size))
	if len(pieces) > most {
		return nil, nil, fmt.Errorf("%s is too large: it needs %d chunks, and %d are the most", key, len(pieces), most)
	}
	names := []string{}
	var chunks []*corev1.Secret
	for _, piece := range pieces[1:] {
		h := fnv.New64a()
		h.Write(piece)
		chunks = append(chunks, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name:   key + "-" + rand.SafeEncodeString(fmt.Sprint(h.Sum64())),
				Labels: map[string]string{ownerLabel: c.Owner, keyLabel: key, typeLabel: "chunk"},
			},
			Type: ChunkType, Immutable: ptr.To(true), Data: map[string][]byte{chunkField: piece},
		})
		names = append(names, chunks[len(chunks)-1].Name)
	}
	list, err := json.Marshal(names)
	if err != nil {
		return nil, nil, err
	}
	annotations := maps.Clone(rls.Labels)
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels := map[string]string{
		ownerLabel: c.Owner, keyLabel: key, typeLabel: "index",
		"name": rls.Name, statusLabel: rls.Info.Status.String(), "version": strconv.Itoa(rls.Version),
	}
	index := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: key, Labels: labels, Annotations: annotations},
		Type:       IndexType, Immutable: ptr.To(false),
		Data: map[string][]byte{chunkField: pieces[0], extraField: list},
	}
	index.OwnerReferences = []metav1.OwnerReference{c.For}
	return index, chunks, nil
}

// write makes chunk Secrets, owned by their index, or by its owner where there is none yet. One
// that is there already has the same content.
func (c *Chunked) write(chunks []*corev1.Secret, index *corev1.Secret) error {
	for i, chunk := range chunks {
		owner := c.For
		if index != nil {
			owner = metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: index.Name, UID: index.UID}
			owner.Controller, owner.BlockOwnerDeletion = ptr.To(true), ptr.To(false)
		}
		chunk.OwnerReferences = []metav1.OwnerReference{owner}
		_, err := c.Secrets.Create(context.Background(), chunk, metav1.CreateOptions{})
		if err != nil && !(c.Careful && apierrors.IsAlreadyExists(err)) {
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
	chunks := metav1.ListOptions{LabelSelector: c.selector(index.Name, string(ChunkType))}
	list, err := c.Secrets.List(context.Background(), chunks)
	if err != nil {
		return err
	}
	for i := range list.Items {
		if slices.Contains(keep, list.Items[i].Name) {
			continue
		}
		err := c.Secrets.Delete(context.Background(), list.Items[i].Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting a chunk that belongs to no record: %w", err)
		}
	}
	return nil
}

// deleteAll deletes the Secrets of a record; of one type, if that is given.
func (c *Chunked) deleteAll(key, kind string) error {
	of := metav1.ListOptions{LabelSelector: c.selector(key, kind)}
	err := c.Secrets.DeleteCollection(context.Background(), metav1.DeleteOptions{}, of)
	if err != nil {
		return fmt.Errorf("deleting Secrets of %s: %w", key, err)
	}
	return nil
}

func (c *Chunked) selector(key, kind string) string {
	set := labels.Set{ownerLabel: c.Owner, keyLabel: key}
	if kind == string(ChunkType) {
		set[typeLabel] = "chunk"
	}
	return set.AsSelector().String()
}
