//go:build !unix

package main

import (
	"context"
	"os/exec"
)

// runInGroup runs a command. If the context ends, it is interrupted or killed.
func runInGroup(_ context.Context, cmd *exec.Cmd) error {
	cmd.WaitDelay = grace
	return cmd.Run()
}

// apart does nothing.
func apart(*exec.Cmd) {}
