package campaign

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim/internal/run"
)

// Between the runs of a campaign pictures are drawn, which may take longer than a run may be
// silent. If the watchdog took that for a hung run, this test would end here with its message.
func TestOnlyRunsCanHang(t *testing.T) {
	const limit = 20 * time.Millisecond
	defer startWatchdog(t.Name(), Settings{Hang: limit, Run: run.Settings{Monitor: &run.Monitor{}}}, nil)()
	time.Sleep(10 * limit)
}

// busy and waiting are dumps of a bubble in which a goroutine could run, and of one in which it
// waits.
const (
	busy    = "goroutine 7 [runnable, synctest bubble 1]:\nmain.loop()\n\t/a.go:1 +0x1"
	waiting = "goroutine 7 [sync.Mutex.Lock, 3 minutes, synctest bubble 1]:\nmain.lock(0xc000123456)\n\t/a.go:1 +0x1"
	moved   = "goroutine 7 [sync.Mutex.Lock, synctest bubble 1]:\nmain.other()\n\t/a.go:9 +0x1"
	idle    = "goroutine 7 [chan receive (durable), synctest bubble 1]:\nmain.other()\n\t/a.go:9 +0x1"
)

// A runnable goroutine is judged by CPU time, a waiting one by real time and by a second look.
func TestWhatCountsAsAHang(t *testing.T) {
	type look struct {
		at, cpu time.Duration // since the last sign of progress
		dump    string
		hangs   bool
	}
	const s = time.Second
	for name, looks := range map[string][]look{
		"a starved machine":           {{20 * s, s, busy, false}, {1200 * s, 19 * s, busy, false}},
		"a loop":                      {{20 * s, 19 * s, busy, false}, {21 * s, 20 * s, busy, true}},
		"a loop on a starved machine": {{1200 * s, 19 * s, busy, false}, {1300 * s, 20 * s, busy, true}},
		"a lock": {
			{19 * s, 0, waiting, false},
			{20 * s, 0, waiting, false}, {25 * s, 0, waiting, true},
		},
		"a process that was stopped": {
			{300 * s, 0, waiting, false},
			{301 * s, s, busy, false}, {306 * s, s, waiting, false},
		},
		"waits that continue": {
			{20 * s, 0, waiting, false},
			{25 * s, 0, moved, false}, {30 * s, 0, waiting, false},
		},
		"waits that continue without an effect": {
			{20 * s, 0, waiting, false},
			{200 * s, 0, moved, false}, {220 * s, 0, waiting, true},
		},
		"no goroutine can be named": {{20 * s, 0, idle, false}, {25 * s, 0, idle, true}},
		"a waiting goroutine next to a runner": {
			{20 * s, 0, waiting + "\n\n" + busy, false},
			{60 * s, s, waiting + "\n\n" + busy, false},
		},
	} {
		for _, known := range []bool{true, false} {
			began, now, cpu, dump := time.Now(), time.Duration(0), time.Duration(0), ""
			d := &watchdog{limit: 20 * s, now: func() time.Time { return began.Add(now) }}
			d.dump = func() string { return dump }
			d.cpu = func() time.Duration {
				if !known {
					return 0
				}
				return time.Hour + cpu
			}
			d.reset(1)
			for i, l := range looks {
				now, cpu, dump = l.at, l.cpu, l.dump
				found, waited := d.look(1)
				want := l.hangs
				if !known && suspectsOf(l.dump).runnable() {
					want = l.at >= 20*s // nothing else is known
				}
				if (found != "") != want || want != (waited != "") {
					t.Errorf("%s (CPU time known: %v): look %d finds %q after %q, want a hang: %v",
						name, known, i, found, waited, want)
				}
			}
			if found, _ := d.look(2); found != "" {
				t.Errorf("%s: a sign of progress is taken for a hang", name)
			}
		}
	}
}
