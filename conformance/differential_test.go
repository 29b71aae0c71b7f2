//go:build conformance

package conformance

// The differential property test: whatever several clients do, both servers say the same. Rows ask what somebody thought
// of; this asks what nobody did, and shrinks what it finds to a few lines that can become a row.

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

var operations = flag.Int("conformance.ops", 400, "how many random operations the differential test runs")

// drawnKinds narrows the search when one kind is being repaired.
var drawnKinds = flag.String("conformance.kinds", strings.Join(DrawnKinds, " "), "the kinds of the differential test")

// operationsEach is how many of a sequence's lines are not idle, at the least, on the average.
const operationsEach = 26

// sequenceLength is short, so that a difference shrinks fast, and long enough for objects to be made, held and released.
const sequenceLength = 30

func TestDifferential(t *testing.T) {
	// A fixed seed unless one is given: a run in CI is to fail for a change and not for its luck.
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		if err := flag.Set("rapid.seed", "20260"); err != nil {
			t.Fatal(err)
		}
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(*operations/operationsEach+1)); err != nil {
		t.Fatal(err)
	}
	ran, sequences := 0, 0
	var latest []string
	var first string
	t.Cleanup(func() {
		t.Logf("%d operations in %d sequences on both arms", ran, sequences)
		if latest != nil {
			lines, sides := fewest(context.Background(), t, latest, differ)
			if sides == "" {
				sides = "which did not come again when asked again; it was:\n" + first
			}
			t.Logf("the model differs from kube-apiserver in:\n\t\"%s\",\n%s", strings.Join(lines, "\",\n\t\""), sides)
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		// A full row of lines, most of which may be idle: rapid shrinks a line to idle more readily than a list to a shorter one.
		drawn := rapid.SliceOfN(rapid.Custom(operation), sequenceLength, sequenceLength+1).Draw(rt, "operations")
		var lines []string
		for _, line := range drawn {
			if line != idle {
				lines = append(lines, line)
			}
		}
		sequences++
		ran += len(lines)
		sides, err := differ(t.Context(), lines)
		if err != nil {
			rt.Fatalf("%v", err)
		}
		if sides != "" {
			latest = lines
			if first == "" {
				first = "  " + strings.Join(lines, "\n  ") + "\n" + sides
			}
			rt.Fatalf("the arms differ")
		}
	})
}

// fewest takes away line after line as long as the arms go on differing: rapid has made the sequence small, and this makes
// it short. A difference that does not come again is told as it was.
func fewest(ctx context.Context, t *testing.T, lines []string, differs func(context.Context, []string) (string, error)) ([]string, string) {
	sides, err := differs(ctx, lines)
	if err != nil || sides == "" {
		return lines, ""
	}
	for i := len(lines) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(lines), i, i+1)
		still, err := differs(ctx, fewer)
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

// differ runs the lines on both arms and returns what they said where they differ.
func differ(ctx context.Context, lines []string) (string, error) { return differIn(ctx, lines, false) }

// differIn compares ownership too when it is managed.
func differIn(ctx context.Context, lines []string, managed bool) (string, error) {
	namespace := fmt.Sprintf("sequence-%d", namespaces.Add(1))
	model, err := startModel(managed)
	if err != nil {
		return "", err
	}
	// The model goes first, because it knows at once how many frames each watch will bring.
	var frames []int
	got, started, err := Observe(ctx, sequence(lines, func(t *T) {
		for i := range t.streams {
			frames = append(frames, t.drain(i, 0))
		}
	}), model, namespace)
	if err != nil {
		return "", err
	}
	got = plain(Normalise(got, namespace, started, managed))
	want, started, err := Observe(ctx, sequence(lines, func(t *T) {
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
	return Sides(plain(Normalise(want, namespace, started, managed)), got), nil
}

// sequence is a row of drawn lines that ends with a look at everything and the reading of all watches.
func sequence(lines []string, drain func(*T)) Row {
	return Row{Name: "drawn", Run: func(t *T) {
		t.Script(lines...)
		for _, k := range DrawnKinds {
			t.Script("GET " + k)
		}
		drain(t)
	}}
}

// drain reads a stream: n frames with patience, then what comes within the lull.
func (t *T) drain(which, n int) int {
	o := Observed{Step: fmt.Sprintf("frames of watch %d", which+1)}
	if s := t.streams[which]; s != nil {
		o.Frames, o.Error = s.read(n, t.lull())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = append(t.seen, o)
	return len(o.Frames)
}
