// This file tests attempts that the fixed variant does not resume: the status says so, and what to
// do.

package clusterextension

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// says holds while the status gives a reason, and every part of a message.
func (s *World) says(reason string, parts ...string) func(*history.History) error {
	return func(h *history.History) error {
		s.read(h)
		for _, part := range parts {
			if s.status.reason != reason || !strings.Contains(s.status.message, part) {
				return fmt.Errorf("it does not say %s and %q: %s", reason, part, s.status)
			}
		}
		return nil
	}
}

// An upgrade of a chart with hooks that was interrupted is not finished without them. Who allows it
// gets it applied again, with them.
func TestHooksAreNotLeftOut(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := deployed(w, Setting{Variant: clusterextension.V6})
		s.halves(hooked)
		w.Sleep(5 * time.Minute)
		w.Always("it waits for the user",
			s.says(v1.ReasonBlocked, "has hooks", v1.PolicySelfCertified, bundleName(hooked)))
		w.Sleep(time.Hour)
	}, sim.Runs(2), sim.For(0), sim.Verify(1))
	sim.Check(t, func(w *sim.World) {
		s := deployed(w, Setting{Variant: clusterextension.V6})
		s.halves(hooked)
		w.Sleep(5 * time.Minute)
		var asked int64
		s.declare(installed)
		w.Eventually("what was to come before has come", func(h *history.History) error {
			if o, ok := h.Object("", "ConfigMap", apps, "before"); !ok || o.Revision < asked {
				return fmt.Errorf("there is no hook's object, or an old one")
			}
			return nil
		})
		asked = w.History().Events[w.History().Len()-1].Server
		s.Wants("", v1.PolicySelfCertified)
		w.Settle()
	}, sim.Runs(2), sim.For(0), sim.Verify(1))
}

// That it waits for the user is said, also if it could not be said at once.
func TestWhatIsFinalIsSaidAfterAll(t *testing.T) {
	lost := fault.ServerError(fault.In(Operator), fault.OfKind("ClusterExtension"), fault.OnVerb("update"))
	sim.Check(t, func(w *sim.World) {
		s := deployed(w, Setting{Variant: clusterextension.V6})
		s.halves(hooked)
		w.Inject(lost)
		w.Sleep(5 * time.Minute)
		w.Always("it waits for the user", s.says(v1.ReasonBlocked, "has hooks"))
	}, sim.Runs(20), sim.For(0), sim.Verify(0), sim.Strategy("sweep"))
}

// An object that another user has created meanwhile is left alone.
func TestWhatIsNotOfTheReleaseIsLeftAlone(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := deployed(w, Setting{Variant: clusterextension.V6})
		theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: apps, Name: "notes"},
			Data: map[string]string{"about": "something else"}}
		s.Sleep(time.Second)
		s.helm.left = 2 // to hold the record before, and to make this one
		s.Offers(two)
		s.Sleep(time.Second)
		w.Apply(theirs)
		s.read(s.History())
		s.interrupted(s.History().Now())
		s.Stop(Operator)
		mine := false
		w.Always("what is another's is left alone", func(h *history.History) error {
			var cm corev1.ConfigMap
			if o, ok := h.Object("", "ConfigMap", apps, "notes"); !mine &&
				(!ok || o.Into(&cm) != nil || cm.Data["about"] != "something else" || len(cm.OwnerReferences) > 0) {
				return fmt.Errorf("it is %v, of %v", cm.Data, cm.OwnerReferences)
			}
			return nil
		})
		w.Sleep(5 * time.Minute)
		s.declare(installed)
		if err := s.says(v1.ReasonRetrying, "exists and is not of this release")(w.History()); err != nil {
			t.Error(err)
		}
		mine = true
		w.Remove(theirs)
		w.Settle()
	}, sim.Runs(3), sim.For(0), sim.Verify(1))
}
