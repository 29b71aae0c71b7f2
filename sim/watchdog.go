package sim

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// beat counts signs of life of the run under way. The watchdog stands outside the bubble and works in real time.
var beat atomic.Uint64

// underWay says whether a run is being made at all. Between runs a campaign may take as long as it likes, to draw one of
// half a gigabyte for example.
var underWay atomic.Bool

// hangLimit is how long a run may make no progress in real time.
const hangLimit = 20 * time.Second

// watch guards a campaign: a goroutine that waits for a mutex, a socket or a channel made outside never counts as quiet, so
// the bubble would hang without a word. The returned function calls the watchdog off.
func watch(test string, limit time.Duration) (stop func()) {
	done := make(chan struct{})
	go func() {
		last, since := beat.Load(), time.Now()
		for {
			select {
			case <-done:
				return
			case <-time.After(limit / 20):
			}
			if now := beat.Load(); now != last || !underWay.Load() {
				last, since = now, time.Now()
				continue
			}
			if time.Since(since) >= limit {
				buf := make([]byte, 8<<20)
				fmt.Fprintf(os.Stderr, "--- FAIL: %s\n%s\nFAIL\n", test, explainHang(string(buf[:runtime.Stack(buf, true)]), limit))
				os.Exit(1)
			}
		}
	}()
	return func() { close(done) }
}

// explainHang finds, in a dump of all goroutines, those of the bubble that keep it from going quiet.
func explainHang(dump string, limit time.Duration) string {
	var culprits []string
	for _, g := range strings.Split(dump, "\n\n") {
		head, _, _ := strings.Cut(g, "\n")
		if !strings.Contains(head, "synctest bubble") || strings.Contains(head, "(durable)") || strings.Contains(head, "synctest.Wait") ||
			strings.Contains(head, "synctest.Run") {
			continue
		}
		culprits = append(culprits, g)
	}
	msg := fmt.Sprintf("sim: the run has made no progress for %v of real time: the simulated world never goes quiet", limit)
	if len(culprits) == 0 {
		return msg + ", and no goroutine of it could be named; all goroutines:\n\n" + dump
	}
	for _, g := range culprits {
		msg += "\n\n" + describeCulprit(g)
	}
	return msg
}

func describeCulprit(g string) string {
	head, _, _ := strings.Cut(g, "\n")
	state := head
	if i, j := strings.Index(head, "["), strings.Index(head, ","); i >= 0 && j > i {
		state = head[i+1 : j]
	}
	why := "it waits for something outside the world"
	switch {
	case strings.Contains(state, "Mutex") || strings.Contains(state, "semacquire"):
		why = "it waits for a lock whose holder is waiting for the simulated cluster; do not hold a lock across an API call, or make the call before taking it"
	case strings.Contains(state, "IO wait") || strings.Contains(state, "syscall"):
		why = "it waits for a real socket, file or process; reach the outside through w.External and sim.HTTPClient"
	case strings.Contains(state, "run"):
		why = "it never blocks: a loop without a pause"
	case strings.Contains(state, "chan") || strings.Contains(state, "select"):
		why = "it waits for a channel made outside the scenario; make it inside, or in the setup function"
	}
	return fmt.Sprintf("%s\n%s\n  %s", strings.TrimSuffix(head, ":"), why, strings.Join(strings.Split(g, "\n")[1:], "\n  "))
}
