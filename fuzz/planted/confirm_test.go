//go:build conformance

package planted

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/wavetank/wavetank/sim"
	results "github.com/wavetank/wavetank/sim/result"
)

var only = flag.String("planted.only", "", "confirm these bugs alone, by name")

var running = flag.String("planted.kubeconfig", "", "a throw-away control plane that runs already")

// controlPlane starts a control plane and returns its kubeconfig.
func controlPlane(t *testing.T) string {
	t.Helper()
	env := &envtest.Environment{ControlPlaneStartTimeout: time.Minute, ControlPlaneStopTimeout: 20 * time.Second}
	env.ControlPlane.GetAPIServer().Configure().Set("advertise-address", "192.0.2.1")
	if _, err := env.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, env.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Stories of planted bugs are confirmed at a real API server.
func TestPlantedBugsAreConfirmed(t *testing.T) {
	kubeconfig := *running
	if kubeconfig == "" {
		kubeconfig = controlPlane(t)
	}
	counts := map[results.Verdict]int{}
	for _, b := range Bugs() {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), b.Name) {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			stories := t.TempDir()
			r := sim.Explore(t, b.Scenario(false), sim.Strategy("portfolio"), sim.Runs(1000), sim.For(0), sim.Verify(0),
				sim.Stories(stories))
			if r.Failure == nil {
				t.Fatal("no story")
			}
			story := filepath.Join(stories, r.Failure.Story.Name())
			got := sim.Explore(t, b.Scenario(false), sim.Replay(story), sim.Confirm(kubeconfig, 1)).Confirmations[0]
			counts[got.Verdict]++
			t.Log(got.Text())
		})
	}
	t.Log(counts)
}
