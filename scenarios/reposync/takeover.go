// This file exists for what becomes of a reconciler that goes on when the manager has taken over
// from it.

package reposync

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/history"
)

// replacedIdle is what lastResort says: who has been replaced changes nothing any more.
const replacedIdle = "a reconciler that has been replaced changes nothing"

// replacedAfter is when the manager of V10 has surely taken over.
const replacedAfter = 40 * time.Second

func askOneHand(s *Story) {
	s.Always(replacedIdle, func(h *history.History) error {
		s.take(h)
		sync := s.syncs[0]
		for i := len(h.Events) - 1; i >= 0 && sync.deleting != 0 && h.Events[i].At > sync.deleting+replacedAfter; i-- {
			if e := &h.Events[i]; e.Process == reposync.ReconcilerName(shop) && len(e.Changes) > 0 {
				return fmt.Errorf("%s changed %s, although the manager does its work", e.Actor(), e.Ref)
			}
		}
		return nil
	})
}

// replaced has another controller hold what the reconciler deletes, until the manager has taken
// over.
func replaced(s *Story) {
	s.DeleteSync(shop)
	s.Sleep(replacedAfter + time.Second)
	s.Unhold()
}
