package wire

import (
	"cmp"
	"time"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Remote adds the API server of another cluster at a host name.
func (h *Hosts) Remote(host string, server *apiserver.Server) error {
	if err := h.taken(host); err != nil {
		return err
	}
	h.remotes[host] = server
	return nil
}

// serverOf is the API server of a cluster; "" is the world's own.
func (h *Hosts) serverOf(cluster string) *apiserver.Server {
	if cluster != "" {
		return h.remotes[cluster]
	}
	return h.server
}

// kindOf is the kind that a resource of a cluster has.
func (h *Hosts) kindOf(cluster string, info apiserver.Info) string {
	if h.backend != nil && cluster == "" {
		return cmp.Or(h.backend.KindOf(info.Group, info.Resource), info.Resource)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return cmp.Or(h.serverOf(cluster).KindOf(info.Group, info.Resource), info.Resource)
}

// handle serves a request at once.
func (h *Hosts) handle(cluster string, req *apiserver.Request) *apiserver.Response {
	if h.backend != nil && cluster == "" {
		return h.backend.Do(req)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.serverOf(cluster).Handle(req)
}

// begin serves a request as far as that is possible without a webhook's answer.
func (h *Hosts) begin(cluster string, req *apiserver.Request) *apiserver.Exchange {
	if h.backend != nil && cluster == "" {
		return &apiserver.Exchange{Response: h.backend.Do(req)}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.serverOf(cluster).Begin(req)
}

// resume continues an exchange whose webhooks have answered.
func (h *Hosts) resume(ex *apiserver.Exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ex.Resume()
}

// Trim lets all API servers forget what was committed before a certain age.
func (h *Hosts) Trim(age time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.server.Trim(age)
	for _, s := range h.remotes {
		s.Trim(age)
	}
}
