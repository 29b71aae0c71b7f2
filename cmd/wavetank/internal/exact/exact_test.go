package exact_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/exact"
)

func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// build builds the tests that draw random numbers.
func build(t *testing.T, args ...string) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "random.test")
	cmd := exec.Command("go", append([]string{"test", "-c", "-o", binary}, append(args, "./testdata/random")...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// rolls runs one of them in several processes, and returns what differs between these.
func rolls(t *testing.T, binary, test string) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for range 20 {
		cmd := exec.Command(binary, "-test.run=^"+test+"$")
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		line, _, _ := strings.Cut(string(out), "\n")
		seen[line]++
	}
	return seen
}

func TestOverlay(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the runtime and the standard library again")
	}
	overlay, err := exact.Overlay(goroot(t), runtime.Version(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	under, without := build(t, "-overlay="+overlay), build(t)
	if seen := rolls(t, under, "TestRandom"); len(seen) != 1 {
		t.Errorf("20 processes under the overlay rolled %d different ways: %v", len(seen), seen)
	}
	if seen := rolls(t, without, "TestRandom"); len(seen) < 15 {
		t.Errorf("without the overlay 20 processes rolled only %d different ways, so the test shows nothing", len(seen))
	}
	if seen := rolls(t, under, "TestLater"); seen["alike"] != 20 {
		t.Errorf("under the overlay a second bubble, which finds a cache filled, went otherwise than the first: %v",
			seen)
	}
	if seen := rolls(t, without, "TestLater"); seen["alike"] > 5 {
		t.Errorf("without the overlay two bubbles go alike, so the test shows nothing: %v", seen)
	}
	if seen := rolls(t, under, "TestMaps"); seen["alike"] != 20 {
		t.Errorf("under the overlay two maps of one instant differ, so sim does not know it: %v", seen)
	}
	if seen := rolls(t, without, "TestMaps"); seen["different"] != 20 {
		t.Errorf("without the overlay two maps are gone through alike, so sim takes it for the overlay: %v", seen)
	}
	if seen := rolls(t, under, "TestNetwork"); seen["connected, in a bubble refused"] != 20 {
		t.Errorf("under the overlay bubbles dial, or no program dials: %v", seen)
	}
	if seen := rolls(t, without, "TestNetwork"); seen["connected, in a bubble connected"] != 20 {
		t.Errorf("without the overlay no bubble connects, so the test shows nothing: %v", seen)
	}
	if runtime.GOOS != "linux" {
		return
	}
	const order = "cccsssaaabbb"
	if seen := rolls(t, under, "TestOrder"); seen[order] != 20 {
		t.Errorf("under the overlay goroutines got on in these orders, not only in %s: %v", order, seen)
	}
	if seen := rolls(t, without, "TestOrder"); seen[order] > 0 {
		t.Errorf("without the overlay no bubble kept goroutines waiting, so the test shows nothing: %v", seen)
	}
}

func TestOverlayRefuses(t *testing.T) {
	for _, version := range []string{"go1.25.3", "go1.28", "devel go1.28-abc", ""} {
		if _, err := exact.Overlay(goroot(t), version, t.TempDir()); err == nil ||
			!strings.Contains(err.Error(), "go1.26 and go1.27") {
			t.Errorf("%q: %v; want a refusal that names what is known", version, err)
		}
	}
	cached := filepath.Join(t.TempDir(), "golang.org", "toolchain@v0.0.1-go1.27.0.linux-amd64")
	if _, err := exact.Overlay(cached, "go1.27.0", t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "copy the toolchain") {
		t.Errorf("a toolchain in the module cache: %v", err)
	}
	other := t.TempDir()
	for _, f := range []string{
		"runtime/synctest.go", "runtime/rand.go", "runtime/select.go", "runtime/time.go", "runtime/proc.go",
		"runtime/mgcmark.go", "internal/runtime/maps/map.go", "internal/sync/hashtriemap.go", "net/sock_posix.go",
	} {
		path := filepath.Join(other, "src", f)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("package runtime\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := exact.Overlay(other, "go1.26.8", t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "does not know this runtime") {
		t.Errorf("a runtime that reads otherwise: %v", err)
	}
}
