// This file says what the scenario teaches, in figures that the harness itself has counted:
// LESSON.md.

package promotion

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/scenarios/promotion/forge"
	"github.com/wavetank/wavetank/sim"
)

const lessonPage = "LESSON.md"

// tally counts the runs in which the operator died, by how often the promotion then took effect:
// never, once, more often.
type tally struct{ never, once, more int }

func (n tally) runs() int { return n.never + n.once + n.more }

// String is the tally as cells of a table.
func (n tally) String() string { return fmt.Sprintf("%d | %d | %d", n.never, n.once, n.more) }

// points is more than a promotion has points to die at.
const points = 30

// count lets the operator die at every point of one promotion, once in each run, and looks what
// came of it.
func count(t *testing.T, v promotion.Variant, m means) tally {
	var n tally
	died := false
	r := sim.Explore(t, func(w *sim.World) {
		s := m.open(w, v)
		w.Inject(crash()...)
		s.Runs("dev", "v2")
		w.Sleep(dwell)
		w.Settle()
		h := w.History()
		died = slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Crash })
		if !died {
			return
		}
		switch k := m.effects(s); k {
		case 0:
			n.never++
		case 1:
			n.once++
		default:
			n.more++
		}
		// a sweep tries every fault at every point before anything else
	}, sim.Strategy("sweep"), sim.Runs(points), sim.For(0), sim.Verify(0))
	if r.Err() != nil || died {
		t.Fatalf("not every point was tried: %v", r.Err())
	}
	return n
}

// means of promotion, and how often what was promoted took effect by them.
type means struct {
	open    opening
	effects func(*World) int
}

// The second of the two has a receiver that acts on everything it gets.
var (
	byPullRequest = means{quietly, func(s *World) int { return len(s.History().Effects(forge.Effect)) }}
	byEvent       = means{notifying, func(s *World) int { return len(s.told(s.History())) }}
)

// lessons are what is shown, with what each variant relies on.
var lessons = []struct {
	variant promotion.Variant
	relies  string
	cell    string // of the table, whose story shows how it fails
}{
	{promotion.V3, "promotes, then writes down that it did", "crash window"},
	{promotion.V6, "writes down that it will, then promotes", "arrives in spite of a crash"},
	{promotion.V7, "creates a guard, then promotes", "arrives in spite of a crash"},
	{promotion.V8, "orders under a key, asks what became of it, repeats", ""},
}

// lesson writes the page, or holds it against what the runs say now.
func lesson(t *testing.T) {
	if matrix.Replaying() {
		t.Skip("a story is being replayed")
	}
	page := renderLesson(t)
	asked := func(name string) bool { return flag.Lookup("matrix."+name).Value.String() == "true" }
	if asked("write") || asked("page") || asked("texts") {
		if err := os.WriteFile(lessonPage, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(lessonPage)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(page, string(got)); d != "" {
		t.Errorf("%s is stale; run make matrices STORY=promotion (-runs +page)\n%s", lessonPage, d)
	}
}

const lessonHead = `# At most once or at least once

This page is written by "make matrices STORY=promotion"; do not edit it. "go test ./scenarios/promotion"
counts again and fails when it is stale.

A promotion leaves the cluster: no transaction spans the forge and the API server. Between "it is done" and
"it is written down" the operator can die, whichever of the two comes first. Here it dies once in each run,
before or after each of its writes. There is one run for every such point, from a new revision in dev until
the world is quiescent again. The table says how often the promotion took effect, and how often a CI that starts
a job for each Event was told of it.

| variant | order of things | runs with a crash | never | once | more than once | told: never | once | more |
|---|---|---|---|---|---|---|---|---|
`

const lessonTail = `
After a crash V3 never forgets and sometimes repeats: at least once. V6 and V7 never repeat and sometimes
forget: at most once. Moving the record from one side of the effect to the other, or into an object of its own,
moves the gap and does not close it; the points at which each of them fails are few, and they are there. V8 does
not choose. It makes the effect itself safe to repeat, by a key that the receiver knows (the forge's idempotency
key, the name of the Event). It records only what was confirmed, and insists until it is. That is a demand on the
receiver, not a cleverer operator: without one that recognises a repetition, "exactly once" is not to be had
across a crash.
`

func renderLesson(t *testing.T) string {
	var b strings.Builder
	b.WriteString(lessonHead)
	for _, l := range lessons {
		pulls := count(t, l.variant, byPullRequest)
		events := count(t, l.variant, byEvent)
		fmt.Fprintf(&b, "| %s | %s | %d and %d | %v | %v |\n", l.variant, l.relies, pulls.runs(), events.runs(), pulls,
			events)
	}
	b.WriteString(lessonTail)
	for _, l := range lessons {
		if l.cell != "" {
			b.WriteString(ending(t, l.variant, l.cell))
		}
	}
	return b.String()
}

// ending is the end of a short run in which a variant fails, from the last thing that happened to
// it on.
func ending(t *testing.T, v promotion.Variant, column string) string {
	t.Helper()
	f, file := matrix.Failure(t, Table(), column, v)
	lines := f.Story.History
	for i, line := range lines {
		if strings.Contains(line, "user") {
			lines = f.Story.History[i:]
		}
	}
	name := "on the default schedule"
	if file != "" {
		name = fmt.Sprintf("[%s](testdata/catalogue/%[1]s)", file)
	}
	return fmt.Sprintf("\n## %s\n\nA short run in which %s fails, "+
		"from the last thing that happened to it on (%s):\n\n```\n%s\n```\n\n%s.\n",
		v, v, name, strings.Join(lines, "\n"), strings.ToUpper(f.Message[:1])+f.Message[1:])
}
