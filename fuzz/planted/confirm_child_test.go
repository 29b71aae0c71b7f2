//go:build conformance

package planted

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	results "github.com/wavetank/wavetank/sim/result"
)

// hosted reports whether this process is an incarnation of a bug's operator. The first campaign of
// the test has its scenario.
func hosted() bool { return os.Getenv("WAVETANK_HOSTED_TEST") != "" }

// Stories with crashes, and others, are confirmed in both ways: with incarnations in this process,
// and in processes of their own. The fixed variants violate nothing there.
func TestConfirmInProcesses(t *testing.T) {
	kubeconfig := ""
	if !hosted() {
		kubeconfig = controlPlane(t)
	}
	for _, b := range Bugs() {
		selected := strings.Contains(b.Pattern, "crash") || strings.Contains(b.Needs, "crash") ||
			slices.Contains([]string{"child-created-twice", "own-child-is-foreign", "stopped-halfway"}, b.Name)
		if *confirmed != "" {
			selected = slices.Contains(strings.Split(*confirmed, ","), b.Name)
		}
		if !selected {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			if hosted() {
				sim.Explore(t, b.Scenario(false))
				t.Run("fixed", func(t *testing.T) { sim.Explore(t, b.Scenario(true)) })
				return
			}
			path := storyOf(t, b)
			got := confirm(t, kubeconfig, path, b.Scenario(false))
			t.Log(got.Text())
			if set(t, "sim.child", "true"); got.Verdict == results.Confirmed {
				got = confirm(t, kubeconfig, path, b.Scenario(false))
				t.Log(got.Text())
				if got.Verdict != results.Confirmed || !got.Child {
					t.Error("it is confirmed in one process alone")
				}
			}
			t.Run("fixed", func(t *testing.T) {
				got := confirm(t, kubeconfig, path, b.Scenario(true))
				if got.Verdict != results.NotConfirmed {
					t.Errorf("the fixed variant: %s", got.Text())
				}
			})
		})
	}
}

// handled is what an operator keeps in a package variable: the ConfigMaps that it has handled.
var handled = map[string]bool{}

// rememberer makes a Secret for a ConfigMap that it does not remember. It remembers the ConfigMap
// when the Secret is there.
func rememberer(w *sim.World) {
	// A simulated run begins with an empty memory, as a process does. A real run in this process
	// begins with the memory of the simulated run before it.
	if time.Now().Year() == bubbleYear {
		clear(handled)
	}
	operator{work: func(g *reconciler, c ctx, req request) (result, error) {
		if o, err := g.get(c, req); o == nil || err != nil || handled[req.Name] {
			return result{}, err
		}
		o := child("", req.Name)
		o.GenerateName = req.Name + "-"
		err := g.Create(c, o)
		handled[req.Name] = err == nil
		return result{}, client.IgnoreAlreadyExists(err)
	}}.start(&stage{World: w}, "rememberer", false)
	w.Inject(fault.Crash("rememberer"))
	w.Always("a parent has one child", oneChild)
	w.Apply(work("a"))
	w.Settle()
}

// bubbleYear is where the clock of a bubble begins.
const bubbleYear = 2000

// A package variable outlives a crash in this process, and so the story of a crash is not
// confirmed. It does not outlive the process of an incarnation.
func TestPackageVariablesAreLostWithTheProcess(t *testing.T) {
	dir := t.TempDir()
	r := sim.Explore(t, rememberer, sim.Runs(200), sim.For(0), sim.Verify(0), sim.Stories(dir))
	if r.Failure == nil {
		t.Fatal("the bug is not found")
	}
	path := dir + "/" + r.Failure.Story.Name()
	kubeconfig := controlPlane(t)
	if got := confirm(t, kubeconfig, path, rememberer); got.Verdict != results.NotConfirmed || got.Child {
		t.Errorf("in this process: %s", got.Text())
	}
	set(t, "sim.child", "true")
	if got := confirm(t, kubeconfig, path, rememberer); got.Verdict != results.Confirmed || !got.Child {
		t.Errorf("in processes: %s", got.Text())
	}
}
