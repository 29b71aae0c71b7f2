package sim_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/wavetank/wavetank/sim"
)

// TestProgramsAreHeardOnDemand: what controllers log goes nowhere unless somebody asks for it.
func TestProgramsAreHeardOnDemand(t *testing.T) {
	for _, asked := range []bool{false, true} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestClaimsGo$|^TestBuiltinControllers$", "-test.v")
		if asked {
			cmd.Args = append(cmd.Args, "-sim.log")
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		const line = `"ts"="00:00:00.200" "level"=0 "msg"="Starting workers" "process"="counter/1" ` +
			`"controller"="counter"`
		if said := strings.Contains(string(out), line); said != asked {
			t.Errorf("asked for logs: %v; they are there: %v\n%.3000s", asked, said, out)
		}
	}
}

// A suite that has set a logger of its own, as kubebuilder's scaffold does, gets no logs of
// programs either.
func TestProgramsAreMuteWhereTheSuiteLogs(t *testing.T) {
	if os.Getenv(part) != "" {
		ctrllog.SetLogger(funcr.New(func(_, args string) { fmt.Println(args) }, funcr.Options{}))
		ctrllog.Log.Info("the suite talks")
		sim.Check(t, copying(applyCopy), sim.Runs(3))
		return
	}
	out, ok := child(t.TempDir(), t.Name(), nil, nil)
	if !ok || !strings.Contains(out, "the suite talks") || strings.Contains(out, "Starting") ||
		strings.Count(out, `"level"=`) != 1 {
		t.Errorf("expected one line of logs:\n%s", out)
	}
}
