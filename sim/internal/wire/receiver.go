package wire

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/wavetank/wavetank/internal/kept"
	"github.com/wavetank/wavetank/models/apiserver"
)

// Receiver lets an informer or a client get objects that the network has decoded.
//
// client-go decodes a watch event of JSON in several passes over its text, and the reply to a write
// and the watch event of one version separately. It does so behind interfaces of controller-runtime
// that take no decoder. So the network decodes a version itself, with the library that client-go
// uses, and with the version before (see [kept.Decode]). client-go gets a stub: an object with the
// name and version of the real one, whose UID says which object it stands for. The receiver
// replaces the stub. What client-go sends, retries and waits for is as ever.
type Receiver struct {
	of reflect.Type

	mu     sync.Mutex
	n      int
	passed map[types.UID]Passed
}

// Passed is an object that a stub stands for, and an equal one whose parts must not be changed.
type Passed struct{ Object, Shared runtime.Object }

// NewReceiver returns a receiver of objects like this one. It is nil if client-go has to decode
// them: those of unstructured types and of types that decode themselves.
func NewReceiver(like runtime.Object) *Receiver {
	switch like.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata, json.Unmarshaler:
		return nil
	}
	t := reflect.TypeOf(like)
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil
	}
	return &Receiver{of: t.Elem(), passed: map[types.UID]Passed{}}
}

type receiverKey struct{}

// WithReceiver marks requests whose objects a receiver takes.
func WithReceiver(ctx context.Context, r *Receiver) context.Context {
	return context.WithValue(ctx, receiverKey{}, r)
}

const stubPrefix = "wavetank-stub-"

// Take returns what an object stands for; ok is false if it is no stub.
func (r *Receiver) Take(o runtime.Object) (p Passed, ok bool) {
	stub, err := meta.Accessor(o)
	if r == nil || err != nil || !strings.HasPrefix(string(stub.GetUID()), stubPrefix) {
		return p, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok = r.passed[stub.GetUID()]
	delete(r.passed, stub.GetUID())
	for _, passed := range []runtime.Object{p.Object, p.Shared} {
		if ok { // its decoder may have cleared kind and version
			passed.GetObjectKind().SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
		}
	}
	return p, ok
}

// stub returns the stub of an object.
func (r *Receiver) stub(text []byte, p Passed) []byte {
	m, err := meta.Accessor(p.Object)
	kind, version := kept.Member(text, "kind"), kept.Member(text, "apiVersion")
	if err != nil || kind == nil || version == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	uid := types.UID(stubPrefix + strconv.Itoa(r.n))
	out, err := json.Marshal(map[string]any{
		"kind": json.RawMessage(kind), "apiVersion": json.RawMessage(version),
		"metadata": map[string]string{"namespace": m.GetNamespace(), "name": m.GetName(), "uid": string(uid),
			"resourceVersion": m.GetResourceVersion()},
	})
	if err != nil {
		return nil
	}
	r.passed[uid] = p
	return out
}

// passing decodes objects for receivers. It is used on the scheduling goroutine.
type passing struct {
	versions map[passedKey]*kept.Version
}

type passedKey struct {
	of                       reflect.Type
	cluster, namespace, name string
}

// maxVersions is how many objects have a version that the next one is decoded with.
const maxVersions = 1000

// stub returns the stub that the call's receiver gets for an object; nil if client-go decodes it.
func (p *passing) stub(c *Call, namespace, name string, text []byte) []byte {
	if c.http == nil || len(text) == 0 {
		return nil
	}
	r, _ := c.http.Context().Value(receiverKey{}).(*Receiver)
	if r == nil {
		return nil
	}
	key := passedKey{r.of, c.Cluster, namespace, name}
	v, err := kept.Decode(r.of, text, p.versions[key], kjson.UnmarshalCaseSensitivePreserveInts)
	if err != nil {
		return nil
	}
	object, ok := v.Copy()
	if !ok {
		return nil
	}
	if p.versions == nil || len(p.versions) >= maxVersions {
		p.versions = map[passedKey]*kept.Version{}
	}
	p.versions[key] = v
	return r.stub(text, Passed{object.(runtime.Object), v.Shared().(runtime.Object)})
}

// frame returns the frame that is sent for one of a watch.
func (p *passing) frame(s *Stream, f apiserver.Frame) []byte {
	stub := p.stub(s.Call, f.Namespace, f.Name, f.Object)
	if stub == nil {
		return f.Data
	}
	return append(append([]byte(`{"type":"`+f.Type+`","object":`), stub...), '}', '\n')
}

// reply returns the response that is sent for that of a write.
func (p *passing) reply(c *Call, r *apiserver.Response) *apiserver.Response {
	if !c.Writes() || r.Code != http.StatusOK && r.Code != http.StatusCreated {
		return r
	}
	ref := c.Object()
	if stub := p.stub(c, ref.Namespace, ref.Name, r.Body); stub != nil {
		return &apiserver.Response{Code: r.Code, Header: r.Header, Body: stub}
	}
	return r
}
