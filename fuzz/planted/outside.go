// This file is the world outside the cluster: an office that sends mails and keeps accounts, and
// forgets nothing.

package planted

import (
	"net/http"
	"strings"

	"github.com/wavetank/wavetank/history"
)

const host = "office.example"

// office answers POST /mail/<key> by sending a mail, PUT and DELETE /accounts/<key> by opening and
// closing an account, and GET by whether it is open. A request with an Idempotency-Key that it has
// seen is answered as before and has no effect.
type office struct {
	seen map[string]bool
	open map[string]bool
}

// outside puts an office into the world.
func outside(w *stage) {
	w.External(host, &office{map[string]bool{}, map[string]bool{}})
}

// ServeHTTP implements http.Handler.
func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if k := r.Header.Get("Idempotency-Key"); k != "" {
		if o.seen[k] {
			return
		}
		o.seen[k] = true
	}
	what, k, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.Method == http.MethodGet && o.open[k]:
	case r.Method == http.MethodPut:
		if !o.open[k] {
			o.open[k] = true
			history.AddEffect(r.Context(), history.Effect{Kind: "open", Key: k})
		}
	case r.Method != http.MethodPost && !o.open[k]:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodDelete:
		delete(o.open, k)
		history.AddEffect(r.Context(), history.Effect{Kind: "close", Key: k})
	default:
		history.AddEffect(r.Context(), history.Effect{Kind: what, Key: k})
	}
}
