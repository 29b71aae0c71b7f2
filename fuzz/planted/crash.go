// This file holds the bugs of those who die, or are told to stop, between two writes.

package planted

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

func crashBugs() []Bug {
	return []Bug{
		{"pair-half-made", "crash between two writes", 1, "a crash between the two", "a pair is complete",
			halfPair},
		{"effect-before-record", "effect before record", 1, "a crash, a lost reply or a stale cache after the effect",
			"each mail is sent at most once", effectFirst},
		{"record-before-effect", "record before effect", 1, "a crash between the two", "every mail is sent",
			recordFirst},
		{"recovery-dies-too", "crash between two writes", 2, "a crash, and another in the recovery from it",
			"every mail is sent", tornRecovery},
		{"poisoned-by-restarts", "crashes taken for failures", 3, "three crashes during one piece of work",
			"every mail is sent", poisoned},
		{"stopped-halfway", "SIGTERM midway", 1, "a write is late when the process is told to stop",
			"what is marked complete is complete", stoppedHalfway},
		{"child-left-by-an-upgrade", "upgrade midway", 2, "the upgrade comes between the two writes",
			"there is one child", leftByUpgrade},
	}
}

// halfPair takes the existence of the first of two Secrets for that of both. The fixed variant
// reads each.
func halfPair(w *stage, fixed bool) {
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		err := g.live.Get(c, key(o.Name+"-cert"), &corev1.Secret{})
		if err == nil && !g.fixed || client.IgnoreNotFound(err) != nil {
			return result{}, err
		}
		for _, part := range []string{"-cert", "-key"} {
			if err := g.Create(c, child(o.Name+part, o.Name)); client.IgnoreAlreadyExists(err) != nil {
				return result{}, err
			}
		}
		return result{}, nil
	}}.start(w, "pairs", fixed)
	w.Inject(fault.Crash("pairs"), fault.StaleCache(10*time.Second), fault.RacingRequeue())
	w.Eventually("a pair is complete", func(h *history.History) error {
		if n := len(history.List[corev1.Secret](h)); n != 2 {
			return fmt.Errorf("there are %d of 2", n)
		}
		return nil
	})
	w.SettleWith(work("a"))
}

// effectFirst: the mail goes out, then the record is made. The fixed variant tells the office which
// mail it is.
func effectFirst(w *stage, fixed bool) {
	outside(w)
	operator{until: "sent", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		return g.mail(c, o, g.once(o.Name))
	}}.start(w, "mailer", fixed)
	w.Inject(fault.Crash("mailer"), fault.LostReply(), fault.StaleCache(10*time.Second))
	w.Always("each mail is sent at most once", property.AtMostOnce("mail"))
	w.Eventually("every mail is sent", happened("mail", "a", "b"))
	w.SettleWith(work("a"), work("b"))
}

// recordFirst: the record is made, then the mail goes out.
func recordFirst(w *stage, fixed bool) {
	outside(w)
	operator{until: "sent", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		return g.inOrder(func() error { return g.set(c, o, "sent", "yes") },
			func() error { return g.call(c, "POST", "/mail/"+o.Name, o.Name) })
	}}.start(w, "mailer", fixed)
	w.Inject(fault.Crash("mailer"), fault.StaleCache(10*time.Second))
	w.Eventually("every mail is sent", happened("mail", "a", "b"))
	w.SettleWith(work("a"), work("b"))
}

// tornRecovery: an intent is written before the mail goes out, and who finds a stranger's intent
// takes it over. The flaw is that a takeover is believed to be in good hands.
func tornRecovery(w *stage, fixed bool) {
	outside(w)
	operator{fresh: true, each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		next := "intended"
		switch o.Data["state"] {
		case "sent":
			return result{}, nil
		case "intended":
			next = "taken-over"
		case "taken-over":
			if g.memory[o.Name] == nil && !g.fixed {
				return result{}, nil
			}
		}
		if o.Data["state"] != "taken-over" {
			if err := g.set(c, o, "state", next); err != nil {
				return result{}, err
			}
		}
		g.memory[o.Name] = true
		if err := g.call(c, "POST", "/mail/"+o.Name, o.Name); err != nil {
			return result{}, err
		}
		return result{}, g.set(c, o, "state", "sent")
	}}.start(w, "mailer", fixed)
	w.Inject(fault.Crash("mailer"), fault.RacingRequeue())
	w.Eventually("every mail is sent", happened("mail", "a"))
	w.SettleWith(work("a"))
}

// poisoned gives up on work that was begun three times and never ended, even if the process
// crashed.
func poisoned(w *stage, fixed bool) {
	outside(w)
	operator{fresh: true, until: "sent", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		attempts, _ := strconv.Atoi(o.Data["attempts"])
		if attempts >= 3 && !g.fixed {
			return result{}, nil
		}
		if err := g.set(c, o, "attempts", strconv.Itoa(attempts+1)); err != nil {
			return result{}, err
		}
		return g.mail(c, o, o.Name)
	}}.start(w, "mailer", fixed)
	w.Inject(fault.Crash("mailer"))
	w.Eventually("every mail is sent", happened("mail", "a"))
	w.SettleWith(work("a"))
}

// stoppedHalfway writes three parts, then a mark that they are complete. On SIGTERM it writes the
// mark at once.
func stoppedHalfway(w *stage, fixed bool) {
	operator{until: "complete", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		for _, part := range []string{"-1", "-2", "-3"} {
			err := g.Create(c, child(o.Name+part, o.Name))
			if err != nil && !apierrors.IsAlreadyExists(err) && (g.fixed || c.Err() == nil) {
				return result{}, err
			}
		}
		return result{}, g.set(context.WithoutCancel(c), o, "complete", "yes")
	}}.start(w, "builder", fixed)
	w.Inject(fault.StaleCache(time.Second), fault.ServerError())
	w.Always("what is marked complete is complete", func(h *history.History) error {
		if n := len(history.List[corev1.Secret](h)); data(h, "a")["complete"] != "" && n < 3 {
			return fmt.Errorf("a is marked complete and has %d of 3 parts", n)
		}
		return nil
	})
	w.Apply(work("a"))
	w.Sleep(20 * time.Millisecond)
	w.Stop("builder")
	w.Settle()
}

// leftByUpgrade makes a child and records its name. The second version gives it another name and
// removes that of the first version. The flawed variant trusts the record; each version by itself
// survives a crash between the two writes.
func leftByUpgrade(w *stage, fixed bool) {
	version := func(suffix, before string) operator {
		return operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
			name, recorded := o.Name+suffix, o.Data["child"]
			if old := o.Name + before; before != "" && (g.fixed || recorded == old) {
				if err := g.Delete(c, secret(old)); client.IgnoreNotFound(err) != nil {
					return result{}, err
				}
			}
			if recorded == name {
				return result{}, nil
			}
			if err := g.Create(c, child(name, o.Name)); client.IgnoreAlreadyExists(err) != nil {
				return result{}, err
			}
			return result{}, g.set(c, o, "child", name)
		}}
	}
	version("-1", "").start(w, "parents", fixed)
	w.Inject(fault.StaleCache(time.Second))
	w.Eventually("there is one child", func(h *history.History) error {
		if n := len(history.List[corev1.Secret](h)); n != 1 {
			return fmt.Errorf("there are %d", n)
		}
		return nil
	})
	w.Upgrade("parents", version("-2", "-1"), fixed)
	w.SettleWith(work("a"))
}
