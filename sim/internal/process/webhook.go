package process

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// webhookServer replaces a manager's webhook server. It has no port and no certificates; the world
// calls its handlers. It implements webhook.Server.
type webhookServer struct {
	incarnation *Incarnation
	mux         *http.ServeMux

	mu      sync.Mutex
	serving context.Context // nil before Start
}

// newWebhookServer replaces the server that a program has made for itself, and keeps its handlers.
func (i *Incarnation) newWebhookServer(own webhook.Server) *webhookServer {
	s := &webhookServer{incarnation: i, mux: http.NewServeMux()}
	if own != nil {
		if mux := own.WebhookMux(); mux != nil {
			s.mux = mux
		}
	}
	i.mu.Lock()
	i.webhooks = append(i.webhooks, s)
	i.mu.Unlock()
	return s
}

// NeedLeaderElection implements webhook.Server.
func (s *webhookServer) NeedLeaderElection() bool { return false }

// Register implements webhook.Server.
func (s *webhookServer) Register(path string, hook http.Handler) { s.mux.Handle(path, hook) }

// WebhookMux implements webhook.Server.
func (s *webhookServer) WebhookMux() *http.ServeMux { return s.mux }

// Start implements webhook.Server.
func (s *webhookServer) Start(ctx context.Context) error {
	s.mu.Lock()
	s.serving = ctx
	s.mu.Unlock()
	w := s.incarnation.world
	w.Sched.Note(s.incarnation.Name()+" serves webhooks", func() {
		w.served, w.servedAt = w.History.Len()-1, w.Sched.Now()
	})
	<-ctx.Done()
	return nil
}

// StartedChecker implements webhook.Server.
func (s *webhookServer) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if s.endpoint("") == nil {
			return errors.New("webhook server has not been started yet")
		}
		return nil
	}
}

// Served is the index of the last event before a process began to serve webhooks, and the time.
func (s *Supervisor) Served() (index int, at time.Duration) { return s.served, s.servedAt }

// endpoint is the server while it serves a path, or anything at all for "".
func (s *webhookServer) endpoint(path string) *wire.Endpoint {
	s.mu.Lock()
	ctx := s.serving
	s.mu.Unlock()
	if ctx == nil || ctx.Err() != nil {
		return nil
	}
	if path != "" {
		req, err := http.NewRequest(http.MethodPost, path, nil)
		if err != nil {
			return nil
		}
		if _, pattern := s.mux.Handler(req); pattern == "" {
			return nil
		}
	}
	l := s.incarnation
	return &wire.Endpoint{Port: l.Port, Handler: s.mux, Context: l.attach(ctx), Go: l.spawn}
}

// Endpoints are the incarnations that serve a webhook. A Service reaches the processes that it was
// declared for, and those without any declaration.
func (s *Supervisor) Endpoints(service *apiserver.WebhookService, path string) []wire.Endpoint {
	var out []wire.Endpoint
	for _, l := range s.incarnations {
		if l.Port.Dead() || !l.Process.behind(service) {
			continue
		}
		l.mu.Lock()
		servers := slices.Clone(l.webhooks)
		l.mu.Unlock()
		for _, stream := range servers {
			if e := stream.endpoint(path); e != nil {
				out = append(out, *e)
			}
		}
	}
	return out
}

func (p *Process) behind(service *apiserver.WebhookService) bool {
	if service == nil {
		return false
	}
	name := fmt.Sprintf("%s/%s", service.Namespace, service.Name)
	return len(p.settings.Services) == 0 || slices.Contains(p.settings.Services, name)
}
