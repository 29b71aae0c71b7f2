//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An interrupt ends what a build has started, also what ignores it.
func TestInterruptEndsABuild(t *testing.T) {
	dir := smallModule(t, smallTest)
	pid := filepath.Join(dir, "pid")
	tool := filepath.Join(dir, "tool")
	script := "#!/bin/sh\ncase \"$*\" in *-V=full*) exec \"$@\";; esac\ntrap '' INT\necho $$ >>" + pid + "\nsleep 100\n"
	if err := os.WriteFile(tool, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var began time.Time
	go func() {
		for data := []byte(nil); ctx.Err() == nil && len(data) == 0; time.Sleep(20 * time.Millisecond) {
			data, _ = os.ReadFile(pid)
		}
		began = time.Now()
		cancel()
	}()
	var errs strings.Builder
	b := testBinary{dir: dir, pkg: "./c", path: filepath.Join(dir, "c.test"), flags: []string{"-toolexec=" + tool}}
	err := compile(ctx, &errs, b)
	if took := time.Since(began); !errors.Is(err, errInterrupted) || took > 2*time.Second {
		t.Errorf("it ended %v after the interrupt (%v)", took, err)
	}
	if !strings.Contains(errs.String(), "Go's build cache keeps them") {
		t.Errorf("it does not say what is kept:\n%s", errs.String())
	}
	data, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(string(data)) {
		number, _ := strconv.Atoi(line)
		for range 100 { // until it has gone
			if syscall.Kill(number, 0) != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if syscall.Kill(number, 0) == nil && !isZombie(number) {
			t.Errorf("process %d still runs", number)
		}
	}
}

// isZombie reports whether a process has ended and its parent has not waited for it yet.
func isZombie(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(data), ") Z ")
}
