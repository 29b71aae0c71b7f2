package auto_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
)

// A correct operator passes, and users have done everything that they can do.
func TestQuietOnACorrectOperator(t *testing.T) {
	done := map[string]int{}
	r := sim.Explore(t, func(w *sim.World) {
		start(w, "")
		auto.Scenario(w)
		for _, d := range w.History().Draws() {
			first, _, _ := strings.Cut(d.Value, " ")
			if strings.HasSuffix(d.Value, "refused by the server") {
				first = "refused"
			}
			done[first]++
			if d.Label == "last action" {
				done["last"]++
			}
		}
	}, sim.Runs(200), sim.For(0))
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	t.Logf("%d runs: %v", r.Runs, done)
	for _, what := range []string{"change", "create", "delete", "restart", "remove", "apply", "refused", "last"} {
		if done[what] == 0 {
			t.Errorf("no user did %q: %v", what, done)
		}
	}
}

// Each property finds the flaw that it is for, and stays quiet when it is switched off.
func TestFlawsAreFound(t *testing.T) {
	for flaw, property := range map[string]string{
		"swallows errors":   auto.SameEndState, // once the others are not asked
		"counts its starts": auto.NoWritesAtRest,
		"holds the config":  auto.NothingOwned,
		"makes it once":     auto.StatusIsTrue,
		"observes once":     auto.UpToDate,
		"leaves a copy":     auto.NothingLeft,
		"writes blindly":    auto.OthersFields,
		"begins again":      auto.NothingRemade,
	} {
		t.Run(flaw, func(t *testing.T) {
			explore := func(o ...auto.Option) *result.Failure {
				if property == auto.SameEndState {
					o = append(o, auto.Without(auto.StatusIsTrue, auto.NoWritesAtRest, auto.UpToDate))
				}
				return sim.Explore(t, func(w *sim.World) {
					start(w, flaw)
					auto.Scenario(w, o...)
				}, sim.Runs(60), sim.For(0)).Failure
			}
			f := explore()
			if f == nil || f.Property != property {
				t.Fatalf("expected %q, found %+v", property, f)
			}
			t.Log(f.Message)
			if f := explore(auto.Without(property)); f != nil && f.Property == property {
				t.Errorf("%q is judged though it is switched off", property)
			}
		})
	}
}

// What ten actions have found shrinks to the one that matters.
func TestShrinkingRemovesActions(t *testing.T) {
	const most = 10
	r := sim.Explore(t, func(w *sim.World) {
		start(w, "remembers")
		w.Inject(fault.RacingRequeue()) // which does not break it by itself
		w.Eventually("each widget has its config", func(h *history.History) error {
			for _, o := range h.Objects("example.com", "Widget") {
				if _, ok := h.Object("", "ConfigMap", o.Ref.Namespace, o.Ref.Name+"-config"); !ok {
					return fmt.Errorf("%s has none", o.Ref)
				}
			}
			return nil
		})
		auto.Scenario(w, auto.Actions(most))
	}, sim.Strategy("random"), sim.Seed(3), sim.Runs(50), sim.For(0))
	f := r.Failure
	if f == nil || f.Property != "each widget has its config" {
		t.Fatalf("expected the property, found %+v", f)
	}
	actions := map[string]bool{}
	for _, c := range f.Story.Choices {
		if c.Kind == story.Draw && strings.HasPrefix(c.Of, "action") {
			actions[c.Of] = true
		}
	}
	t.Logf("%v, then %v; actions %v\n%s", f.Story.Before, f.Story.After, actions, f.Text())
	if len(actions) != 1 {
		t.Errorf("%d actions are left, one is enough: %v", len(actions), f.Story.Choices)
	}
}

// misuses are scenarios that cannot be, by what is said of them.
var misuses = map[string]func(*sim.World){
	"no program is there": func(w *sim.World) { auto.Scenario(w) },
	"nothing that a user could create": func(w *sim.World) {
		w.Run("idle", func(ctx context.Context, _ *rest.Config) error { <-ctx.Done(); return nil })
		auto.Scenario(w)
	},
	"the server refuses every object that users create; correct the samples": func(w *sim.World) {
		start(w, "")
		auto.Scenario(w, auto.Objects(&Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "-"}}))
	},
	"there is no default property of that name": func(w *sim.World) {
		start(w, "")
		auto.Scenario(w, auto.Without("same state"))
	},
}

// misused is the variable that has a child process try a misuse, which fails the test.
const misused = "WAVETANK_TEST_MISUSE"

func TestMisuse(t *testing.T) {
	if say := os.Getenv(misused); say != "" {
		sim.Explore(t, misuses[say], sim.Runs(1))
		return
	}
	for say := range misuses {
		child := exec.Command(os.Args[0], "-test.run=^TestMisuse$")
		child.Env = append(os.Environ(), misused+"="+say)
		if out, err := child.CombinedOutput(); err == nil || !strings.Contains(string(out), say) {
			t.Errorf("expected a misuse that says %q:\n%s", say, out)
		}
	}
}
