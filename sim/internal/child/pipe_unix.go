//go:build !windows

package child

import (
	"fmt"
	"os"
	"syscall"
)

// pipe opens one end of a pipe that this process was started with. Processes that the program
// starts do not get it.
func pipe(fd int) (*os.File, error) {
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("this process was not started by a test: %w", err)
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "pipe"), nil
}
