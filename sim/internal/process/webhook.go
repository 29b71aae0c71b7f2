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

// webhookServer stands in the place of a manager's webhook server: it has no port and no certificates, and is served by the
// world. It implements webhook.Server.
type webhookServer struct {
	life *Life
	mux  *http.ServeMux

	mu      sync.Mutex
	serving context.Context // nil before Start
}

// newWebhookServer replaces the server that a program has made for itself, whose handlers it keeps.
func (l *Life) newWebhookServer(own webhook.Server) *webhookServer {
	s := &webhookServer{life: l, mux: http.NewServeMux()}
	if own != nil {
		if mux := own.WebhookMux(); mux != nil {
			s.mux = mux
		}
	}
	l.mu.Lock()
	l.webhooks = append(l.webhooks, s)
	l.mu.Unlock()
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
	w := s.life.world
	w.Sched.Note(s.life.Name()+" serves webhooks", func() { w.served, w.servedAt = w.History.Len()-1, w.Sched.Now() })
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

// Served is the index of the last event before a program began to serve webhooks, and when that was.
func (w *World) Served() (index int, at time.Duration) { return w.served, w.servedAt }

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
	return &wire.Endpoint{Port: s.life.Port, Handler: s.mux, Context: s.life.own(ctx), Go: s.life.spawn}
}

// Endpoints are the lives that serve a webhook. A Service reaches the processes that were said to be behind it, and those of
// which nothing was said.
func (w *World) Endpoints(service *apiserver.WebhookService, path string) []wire.Endpoint {
	var out []wire.Endpoint
	for _, l := range w.lives {
		if l.Port.Dead() || !l.Process.behind(service) {
			continue
		}
		l.mu.Lock()
		servers := slices.Clone(l.webhooks)
		l.mu.Unlock()
		for _, s := range servers {
			if e := s.endpoint(path); e != nil {
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
