package world

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
)

// External puts a model of the outside world behind a host name.
func (w *World) External(host string, handler http.Handler) {
	w.panicIfOver()
	if err := w.wire.Hosts.Outside(host, handler); err != nil {
		w.misuse("w.External: %v", err)
	}
}

// ExternalServices puts models behind Services of the own cluster.
func (w *World) ExternalServices(model func(*corev1.Service) http.Handler) {
	w.panicIfOver()
	if model == nil {
		w.misuse("w.ExternalServices was given no function; give it one that returns a handler for the Services that " +
			"it knows")
	}
	w.wire.Hosts.Services(model)
}
