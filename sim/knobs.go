package sim

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Vary lets the choices of each run decide what the process's ctrl.Options leave unset: which of the two work queues, one
// to four workers, a resync period of ten minutes instead of ten hours, a client that reads its own writes, warm-up,
// and [ListThenWatch]. What a controller sets itself, as with WithOptions, stays.
func Vary() ProcessOption { return func(p *processOptions) { p.vary = true } }

// ListThenWatch makes the process's informers list at resourceVersion=0 and watch then, as client-go did by default before
// 0.35 and does with KUBE_FEATURE_WatchListClient=false. Without it they open a watch that begins with a consistent list.
func ListThenWatch() ProcessOption { return func(p *processOptions) { p.listThenWatch = true } }

// turn chooses the knobs of one process. 0 is what an operator gets that sets nothing.
func (p *processOptions) turn(w *World, name string) {
	if !p.vary {
		return
	}
	knob := func(what string, n int) int { return w.choices.Choose("knob "+name+" "+what, n) }
	o, yes, no := &p.manager, true, false
	if o.Controller.UsePriorityQueue == nil && knob("classic queue", 2) == 1 {
		o.Controller.UsePriorityQueue = &no
	}
	if o.Controller.MaxConcurrentReconciles == 0 && len(o.Controller.GroupKindConcurrency) == 0 {
		o.Controller.MaxConcurrentReconciles = 1 + knob("workers", 4)
	}
	if o.Cache.SyncPeriod == nil && knob("resync", 2) == 1 {
		often := 10 * time.Minute
		o.Cache.SyncPeriod = &often
	}
	if o.Client.Cache == nil && knob("read your writes", 2) == 1 {
		o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: &yes}
	}
	if o.Controller.EnableWarmup == nil && knob("warm-up", 2) == 1 {
		o.Controller.EnableWarmup = &yes
	}
	if !p.listThenWatch && knob("list then watch", 2) == 1 {
		p.listThenWatch = true
	}
}
