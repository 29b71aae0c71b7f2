// This file tests processes that are slow: whose install takes longer than they may write, or that
// were frozen between what they have read and what they make of it.

package bundledeployment

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// An install that takes longer than one pass may write is gone on with, not begun again.
func TestSlowInstalls(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := Row("V4").setting()
		s.Setup = func(r *bundledeployment.Reconciler, mgr ctrl.Manager) error {
			slowDown(mgr.GetConfig(), 9*time.Second)
			return r.SetupWithManager(mgr)
		}
		world := Begin(w, s)
		world.declare(installed)
		world.accept(app, "app", "apps")
		w.Sleep(10 * time.Minute)
		w.Settle()
	}, sim.Runs(3), sim.For(0), sim.Verify(1))
}

// slowDown has writes take their time. The manager's own client has its connection already.
func slowDown(config *rest.Config, by time.Duration) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet {
				time.Sleep(by)
			}
			return next.RoundTrip(r)
		})
	})
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// Who reads what is wanted, and wakes up when something else has been installed, installs nothing.
//
//make:campaigns
func TestFrozenForLong(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := Begin(w, Setting{Terminates: 5 * time.Second, Replicas: 2, Unelected: true})
		s.declare(installed, fenced)
		w.Always("what is installed does not go back", forwards())
		wants := func(level string) { s.Apply(Deployment(app, "app", "apps", "level: "+level+"\n")) }
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
		s := Begin(w, Row("V4").setting())
		w.Always("the namespace is kept", func(h *history.History) error {
			var ns corev1.Namespace
			if o, ok := h.Object("", "Namespace", "", "apps"); ok && o.Into(&ns) == nil && ns.DeletionTimestamp != nil {
				return errors.New("it is being deleted")
			}
			return nil
		})
		s.Apply(Deployment(app, "app", "apps", "keep: true\n"+refused))
		w.Sleep(time.Hour)
		w.Always("the rest is removed", func(h *history.History) error {
			if _, ok := h.Object("", "ConfigMap", "apps", "settings"); ok || len(h.Objects("", "Secret")) == 0 {
				return errors.New("the ConfigMap is there, or no attempt was made")
			}
			return nil
		})
	}, sim.Runs(3), sim.For(0), sim.Verify(1))
}

// The status names the cause, also if it could not be written at once.
//
//make:campaigns
func TestTheStatusNamesTheCauseAfterAll(t *testing.T) {
	lost := fault.ServerError(fault.In(Operator), fault.OfKind("BundleDeployment"), fault.OnVerb("update"))
	names := scenario(Row("V4").setting(), failsUnderFaults(30*time.Minute), []string{actionable}, lost)
	sim.Check(t, names, sim.Runs(30), sim.For(0), sim.Verify(0))
}

// A message that is longer than a status can hold is cut.
func TestALongMessageIsCut(t *testing.T) {
	message := cause + strings.Repeat(" and so on", 4000)
	long := fault.Rejected(message, fault.In(Operator), fault.OfKind("Namespace"), fault.OnVerb("create"))
	sim.Check(t, func(w *sim.World) {
		s := Begin(w, Row("V4").setting())
		w.Inject(long)
		s.accept(app, "app", "apps")
		w.Sleep(time.Minute)
		s.read(w.History())
		if n := attempts(s.of(app).reconciles); n > 1 && s.namedCause(0, s.now) == 0 {
			t.Errorf("there were %d attempts, and the status never named the cause", n)
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
					return fmt.Errorf("at %s %s brings level %s back after %s", history.Clock(e.At), e.Actor(),
						o.Data["level"], level)
				}
				level = o.Data["level"]
			}
		}
		seen = h.Len()
		return nil
	}
}
