// This file judges how often a process tries again that is refused a creation, because the
// namespace is being deleted.

package reposync

import (
	"cmp"
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

// settles holds if there is one attempt in each period of back-off, and a process that was refused
// keeps trying after the faults. An attempt is a reconcile that is refused a creation.
func (r *Record) settles() properties.Judge {
	manager := property.BackoffSettled("reconciler-manager", time.Second, refused)
	reconciler := property.BackoffSettled("reconciler", time.Second, refused)
	return func(h *history.History) error {
		if err := cmp.Or(manager(h), reconciler(h)); err != nil || !r.over {
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
