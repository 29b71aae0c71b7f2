//go:build conformance

package conformance

// The differential property test: whatever several clients do, both servers reply alike. Rows
// contain the cases that people thought of. This test generates others, and shrinks a difference
// to a few lines that can become a row.

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"pgregory.net/rapid"
)

var operations = flag.Int("conformance.ops", 400,
	"how many random operations the differential test runs; the tests of applies and of drawn types each add a fourth")

// drawnKinds limits the test to some kinds, for work on one of them.
var drawnKinds = flag.String("conformance.kinds", strings.Join(DrawnKinds, " "), "the kinds of the differential test")

// operationsEach is how many of a sequence's lines are not idle, at the least, on the average.
const operationsEach = 26

// sequenceLength is short, so that a difference shrinks fast, and long enough for objects to be
// made, held and released.
const sequenceLength = 30

// drawing is one way to draw sequences.
type drawing struct {
	seed       uint64 // unless one is given: a run in CI is to fail for a change and not for its luck
	operations int
	managed    bool // ownership is compared too
	// world draws where a sequence takes place and how its lines are drawn.
	world func(*rapid.T) (place, func(*rapid.T) string)
}

// place is what there is in addition to the built-in types and those of the table.
type place struct {
	definitions []*apiextensionsv1.CustomResourceDefinition // which the real server has already
	kinds       []string                                    // which are looked at in the end
	about       string                                      // printed with a difference
}

func TestDifferential(t *testing.T) {
	drawing{
		seed: 20260, operations: *operations,
		world: func(*rapid.T) (place, func(*rapid.T) string) { return place{kinds: DrawnKinds}, operation },
	}.run(t)
}

// TestDifferentialApply has three managers apply, while others write in other ways, and compares
// every field's owners too.
func TestDifferentialApply(t *testing.T) {
	drawing{
		seed: 20261, operations: *operations / 4, managed: true,
		world: func(*rapid.T) (place, func(*rapid.T) string) { return place{kinds: DrawnKinds}, applying },
	}.run(t)
}

// startSeed is where rapid begins: the seed that is given, or else the test's own.
func (d drawing) startSeed(t *testing.T) uint64 {
	f := flag.Lookup("rapid.seed")
	if seed, err := strconv.ParseUint(f.Value.String(), 10, 64); err != nil || seed != 0 {
		return seed
	}
	if err := flag.Set("rapid.seed", strconv.FormatUint(d.seed, 10)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set("rapid.seed", "0") })
	return d.seed
}

func (d drawing) run(t *testing.T) {
	d.startSeed(t)
	if err := flag.Set("rapid.checks", strconv.Itoa(d.operations/operationsEach+1)); err != nil {
		t.Fatal(err)
	}
	ran, sequences := 0, 0
	var latest []string
	var at place
	var first string
	t.Cleanup(func() {
		t.Logf("%d operations in %d sequences on both arms", ran, sequences)
		if latest != nil {
			lines, sides := d.fewest(context.Background(), t, at, latest)
			if sides == "" {
				sides = "which did not come again when asked again; it was:\n" + first
			}
			t.Logf("the model differs from kube-apiserver in:\n\t\"%s\",\n%s%s", strings.Join(lines, "\",\n\t\""),
				sides, at.about)
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		where, draw := d.world(rt)
		// A full row of lines, most of which may be idle: rapid shrinks a line to idle more readily
		// than a list to a shorter one.
		drawn := rapid.SliceOfN(rapid.Custom(draw), sequenceLength, sequenceLength+1).Draw(rt, "operations")
		lines := slices.DeleteFunc(drawn, func(line string) bool { return line == idle })
		if len(where.definitions) > 0 {
			lines = scaledOnce(lines)
		}
		sequences++
		ran += len(lines)
		sides, err := d.differ(t.Context(), where, lines)
		if err != nil {
			rt.Fatalf("%v", err)
		}
		if sides != "" {
			latest, at = lines, where
			if first == "" {
				first = "  " + strings.Join(lines, "\n  ") + "\n" + sides
			}
			rt.Fatalf("the arms differ")
		}
	})
}

// scaledOnce keeps the first of the lines that scale an object to one number: to scale to what is
// there already is a write on the real server, for an ownership that not every version can say, and
// an accepted difference.
func scaledOnce(lines []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(lines, func(line string) bool {
		_, scaled, ok := strings.Cut(line, "/")
		if !ok || !strings.Contains(line, "/scale ") {
			return false
		}
		again := seen[scaled]
		seen[scaled] = true
		return again
	})
}

// fewest removes line after line while the arms still differ. rapid has made the values small, and
// this makes the sequence short. A difference that does not come again is reported as it was.
func (d drawing) fewest(ctx context.Context, t *testing.T, at place, lines []string) ([]string, string) {
	sides, err := d.differ(ctx, at, lines)
	if err != nil || sides == "" {
		return lines, ""
	}
	for i := len(lines) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(lines), i, i+1)
		still, err := d.differ(ctx, at, fewer)
		if err != nil {
			t.Logf("while shortening: %v", err)
			break
		}
		if still != "" {
			lines, sides = fewer, still
		}
	}
	return lines, sides
}

