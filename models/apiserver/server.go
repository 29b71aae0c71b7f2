package apiserver

import (
	"time"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
	"github.com/wavetank/wavetank/models/apiserver/internal/store"
)

// Server is one API server and its store. It is not safe for concurrent use: the owner serialises
// requests, which is also what makes one request atomic.
type Server struct {
	options   Options
	store     *store.Store[*object.Object]
	registry  registry.Registry
	generator generator
	// authorizer judges every request; nil for a server that serves everybody.
	authorizer Authorizer
	// admission judges every write; nil for a server that takes everything.
	admission Admission
	// reach calls the webhooks of admission.
	reach func(*WebhookCall) WebhookAnswer
	// allocated counts what services have been given.
	allocated registry.Allocated
}

// New returns a server with the built-in types and the namespaces that every cluster starts with.
func New(o Options) *Server {
	if o.Now == nil {
		panic("apiserver: Options.Now is required")
	}
	s := &Server{
		options:   o,
		store:     store.New[*object.Object](0),
		registry:  registry.Registry{Custom: map[string]*registry.Kind{}},
		generator: generator{seed: o.Seed},
	}
	s.bootstrap()
	return s
}

// now is the clock's time as it goes into metadata: to the second, which is what survives the wire.
func (s *Server) now() time.Time { return s.options.Now().Truncate(time.Second) }

func (s *Server) table(k *object.Type) *store.Table[*object.Object] { return s.store.Table(k.Table) }
