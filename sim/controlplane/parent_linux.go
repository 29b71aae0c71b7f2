package main

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// dieWithParent has the kernel kill this process when its parent ends. A program that replaces the
// process keeps this setting. It belongs to a thread, so the goroutine stays on its thread.
func dieWithParent() error {
	runtime.LockOSThread()
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0)
	if errno != 0 {
		return errno
	}
	if os.Getppid() == 1 {
		return errors.New("the control plane's starter has ended already")
	}
	return nil
}
