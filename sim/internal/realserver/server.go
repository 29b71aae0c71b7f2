// Package realserver lets a real kube-apiserver answer the requests of a world, in place of the
// model. It implements wire.Backend.
//
// It watches each kind that the world uses. So it knows which changes a write has committed, and
// what an object was before.
package realserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/rbac"
)

// Server is a connection to a real API server.
type Server struct {
	listener // of webhooks

	base   *url.URL
	http   *http.Client
	mapper meta.RESTMapper
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	watched  map[schema.GroupResource]*mirror
	revision int64
	broken   error // the first request that did not reach the server
	writing  int   // requests whose changes have not been claimed
	crds     []*apiextensionsv1.CustomResourceDefinition
}

// Connect connects to the API server that a kubeconfig names.
func Connect(kubeconfig string) (*Server, error) {
	s := &Server{watched: map[schema.GroupResource]*mirror{}}
	if err := s.dial(kubeconfig); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for range 3 { // edit takes the rules of view, and admin those of edit
		rbac.Aggregation().Begin(once{Server: s})
	}
	return s, nil
}

// Mapper knows the kinds of the API server that a kubeconfig names.
func Mapper(kubeconfig string) (meta.RESTMapper, error) {
	s := &Server{}
	err := s.dial(kubeconfig)
	return s.mapper, err
}

func (s *Server) dial(kubeconfig string) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	cfg.QPS = -1
	cfg.ContentType, cfg.AcceptContentTypes = "application/json", "application/json"
	if s.http, err = rest.HTTPClientFor(cfg); err != nil {
		return err
	}
	if s.base, _, err = rest.DefaultServerUrlFor(cfg); err != nil {
		return err
	}
	s.mapper, err = apiutil.NewDynamicRESTMapper(cfg, s.http)
	return err
}

// once is the server for a built-in controller that takes each of its first steps at once.
type once struct {
	actor.Cluster
	*Server
}

// Read implements actor.Cluster.
func (o once) Read(r *apiserver.Request) *apiserver.Response { return o.forward(r) }

// Write implements actor.Cluster.
func (o once) Write(r *apiserver.Request) *apiserver.Response { return o.forward(r) }

// After implements actor.Cluster.
func (once) After(_ time.Duration, _ string, step func()) { step() }

// Version is the version of the server.
func (s *Server) Version() (string, error) {
	var v version.Info
	if err := s.call(http.MethodGet, "/version", nil, &v); err != nil {
		return "", err
	}
	return v.GitVersion, nil
}

// Broken is the first error of a request that did not reach the server; nil if there is none.
func (s *Server) Broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// Revision implements wire.Backend.
func (s *Server) Revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// Mapper implements wire.Backend.
func (s *Server) Mapper() meta.RESTMapper { return s.mapper }

// KindOf implements wire.Backend.
func (s *Server) KindOf(group, resource string) string {
	kind, err := s.mapper.KindFor(schema.GroupVersionResource{Group: group, Resource: resource})
	if err != nil {
		return ""
	}
	return kind.Kind
}

// Do implements wire.Backend.
func (s *Server) Do(req *apiserver.Request) *apiserver.Response {
	info, ok := req.Info()
	if !ok {
		return s.forward(req)
	}
	s.write(1)
	defer s.write(-1)
	m := s.mirrorOf(info)
	empty := info.Verb == "deletecollection" && m != nil && m.empty(info.Namespace)
	body, err := s.redirect(info, req.Body)
	if err != nil {
		return s.unreachable(err)
	}
	sent := *req
	sent.Body = body
	resp := s.forward(&sent)
	switch {
	case empty: // nothing is committed
	case m == nil || resp.Code >= http.StatusMultipleChoices:
	case info.Verb == "list":
		resp.Body = m.withoutHidden(resp.Body)
	case writes(info.Verb) && req.URL.Query().Get("dryRun") == "":
		resp.Changes = m.committed(info, resp.Body)
		if info.Group == rbacv1.GroupName {
			time.Sleep(authorizerLag)
		}
	}
	return resp
}

// write counts the requests under way.
func (s *Server) write(n int) {
	s.mu.Lock()
	s.writing += n
	s.mu.Unlock()
}

