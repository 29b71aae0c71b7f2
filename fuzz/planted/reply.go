// This file holds the bugs of those who believe that what was not answered did not happen, and that
// what was asked once arrives once.

package planted

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

func replyBugs() []Bug {
	return []Bug{
		{"own-child-is-foreign", "lost reply, then a retry that is not idempotent", 1,
			"the reply to the create is lost", "the work is ready", foreign},
		{"account-gone-already", "finalizer never removed", 1, "the reply to the closing is lost, or a crash after it",
			"what is deleted goes", goneAlready},
		{"mail-posted-twice", "lost reply, then a retry that is not idempotent", 1, "the reply to the post is lost",
			"each mail is sent at most once", postedTwice(false)},
		{"delivery-doubled", "doubled delivery", 1, "the request arrives twice", "each mail is sent at most once",
			postedTwice(true)},
	}
}

// foreign takes AlreadyExists to mean that another owner has the name. The fixed variant reads the
// owner.
func foreign(w *stage, fixed bool) {
	operator{until: "state", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		kid := child(o.Name+"-child", o.Name)
		err := g.Create(c, kid)
		if apierrors.IsAlreadyExists(err) {
			if err = g.live.Get(c, key(kid.Name), kid); err == nil && (!g.fixed || kid.Labels["parent"] != o.Name) {
				return result{}, g.set(c, o, "state", "name taken")
			}
		}
		if err != nil {
			return result{}, err
		}
		return result{}, g.set(c, o, "state", "ready")
	}}.start(w, "parents", fixed)
	w.Inject(fault.LostReply(), fault.RacingRequeue())
	w.Eventually("the work is ready", holds("a", "state", "ready"))
	w.SettleWith(work("a"))
}

// goneAlready: what cannot be found cannot be closed, so the finalizer stays.
func goneAlready(w *stage, fixed bool) {
	outside(w)
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if o.DeletionTimestamp.IsZero() {
			return result{}, g.call(c, "PUT", "/accounts/"+o.Name, "")
		}
		code, err := g.try(c, "DELETE", "/accounts/"+o.Name, "")
		if err == nil && code >= 300 && !(g.fixed && code == 404) {
			err = errors.New("the account cannot be closed")
		}
		if err != nil {
			return result{}, err
		}
		return result{}, release(g, c, o)
	}}.start(w, "accounts", fixed)
	w.Inject(fault.LostReply(), fault.Crash("accounts"), fault.FailedEffect())
	w.Eventually("what is deleted goes", func(h *history.History) error {
		if has(h, "close", "a") && exists("a")(h) == nil { // the second half of the story
			return errors.New("ConfigMap a is still there")
		}
		return nil
	})
	a := work("a")
	a.Finalizers = []string{finalizer}
	w.SettleWith(a)
	w.Remove(work("a"))
	w.Settle()
}

// postedTwice: a mail that was not answered is posted again. The fixed variant says which mail it
// is.
func postedTwice(byProxy bool) func(*stage, bool) {
	return func(w *stage, fixed bool) {
		outside(w)
		operator{until: "sent", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
			return g.mail(c, o, g.once(string(o.UID)))
		}}.start(w, "mailer", fixed)
		if byProxy {
			w.Inject(fault.DoubledEffect(), fault.FailedEffect(), fault.SlowEffect(10*time.Second))
		} else {
			w.Inject(fault.LostReply(), fault.FailedEffect())
		}
		w.Always("each mail is sent at most once", property.AtMostOnce("mail"))
		w.Eventually("every mail is sent", happened("mail", "a"))
		w.SettleWith(work("a"))
	}
}
