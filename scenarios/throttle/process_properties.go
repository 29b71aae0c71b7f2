// This file has the properties about the operator's process: that it goes on, and that it ends when
// it should.

package throttle

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
)

// NoEnd: the operator does not end because of an object. It may be killed, or find itself unable to
// watch.
func (b *Record) NoEnd(h *history.History) error {
	b.take(h)
	for i, l := range b.incarnations {
		if l.ended != 0 && !l.killed {
			return fmt.Errorf("incarnation %d of the operator has ended, and with it the work on every object: %s",
				i+1, l.note)
		}
	}
	return nil
}

// NoZombie: an incarnation that does not listen any more, and does not ask to, ends within 5 s.
func (b *Record) NoZombie(h *history.History) error {
	b.take(h)
	for i, l := range b.incarnations {
		if l.ended == 0 && l.deaf != 0 && h.Now() > l.deaf+5*time.Second {
			return fmt.Errorf("incarnation %d of the operator has not watched since %s and goes on", i+1,
				history.Clock(l.deaf))
		}
	}
	return nil
}
