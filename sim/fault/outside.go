package fault

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// SlowEffect delays the reply of a call to an outside host by up to d. The effect itself happens.
func SlowEffect(d time.Duration, scopes ...Scope) Fault {
	return declare("SlowEffect", d.String(), scopes, func(c core) inject.Fault { return &slowEffect{c} }).upTo(d)
}

type slowEffect struct{ core }

// ReplyDelay implements [inject.ReplyDelayer].
func (s *slowEffect) ReplyDelay(c *wire.Call) time.Duration {
	if c.Host == "" {
		return 0
	}
	v := s.injectedAt(c, "", len(lags), 6, 2)
	if v == 0 {
		return 0
	}
	s.observed()
	return s.share(lags, v)
}

// FailedEffect makes an outside host answer a write with 500, without performing it.
func FailedEffect(scopes ...Scope) Fault {
	return declare("FailedEffect", "", scopes, func(c core) inject.Fault {
		return &spoiltEffect{c, "500 for", wire.Ruling{Answer: &apiserver.Response{
			Code: http.StatusInternalServerError, Header: http.Header{"Content-Type": {"text/plain"}},
			Body: []byte("wavetank: the outside world failed\n"),
		}}}
	})
}

// DoubledEffect makes a write to an outside host arrive twice, as when a proxy retries.
func DoubledEffect(scopes ...Scope) Fault {
	return declare("DoubledEffect", "", scopes,
		func(c core) inject.Fault { return &spoiltEffect{c, "twice,", wire.Ruling{Again: true}} })
}

// spoiltEffect befalls single writes to outside hosts.
type spoiltEffect struct {
	core
	how    string
	ruling wire.Ruling
}

// Arrive implements [inject.Arriver].
func (s *spoiltEffect) Arrive(c *wire.Call) wire.Ruling {
	if c.Host == "" || !c.Writes() || s.injectedAt(c, "", 2, 12, 3) == 0 {
		return wire.Ruling{}
	}
	s.note(c, s.how)
	s.observed()
	return s.ruling
}

// HostDown takes a host outside the cluster away for windows of up to d. In some windows it refuses
// connections. In the others it does not answer, and a request ends after 30 s, as with
// [http.DefaultTransport], unless its caller gives up earlier. Each host has windows of its own.
func HostDown(d time.Duration, scopes ...Scope) Fault {
	return declare("HostDown", d.String(), scopes,
		func(c core) inject.Fault { return &hostDown{newLasting(c), map[string]bool{}} }).upTo(d)
}

type hostDown struct {
	lasting // by host
	silent  map[string]bool
}

// Arrive implements [inject.Arriver].
func (h *hostDown) Arrive(c *wire.Call) wire.Ruling {
	if c.Host == "" || !h.reaches(c) {
		return wire.Ruling{}
	}
	if h.remaining(c.Host) == 0 {
		v := h.injectedAt(c, "", 2*len(lengths)-1, 6, 2) // each length, with and without a refusal
		if v == 0 {
			return wire.Ruling{}
		}
		how := "refused for %v, beginning with"
		if h.silent[c.Host] = v%2 == 0; h.silent[c.Host] {
			how = "no answer for %v, beginning with"
		}
		h.note(c, fmt.Sprintf(how, h.begin(c.Host, (v+1)/2)))
		h.observed()
	}
	if !h.silent[c.Host] {
		return wire.Ruling{Lose: refused()}
	}
	c.Wait = dialTimeout
	return wire.Ruling{Lose: &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}}
}

// dialTimeout is that of [http.DefaultTransport].
const dialTimeout = 30 * time.Second
