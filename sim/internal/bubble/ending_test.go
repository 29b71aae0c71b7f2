package bubble

import (
	"runtime"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/wavetank/wavetank/internal/versions"
)

// Where goroutines may run in circles they have two CPUs while they end, and one afterwards.
func TestEnd(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer func() { spin = versions.BroadcastersSpin() }()
	for _, spin = range []bool{false, true} {
		End(func() {
			if two := runtime.GOMAXPROCS(0) == 2; two != spin {
				t.Errorf("two CPUs: %v, want %v", two, spin)
			}
		})
		if n := runtime.GOMAXPROCS(0); n != 1 {
			t.Errorf("%d CPUs afterwards", n)
		}
	}
}

// The end of a broadcaster of Events takes no real time slice.
func BenchmarkEnd(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for b.Loop() {
		_ = Run(&testing.T{}, func(*testing.T) {
			events := record.NewBroadcaster()
			events.StartEventWatcher(func(*corev1.Event) {})
			synctest.Wait()
			go events.Shutdown()
			End(synctest.Wait)
		})
	}
}
