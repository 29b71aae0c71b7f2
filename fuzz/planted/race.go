// This file holds the bugs of those who are not alone: two workers, another writer, a process that
// was not there yet.

package planted

import (
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

func raceBugs() []Bug {
	return []Bug{
		{"count-lost", "lost update, two workers", 1, "one worker's write is late", "every ticket is counted",
			countLost},
		{"blind-overwrite", "blind overwrite of another writer", 1, "another writer comes between",
			"what others wrote stays", overwrite(true)},
		{"forced-after-a-conflict", "blind overwrite of another writer", 2,
			"another writer comes between, and again before the forced write",
			"what others wrote stays", overwrite(false)},
		{"sealed-before-drained", "A must drain before B starts", 1, "the carrier is slower than the sealer",
			"a sealed ledger misses nothing", sealed},
		{"two-behind-the-seal", "A must drain before B starts", 2,
			"two of the carrier's workers are slower than the sealer", "a sealed ledger misses one item at most",
			sealedLoosely},
	}
}

// countLost: read, add one, write, with two workers. The fixed variant writes with a lock.
func countLost(w *stage, fixed bool) {
	operator{workers: 2, each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		var total corev1.ConfigMap
		if err := g.live.Get(c, key("total"), &total); err != nil || total.Data["counted-"+o.Name] != "" {
			return result{}, err
		}
		n, _ := strconv.Atoi(total.Data["n"])
		patch := client.MergeFrom(total.DeepCopy())
		if g.fixed {
			patch = client.MergeFromWithOptions(total.DeepCopy(), client.MergeFromWithOptimisticLock{})
		}
		total.Data["n"] = strconv.Itoa(n + 1)
		total.Data["counted-"+o.Name] = "yes"
		return result{}, g.Patch(c, &total, patch)
	}}.start(w, "counter", fixed)
	w.Inject(fault.StaleCache(10*time.Second), fault.ServerError(), fault.Crash("counter"))
	w.Eventually("every ticket is counted", holds("total", "n", "2"))
	w.SettleWith(cm("total", "n", "0"), work("a"), work("b"))
}

// overwrite: a whole object is written back, without a lock at once, or only after a conflict has
// been met.
func overwrite(atOnce bool) func(*stage, bool) {
	return func(w *stage, fixed bool) {
		operator{until: "done", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
			o.Data = map[string]string{"done": "yes"}
			if atOnce && !g.fixed {
				o.ResourceVersion = ""
			}
			err := g.Update(c, o)
			if apierrors.IsConflict(err) && !g.fixed {
				if err := g.live.Get(c, key(o.Name), o); err != nil {
					return result{}, err
				}
				o.Data = map[string]string{"done": "yes"}
				o.ResourceVersion = "" // this time it must work
				err = g.Update(c, o)
			}
			return result{}, err
		}}.start(w, "worker", fixed)
		w.Inject(fault.Conflict())
		w.Always("what others wrote stays", othersStay("a"))
		w.Eventually("the work is done", holds("a", "done", "yes"))
		w.SettleWith(work("a"))
	}
}

const (
	ledger = "ledger"
	items  = 3
)

// carrier moves every item into a Secret, with some workers.
func carrier(w *stage, workers int) {
	operator{workers: workers, each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if o.Name == ledger {
			return result{}, nil
		}
		return result{}, client.IgnoreAlreadyExists(g.Create(c, child("moved-"+o.Name, ledger)))
	}}.start(w, "carrier", true)
}

// sealer closes the ledger on request. The fixed variant checks first that the ledger is complete.
func sealer(w *stage, fixed bool) {
	operator{until: "sealed", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if o.Name != ledger {
			return result{}, nil
		}
		moved, err := children(c, g.live, ledger)
		if err != nil {
			return result{}, err
		}
		if g.fixed && len(moved) < items {
			return result{RequeueAfter: time.Second}, nil
		}
		return result{}, g.set(c, o, "sealed", "yes")
	}}.start(w, "sealer", fixed)
}

// complete holds while a sealed ledger misses no more than so many items at the moment of sealing.
func complete(missing int) property.Property {
	return func(h *history.History) error {
		n := len(h.Objects("", "Secret"))
		if data(h, ledger)["sealed"] != "" && items-n > missing {
			return fmt.Errorf("the ledger is sealed with %d of %d items in it", n, items)
		}
		return nil
	}
}

// sealed: the ledger is sealed when the last item has been handed in, not when it has been carried.
func sealed(w *stage, fixed bool) {
	carrier(w, 1)
	sealer(w, fixed)
	w.Inject(fault.ServerError(), fault.StaleCache(10*time.Second))
	w.Always("a sealed ledger misses nothing", complete(0))
	w.Apply(work("a"), work("b"), work("c"))
	w.Sleep(10 * time.Millisecond)
	w.SettleWith(work(ledger))
}

// sealedLoosely: one item may come late. With a worker for each item it takes two that are late by
// themselves.
func sealedLoosely(w *stage, fixed bool) {
	carrier(w, items)
	sealer(w, fixed)
	w.Inject(fault.ServerError())
	w.Always("a sealed ledger misses one item at most", complete(1))
	w.Apply(work("a"), work("b"), work("c"))
	w.Sleep(10 * time.Millisecond)
	w.SettleWith(work(ledger))
}
