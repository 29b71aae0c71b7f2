package auto_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
)

// What was injected at the lines of the program is what was injected at all: this program sends
// nothing but from lines of its own.
func TestSitesAddUpToTheFaults(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		start(w, "")
		auto.Scenario(w)
	}, sim.Runs(30), sim.For(0), sim.Verify(0))
	sent := map[string]int{}
	injected := map[string]int{}
	for _, s := range r.Sites {
		if !strings.HasPrefix(s.Source, "sim/auto/widget_test.go:") {
			t.Errorf("%+v is no line of the program", s)
		}
		sent[s.Verb+" "+s.Object] += s.Sent
		for _, n := range s.Struck {
			class, _, _ := strings.Cut(n.Fault, " ")
			injected[class] += n.Injected
			if n.Injected > n.Opportunities {
				t.Errorf("%s: %+v", s, n)
			}
		}
	}
	for _, f := range r.Faults {
		class, _, _ := strings.Cut(f.Fault, "(")
		if n, ok := injected[class]; ok && n != f.Injected {
			t.Errorf("%s was injected %d times, and %d times at lines", f.Fault, f.Injected, n)
		}
	}
	for _, class := range []string{"Crash", "LostReply", "Conflict", "ServerError", "stale"} {
		if injected[class] == 0 {
			t.Errorf("%s was injected at no line: %v", class, injected)
		}
	}
	for _, of := range []string{"update Widget", "update Widget/status", "create ConfigMap"} {
		if sent[of] == 0 {
			t.Errorf("no line sent %q: %v", of, sent)
		}
	}
}

// The file of -sim.coverage has each campaign of the process.
func TestCoverageFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "coverage.json")
	set := func(name string) {
		if err := flag.Set("sim.coverage", name); err != nil {
			t.Fatal(err)
		}
	}
	set(file)
	defer set("")
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) {
			sim.Explore(t, func(w *sim.World) {
				start(w, "")
				auto.Scenario(w)
			}, sim.Runs(2), sim.For(0), sim.Verify(0))
		})
	}
	data, err := os.ReadFile(file)
	var all struct {
		Campaigns []struct {
			Test  string
			Runs  int
			Sites []story.SiteTotal
		}
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil || len(all.Campaigns) != 2 || all.Campaigns[1].Test != "TestCoverageFile/two" ||
		all.Campaigns[1].Runs != 2 || len(all.Campaigns[1].Sites) == 0 || len(all.Campaigns[1].Sites[0].Struck) == 0 {
		t.Errorf("the file has %s (%v)", data, err)
	}
}
