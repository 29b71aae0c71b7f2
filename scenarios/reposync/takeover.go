// This file holds what becomes of a reconciler that goes on when the manager has taken over from
// it.

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

// idle declares it.
func (s *World) idle() {
	s.Always(replacedIdle, func(h *history.History) error {
		s.read(h)
		since, deleted := s.syncs[0].deleted()
		for i := len(h.Events) - 1; i >= 0 && deleted && h.Events[i].At > since+replacedAfter; i-- {
			if e := &h.Events[i]; e.Process == reposync.ReconcilerName(shop) && len(e.Changes) > 0 {
				return fmt.Errorf("%s changed %s, although the manager does its work", e.Actor(), e.Ref)
			}
		}
		return nil
	})
}

// replaced has another controller hold what the reconciler deletes, until the manager has taken
// over.
func replaced(s *World) {
	s.DeleteSync(shop)
	s.Sleep(replacedAfter + time.Second)
	s.Unhold()
}
