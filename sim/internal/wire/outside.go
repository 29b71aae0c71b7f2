package wire

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"reflect"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
)

// outside is what answers requests to the outside.
type outside struct {
	*recorder
	hosts    *Hosts
	observer Observer
}

// serve lets the model of an outside service answer. It records the effects that the model
// reports. If there are none and the request may have changed something, the request itself is the
// effect.
func (o *outside) serve(call *Call) *apiserver.Response {
	w := &answerWriter{header: http.Header{}, code: http.StatusOK}
	index := o.History.Len()
	var effects []history.Effect
	ctx := history.WithLedger(call.http.Context(), func(e history.Effect) {
		e.Kind = cmp.Or(e.Kind, history.Requested)
		e.Event, e.Process, e.Incarnation, e.Reconcile = index, call.Port.Process, call.Port.Incarnation, call.Reconcile
		effects = append(effects, e)
	})
	req := call.http.Clone(untraced{ctx})
	req.Body = io.NopCloser(bytes.NewReader(call.Request.Body))
	req.RequestURI = call.Request.URL.RequestURI()
	call.handler.ServeHTTP(w, req)
	resp := &apiserver.Response{Code: w.code, Header: w.header, Body: w.body.Bytes()}
	o.record(call, resp)
	if len(effects) == 0 && call.Webhook == "" && call.Writes() && resp.Code < http.StatusBadRequest {
		effects = []history.Effect{o.requested(call, index)}
	}
	for _, e := range effects {
		o.History.Record(e)
	}
	return resp
}

// untraced is the context of a request as a model gets it, without trace hooks. Those of a process
// stop a goroutine that dials, and a model is called on the scheduling goroutine.
type untraced struct{ context.Context }

func (u untraced) Value(key any) any {
	v := u.Context.Value(key)
	if _, is := v.(*httptrace.ClientTrace); is || v != nil && reflect.TypeOf(v).String() == "*nettrace.Trace" {
		return nil
	}
	return v
}

// requested is the effect of a request for which the model has reported none.
func (o *outside) requested(call *Call, index int) history.Effect {
	return history.Effect{
		Event: index, Kind: history.Requested, Detail: call.String(),
		Process: call.Port.Process, Incarnation: call.Port.Incarnation, Reconcile: call.Reconcile,
	}
}

// answerWriter is an http.ResponseWriter that keeps everything.
type answerWriter struct {
	header http.Header
	code   int
	wrote  bool
	body   bytes.Buffer
}

func (a *answerWriter) Header() http.Header { return a.header }

func (a *answerWriter) WriteHeader(code int) {
	if !a.wrote {
		a.code, a.wrote = code, true
	}
}

func (a *answerWriter) Write(p []byte) (int, error) {
	a.wrote = true
	return a.body.Write(p)
}

// findHandler decides what answers a request to the outside that has arrived.
func (o *outside) findHandler(call *Call) error {
	t := o.hosts.resolve(call.Host, call.Request.URL.Scheme)
	if call.handler = o.hosts.handlerOf(t); call.handler == nil || t.clash != "" {
		return o.noSuchHost(call, t)
	}
	return nil
}

// noSuchHost is the error of a request that leads to no model: what a resolver says of a host that
// does not exist. If the scenario does not say that, it is incomplete, and the observer is
// notified. An operator that continues after errors would hide it.
func (o *outside) noSuchHost(call *Call, t target) error {
	if t.refused {
		return &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("connect to %s: connection refused", call.Host)}
	}
	if !t.absent || t.clash != "" {
		o.observer.UnknownHost(call, t.clash)
	}
	name := call.Request.URL.Hostname()
	return &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}}
}
