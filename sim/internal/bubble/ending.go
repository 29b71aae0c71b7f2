package bubble

import (
	"runtime"

	"github.com/wavetank/wavetank/internal/versions"
)

// spin says that what ends may run in circles until it is interrupted.
var spin = versions.BroadcastersSpin()

// End runs f, in which goroutines end after a run, on two CPUs if that is faster. On one, a
// goroutine that polls until another one has done something runs until the runtime interrupts it,
// after 10 ms. In client-go before 0.36 each manager that ends has two of them, a third of a
// campaign's time. Otherwise one CPU is faster, and during a run there must be no more.
func End(f func()) {
	if spin {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	f()
}
