package world

import (
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/internal/versions"
	"github.com/wavetank/wavetank/sim/internal/choice"
)

// ProcessOptions are the options of one process, see sim.ProcessOption.
type ProcessOptions struct {
	Manager           ctrl.Options
	As                *string  // the account, as "namespace/name"; nil for an administrator
	Deployed          []string // paths of manifests with its account and rights
	Services          []string
	Vary              bool
	ListThenWatch     bool
	IgnoredGoroutines []string // functions whose goroutines may outlive the process
}

// chooseUnset chooses the options of one process that are left unset, if it is to vary. The default
// choice is what an operator gets that sets nothing.
func (p *ProcessOptions) chooseUnset(process string, choices *choice.Recorder) {
	if !p.Vary {
		return
	}
	choose := func(what string, n int) int {
		return choices.Choose(story.Label{Kind: story.Option, What: process + " " + what}, n)
	}
	o, yes, no := &p.Manager, true, false
	if o.Controller.UsePriorityQueue == nil && choose("classic queue", 2) == 1 {
		o.Controller.UsePriorityQueue = &no
	}
	if o.Controller.MaxConcurrentReconciles == 0 && len(o.Controller.GroupKindConcurrency) == 0 {
		o.Controller.MaxConcurrentReconciles = 1 + choose("workers", 4)
	}
	if o.Cache.SyncPeriod == nil && choose("resync", 2) == 1 {
		often := 10 * time.Minute
		o.Cache.SyncPeriod = &often
	}
	var cached client.CacheOptions
	if o.Client.Cache == nil && versions.ReadYourWrites(&cached) && choose("read your writes", 2) == 1 {
		o.Client.Cache = &cached
	}
	if o.Controller.EnableWarmup == nil && choose("warm-up", 2) == 1 {
		o.Controller.EnableWarmup = &yes
	}
	if !p.ListThenWatch && choose("list then watch", 2) == 1 {
		p.ListThenWatch = true
	}
}
