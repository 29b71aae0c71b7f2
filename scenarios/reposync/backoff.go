// This file judges how often a process tries again that is refused a creation, because the
// namespace is being deleted.

package reposync

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
	"github.com/wavetank/wavetank/sim/property"
)

// periods is how many attempts a refused process makes after the faults, at least.
const periods = 5

// paced holds if the manager and the reconcilers make one attempt in each period of back-off. An
// attempt is a reconcile that is refused a creation.
func paced() properties.Judge {
	manager := property.BackoffSettled("reconciler-manager", time.Second, refused)
	reconciler := property.BackoffSettled("reconciler", time.Second, refused)
	return func(h *history.History) error {
		if err := manager(h); err != nil {
			return err
		}
		return reconciler(h)
	}
}

// settles holds if a process that was refused is still trying when the scenario ends.
func (r *Record) settles() properties.Judge {
	paced := paced()
	return func(h *history.History) error {
		if err := paced(h); err != nil || !r.over {
			return err
		}
		attempts := map[string]int{}
		for _, by := range r.view.Reconciles() {
			if len(refusals(by)) > 0 {
				key := by.Process + " " + by.ID.Key.String()
				attempts[key] += 0
				if by.Began >= r.measured {
					attempts[key]++
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(attempts)) {
			if n := attempts[key]; n < periods {
				return fmt.Errorf("%s: %d attempts since %s, and %d are expected", key, n, history.Clock(r.measured),
					periods)
			}
		}
		return nil
	}
}
