//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A write that fails halfway, as on a full disk, leaves the old file or none. The child may write
// 100 bytes to a file.
func TestFullDiskLeavesTheOldFile(t *testing.T) {
	const guard = "WAVETANK_TEST_FULL_DISK"
	if path := os.Getenv(guard); path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 100, Max: 100}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, []byte(strings.Repeat("new ", 1000))); !errors.Is(err, syscall.EFBIG) {
			t.Errorf("got %v", err)
		}
		return
	}
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, "old"), filepath.Join(dir, "fresh")
	if err := os.WriteFile(old, []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{old, fresh} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFullDiskLeavesTheOldFile$")
		cmd.Env = append(os.Environ(), guard+"="+path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if got, err := os.ReadFile(old); err != nil || string(got) != "kept" {
		t.Errorf("the old file has %d bytes (%v)", len(got), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left in the directory: %v, %v", entries, err)
	}
}
