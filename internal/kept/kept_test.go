package kept_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/wavetank/wavetank/internal/kept"
)

// The same bytes are read once, other bytes are never taken for them, and what is kept is bounded.
func TestOf(t *testing.T) {
	calls := 0
	read := kept.Of(func(b []byte) string { calls++; return "read " + string(b) })
	for range 3 {
		if got := read([]byte("a")); got != "read a" || calls != 1 {
			t.Errorf("%q after %d calls", got, calls)
		}
	}
	var buffer []byte // which its owner uses again
	for i := range 10_000 {
		buffer = strconv.AppendInt(buffer[:0], int64(i), 10)
		if got := read(buffer); got != "read "+strconv.Itoa(i) {
			t.Fatalf("%d: %q", i, got)
		}
	}
	before := calls
	for i := range 10_000 {
		read([]byte(strconv.Itoa(i)))
	}
	if calls-before < 9_000 {
		t.Errorf("of 10,000 results %d were kept", 10_000-(calls-before))
	}
}

// Runs of one process may read at the same time.
func TestAtTheSameTime(t *testing.T) {
	double := kept.Of(func(b []byte) int { n, _ := strconv.Atoi(string(b)); return 2 * n })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 2_000 {
				if got := double([]byte(strconv.Itoa(i))); got != 2*i {
					t.Errorf("%d: %d", i, got)
				}
			}
		})
	}
	wg.Wait()
}
