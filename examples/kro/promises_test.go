package kro

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
	"github.com/wavetank/wavetank/sim/result"
)

// notes is one more part of an App, which no other part needs.
const notes = `
  - id: notes
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${schema.metadata.name}-notes"}
      data: {text: "made by kro"}
`

// own is what a user makes in the place of a part, when the App is deleted.
const own = "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: one-notes}, data: {text: mine}}"

// TestPromises asks for everything at once that users of kro rely on, while they change what they
// want. hack/mutants plants bugs in kro and measures how soon this finds them.
func TestPromises(t *testing.T) {
	// The status of a definition is left out: see the next test.
	r := promises(t, []history.Ref{{Kind: "App"}, {Kind: "ConfigMap"}, {Kind: "Service"}})
	report := fmt.Sprintf("found=%t run=%d", r.Failure != nil, r.Runs)
	if r.Failure != nil {
		t.Errorf("%s seconds=%.3f by=%q step=%d flaky=%t property=%q: %s", report, r.Failure.Took.Seconds(),
			r.Failure.Strategy, r.Failure.Step, r.Failure.Flaky, r.Failure.Property, r.Failure.Message)
		return
	}
	t.Log(report)
}

// A definition's status says for good that a reconcile has failed, or loses its resources and their
// order (for a failed one, controller_reconcile.go returns nil for both). The next reconcile
// succeeds, but updateStatus compares with the cache, which still has the status from before, and
// writes nothing. The status of the failure triggers no reconcile, because the watch passes only
// changes of the generation.
func TestStatusOfADefinitionIsLost(t *testing.T) {
	r := promises(t, []history.Ref{{Kind: "ResourceGraphDefinition"}}, sim.Runs(100), sim.For(0))
	if f := r.Failure; f == nil || f.Property != noTrace || !strings.Contains(f.Message, "Definition app .status.") {
		t.Errorf("expected another status than undisturbed, found %+v", f)
	}
}

const noTrace = "faults leave no trace"

// promises explores the scenario. Of these objects it asks that faults leave no trace.
func promises(t *testing.T, unharmed []history.Ref, opts ...sim.ExploreOption) result.Report {
	start := operator(t)
	return sim.Explore(t, func(w *sim.World) {
		w.Always("no controller overwrites a change that it has not observed", property.NoLostUpdate())
		w.Always("a reconcile at rest changes nothing", property.IdempotentAtRest())
		w.Always("what others need goes last", property.DeletionOrder(
			history.Ref{Kind: "ConfigMap", Name: "one"}, history.Ref{Kind: "Service", Name: "one"}))
		w.Always("a program deletes what it has read", property.DeletesWhatItRead())
		wanted := false
		w.Always("an App keeps its parts", keepsParts(&wanted))
		start(w, fault.StaleCache(30*time.Second), fault.MissedStates(30*time.Second), fault.DroppedWatch(),
			fault.Relist(), fault.Crash("kro"), fault.Unreachable(time.Minute), fault.Conflict(), fault.LostReply(),
			fault.ServerError())
		w.Eventually(noTrace, property.CrashSafe(w.Undisturbed(), unharmed...))
		end := ""
		w.Eventually("an App comes to its end", func(h *history.History) error { return comesTo(h, end) })

		w.Apply(object(definition + notes))
		w.Settle()
		end, wanted = "first", true
		w.Apply(app("first"))
		w.Settle()

		// The definition changes, and some time later the App.
		end = "gold second"
		w.Apply(object(strings.Replace(definition, "${schema.spec.image}", "gold ${schema.spec.image}", 1) + notes))
		w.Sleep(10 * time.Second)
		w.Apply(app("second"))
		w.Settle()

		// The App is deleted, and its user needs the name of a part.
		end, wanted = "", false
		w.Remove(app("second"), object(own))
		w.Apply(object(own))
		w.Settle()
	}, opts...)
}

// keepsParts holds while nothing goes that an App consists of, as long as it is wanted.
func keepsParts(wanted *bool) func(*history.History) error {
	had := map[string]bool{}
	return func(h *history.History) error {
		for _, part := range []string{"Service one", "ConfigMap one", "ConfigMap one-notes"} {
			kind, name, _ := strings.Cut(part, " ")
			_, has := h.Object("", kind, "default", name)
			if *wanted && had[part] && !has {
				return fmt.Errorf("the %s has gone", part)
			}
			had[part] = has
		}
		return nil
	}
}

// comesTo reports whether the App says this of its image and is called active, or is gone with all
// of its parts if that is "".
func comesTo(h *history.History, image string) error {
	var config struct{ Data map[string]string }
	_, service := h.Object("", "Service", "default", "one")
	o, has := h.Object("", "ConfigMap", "default", "one")
	var state struct{ Status struct{ State string } }
	a, there := h.Object("kro.run", "App", "default", "one")
	switch {
	case image == "" && (service || has || there):
		return errors.New("something is left of it")
	case image == "":
		return nil
	case !service || !has || o.Into(&config) != nil || config.Data["image"] != image:
		return fmt.Errorf("its ConfigMap says %v", config.Data)
	case !there || a.Into(&state) != nil || state.Status.State != "ACTIVE":
		return fmt.Errorf("its state is %q", state.Status.State)
	}
	return nil
}
