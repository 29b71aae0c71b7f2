package scale

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/fuzz/internal/usage"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

var (
	dir    = flag.String("scale.write", "", "measure all sizes, and write scale.md and scale.svg into this directory")
	commit = flag.String("scale.commit", "", "the commit that scale.md names")
)

// TestSmall asks that the world settles, and that each controller does its work for each change.
func TestSmall(t *testing.T) {
	var h *history.History
	sim.Check(t, World(3, func(*history.History) {}, func(all *history.History) { h = all }), sim.Runs(1), sim.For(0))
	patches := 0
	for _, e := range h.Events {
		if e.Kind == history.Request && e.Verb == "patch" && e.Code == 200 && e.Process != "user" {
			patches++
		}
	}
	// The first three kinds have three controllers each: 50 controllers take the 20 kinds in turn.
	// When the second change of an object comes, the first has been written.
	if want := 3*3 + changes*3; patches != want {
		t.Errorf("controllers wrote %d times, want %d", patches, want)
	}
}

// TestScale measures what a step costs in worlds of two sizes. With the largest one, which takes a
// minute, it writes the page: make bench-scale.
func TestScale(t *testing.T) {
	sizes := []int{1, 100}
	if *dir != "" {
		sizes = append(sizes, 10_000)
	}
	var all []row
	for _, objects := range sizes {
		r := measure(t, objects)
		if r.steps < changes {
			t.Errorf("%d steps were counted for %d changes", r.steps, changes)
		}
		all = append(all, r)
		fmt.Println(r)
	}
	if *dir == "" {
		return
	}
	load, _ := os.ReadFile("/proc/loadavg")
	for name, text := range map[string]string{"scale.md": page(all, string(load)), "scale.svg": plot(all)} {
		if err := os.WriteFile(filepath.Join(*dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// row is what was measured of a world.
type row struct {
	objects int
	began   time.Duration // CPU time until all controllers had done their work
	steps   int           // after that, while the user changes objects
	took    time.Duration // CPU time of these steps
	heap    uint64        // that the run holds at its end
}

func (r row) step() time.Duration { return r.took / time.Duration(r.steps) }

func (r row) String() string {
	return fmt.Sprintf("| %d | %.1f s | %d | %d µs | %d MB |", r.objects, r.began.Seconds(), r.steps,
		r.step().Microseconds(), r.heap>>20)
}

func measure(t *testing.T, objects int) (r row) {
	r.objects = objects
	empty, start := usage.Heap(), usage.CPU()
	var rest time.Duration
	first := 0
	before := func(h *history.History) {
		rest, first = usage.CPU(), lastStep(h)
		r.began = rest - start
	}
	after := func(h *history.History) {
		r.took, r.steps = usage.CPU()-rest, lastStep(h)-first
		r.heap = usage.Heap() - empty
	}
	report := sim.Explore(t, World(objects, before, after), sim.Runs(1), sim.For(0), sim.Verify(0), sim.Shrink(0),
		sim.MaxSteps(1<<40))
	if report.Failure != nil {
		t.Fatal(report.Failure.Text())
	}
	return r
}

func lastStep(h *history.History) int { return h.Events[len(h.Events)-1].Step }

func page(all []row, load string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What a large world costs\n\n`make bench-scale`"+` wrote this page at commit %s,
with one CPU of a machine whose load was %s. A world has %d controllers in %d processes, and objects of %d kinds
that are defined by CustomResourceDefinitions. When all controllers have done their work, a user changes an object
each second, %d times, and each controller of that kind writes its status. Only the steps of this time are counted.
Memory is what the heap holds after a collection at the end, the history of all events included.

| objects | CPU time to come to rest | steps | CPU time for each step | memory |
|---:|---:|---:|---:|---:|
`, *commit, strings.Fields(load)[0], controllers, processes, len(kinds), changes)
	for _, r := range all {
		fmt.Fprintln(&b, r)
	}
	b.WriteString("\n![CPU time for each step, by the number of objects](scale.svg)\n")
	return b.String()
}

// plot draws the cost of a step by the number of objects: a decade is 120 wide, 100 µs are 40 high.
func plot(all []row) string {
	var b, points strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 480" font-size="13">
<rect width="600" height="480" fill="white"/>
<text x="60" y="24">CPU time for each step, µs; target 1,000</text>
`)
	x := func(objects int) int { return 70 + 120*(len(fmt.Sprint(objects))-1) }
	y := func(d time.Duration) int { return 440 - int(d.Microseconds())*40/100 }
	for v := 0; v <= 1000; v += 200 {
		at := y(time.Duration(v) * time.Microsecond)
		fmt.Fprintf(&b, `<path d="M60 %d H580" stroke="#ddd"/><text x="20" y="%d">%d</text>`+"\n", at, at+4, v)
	}
	for _, r := range all {
		x, y := x(r.objects), y(r.step())
		fmt.Fprintf(&points, "%d,%d ", x, y)
		fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="4"/><text x="%d" y="%d">%d</text>`+"\n", x, y, x+6, y-8,
			r.step().Microseconds())
		fmt.Fprintf(&b, `<text x="%d" y="460">%d objects</text>`+"\n", x, r.objects)
	}
	fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="black"/>`+"\n</svg>\n", points.String())
	return b.String()
}

// TestOne is a small run, for campaigns of very many: see hack/million.sh.
func TestOne(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Install(kinds[0].definition())
		w.Start("operator", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("one").For(kinds[0].make()).
				Complete(reconciler(mgr.GetClient(), "one", kinds[0]))
		}, sim.Options(ctrl.Options{Scheme: scheme()}))
		w.Inject(fault.StaleCache(30*time.Second), fault.Crash("operator"), fault.LostReply())
		w.Apply(wanted(0, "first"))
		w.Settle()
	})
}
