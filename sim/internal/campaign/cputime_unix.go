//go:build unix

package campaign

import (
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
