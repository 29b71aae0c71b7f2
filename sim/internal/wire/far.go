package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
)

// This file carries requests between operating system processes. The program runs in one of them
// and the network in the other. Both ends share one connection, which keeps the order of messages.

// Sent is a request on its way from the program to the network.
type Sent struct {
	ID        int64
	Method    string
	URL       string
	Header    http.Header
	Body      []byte
	Client    int // see [Port.Client]
	Reconcile history.Reconcile
	Sorted    bool   // see [WithSortedInformer]
	Variant   string // see [WithVariant]
}

// Answer is what comes back: a response, the next part of a stream, or its end.
type Answer struct {
	ID      int64
	Code    int // 0 for a part or the end of a stream
	Header  http.Header
	Body    []byte
	Streams bool // parts follow
	Ended   bool // the stream has ended
	Err     string
}

// Far is the program's end. It carries the requests of every port of a network.
type Far struct {
	// Send sends a request.
	Send func(Sent)
	// Cancel says that the program does not wait for a request any more.
	Cancel func(id int64)

	mu    sync.Mutex
	last  int64
	calls map[int64]*farCall
}

// farCall is a request that the program waits for, or whose stream it reads.
type farCall struct {
	first  chan Answer
	stream *body // once the response has come
}

type farCarrier struct {
	*Far
	port *Port
}

func (farCarrier) freeze() {}

func (f farCarrier) roundTrip(req *http.Request, client int) (*http.Response, error) {
	sent := Sent{Method: req.Method, URL: req.URL.String(), Header: req.Header, Client: client,
		Reconcile: f.port.Attribute(req.Context()), Sorted: isSorted(req.Context())}
	sent.Variant, _ = req.Context().Value(variantKey{}).(string)
	if req.Body != nil {
		var err error
		sent.Body, err = io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	call := &farCall{first: make(chan Answer, 1)}
	f.mu.Lock()
	f.last++
	sent.ID = f.last
	if f.calls == nil {
		f.calls = map[int64]*farCall{}
	}
	f.calls[sent.ID] = call
	f.mu.Unlock()
	f.Send(sent)
	select {
	case a := <-call.first:
		if a.Err != "" {
			return nil, errors.New(a.Err)
		}
		var stream io.ReadCloser
		if a.Streams {
			stream = call.stream
			call.stream.ctx = req.Context()
		}
		return httpResponse(req, &apiserver.Response{Code: a.Code, Header: a.Header, Body: a.Body}, stream), nil
	case <-req.Context().Done():
		f.drop(sent.ID)
		return nil, req.Context().Err()
	}
}

func (f *Far) drop(id int64) {
	f.mu.Lock()
	delete(f.calls, id)
	f.mu.Unlock()
	f.Cancel(id)
}

// Take takes an answer to the request that it is for. Call it in the order in which answers come.
func (f *Far) Take(a Answer) {
	f.mu.Lock()
	call := f.calls[a.ID]
	if call != nil && (a.Ended || !a.Streams && call.stream == nil) {
		delete(f.calls, a.ID)
	}
	f.mu.Unlock()
	switch {
	case call == nil: // the program has given up
	case call.stream == nil:
		if a.Streams {
			call.stream = newBody(context.Background())
			call.stream.onClose = func() { f.drop(a.ID) }
			call.stream.onCancel = func() { call.stream.end(context.Canceled) }
		}
		call.first <- a
	case a.Ended && a.Err != "":
		call.stream.end(errors.New(a.Err))
	case a.Ended:
		call.stream.end(io.EOF)
	default:
		call.stream.write(a.Body)
	}
}

// Carry sends a request of a program in another process, and passes on what comes back. It returns
// when the request or its stream has ended.
func (p *Port) Carry(ctx context.Context, s Sent, answer func(Answer)) {
	if s.Sorted {
		ctx = WithSortedInformer(ctx)
	}
	if s.Variant != "" {
		ctx = WithVariant(ctx, s.Variant)
	}
	end := func(err error) {
		a := Answer{ID: s.ID, Ended: true}
		if err != nil && !errors.Is(err, io.EOF) {
			a.Err = err.Error()
		}
		answer(a)
	}
	req, err := http.NewRequestWithContext(ctx, s.Method, s.URL, bytes.NewReader(s.Body))
	if err != nil {
		end(err)
		return
	}
	req.Header = s.Header
	resp, err := client{p, s.Client}.RoundTrip(req)
	if err != nil {
		end(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	a := Answer{ID: s.ID, Code: resp.StatusCode, Header: resp.Header, Streams: resp.ContentLength < 0}
	if !a.Streams {
		if a.Body, err = io.ReadAll(resp.Body); err != nil {
			end(err)
			return
		}
	}
	answer(a)
	for part := make([]byte, 1<<16); a.Streams; {
		n, err := resp.Body.Read(part)
		if n > 0 {
			answer(Answer{ID: s.ID, Body: part[:n]})
		}
		if err != nil {
			end(err)
			return
		}
	}
}
