package realserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/wavetank/wavetank/models/apiserver"
)

// mirror is what the server has of one kind, and which changes have come.
type mirror struct {
	server *Server
	kind   schema.GroupVersionKind
	path   string // of the whole collection
	scoped bool   // by namespace
	name   string // of the resource
	strict bool   // it must be empty

	mu      sync.Mutex
	objects map[types.NamespacedName]*known
	hidden  map[types.NamespacedName]bool // that the control plane itself has made
	changes []apiserver.Change            // that no write was found for yet
	news    chan struct{}                 // closed at the next change
}

// known is an object of a mirror.
type known struct {
	meta metav1.ObjectMeta
	json []byte
}

// head is what a mirror reads of an object.
type head struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
}

// mirrorOf is the mirror of the kind that a request is about. It is nil if the server does not
// serve that kind, or does not let it be watched.
func (s *Server) mirrorOf(info apiserver.Info) *mirror {
	gr := schema.GroupResource{Group: info.Group, Resource: info.Resource}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.watched[gr]; ok {
		return m
	}
	kind, err := s.mapper.KindFor(schema.GroupVersionResource{Group: info.Group, Version: info.Version,
		Resource: info.Resource})
	if err != nil {
		return nil
	}
	mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil
	}
	path := "/apis/" + kind.Group + "/" + kind.Version
	if kind.Group == "" {
		path = "/api/" + kind.Version
	}
	m := &mirror{server: s, kind: kind, path: path + "/" + info.Resource, name: info.Resource, strict: true,
		scoped: mapping.Scope.Name() == "namespace", objects: map[types.NamespacedName]*known{},
		hidden: map[types.NamespacedName]bool{}, news: make(chan struct{})}
	from, err := m.list()
	if err != nil {
		if s.broken == nil && !notFound(err) {
			s.broken = err
		}
		return nil
	}
	if from == 0 { // ComponentStatuses have no versions
		s.watched[gr] = nil
		return nil
	}
	s.watched[gr] = m
	s.revision = max(s.revision, from)
	go m.follow(strconv.FormatInt(from, 10))
	return m
}

// ofControlPlane reports whether a control plane makes the object for itself.
func (m *mirror) ofControlPlane(o *known) bool {
	return !m.scoped || strings.HasPrefix(o.meta.Namespace, "kube-") ||
		slices.Contains([]string{"kubernetes", "kube-root-ca.crt"}, o.meta.Name) ||
		m.name == "events" && (strings.HasPrefix(o.meta.Name, "kubernetes.") ||
			bytes.Contains(o.json, []byte(`allocator-repair-controller"`))) ||
		m.name == "serviceaccounts" && o.meta.Name == "default"
}

// list fills the mirror. What is there already must belong to the control plane. The revision is 0
// if the server keeps none of the kind.
func (m *mirror) list() (revision int64, err error) {
	var list struct {
		Metadata metav1.ListMeta
		Items    []json.RawMessage
	}
	if err := m.server.call(http.MethodGet, m.path, nil, &list); err != nil {
		return 0, err
	}
	for _, item := range list.Items {
		o, err := m.read(item)
		if err != nil {
			return 0, err
		}
		if m.strict && !m.ofControlPlane(o) {
			return 0, fmt.Errorf("the API server is not empty: it has %s %s; use a new control plane", m.kind.Kind,
				nameOf(o))
		}
		m.objects[nameOf(o)] = o
		if m.name != "namespaces" {
			m.hidden[nameOf(o)] = true
		}
	}
	if list.Metadata.ResourceVersion == "" {
		return 0, nil
	}
	return strconv.ParseInt(list.Metadata.ResourceVersion, 10, 64)
}

