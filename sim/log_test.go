package sim_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
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
