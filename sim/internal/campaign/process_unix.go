//go:build unix

package campaign

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// cpuTime is how long the process has kept a CPU busy, or 0 if the system does not say.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// endBy ends the process by a signal, so that the parent process sees which.
func endBy(s os.Signal) {
	signal.Reset(s)
	if n, ok := s.(syscall.Signal); ok && syscall.Kill(os.Getpid(), n) == nil {
		time.Sleep(time.Second) // it arrives meanwhile
	}
	os.Exit(1)
}

// replaceProcess starts the program again in the same process. It returns only if that cannot be
// done.
func replaceProcess() {
	if path, err := os.Executable(); err == nil {
		_ = syscall.Exec(path, os.Args, os.Environ())
	}
}
