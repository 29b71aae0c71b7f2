package bubble_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim/internal/bubble"
)

// Inside, time passes at once, and a run that ends its goroutine does not end the caller's.
func TestRun(t *testing.T) {
	began := time.Now()
	if err := bubble.Run(t, func(*testing.T) { time.Sleep(time.Hour) }); err != nil || time.Since(began) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// park waits forever, as a goroutine does whose channel is never closed.
func park(forever chan int) { <-forever }

func start(forever chan int) { go park(forever) }

// Goroutines that are left behind are named, with what began them, unless that is ignored.
func TestGoroutinesLeftBehind(t *testing.T) {
	err := bubble.Run(t, func(*testing.T) {
		for range 2 {
			start(make(chan int))
		}
	})
	var left *bubble.LeftBehind
	if !errors.As(err, &left) {
		t.Fatal(err)
	}
	const begun = "github.com/wavetank/wavetank/sim/internal/bubble_test.start"
	if err := left.Except(nil); err == nil || !strings.Contains(err.Error(), "2 in ") ||
		!strings.Contains(err.Error(), "bubble_test.park, begun by "+begun) {
		t.Error(err)
	}
	if err := left.Except([]string{begun}); err != nil {
		t.Error(err)
	}
}
