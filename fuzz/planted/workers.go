// This file has the bugs of workers of one controller whose order matters. Their requests look
// alike, so a story identifies a worker only by its delay.

package planted

import (
	"errors"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
)

func workerBugs() []Bug {
	return []Bug{
		{"older-order-wins", "the queue's order taken for the workers'", 1, "the worker at the older order is late",
			"the newest order stands", newestStands},
		{"served-back-to-front", "the queue's order taken for the workers'", 2,
			"the second worker is late and the first is later", "nobody is served in the opposite order",
			backToFront},
		{"locks-crossed", "deadlock of two workers", 1, "the first worker is late between its two locks",
			"both are done", locksCrossed},
	}
}

// newestStands: every order is written where the one before it stood. The fixed variant writes only
// what is newer.
func newestStands(w *stage, fixed bool) {
	operator{workers: 2, each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		var board corev1.ConfigMap
		if err := g.live.Get(c, key("board"), &board); err != nil {
			return result{}, err
		}
		if board.Data["order"] >= o.Name {
			return result{}, nil
		}
		patch := client.MergeFrom(board.DeepCopy())
		if g.fixed {
			patch = client.MergeFromWithOptions(board.DeepCopy(), client.MergeFromWithOptimisticLock{})
		}
		board.Data["order"] = o.Name
		return result{}, g.Patch(c, &board, patch)
	}}.start(w, "clerk", fixed)
	w.Inject(fault.ServerError())
	w.Eventually("the newest order stands", holds("board", "order", "b"))
	w.Apply(cm("board", "order", ""), work("a"))
	w.Sleep(10 * time.Millisecond)
	w.SettleWith(work("b"))
}

// backToFront: with a worker for each, the first to come is hoped to be the first to be served. The
// fixed variant lets everybody wait for who comes before.
func backToFront(w *stage, fixed bool) {
	operator{workers: items, each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		served, err := children(c, g.live, "counter")
		if err != nil {
			return result{}, err
		}
		if g.fixed && len(served) < int(o.Name[0]-'a') {
			return result{RequeueAfter: time.Second}, nil
		}
		return result{}, client.IgnoreAlreadyExists(g.Create(c, child("served-"+o.Name, "counter")))
	}}.start(w, "waiter", fixed)
	w.Inject(fault.ServerError())
	w.Always("nobody is served in the opposite order", func(h *history.History) error {
		if order(h) == "cba" {
			return errors.New("they came as a, b, c and were served as c, b, a")
		}
		return nil
	})
	w.SettleWith(work("a"), work("b"), work("c"))
}

// order is in which order Secrets were created: the last letters of their names.
func order(h *history.History) string {
	var b strings.Builder
	for i := range h.Events {
		for _, c := range h.Events[i].Changes {
			if c.Type == "ADDED" && c.Ref.Kind == "Secret" {
				b.WriteString(c.Ref.Name[len(c.Ref.Name)-1:])
			}
		}
	}
	return b.String()
}

// locksCrossed: each worker takes two locks in the order in which it was told to, and keeps the
// first while it waits for the second. The fixed variant takes them in the order of their names.
func locksCrossed(w *stage, fixed bool) {
	operator{workers: 2, until: "done", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		locks := strings.Fields(o.Data["locks"])
		if g.fixed {
			slices.Sort(locks)
		}
		for _, name := range locks {
			mine, err := g.lock(c, name, o.Name)
			if err != nil {
				return result{}, err
			}
			if !mine {
				return result{RequeueAfter: 5 * time.Second}, nil
			}
		}
		for _, name := range slices.Backward(locks) {
			if err := g.set(c, cm(name), "holder", ""); err != nil {
				return result{}, err
			}
		}
		return result{}, g.set(c, o, "done", "yes")
	}}.start(w, "mover", fixed)
	w.Inject(fault.ServerError())
	w.Eventually("both are done", func(h *history.History) error {
		return errors.Join(holds("a", "done", "yes")(h), holds("b", "done", "yes")(h))
	})
	w.Apply(cm("left", "holder", ""), cm("right", "holder", ""), work("a", "locks", "left right"))
	w.Sleep(50 * time.Millisecond)
	w.SettleWith(work("b", "locks", "right left"))
}

// lock takes the lock for who unless another worker holds it.
func (r *reconciler) lock(c ctx, name, who string) (mine bool, err error) {
	var l corev1.ConfigMap
	if err := r.live.Get(c, key(name), &l); err != nil {
		return false, err
	}
	switch l.Data["holder"] {
	case who:
		return true, nil
	case "":
		l.Data["holder"] = who
		err := r.Update(c, &l)
		return err == nil, err
	}
	return false, nil
}
