package campaign

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// hangLimit is how long a run may make no progress: in CPU time while a goroutine could run, in
// real time while all wait.
const hangLimit = 20 * time.Second

// longestWait is after how many limits of real time goroutines that wait, now here and now there,
// count as hung as well.
const longestWait = 10

// A watchdog guards a campaign: a goroutine that waits for a mutex, a socket or a channel made
// outside never counts as quiet, so the bubble would hang without a word.
type watchdog struct {
	limit time.Duration
	now   func() time.Time
	cpu   func() time.Duration // CPU time of the process; 0 means unknown
	dump  func() string        // all goroutines

	signs uint64 // signs of progress at the last look
	since time.Time
	used  time.Duration // CPU time at the last sign of progress
	place string        // where all waited at the first look at goroutines that wait; "" before
	first time.Time     // when that was
	idle  time.Time     // when a look found for the first time that all wait; zero before
}

func newWatchdog(limit time.Duration, signs uint64) *watchdog {
	d := &watchdog{limit: limit, now: time.Now, cpu: cpuTime, dump: func() string {
		buf := make([]byte, 8<<20)
		return string(buf[:runtime.Stack(buf, true)])
	}}
	d.reset(signs)
	return d
}

func (w *watchdog) reset(signs uint64) {
	w.signs, w.since, w.used, w.place, w.idle = signs, w.now(), w.cpu(), "", time.Time{}
}

// look reports whether the run hangs: for how long it has made no progress, and in which dump of
// goroutines that shows. A machine that is busy with other things, or a process that was stopped,
// must not look like a loop. So a goroutine that could run is judged by the CPU time that the
// process has used, and goroutines that wait must wait in the same places at a second look. Where
// the system reports no CPU time, real time counts for both.
func (w *watchdog) look(signs uint64) (dump, waited string) {
	if signs != w.signs {
		w.reset(signs)
		return "", ""
	}
	now, used := w.now(), w.cpu()
	if now.Sub(w.since) < w.limit {
		return "", ""
	}
	dump = w.dump()
	s := suspectsOf(dump)
	if s.runnable() {
		w.place, w.idle = "", time.Time{}
		switch {
		case used == 0:
			return dump, fmt.Sprintf("%v of real time", w.limit)
		case used-w.used >= w.limit:
			return dump, fmt.Sprintf("%v of CPU time", w.limit)
		}
		return "", ""
	}
	if place := s.places(); place != w.place {
		w.place, w.first = place, now
	}
	if w.idle.IsZero() {
		w.idle = now
	}
	if now.Sub(w.first) < w.limit/4 && now.Sub(w.idle) < longestWait*w.limit {
		return "", ""
	}
	return dump, fmt.Sprintf("%v of real time", w.limit)
}

// startWatchdog lets a watchdog look at the runs of a test until stop is called. A run that hangs
// ends the process, with a message. h repeats and reports it, unless it is nil.
func startWatchdog(test string, s Settings, h *hangs) (stop func()) {
	done, dialled := make(chan struct{}), s.recordDials()
	limit, m := s.Hang, s.Run.Monitor
	go func() {
		d, tried := newWatchdog(limit, m.Beats.Load()), repeatNot
		for {
			select {
			case <-done:
				return
			case <-time.After(limit / 20):
			}
			signs := m.Beats.Load()
			if signs != d.signs || !m.UnderWay.Load() { // what was tried was another run, or another part of this one
				d.reset(signs)
				d.limit, tried = limit, repeatNot
				continue
			}
			dump, waited := d.look(signs)
			if dump == "" {
				continue
			}
			if h != nil && tried == repeatNot {
				if tried = h.repeat(limit, done); tried == repeatHeld {
					d.limit *= 4 // it hangs by accident, or was never given time
					continue
				}
				if m.Beats.Load() != signs {
					continue
				}
			}
			dialled()
			why := explainHang(dump, waited)
			if h != nil && h.dialled != "" {
				why += "\n\n" + h.dialled
			}
			fmt.Fprintf(os.Stderr, "--- FAIL: %s\n%s\n", test, why)
			if h != nil {
				fmt.Fprintf(os.Stderr, "\n%s\n%s", tried.words(), h.report(why))
			}
			fmt.Fprint(os.Stderr, "FAIL\n")
			os.Exit(1)
		}
	}()
	return func() { close(done) }
}
