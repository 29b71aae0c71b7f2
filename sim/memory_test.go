package sim_test

import (
	"math"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim"
)

// A campaign holds a memory limit, unless the process has one already.
func TestMemoryLimit(t *testing.T) {
	if os.Getenv(part) != "" {
		sim.Check(t, func(w *sim.World) {
			t.Logf("the limit is %d", debug.SetMemoryLimit(-1))
			w.Settle()
		}, sim.Runs(1))
		if limit := debug.SetMemoryLimit(-1); os.Getenv("GOMEMLIMIT") == "" && limit != math.MaxInt64 {
			t.Errorf("the limit is still %d when the campaign is over", limit)
		}
		return
	}
	for _, c := range []struct {
		args, env []string
		want      string
	}{
		{nil, nil, "the limit is 1073741824\n"},
		{[]string{"-sim.memory=256Mi"}, nil, "the limit is 268435456\n"},
		{nil, []string{"SIM_MEMORY=2G"}, "the limit is 2000000000\n"},
		{nil, []string{"SIM_MEMORY=0"}, "the limit is 9223372036854775807\n"},
		{[]string{"-sim.memory=256Mi"}, []string{"GOMEMLIMIT=3GiB"}, "the limit is 3221225472\n"},
	} {
		if out, ok := child(t.TempDir(), t.Name(), c.args, c.env); !ok || !strings.Contains(out, c.want) {
			t.Errorf("%v %v: expected %q:\n%s", c.args, c.env, c.want, out)
		}
	}
	if out, ok := child(t.TempDir(), t.Name(), []string{"-sim.memory=much"}, nil); ok ||
		!strings.Contains(out, "write it as 512Mi or 2Gi") {
		t.Errorf("a word that is no amount:\n%s", out)
	}
}
