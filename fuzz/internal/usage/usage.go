// Package usage says what this process has used so far.
package usage

import (
	"runtime"
	"syscall"
	"time"
)

// Heap is what the heap holds after a collection, in bytes.
func Heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// CPU is the processor time, the system's on its behalf included.
func CPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
