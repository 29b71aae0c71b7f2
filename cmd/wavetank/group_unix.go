//go:build unix

package main

import (
	"context"
	"os/exec"
	"syscall"
)

// runInGroup runs a command in a process group of its own. If the context ends, the group is
// interrupted, and killed if it does not end soon.
func runInGroup(ctx context.Context, cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = grace
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return err
}

// apart starts a command in a process group of its own, so that an interrupt from the terminal does
// not reach it.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
