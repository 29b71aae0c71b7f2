// This file holds the bugs at requests that are rare: one of a kind, among many of other kinds that
// do no harm when they fail.

package planted

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

func rareBugs() []Bug {
	return []Bug{
		{"one-delete-of-many-gets", "swallowed server error", 1, "the one delete fails", "the old secret is gone",
			deleteSwallowed},
		{"one-post-of-many-puts", "request sent twice", 1, "the reply to the one post is lost",
			"each mail is sent at most once", postedAmongPuts},
		{"one-create-of-many-patches", "random name before record", 1, "a crash after the one create",
			"a parent has one child", namedAmongPatches},
	}
}

// looks reads an object from the server, as operators do that trust no cache.
func (r *reconciler) looks(c ctx, o *corev1.ConfigMap, times int) error {
	for range times {
		if err := r.live.Get(c, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
	}
	return nil
}

// deleteSwallowed: an old secret is replaced, and whether its deletion worked is not looked at.
func deleteSwallowed(w *stage, fixed bool) {
	operator{until: "replaced", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if err := g.looks(c, o, 12); err != nil {
			return result{}, err
		}
		if err := client.IgnoreNotFound(g.Delete(c, secret("old"))); err != nil && g.fixed {
			return result{}, err
		}
		if err := g.looks(c, o, 48); err != nil {
			return result{}, err
		}
		return result{}, g.set(c, o, "replaced", "yes")
	}}.start(w, "replacer", fixed)
	w.Inject(fault.ServerError(), fault.StaleCache(10*time.Second), fault.Unreachable(10*time.Second))
	w.Eventually("the old secret is gone", func(h *history.History) error {
		if _, ok := h.Object("", "Secret", ns, "old"); ok {
			return errors.New("the old secret is still there")
		}
		return nil
	})
	w.SettleWith(secret("old"), work("a"))
}

// postedAmongPuts: accounts may be opened as often as one likes, but a mail that is posted again is
// sent again. The fixed variant sends an idempotency key.
func postedAmongPuts(w *stage, fixed bool) {
	outside(w)
	operator{until: "sent", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		for i := range 40 {
			if err := g.call(c, "PUT", fmt.Sprintf("/accounts/%d", i), ""); err != nil {
				return result{}, err
			}
			if i != 8 {
				continue
			}
			if err := g.call(c, "POST", "/mail/"+o.Name, g.once(o.Name)); err != nil {
				return result{}, err
			}
			if err := g.set(c, o, "sent", "yes"); err != nil {
				return result{}, err
			}
		}
		return result{}, nil
	}}.start(w, "mailer", fixed)
	w.Inject(fault.LostReply(), fault.FailedEffect(), fault.StaleCache(100*time.Millisecond))
	w.Always("each mail is sent at most once", property.AtMostOnce("mail"))
	w.SettleWith(work("a"))
}

// namedAmongPatches: each round is counted on the object. In one round a child with a random name
// is made and written down. The fixed variant names it after its parent.
func namedAmongPatches(w *stage, fixed bool) {
	operator{fresh: true, each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		for round, _ := strconv.Atoi(o.Data["round"]); round < 40; round++ {
			if round == 8 && o.Data["child"] == "" {
				made := generated(o.Name)
				if g.fixed {
					made = child("of-"+o.Name, o.Name)
				}
				if err := client.IgnoreAlreadyExists(g.Create(c, made)); err != nil {
					return result{}, err
				}
				if err := g.set(c, o, "child", made.Name); err != nil {
					return result{}, err
				}
			}
			if err := g.set(c, o, "round", strconv.Itoa(round+1)); err != nil {
				return result{}, err
			}
		}
		return result{}, nil
	}}.start(w, "rounds", fixed)
	w.Inject(fault.Crash("rounds"), fault.Conflict(), fault.StaleCache(10*time.Second))
	w.Always("a parent has one child", oneChild)
	w.SettleWith(work("a"))
}
