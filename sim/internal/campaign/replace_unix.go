//go:build unix

package campaign

import (
	"os"
	"syscall"
)

// replaceProcess begins the program anew in the same process. It returns only if that cannot be
// done.
func replaceProcess() {
	if path, err := os.Executable(); err == nil {
		_ = syscall.Exec(path, os.Args, os.Environ())
	}
}
