// This file has the bugs of reconcilers that give up, or continue, despite an error.

package planted

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

func giveUpBugs() []Bug {
	return []Bug{
		{"conflict-swallowed", "swallowed conflict", 1, "another writer comes before the write",
			"the ticket is counted", counting(0)},
		{"two-conflicts-swallowed", "swallowed conflict", 2, "another writer comes before each of two attempts",
			"the ticket is counted", counting(1)},
		{"server-error-swallowed", "swallowed server error", 1, "the write fails", "the work has its result",
			errorSwallowed},
		{"gives-up-after-three", "retries that end", 3, "the outside fails three times", "every mail is sent",
			givesUp},
		{"safe-without-a-copy", "swallowed server error", 3, "all three writes fail", "what is marked safe has a copy",
			noCopy},
		{"throttled-for-good", "429 not retried", 1, "the write is answered with 429", "the work has its result",
			throttled},
		{"gives-up-waiting", "timeout of a slow outside call", 1, "the outside is slow",
			"each mail is sent at most once", impatient},
		{"one-slow-call-starves-all", "starvation", 1, "the outside is very slow once", "nobody waits for long",
			starved},
	}
}

// counting counts each ticket once, with optimistic locking of the total. After so many more
// attempts it ignores a conflict, and no controller watches the total.
func counting(more int) func(*stage, bool) {
	return func(w *stage, fixed bool) {
		attempt := func(g *reconciler, c ctx) error {
			var total corev1.ConfigMap
			if err := g.live.Get(c, key("total"), &total); err != nil || total.Data["n"] == "1" {
				return err
			}
			total.Data["n"] = "1"
			return g.Update(c, &total)
		}
		operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
			err := attempt(g, c)
			for range more {
				if apierrors.IsConflict(err) {
					err = attempt(g, c)
				}
			}
			if apierrors.IsConflict(err) && !g.fixed {
				return result{}, nil
			}
			return result{}, err
		}}.start(w, "counter", fixed)
		w.Inject(fault.Conflict(), fault.LostReply(), fault.StaleCache(10*time.Second))
		w.Eventually("the ticket is counted", holds("total", "n", "1"))
		w.SettleWith(cm("total", "n", "0"), work("a"))
	}
}

// errorSwallowed writes the result and ignores the error.
func errorSwallowed(w *stage, fixed bool) {
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if err := g.Create(c, cm("result", "of", o.Name)); client.IgnoreAlreadyExists(err) != nil && g.fixed {
			return result{}, err
		}
		return result{}, nil
	}}.start(w, "worker", fixed)
	w.Inject(fault.ServerError(), fault.Crash("worker"), fault.StaleCache(10*time.Second))
	w.Eventually("the work has its result", exists("result"))
	w.SettleWith(work("a"))
}

// givesUp: failures are counted on the object, and the third is the last.
func givesUp(w *stage, fixed bool) {
	outside(w)
	operator{until: "sent", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if o.Data["failed"] == "3" && !g.fixed {
			return result{}, nil
		}
		if err := g.call(c, "POST", "/mail/"+o.Name, o.Name); err != nil {
			failed, _ := strconv.Atoi(o.Data["failed"])
			return result{}, errors.Join(err, g.set(c, o, "failed", strconv.Itoa(min(failed+1, 3))))
		}
		return result{}, g.set(c, o, "sent", "yes")
	}}.start(w, "mailer", fixed)
	w.Inject(fault.FailedEffect(), fault.StaleCache(10*time.Second))
	w.Eventually("every mail is sent", happened("mail", "a", "b"))
	w.SettleWith(work("a"), work("b"))
}

// noCopy: three copies make it safe, and one may fail; how many have failed is not counted.
func noCopy(w *stage, fixed bool) {
	operator{until: "safe", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		copies := 0
		for i := range 3 {
			if client.IgnoreAlreadyExists(g.Create(c, child(fmt.Sprintf("%s-%d", o.Name, i), o.Name))) == nil {
				copies++
			}
		}
		if g.fixed && copies < 2 {
			return result{}, errors.New("too few copies")
		}
		return result{}, g.set(c, o, "safe", "yes")
	}}.start(w, "keeper", fixed)
	w.Inject(fault.ServerError())
	w.Always("what is marked safe has a copy", func(h *history.History) error {
		for _, name := range []string{"a", "b"} {
			copies := 0
			for _, s := range history.List[corev1.Secret](h) {
				if s.Labels["parent"] == name {
					copies++
				}
			}
			if data(h, name)["safe"] != "" && copies == 0 {
				return fmt.Errorf("%s is marked safe and has no copy", name)
			}
		}
		return nil
	})
	w.SettleWith(work("a"), work("b"))
}

// throttled: a request made by hand, past the client that would have tried again. 429 is no error,
// says the comment.
func throttled(w *stage, fixed bool) {
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		code, err := byHand(c, g.mgr.GetConfig())
		switch {
		case err != nil:
			return result{}, err
		case code == http.StatusTooManyRequests && !g.fixed, code < 300, code == http.StatusConflict: // it is there
			return result{}, nil
		}
		return result{}, fmt.Errorf("the server answers %d", code)
	}}.start(w, "worker", fixed)
	w.Inject(fault.ServerError(), fault.StaleCache(10*time.Second))
	w.Eventually("the work has its result", exists("result"))
	w.SettleWith(work("a"))
}

// byHand creates the result by an HTTP request of its own, without a client library.
func byHand(c ctx, cfg *rest.Config) (int, error) {
	hc, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return 0, err
	}
	const result = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"result","namespace":"default"}}`
	body := bytes.NewBufferString(result)
	req, err := http.NewRequestWithContext(c, http.MethodPost, cfg.Host+"/api/v1/namespaces/default/configmaps", body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := hc.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// impatient: five seconds are enough for everybody; then the mail is sent again.
func impatient(w *stage, fixed bool) {
	outside(w)
	operator{until: "sent", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		short, cancel := context.WithTimeout(c, 5*time.Second)
		defer cancel()
		if err := g.call(short, "POST", "/mail/"+o.Name, g.once(o.Name)); err != nil {
			return result{}, err
		}
		return result{}, g.set(c, o, "sent", "yes")
	}}.start(w, "mailer", fixed)
	w.Inject(fault.SlowEffect(time.Minute))
	w.Always("each mail is sent at most once", property.AtMostOnce("mail"))
	w.SettleWith(work("a"))
}

// starved: one worker, and a call that takes as long as it takes.
func starved(w *stage, fixed bool) {
	const long = 45 * time.Second
	outside(w)
	operator{until: "sent", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if g.fixed {
			var cancel context.CancelFunc
			c, cancel = context.WithTimeout(c, 5*time.Second)
			defer cancel()
		}
		return g.mail(c, o, o.Name)
	}}.start(w, "mailer", fixed)
	w.Inject(fault.SlowEffect(2*time.Minute), fault.StaleCache(time.Second))
	w.Always("nobody waits for long", func(h *history.History) error {
		for i := range h.Events {
			for _, ch := range h.Events[i].Changes {
				name := ch.Ref.Name
				if ch.Type == "ADDED" && len(name) == 1 && h.Now()-ch.At > long && !has(h, "mail", name) {
					return fmt.Errorf("%s has waited since %v", name, history.Clock(ch.At))
				}
			}
		}
		return nil
	})
	w.SettleWith(work("a"), work("b"))
}
