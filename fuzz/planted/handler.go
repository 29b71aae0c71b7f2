// This file holds the bugs of event handlers: a worker may start before one has returned.

package planted

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
)

func handlerBugs() []Bug {
	return []Bug{
		{"new-revision-cancelled", "cancelled without a requeue", 1,
			"the worker starts between the two calls of the mapping function", "the latest revision is deployed",
			revisionCancelled},
	}
}

// revisionCancelled: deploying takes long, so a new revision of the source cancels it. The mapping
// function does that. It is called for the old source, then for the new one, and the key is added
// between. A reconcile that has begun by then has the new revision, is cancelled, and does not
// come back. In the fixed variant it does.
func revisionCancelled(w *stage, fixed bool) {
	outside(w)
	var mu sync.Mutex
	var cancel context.CancelFunc // of the reconcile in progress
	interrupt := func(next context.CancelFunc) {
		mu.Lock()
		defer mu.Unlock()
		if cancel != nil && next == nil {
			cancel()
		}
		cancel = next
	}
	watch := func(b *builder.Builder) *builder.Builder {
		mapped := func(context.Context, client.Object) []request {
			interrupt(nil)
			return []request{{NamespacedName: key("a")}}
		}
		return b.For(&corev1.ConfigMap{}, role("work")).
			Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(mapped))
	}
	operator{watch: watch, work: func(g *reconciler, c ctx, req request) (result, error) {
		c, stop := context.WithCancel(c)
		defer stop()
		interrupt(stop)
		o, err := g.get(c, req)
		if o == nil || err != nil {
			return result{}, err
		}
		var source corev1.Secret
		if err := g.Get(c, key("source"), &source); err != nil {
			return result{}, err
		}
		revision := string(source.Data["revision"])
		if o.Data["deployed"] == revision {
			return result{}, nil
		}
		err = g.call(c, "PUT", "/accounts/"+revision, "")
		switch {
		case c.Err() != nil && g.fixed:
			return result{RequeueAfter: time.Second}, nil
		case c.Err() != nil:
			return result{}, nil // the new revision has added the key
		case err != nil:
			return result{}, err
		}
		return result{}, g.set(c, o, "deployed", revision)
	}}.start(w, "deployer", fixed)
	w.Inject(fault.FailedEffect(), fault.ServerError(), fault.StaleCache(time.Second))
	w.Eventually("the latest revision is deployed", func(h *history.History) error {
		if got := data(h, "a")["deployed"]; got != "2" {
			return errors.New("deployed is revision " + got)
		}
		return nil
	})
	w.Apply(secret("source", "revision", "1"), work("a"))
	w.Sleep(time.Second)
	patch(w, secret("source"), `{"data":{"revision":"Mg=="}}`)
	w.Settle()
}