// authorizerLag is how long the server may take to apply a change of roles. It learns of it from a
// watch.
const authorizerLag = 100 * time.Millisecond

func writes(verb string) bool {
	return !slices.Contains([]string{"get", "list", "watch"}, verb)
}

// forward sends a request and reads its answer.
func (s *Server) forward(req *apiserver.Request) *apiserver.Response {
	resp, err := s.send(s.ctx, req)
	if err != nil {
		return s.unreachable(err)
	}
	return s.answer(resp)
}

func (s *Server) answer(resp *http.Response) *apiserver.Response {
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return s.unreachable(err)
	}
	header := http.Header{}
	for _, name := range []string{"Content-Type", "Warning", "Retry-After", "Allow", "Etag", "Cache-Control"} {
		if v := resp.Header.Values(name); len(v) > 0 {
			header[name] = v
		}
	}
	return &apiserver.Response{Code: resp.StatusCode, Header: header, Body: s.restore(body)}
}

// unreachable is the answer to a request that has not reached the server.
func (s *Server) unreachable(err error) *apiserver.Response {
	s.mu.Lock()
	if s.broken == nil && s.ctx.Err() == nil {
		s.broken = err
	}
	s.mu.Unlock()
	body, _ := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonServiceUnavailable,
		Code: http.StatusServiceUnavailable, Message: "the real API server was not reached: " + err.Error()})
	return &apiserver.Response{Code: http.StatusServiceUnavailable, Body: body,
		Header: http.Header{"Content-Type": {"application/json"}}}
}

// send sends a request of a world to the server. Who is no administrator is impersonated.
func (s *Server) send(ctx context.Context, req *apiserver.Request) (*http.Response, error) {
	u := *s.base
	u.Path = strings.TrimSuffix(u.Path, "/") + req.URL.Path
	u.RawQuery = req.URL.RawQuery
	out, err := http.NewRequestWithContext(ctx, req.Method, u.String(), bytes.NewReader(req.Body))
	if err != nil {
		return nil, err
	}
	out.Header = req.Header.Clone()
	if out.Header == nil {
		out.Header = http.Header{}
	}
	out.Header.Del("Accept-Encoding") // net/http asks for what it can undo
	out.Header.Set("Accept", inJSON(out.Header.Get("Accept")))
	if len(req.Body) == 0 {
		out.Body, out.ContentLength = http.NoBody, 0
	} else if out.Header.Get("Content-Type") == "" {
		out.Header.Set("Content-Type", "application/json")
	}
	if req.User != "" && !slices.Contains(req.Groups, user.SystemPrivilegedGroup) {
		out.Header.Set("Impersonate-User", req.User)
		for _, group := range req.Groups {
			out.Header.Add("Impersonate-Group", group)
		}
	}
	return s.http.Do(out)
}

// inJSON is an Accept header that asks for the same form of the object, in JSON.
func inJSON(accept string) string {
	var out []string
	for part := range strings.SplitSeq(accept, ",") {
		kind, parameters, _ := strings.Cut(strings.TrimSpace(part), ";")
		if kind == "application/vnd.kubernetes.protobuf" {
			kind = "application/json"
		}
		if parameters != "" {
			kind += ";" + parameters
		}
		if kind != "" && !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	if len(out) == 0 {
		return "application/json"
	}
	return strings.Join(out, ",")
}

// statusError is an answer that is an error.
type statusError struct {
	code    int
	message string
}

// Error implements error.
func (s *statusError) Error() string { return fmt.Sprintf("%d %s", s.code, s.message) }

// call sends a request as an administrator and decodes the answer.
func (s *Server) call(method, path string, in, out any) error {
	req := &apiserver.Request{Method: method, Header: http.Header{}}
	u, err := url.Parse(path)
	if err != nil {
		return err
	}
	req.URL = u
	if in != nil {
		if req.Body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := s.send(context.Background(), req)
	if err != nil {
		return err
	}
	got := s.answer(resp)
	if got.Code >= http.StatusBadRequest {
		var status metav1.Status
		_ = json.Unmarshal(got.Body, &status)
		return &statusError{got.Code, status.Message}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(got.Body, out)
}

// notFound reports whether an error is a 404.
func notFound(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.code == http.StatusNotFound
}
