package apiserver

import (
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// Server is one API server and its store. It is not safe for concurrent use: the owner serialises
// requests, which is also what makes one request atomic.
type Server struct {
	contents
	options   Options
	generator generator
	// authorizer judges every request; nil if every request is authorized.
	authorizer Authorizer
	// admission judges every write; nil for a server that takes everything.
	admission Admission
	// reach calls the webhooks of admission.
	reach func(*WebhookCall) WebhookAnswer
	// allocated counts what services have been given.
	allocated registry.Allocated
}

// now is the clock's time as it goes into metadata: to the second, which is what survives the wire.
func (s *Server) now() time.Time { return s.options.Now().Truncate(time.Second) }

// Compact forgets history up to a revision: lists at older revisions and watches that have not
// passed it expire.
func (s *Server) Compact(revision int64) { s.store.Compact(revision) }

// Trim forgets the changes that were committed longer ago than an age, and the states before them.
// Unlike after [Server.Compact], requests fail only if they need one of these changes: lists at
// older revisions, and watches of a namespace (or of everything) in which one was forgotten.
func (s *Server) Trim(age time.Duration) {
	before := s.options.Now().Add(-age)
	log := s.store.History(s.store.Trimmed())
	if n := sort.Search(len(log), func(i int) bool { return !log[i].Value.CommittedAt.Before(before) }); n > 0 {
		s.store.Trim(log[n-1].Revision)
	}
	for o := range s.store.Values() {
		object.Settle(o, before)
	}
}

// Authorizer decides who may do what; models/rbac is one. A server without one authorizes every
// request.
type Authorizer interface {
	// Authorize judges a request before it is served. It returns the request under the identity for
	// which it is made, which differs from the sender's if the sender impersonates another user.
	// The error is the answer to a request that is refused. For a path that names no resource info
	// is empty.
	Authorize(req *Request, info Info) (*Request, error)
	// Grant judges a role or a binding before it is written, because a user may grant only rights
	// that they have. old is nil if there is none yet.
	Grant(req *Request, info Info, object, old runtime.Object) error
	// Review answers a review of access, which is created but never stored, by filling its status.
	Review(req *Request, review runtime.Object) error
}
