package wire

import (
	"context"
	"net/http"
	"time"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
)

// Rules decide how long things take and what goes wrong. They are called on the scheduling
// goroutine.
type Rules interface {
	// Latency is how long a request needs to arrive ([story.Request]), or its reply to come back
	// ([story.Reply]).
	Latency(c *Call, leg story.Kind) time.Duration
	// Arrive is called when a request is about to take effect.
	Arrive(c *Call) Ruling
	// Landed is called when a request has taken effect, before its reply is sent.
	Landed(c *Call) Ruling
	// Webhook is called when the call of a webhook arrives; Answer and Lose of the ruling count. Of
	// the other rules only Latency is called for it.
	Webhook(c *Call) Ruling
	// Lag is how long after its commit a watch event may reach the stream.
	Lag(s *Stream, f apiserver.Frame) time.Duration
	// Fate is called when a watch event is about to reach its stream.
	Fate(s *Stream, f apiserver.Frame) Fate
}

// Observer is the world that a network serves: its rules, and who wants to know what happens.
type Observer interface {
	Rules
	// Committed is called for every change that a request made.
	Committed(apiserver.Change)
	// UnknownHost is called for requests to hosts that the scenario does not declare, on the
	// goroutine that makes them. clash names two patterns that fit the host equally well; "" for
	// none.
	UnknownHost(call *Call, clash string)
	// Endpoints are the incarnations that serve a webhook at a path, in a fixed order. service is
	// nil for a webhook that is called by URL.
	Endpoints(service *apiserver.WebhookService, path string) []Endpoint
}

// Ruling is what goes wrong with a request; the zero value is nothing.
type Ruling struct {
	// Kill ends the caller's incarnation.
	Kill bool
	// Answer replaces the server's answer; the request does not take effect.
	Answer *apiserver.Response
	// Lose makes the caller see this error instead of a reply.
	Lose error
	// Again makes a request to the outside take effect twice.
	Again bool
	// Hold lets the request wait for another step: its caller was frozen as it was sent.
	Hold bool
	// Seen, when set, is called as the consequence reaches the caller.
	Seen func()
}

// Fate is what happens to a stream when its next frame is due.
type Fate int

// The fates of a stream.
const (
	Arrives Fate = iota // the frame is delivered
	Drops               // the connection ends before the frame
	Expires             // the server sends 410 Gone in place of the frame, and ends the stream
	Waits               // the frame lags once more
)

// Endpoint is an incarnation that serves a webhook.
type Endpoint struct {
	Port    *Port
	Handler http.Handler
	Context context.Context // done when the incarnation ends
	Go      func(func())    // runs a function on a goroutine of the incarnation
}
