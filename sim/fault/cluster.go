package fault

import (
	"fmt"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// WebhookDown makes nobody answer at an admission webhook for windows of up to d, wherever it is
// served. Writes that it is asked about fail with 500, or pass without it, as its failurePolicy
// says. [Named] narrows the fault to one webhook, by the name that its configuration gives it.
// w.Apply and w.Remove try again every second, after ten minutes without faults.
func WebhookDown(d time.Duration, scopes ...Scope) Fault {
	return declare("WebhookDown", d.String(), scopes, func(c core) inject.Fault { return &webhookDown{newLasting(c)} }).
		upTo(d).taking("Named")
}

type webhookDown struct{ lasting } // by webhook

// Webhook implements [inject.WebhookCaller].
func (f *webhookDown) Webhook(c *wire.Call) wire.Ruling {
	if f.scope.name != "" && f.scope.name != c.Webhook {
		return wire.Ruling{}
	}
	if f.remaining(c.Webhook) == 0 {
		v := f.injected(choice.Label{What: c.Webhook}, len(lengths), 12, 3)
		if v == 0 {
			return wire.Ruling{}
		}
		how := fmt.Sprintf("nobody answers at webhook %s for %v", c.Webhook, f.begin(c.Webhook, v))
		f.env.Note(history.Event{Kind: history.Fault, Process: c.Port.Process, Injection: f.injection(how)})
		f.observed()
	}
	return wire.Ruling{Lose: refused()}
}

// SlowNamespace makes each step of the namespace controller take up to d longer, and with it the
// end of a namespace.
func SlowNamespace(d time.Duration, scopes ...Scope) Fault {
	return declare("SlowNamespace", d.String(), scopes,
		func(c core) inject.Fault { return &slowNamespace{c} }).upTo(d).taking("Named")
}

type slowNamespace struct{ core }

// StepDelay implements [inject.StepDelayer]. The key of a step ends with the namespace's name.
func (f *slowNamespace) StepDelay(actor, key string) time.Duration {
	named := f.scope.name
	if actor != "namespace-controller" || named != "" && key != named && !strings.HasSuffix(key, " "+named) {
		return 0
	}
	v := f.injected(choice.Label{What: key}, len(lags), 6, 2)
	if v == 0 {
		return 0
	}
	f.observed()
	return f.share(lags, v)
}
