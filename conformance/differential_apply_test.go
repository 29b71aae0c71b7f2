//go:build conformance

package conformance

// The differential test for server-side apply: three managers apply, others write in other ways, and both servers say the
// same about every field and its owners.

import (
	"context"
	"flag"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDifferentialApply(t *testing.T) {
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		if err := flag.Set("rapid.seed", "20261"); err != nil {
			t.Fatal(err)
		}
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(max(1, *operations/4/sequenceLength))); err != nil {
		t.Fatal(err)
	}
	differs := func(ctx context.Context, lines []string) (string, error) { return differIn(ctx, lines, true) }
	ran, sequences := 0, 0
	var latest []string
	var first string
	t.Cleanup(func() {
		t.Logf("%d operations in %d sequences on both arms", ran, sequences)
		if latest != nil {
			lines, sides := fewest(context.Background(), t, latest, differs)
			if sides == "" {
				sides = "which did not come again when asked again; it was:\n" + first
			}
			t.Logf("the model differs from kube-apiserver in:\n\t\"%s\",\n%s", strings.Join(lines, "\",\n\t\""), sides)
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		var lines []string
		for _, line := range rapid.SliceOfN(rapid.Custom(applying), sequenceLength, sequenceLength+1).Draw(rt, "operations") {
			if line != idle {
				lines = append(lines, line)
			}
		}
		sequences++
		ran += len(lines)
		sides, err := differs(t.Context(), lines)
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

// applying draws one line, every other time an apply.
func applying(t *rapid.T) string {
	if rapid.Bool().Draw(t, "other") {
		return operation(t)
	}
	kind := oneOf(t, "kind", strings.Fields(*drawnKinds)...)
	name := kind + "/" + oneOf(t, "name", "a", "b")
	at := name
	if status := oneOf(t, "at", "", "", "", "", "/status"); status != "" {
		at += status
	}
	return "ann: APPLY " + at + "?fieldManager=" + oneOf(t, "manager", "one", "two", "three") +
		oneOf(t, "how", "", "", "", "&force=true", "&dryRun=All") + " " +
		// An empty map in metadata is a row of its own (an accepted difference), and after an unknown field the real server
		// looks no further, in the order of a map.
		strings.NewReplacer("labels: {}", "labels: {app: z}", ", nonsense: 1", "", "{nonsense: 1}", "{}").Replace(object(t, kind, name, ""))
}
