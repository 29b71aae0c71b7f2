package fault

import (
	"fmt"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// WebhookDown makes an admission webhook unreachable for windows of up to d, wherever it is served.
// Its failurePolicy decides what happens to writes that would call it: they fail with 500, or pass
// without it. [Named] narrows the fault to one webhook, by its name in the webhook configuration.
// w.Apply and w.Remove try again every second; after ten minutes there are no more faults.
func WebhookDown(d time.Duration, scopes ...Named) Fault {
	return declare("WebhookDown", d.String(), scopes, func(c core) inject.Fault { return &webhookDown{newLasting(c)} }).
		upTo(d)
}

type webhookDown struct{ lasting } // by webhook

// Webhook implements [inject.WebhookCaller].
func (w *webhookDown) Webhook(c *wire.Call) wire.Ruling {
	if w.scope.name != "" && w.scope.name != c.Webhook {
		return wire.Ruling{}
	}
	if w.remaining(c.Webhook) == 0 {
		v := w.injected(story.Label{What: c.Webhook}, len(lengths), 12, 3)
		if v == 0 {
			return wire.Ruling{}
		}
		how := fmt.Sprintf("webhook %s does not answer for %v", c.Webhook, w.begin(c.Webhook, v))
		w.env.Note(history.Event{Kind: history.Fault, Process: c.Port.Process, Injection: w.injection(how)})
		w.observed()
	}
	return wire.Ruling{Lose: refused()}
}

// SlowNamespace delays each step of the namespace controller by up to d, and so the end of a
// namespace.
func SlowNamespace(d time.Duration, scopes ...Named) Fault {
	return declare("SlowNamespace", d.String(), scopes,
		func(c core) inject.Fault { return &slowNamespace{c} }).upTo(d)
}

type slowNamespace struct{ core }

// StepDelay implements [inject.StepDelayer]. The key of a step ends with the namespace's name.
func (s *slowNamespace) StepDelay(actor, key string) time.Duration {
	named := s.scope.name
	if actor != "namespace-controller" || named != "" && key != named && !strings.HasSuffix(key, " "+named) {
		return 0
	}
	v := s.injected(story.Label{What: key}, len(lags), 6, 2)
	if v == 0 {
		return 0
	}
	s.observed()
	return s.share(lags, v)
}
