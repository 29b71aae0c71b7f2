package sim_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim"
)

// A machine that is busy with other things does not end a campaign: its runs wait, and use no CPU
// time meanwhile.
func TestTheBudgetIsCPUTime(t *testing.T) {
	r := sim.Explore(t, func(*sim.World) {
		pause := syscall.NsecToTimespec(int64(60 * time.Millisecond))
		if err := syscall.Nanosleep(&pause, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			t.Error(err)
		}
	}, sim.Runs(25), sim.For(time.Second), sim.Verify(0))
	if !r.Complete || r.Elapsed < time.Second || r.Spent > time.Second {
		t.Errorf("%d runs in %v of real time and %v of CPU time", r.Runs, r.Elapsed, r.Spent)
	}
}
