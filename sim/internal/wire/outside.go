package wire

import (
	"bytes"
	"io"
	"net"
	"net/http"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/history"
)

// serveOutside lets a model of the outside world answer, and keeps the effects that it reports in the ledger.
func (c *Cluster) serveOutside(call *Call) *apiserver.Response {
	w := &answerWriter{header: http.Header{}, code: http.StatusOK}
	index := c.History.Len()
	var effects []history.Effect
	ctx := history.WithLedger(call.http.Context(), func(e history.Effect) {
		e.Event, e.Process, e.Life, e.Reconcile = index, call.Port.Process, call.Port.Life, call.Reconcile
		effects = append(effects, e)
	})
	req := call.http.Clone(ctx)
	req.Body = io.NopCloser(bytes.NewReader(call.Request.Body))
	req.RequestURI = call.Request.URL.RequestURI()
	c.outside[call.Host].ServeHTTP(w, req)
	resp := &apiserver.Response{Code: w.code, Header: w.header, Body: w.body.Bytes()}
	c.record(call, resp)
	for _, e := range effects {
		c.History.Record(e)
	}
	return resp
}

// nowhere is what a request gets that leads to no model: what a resolver says of a host that does not exist. A host of which
// nobody has said that it does not is a hole in the scenario, and an operator that lives with errors would hide it.
func (c *Cluster) nowhere(call *Call) error {
	if _, declared := c.outside[call.Host]; !declared && c.Unknown != nil {
		c.Unknown(call)
	}
	name := call.Request.URL.Hostname()
	return &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}}
}

// answerWriter is an http.ResponseWriter that keeps everything.
type answerWriter struct {
	header http.Header
	code   int
	wrote  bool
	body   bytes.Buffer
}

func (w *answerWriter) Header() http.Header { return w.header }

func (w *answerWriter) WriteHeader(code int) {
	if !w.wrote {
		w.code, w.wrote = code, true
	}
}

func (w *answerWriter) Write(p []byte) (int, error) {
	w.wrote = true
	return w.body.Write(p)
}
