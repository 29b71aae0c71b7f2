package upstream

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim"
)

// controller is one built-in controller: ours goes by a name, the real one is started under it.
type controller struct {
	name  string
	start func(w *sim.World, name string)
}

// absent takes the place of our controller of that name, and does nothing.
type absent string

func (a absent) Name() string           { return string(a) }
func (absent) Begin(actor.Cluster)      {}
func (absent) Observe(apiserver.Change) {}

// How often a scenario is run, each time with other choices: with the models, to know all the ways
// that it can go, and with the real controllers.
const ourRuns, realRuns = 20, 5

// ends runs a scenario several times and returns what tell makes of each run.
func ends[T any](
	t *testing.T, replaced []controller, scenario func(*sim.World), tell func(*history.History) T,
) (out []T) {
	t.Helper()
	runs := ourRuns
	if replaced != nil {
		runs = realRuns
	}
	report := sim.Explore(t, func(w *sim.World) {
		for _, c := range replaced {
			w.Builtin(absent(c.name))
			if c.start != nil {
				c.start(w, c.name)
			}
		}
		scenario(w)
		out = append(out, tell(w.History()))
	}, sim.Runs(runs), sim.For(0), sim.Verify(0), sim.Shrink(0))
	if report.Failure != nil {
		t.Fatal(report.Failure)
	}
	if len(out) < runs {
		t.Fatalf("%d runs were made, not %d", len(out), runs)
	}
	t.Logf("%d runs, %d steps, %v of virtual time", report.Runs, report.Steps, report.Virtual)
	return out
}

// end is how a run ends: what is left, and what everything went through.
type end struct{ left, lives string }

// same runs a scenario with the models and with the real controllers. It asks that all runs leave
// the same, and that what the objects went through with the real controllers is among what they
// went through with the models. more are models that a world does not have by itself.
func same(t *testing.T, controllers []controller, scenario func(*sim.World), more ...actor.Actor) {
	t.Helper()
	ours := ends(t, nil, func(w *sim.World) {
		w.Builtin(more...)
		scenario(w)
	}, state)
	for i, e := range ours {
		if e.left != ours[0].left {
			t.Errorf("the models, run %d, leave otherwise than run 0 (-):\n%s", i, diff(ours[0].left, e.left))
		}
	}
	for i, e := range ends(t, controllers, scenario, state) {
		if !slices.Contains(ours, e) {
			t.Errorf("the real controllers, run %d, end otherwise than the models (-):\n%s", i,
				diff(ours[0].left+"\n"+ours[0].lives, e.left+"\n"+e.lives))
		}
	}
	t.Logf("left in the end:\n%s\nlives:\n%s", ours[0].left, ours[0].lives)
}

func diff(a, b string) string { return cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")) }

var uid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// state tells what is left: each object with its owners, finalizers and conditions; and the changes
// that were made to each object, by whom. UIDs, times and versions are left out, and the names of
// events.
func state(h *history.History) end {
	lives := map[string]string{}
	last := map[string]string{}
	for _, e := range h.Events {
		for _, c := range e.Changes {
			name := c.Ref.String()
			if c.Ref.Kind == "Event" {
				name = "Event in " + c.Ref.Namespace
			}
			lives[name] += " " + e.Process + " " + strings.ToLower(c.Type) + ";"
			last[name] = what(c)
		}
	}
	return end{lines(last), lines(lives)}
}

func lines(m map[string]string) string {
	var out []string
	for name, text := range m {
		out = append(out, strings.TrimSpace(name+" "+text))
	}
	sort.Strings(out)
	return strings.Join(out, "\n")
}

func what(c history.Change) string {
	if c.Type == "DELETED" {
		return "is gone"
	}
	var o struct {
		Metadata metav1.ObjectMeta
		Reason   string
		Message  string
		Status   struct {
			Phase      string
			Conditions []struct{ Type, Status, Reason, Message string }
		}
	}
	if err := json.Unmarshal(c.Object, &o); err != nil {
		panic(err)
	}
	line := strings.TrimSpace(o.Status.Phase + " " + o.Reason + " " + uid.ReplaceAllString(o.Message, "…"))
	for _, r := range o.Metadata.OwnerReferences {
		line += fmt.Sprintf(" owned by %s %s (blocks: %v)", r.Kind, r.Name, r.BlockOwnerDeletion != nil &&
			*r.BlockOwnerDeletion)
	}
	if len(o.Metadata.Finalizers) > 0 {
		line += fmt.Sprint(" held by ", o.Metadata.Finalizers)
	}
	if o.Metadata.DeletionTimestamp != nil {
		line += " being deleted"
	}
	slices.SortFunc(o.Status.Conditions,
		func(a, b struct{ Type, Status, Reason, Message string }) int { return strings.Compare(a.Type, b.Type) })
	for _, cond := range o.Status.Conditions {
		line += fmt.Sprintf("\n\t%v ", cond)
	}
	return line
}
