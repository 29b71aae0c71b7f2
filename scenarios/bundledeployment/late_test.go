// This file exists for processes that are late: whose install takes longer than they may write, or
// who have been frozen between what they have read and what they make of it.

package bundledeployment

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// An install that takes longer than one pass may write is gone on with, not begun again.
func TestSlowInstalls(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := Begin(w, Setting{Variant: bundledeployment.V4, Terminates: 7 * time.Second, Slow: 9 * time.Second})
		w.Eventually(installed, s.Installed(app))
		s.Apply(Deployment(app, "app", "apps", false))
		w.Sleep(10 * time.Minute)
		w.Settle()
	}, sim.Runs(3), sim.For(0), sim.Verify(1))
}

// Who reads what is wanted, and wakes up when something else has been installed, installs nothing.
//
//make:campaigns
func TestFrozenForLong(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := Begin(w, Setting{Variant: bundledeployment.V4, Terminates: 5 * time.Second, Replicas: 2, Unelected: true})
		w.Eventually(installed, s.Installed(app))
		w.Always(fenced, s.Fenced)
		w.Always("what is installed does not go back", forwards())
		wants := func(level string) {
			bd := Deployment(app, "app", "apps", false)
			bd.Spec.Config = config(fmt.Sprintf("namespace: apps\nlevel: %s\n", level))
			s.Apply(bd)
		}
		wants("a")
		w.Settle()
		for _, p := range []string{Operator, Second} {
			w.Inject(fault.Pause(p, 5*time.Minute, fault.OfKind("BundleDeployment"), fault.OnVerb("get")))
		}
		wants("b")
		w.Sleep(25 * time.Second)
		wants("c")
		w.Sleep(10 * time.Minute)
		w.Settle()
	}, sim.Runs(100), sim.For(0), sim.Verify(10))
}

// What asks to be kept is kept, when what a failed install has made is removed.
func TestWhatAsksToBeKept(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := Begin(w, Setting{Variant: bundledeployment.V4, Terminates: 7 * time.Second})
		w.Always("the namespace is kept", func(h *history.History) error {
			var ns corev1.Namespace
			if o, ok := h.Object("", "Namespace", "", "apps"); ok && o.Into(&ns) == nil && ns.DeletionTimestamp != nil {
				return errors.New("it is being deleted")
			}
			return nil
		})
		bd := Deployment(app, "app", "apps", true)
		bd.Spec.Config = config("namespace: apps\nkeep: true\nrefused: " + cause + "\n")
		s.Apply(bd)
		w.Sleep(time.Hour)
		w.Always("the rest is removed", func(h *history.History) error {
			if _, ok := h.Object("", "ConfigMap", "apps", "settings"); ok || len(h.Objects("", "Secret")) == 0 {
				return errors.New("the ConfigMap is there, or no attempt was made")
			}
			return nil
		})
	}, sim.Runs(3), sim.For(0), sim.Verify(1))
}

// What an attempt has failed of is said, also if it could not be said at once.
//
//make:campaigns
func TestTheCauseIsSaidAfterAll(t *testing.T) {
	lost := fault.ServerError(fault.In(Operator), fault.OfKind("BundleDeployment"), fault.OnVerb("update"))
	sim.Check(t, Fails(actionable)(Row("V4").setting(), lost), sim.Runs(30), sim.For(0), sim.Verify(0))
}

// A refusal that says more than a status can hold is said as far as it fits.
func TestALongStoryIsCutShort(t *testing.T) {
	long := fault.Rejected(cause+strings.Repeat(" and so on", 4000), fault.In(Operator), fault.OfKind("Namespace"), fault.OnVerb("create"))
	sim.Check(t, func(w *sim.World) {
		s := Begin(w, Row("V4").setting())
		w.Inject(long)
		s.Apply(Deployment(app, "app", "apps", false))
		w.Sleep(time.Minute)
		s.read(w.History())
		if a := s.of(app); a.attempts > 1 && !slices.ContainsFunc(a.said, said.names) {
			t.Errorf("there were %d attempts, and the status never named the cause", a.attempts)
		}
	}, sim.Runs(5), sim.For(0), sim.Verify(0), sim.Strategy("sweep"))
}

// forwards holds while the level in the ConfigMap of the chart only grows.
func forwards() func(*history.History) error {
	seen, level := 0, ""
	return func(h *history.History) error {
		for _, e := range h.Since(seen) {
			for _, c := range e.Changes {
				var o struct{ Data map[string]string }
				if c.Ref.Kind != "ConfigMap" || json.Unmarshal(c.Object, &o) != nil {
					continue
				}
				if o.Data["level"] < level {
					return fmt.Errorf("at %s %s brings level %s back after %s", history.Clock(e.At), e.Actor(), o.Data["level"], level)
				}
				level = o.Data["level"]
			}
		}
		seen = h.Len()
		return nil
	}
}
