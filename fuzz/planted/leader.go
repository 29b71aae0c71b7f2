// This file holds the bugs of those who believe that they are the only one: replicas, old and new.

package planted

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

func leaderBugs() []Bug {
	return []Bug{
		{"two-during-a-rollout", "leader overlap, no election", 1, "the old one is late",
			"each mail is sent at most once", rollout},
		{"lease-lost-while-working", "leader overlap, lease lost", 1, "the leader is cut off after the effect",
			"each mail is sent at most once", leaseLost},
		{"successor-goes-back", "time travel across leaders", 2, "the leader crashes and its successor's cache trails",
			"the level never falls", goesBack},
	}
}

// elected are the options of replicas of which one at a time may work. The default deadline for
// renewing is a multiple of the default period of trying: both end at the same instant, and the
// order of the two timers is undefined.
func elected(on bool) ctrl.Options {
	deadline := 9900 * time.Millisecond
	return ctrl.Options{
		LeaderElection: on, LeaderElectionID: "mailer", LeaderElectionNamespace: ns, RenewDeadline: &deadline,
	}
}

// rollout: the new version starts while the old one still works; only the fixed variant elects. It
// also sends a key, because a request may arrive twice.
func rollout(w *stage, fixed bool) {
	outside(w)
	mailer := operator{options: elected(fixed), until: "sent", each: func(g *reconciler, c ctx, o *corev1.ConfigMap,
	) (result, error) {
		return g.mail(c, o, g.once(string(o.UID)))
	}}
	mailer.start(w, "old", fixed)
	w.Always("each mail is sent at most once", property.AtMostOnce("mail"))
	w.Inject(fault.SlowEffect(10*time.Second), fault.StaleCache(10*time.Second))
	w.Apply(work("a"))
	w.Sleep(10 * time.Millisecond)
	mailer.start(w, "new", fixed)
	w.Settle()
}

// leaseLost: a mail's number tells the office whether it knows it. The flawed variant numbers by
// replica.
func leaseLost(w *stage, fixed bool) {
	outside(w)
	mailer := operator{options: elected(true), work: func(g *reconciler, c ctx, req request) (result, error) {
		var o corev1.ConfigMap
		if err := g.live.Get(c, req.NamespacedName, &o); err != nil || o.Data["sent"] != "" {
			return result{}, client.IgnoreNotFound(err)
		}
		number := string(o.UID)
		if !g.fixed {
			number += g.name
		}
		if err := g.call(c, "POST", "/mail/"+req.Name, number); err != nil {
			return result{}, err
		}
		return result{}, g.set(c, &o, "sent", "yes")
	}}
	mailer.start(w, "one", fixed)
	mailer.start(w, "two", fixed)
	w.Inject(fault.Unreachable(2*time.Minute, fault.In("one")))
	w.Always("each mail is sent at most once", property.AtMostOnce("mail"))
	w.Eventually("every mail is sent", happened("mail", "a", "b"))
	w.SettleWith(work("a"), work("b"))
}

// goesBack: the level rises step by step, from what the cache says it is. The fixed variant writes
// with a lock.
func goesBack(w *stage, fixed bool) {
	pump := operator{options: elected(true), warm: true, each: func(g *reconciler, c ctx, o *corev1.ConfigMap,
	) (result, error) {
		level, _ := strconv.Atoi(o.Data["level"])
		if level >= 3 {
			return result{}, nil
		}
		old := o.DeepCopy()
		patch := client.MergeFrom(old)
		if g.fixed {
			patch = client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{})
		}
		o.Data = map[string]string{"level": strconv.Itoa(level + 1)}
		return result{}, g.Patch(c, o, patch)
	}}
	pump.start(w, "one", fixed)
	pump.start(w, "two", fixed)
	w.Inject(fault.Crash("one"), fault.StaleCache(2*time.Minute, fault.In("two")))
	w.Always("the level never falls", func(h *history.History) error {
		top := 0
		for i := range h.Events {
			for _, ch := range h.Events[i].Changes {
				var o corev1.ConfigMap
				if ch.Ref.Kind != "ConfigMap" || (history.Object{JSON: ch.Object}).Into(&o) != nil {
					continue
				}
				level, _ := strconv.Atoi(o.Data["level"])
				if level < top {
					return fmt.Errorf("the level falls from %d to %d", top, level)
				}
				top = level
			}
		}
		return nil
	})
	w.Eventually("the level is reached", holds("a", "level", "3"))
	w.SettleWith(work("a"))
}
