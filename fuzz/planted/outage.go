// This file has the bugs of operators whose provider does not answer for minutes.

package planted

import (
	"errors"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
)

func outageBugs() []Bug {
	return []Bug{
		{"gives-up-in-an-outage", "retries that end", 1, "the outside does not answer for longer than the retries take",
			"the account is open", givesUpInAnOutage},
		{"deletes-what-it-cannot-see", "failure taken for absence", 1, "the outside does not answer once",
			"an open account has its password", deletesUnseen},
	}
}

// fewer are the faults of an outside service that do not bring these bugs out.
func fewer() []fault.Fault {
	return []fault.Fault{fault.FailedEffect(), fault.LostReply(), fault.DoubledEffect(), fault.SlowEffect(time.Minute),
		fault.StaleCache(10 * time.Second)}
}

// givesUpInAnOutage: ten attempts in a row, which take five seconds, are enough.
func givesUpInAnOutage(w *stage, fixed bool) {
	outside(w)
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		failed, _ := g.memory[o.Name].(int)
		if failed == 10 && !g.fixed {
			return result{}, nil
		}
		err := g.call(c, http.MethodPut, "/accounts/"+o.Name, "")
		if g.memory[o.Name] = 0; err != nil {
			g.memory[o.Name] = failed + 1
		}
		return result{}, err
	}}.start(w, "clerk", fixed)
	w.Inject(append(fewer(), fault.HostDown(10*time.Minute))...)
	w.Eventually("the account is open", happened("open", "a"))
	w.SettleWith(work("a"))
}

// deletesUnseen looks every minute whether the account is still there. No answer means no account.
func deletesUnseen(w *stage, fixed bool) {
	outside(w)
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		password := child(o.Name+"-password", o.Name)
		if o.Data["open"] == "" {
			err := g.call(c, http.MethodPut, "/accounts/"+o.Name, "")
			if err == nil {
				err = client.IgnoreAlreadyExists(g.Create(c, password))
			}
			if err == nil {
				err = g.set(c, o, "open", "yes")
			}
			return result{RequeueAfter: time.Minute}, err
		}
		code, err := g.try(c, http.MethodGet, "/accounts/"+o.Name, "")
		if code == http.StatusNotFound || err != nil && !g.fixed {
			return result{}, client.IgnoreNotFound(g.Delete(c, password))
		}
		return result{RequeueAfter: time.Minute}, err
	}}.start(w, "clerk", fixed)
	w.Inject(append(fewer(), fault.HostDown(10*time.Minute))...)
	w.Always("an open account has its password", func(h *history.History) error {
		if _, ok := h.Object("", "Secret", ns, "a-password"); !ok && data(h, "a")["open"] != "" {
			return errors.New("a is open and has no password")
		}
		return nil
	})
	w.SettleWith(work("a"))
}
