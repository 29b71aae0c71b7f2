package process

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/wavetank/wavetank/sim/internal/wire"
)

// webhookServer replaces a manager's webhook server. It has no port and no certificates; the world
// calls its handlers. It implements webhook.Server.
type webhookServer struct {
	*core
	mux *http.ServeMux

	mu      sync.Mutex
	serving context.Context // nil before Start
}

// newWebhookServer replaces the server that a program has made for itself, and keeps its handlers.
func newWebhookServer(c *core, own webhook.Server) *webhookServer {
	s := &webhookServer{core: c, mux: http.NewServeMux()}
	if own != nil {
		if mux := own.WebhookMux(); mux != nil {
			s.mux = mux
		}
	}
	return s
}

func (w *webhookServer) NeedLeaderElection() bool                { return false }
func (w *webhookServer) Register(path string, hook http.Handler) { w.mux.Handle(path, hook) }
func (w *webhookServer) WebhookMux() *http.ServeMux              { return w.mux }

func (w *webhookServer) Start(ctx context.Context) error {
	w.mu.Lock()
	w.serving = ctx
	w.mu.Unlock()
	w.Sched.Note(w.Name()+" serves webhooks", func() {
		w.served, w.servedAt = w.History.Len()-1, w.Sched.Now()
	})
	<-ctx.Done()
	return nil
}

func (w *webhookServer) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if w.endpoint("") == nil {
			return errors.New("webhook server has not been started yet")
		}
		return nil
	}
}

// endpoint is the server while it serves a path, or anything at all for "".
func (w *webhookServer) endpoint(path string) *wire.Endpoint {
	w.mu.Lock()
	ctx := w.serving
	w.mu.Unlock()
	if ctx == nil || ctx.Err() != nil {
		return nil
	}
	if path != "" {
		req, err := http.NewRequest(http.MethodPost, path, nil)
		if err != nil {
			return nil
		}
		if _, pattern := w.mux.Handler(req); pattern == "" {
			return nil
		}
	}
	return &wire.Endpoint{Port: w.Port, Handler: w.mux, Context: w.attach(ctx), Go: w.spawn}
}
