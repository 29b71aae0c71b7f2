// This file holds the bugs of those who misread the work queue: what wakes them, and what does not.

package planted

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
)

func queueBugs() []Bug {
	return []Bug{
		{"timer-lost", "requeue lost after success", 1, "the key is handed out once more before its timer",
			"every certificate is renewed", timerLost},
		{"timer-overwritten", "RequeueAfter overwritten", 1, "the first part fails", "every mail is sent",
			timerOverwritten},
		{"status-hot-loop", "status hot loop", 1, "the outside fails once", "nobody writes without end",
			hotLoop},
	}
}

// createdOnly wakes for new objects, not for changes.
func createdOnly(b *builder.Builder) *builder.Builder {
	return b.For(&corev1.ConfigMap{}, builder.WithPredicates(predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return e.Object.GetLabels()["role"] == "work" },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return true },
	}))
}

// timerLost renews a certificate after a minute. An earlier reconcile replaces the timer, because
// the queue has one entry for each key, and does not request it again.
func timerLost(w *stage, fixed bool) {
	const life = time.Minute
	operator{watch: createdOnly, fresh: true, until: "renewed", each: func(g *reconciler, c ctx, o *corev1.ConfigMap,
	) (result, error) {
		if o.Data["issued"] == "" {
			return result{RequeueAfter: life}, g.set(c, o, "issued", strconv.FormatInt(time.Now().Unix(), 10))
		}
		issued, _ := strconv.ParseInt(o.Data["issued"], 10, 64)
		left := life - time.Since(time.Unix(issued, 0))
		switch {
		case left <= 0:
			return result{}, g.set(c, o, "renewed", "yes")
		case g.fixed:
			return result{RequeueAfter: left}, nil
		}
		return result{}, nil // nothing to do yet
	}}.start(w, "certificates", fixed)
	w.Inject(fault.RacingRequeue())
	w.Eventually("every certificate is renewed", holds("a", "renewed", "yes"))
	w.SettleWith(work("a"))
}

// timerOverwritten: two parts each say when they want to be called again, into one variable.
func timerOverwritten(w *stage, fixed bool) {
	outside(w)
	send := func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if o.Data["sent"] != "" {
			return result{}, nil
		}
		if err := g.call(c, "POST", "/mail/"+o.Name, o.Name); err != nil {
			return result{RequeueAfter: 30 * time.Second}, nil // the office is closed at times: that is no error
		}
		return result{}, g.set(c, o, "sent", "yes")
	}
	label := func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if o.Data["seen"] != "" {
			return result{}, nil
		}
		return result{}, g.set(c, o, "seen", "yes")
	}
	operator{watch: createdOnly, each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		sent, err := send(g, c, o)
		if err != nil {
			return result{}, err
		}
		res, err := label(g, c, o)
		if g.fixed && res.RequeueAfter == 0 {
			res = sent
		}
		return res, err
	}}.start(w, "mailer", fixed)
	w.Inject(fault.FailedEffect(), fault.StaleCache(10*time.Second))
	w.Eventually("every mail is sent", happened("mail", "a"))
	w.SettleWith(work("a"))
}

// hotLoop, after a failure, writes on the object that it failed and how often it has reconciled
// since. Each write triggers the next reconcile.
func hotLoop(w *stage, fixed bool) {
	outside(w)
	operator{until: "sent", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if o.Data["state"] == "failed" && !g.fixed {
			looked, _ := strconv.Atoi(o.Data["looked"])
			return result{RequeueAfter: time.Minute}, g.set(c, o, "looked", strconv.Itoa(looked+1))
		}
		if err := g.call(c, "POST", "/mail/"+o.Name, o.Name); err != nil {
			return result{RequeueAfter: time.Minute}, g.set(c, o, "state", "failed")
		}
		return result{}, g.set(c, o, "sent", "yes")
	}}.start(w, "mailer", fixed)
	w.Inject(fault.FailedEffect(), fault.StaleCache(time.Second))
	w.Always("nobody writes without end", func(h *history.History) error {
		n := 0
		for i := range h.Events {
			if e := &h.Events[i]; e.Write() && e.Process == "mailer" {
				n++
			}
		}
		if n > 20 {
			return fmt.Errorf("the mailer has written %d times", n)
		}
		return nil
	})
	w.SettleWith(work("a"))
}
