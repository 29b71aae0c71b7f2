package world

import (
	"time"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// rules puts the declared faults and the ordinary delays of a network onto the wire. It implements
// wire.Rules and wire.WebhookRules.
type rules struct{ w *World }

// latencies are what a request, a reply or a step of a built-in controller may take. The first is
// the default choice.
var latencies = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond,
	20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
}

// Latency implements wire.Rules.
func (r rules) Latency(c *wire.Call, leg string) time.Duration {
	if c.Idle() {
		return latencies[0]
	}
	d := latencies[r.w.choices.Pace(leg+" "+c.Port.Process+" "+c.String(), c.Actor(), len(latencies), 3)]
	if leg != "reply" {
		return d
	}
	d += r.w.faults.ReplyDelay(c)
	if !r.w.recovering {
		d += c.Wait
	}
	return d
}

// Arrive implements wire.Rules.
func (r rules) Arrive(c *wire.Call) wire.Ruling {
	if c.Port.Process == run.User {
		return wire.Ruling{}
	}
	return r.w.faults.Arrive(c)
}

// Landed implements wire.Rules.
func (r rules) Landed(c *wire.Call) wire.Ruling {
	if c.Port.Process == run.User {
		return wire.Ruling{}
	}
	return r.w.faults.Landed(c)
}

// Lag implements wire.Rules.
func (r rules) Lag(s *wire.Stream, f apiserver.Frame) time.Duration {
	if f.Initial || s.Call.Idle() {
		return 0
	}
	return r.w.faults.Lag(s, f)
}

// Fate implements wire.Rules.
func (r rules) Fate(s *wire.Stream, f apiserver.Frame) wire.Fate {
	if f.Initial || f.Type == "ERROR" || s.Call.Idle() || s.Port.Process == run.User {
		return wire.Arrives
	}
	return r.w.faults.Fate(s, f)
}

// Webhook implements wire.WebhookRules.
func (r rules) Webhook(c *wire.Call) wire.Ruling { return r.w.faults.Webhook(c) }