// namespaces counts the namespaces of sequences.
var namespaces atomic.Int64

// differ runs the lines on both arms and returns the replies that differ.
func (d drawing) differ(ctx context.Context, at place, lines []string) (string, error) {
	namespace := fmt.Sprintf("sequence-%d", namespaces.Add(1))
	model, err := startModel(d.managed, at.definitions...)
	if err != nil {
		return "", err
	}
	// The model goes first, because it knows at once how many frames each watch will bring.
	var frames []int
	got, started, err := Observe(ctx, sequence(lines, at.kinds, func(t *T) {
		for i := range t.streams {
			frames = append(frames, t.drain(i, 0))
		}
	}), model, namespace)
	if err != nil {
		return "", err
	}
	got = d.normalise(got, namespace, started)
	want, started, err := Observe(ctx, sequence(lines, at.kinds, func(t *T) {
		for i := range t.streams {
			n := 0
			if i < len(frames) {
				n = frames[i]
			}
			t.drain(i, n)
		}
	}), real, namespace)
	if err != nil {
		return "", err
	}
	return Sides(d.normalise(want, namespace, started), got), nil
}

// undeclared are the fields that a schema does not have, in the error of an apply. The real server
// stops at the first one that it reaches, in the random order of a map; the model names them all.
var undeclared = regexp.MustCompile(`(errors:\\n *)?((?:[^\s"\\]|\\")+: field not declared in schema(\\n *)?)+`)

func (d drawing) normalise(observed []Observed, namespace string, started time.Time) []Observed {
	raw := undeclared.ReplaceAllString(jsonText(Normalise(observed, namespace, started, d.managed)),
		"<fields>: field not declared in schema")
	var out []Observed
	in := json.NewDecoder(strings.NewReader(raw))
	in.UseNumber()
	if err := in.Decode(&out); err != nil {
		panic("conformance: " + err.Error())
	}
	for _, o := range out {
		if warnings := strings.Split(o.Header["Warning"], " | "); len(warnings) > 1 {
			slices.Sort(warnings) // broken rules that are let pass, in the order of a map
			o.Header["Warning"] = strings.Join(warnings, " | ")
		}
	}
	return out
}

// sequence is a row of drawn lines that ends with a look at everything and the reading of all
// watches.
func sequence(lines, kinds []string, drain func(*T)) Row {
	return Row{Name: "drawn", Run: func(t *T) {
		t.Script(lines...)
		for _, k := range kinds {
			t.Script("GET " + k)
		}
		drain(t)
	}}
}

// drain reads a stream: n frames with timeLimit, then what comes within the quietPeriod.
func (t *T) drain(which, n int) int {
	o := Observed{Step: fmt.Sprintf("frames of watch %d", which+1)}
	if s := t.streams[which]; s != nil {
		o.Frames, o.Error = s.read(n, quietPeriodOf(t.arm))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = append(t.seen, o)
	return len(o.Frames)
}
