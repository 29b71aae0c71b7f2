package host_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/host"
)

// What a campaign says has the line of the test that called it, and continues further in.
func TestMessagesHaveTheLineOfTheTest(t *testing.T) {
	const child = "WAVETANK_TEST_MESSAGES"
	if os.Getenv(child) != "" {
		h := host.Testing{T: t}
		h.Logf("one\ntwo")
		h.Fatalf("three")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestMessagesHaveTheLineOfTheTest$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("Fatalf does not fail the test")
	}
	for _, want := range []string{"\n    host_test.go:17: one\n        two\n", "\n    host_test.go:18: three\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