// read reads an object. Items of lists do not say what they are, and stored objects do.
func (m *mirror) read(data []byte) (*known, error) {
	var h head
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, err
	}
	if !bytes.Contains(data[:min(len(data), 200)], []byte(`"apiVersion"`)) {
		version, name := m.kind.ToAPIVersionAndKind()
		data = append(fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,`, name, version), bytes.TrimLeft(data, "{ ")...)
	}
	return &known{h.Metadata, data}, nil
}

func nameOf(o *known) types.NamespacedName {
	return types.NamespacedName{Namespace: o.meta.Namespace, Name: o.meta.Name}
}

// follow takes in every change until the connection is closed.
func (m *mirror) follow(from string) {
	for m.server.ctx.Err() == nil {
		u := &url.URL{Path: m.path, RawQuery: "watch=1&allowWatchBookmarks=true&resourceVersion=" + from}
		resp, err := m.server.send(m.server.ctx, &apiserver.Request{Method: http.MethodGet, URL: u})
		if err != nil || resp.StatusCode != http.StatusOK {
			m.server.unreachable(fmt.Errorf("watching %s: %v", m.path, err)) //nolint:errorlint // err may be nil
			return
		}
		d := json.NewDecoder(resp.Body)
		for {
			var e event
			if d.Decode(&e) != nil {
				break
			}
			if at := m.take(e); at != "" {
				from = at
			}
		}
		_ = resp.Body.Close()
	}
}

// event is a watch event on the wire.
type event struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// take takes in a change. It returns the resource version from which a watch can continue.
func (m *mirror) take(e event) string {
	o, err := m.read(m.server.restore(e.Object))
	if err != nil || e.Type == string(watch.Error) {
		return ""
	}
	if e.Type == string(watch.Bookmark) {
		return o.meta.ResourceVersion
	}
	revision, _ := strconv.ParseInt(o.meta.ResourceVersion, 10, 64)
	at := nameOf(o)
	ch := apiserver.Change{
		Type: e.Type, Group: m.kind.Group, Version: m.kind.Version, Kind: m.kind.Kind, Resource: m.name,
		Namespace: at.Namespace, Name: at.Name, UID: string(o.meta.UID), Revision: revision, Time: time.Now(),
		Object: o.json,
	}
	m.server.mu.Lock()
	m.server.revision = max(m.server.revision, revision)
	m.server.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if was := m.objects[at]; was != nil && e.Type != string(watch.Added) {
		ch.Previous = was.json
	}
	if e.Type == string(watch.Deleted) {
		delete(m.objects, at)
	} else {
		m.objects[at] = o
	}
	if !m.hidden[at] {
		m.changes = append(m.changes, ch)
	}
	close(m.news)
	m.news = make(chan struct{})
	return o.meta.ResourceVersion
}

// patience is how long a change may take to arrive after the answer to its write.
const patience = 5 * time.Second

// committed waits for the changes that a write has committed, by its answer.
func (m *mirror) committed(info apiserver.Info, body []byte) (out []apiserver.Change) {
	if info.Verb == "deletecollection" {
		time.Sleep(200 * time.Millisecond) // the answer does not say what was deleted
		return m.claim(func(apiserver.Change) bool { return true })
	}
	var answer struct {
		head
		Kind string               `json:"kind"`
		Spec corev1.NamespaceSpec `json:"spec"` // of a namespace
	}
	_ = json.Unmarshal(body, &answer)
	at := types.NamespacedName{Namespace: info.Namespace, Name: info.Name}
	if at.Name == "" {
		at.Name = answer.Metadata.Name
	}
	o := answer.Metadata
	gone := info.Verb == "delete" && (answer.Kind == "Status" || o.DeletionTimestamp == nil) ||
		o.DeletionTimestamp != nil && len(o.Finalizers) == 0 && zero(o.DeletionGracePeriodSeconds)
	if answer.Kind == "Namespace" {
		gone = gone && o.DeletionTimestamp != nil && len(answer.Spec.Finalizers) == 0
	}
	revision, _ := strconv.ParseInt(o.ResourceVersion, 10, 64)
	if answer.Kind == "Status" && !gone || answer.Kind == "Scale" && info.Subresource == "" {
		return nil
	}
	deadline := time.After(patience)
	for {
		m.mu.Lock()
		now, news := m.objects[at], m.news
		m.mu.Unlock()
		reached := gone && now == nil
		if !gone {
			has := int64(0)
			if now != nil {
				has, _ = strconv.ParseInt(now.meta.ResourceVersion, 10, 64)
			}
			reached = revision == 0 || has >= revision
		}
		if reached {
			return m.claim(func(ch apiserver.Change) bool { return ch.Namespace == at.Namespace && ch.Name == at.Name })
		}
		select {
		case <-news:
		case <-deadline:
			return m.claim(func(ch apiserver.Change) bool { return ch.Namespace == at.Namespace && ch.Name == at.Name })
		}
	}
}

func zero(seconds *int64) bool { return seconds == nil || *seconds == 0 }

// empty reports whether there is no object in a namespace.
func (m *mirror) empty(namespace string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at := range m.objects {
		if at.Namespace == namespace {
			return false
		}
	}
	return true
}

// claim takes changes out of those that no write was found for.
func (m *mirror) claim(mine func(apiserver.Change) bool) (out []apiserver.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes = slices.DeleteFunc(m.changes, func(ch apiserver.Change) bool {
		if mine(ch) {
			out = append(out, ch)
			return true
		}
		return false
	})
	return out
}

// Unclaimed are the changes that the control plane has made by itself since the last call. There
// are none while a write is under way, which may have made them.
func (s *Server) Unclaimed() (out []apiserver.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.watched {
		if m != nil && s.writing == 0 {
			out = append(out, m.claim(func(apiserver.Change) bool { return true })...)
		}
	}
	slices.SortFunc(out, func(a, b apiserver.Change) int { return int(a.Revision - b.Revision) })
	return out
}

// isHidden reports whether the control plane has made an object for itself.
func (m *mirror) isHidden(data []byte) bool {
	var h head
	return json.Unmarshal(data, &h) == nil &&
		m.hidden[types.NamespacedName{Namespace: h.Metadata.Namespace, Name: h.Metadata.Name}]
}

// withoutHidden is a list without what the control plane has made for itself.
func (m *mirror) withoutHidden(body []byte) []byte {
	if len(m.hidden) == 0 {
		return body
	}
	var list map[string]json.RawMessage
	var items []json.RawMessage
	if json.Unmarshal(body, &list) != nil || json.Unmarshal(list["items"], &items) != nil {
		return body
	}
	n := len(items)
	if items = slices.DeleteFunc(items, func(item json.RawMessage) bool { return m.isHidden(item) }); len(items) == n {
		return body
	}
	list["items"], _ = json.Marshal(items)
	out, err := json.Marshal(list)
	if err != nil {
		return body
	}
	return out
}
