package trustmanager

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

//go:embed rotated.pem
var rotated string

// TestPromises asks for everything at once that users of the operator rely on, while they change
// what they want. hack/mutants plants bugs in the operator and measures how soon this finds them.
func TestPromises(t *testing.T) {
	start := operator(t)
	r := sim.Explore(t, func(w *sim.World) {
		start(w)
		w.Inject(fault.StaleCache(30*time.Second), fault.MissedStates(30*time.Second), fault.DroppedWatch(),
			fault.Relist(), fault.Crash("trust-manager"), fault.LostReply(), fault.Conflict(), fault.ServerError())
		w.Always("no controller overwrites a change that it has not observed", property.NoLostUpdate())
		w.Always("a reconcile at rest changes nothing", property.IdempotentAtRest())
		w.Always("what is called synced has been synced", func(h *history.History) error {
			if _, ok := h.Object("", "ConfigMap", "one", "ca"); !ok {
				return nil // its user has removed it
			}
			return synced(h)
		})
		w.Eventually("nothing outlives its owner", property.NoOrphans(time.Minute))
		w.Eventually("faults leave no trace", property.CrashSafe(w.Undisturbed()))
		want, key := certificate, "ca.crt"
		w.Eventually("the copy holds the certificates", func(h *history.History) error {
			return holds(h, key, want)
		})

		w.Apply(spread("a"), source(), team("one", "a"))
		w.Settle()

		// The certificates are replaced, and the bundle gets another key.
		want, key = rotated, "ca.pem"
		next := source()
		next.Data["ca.crt"] = rotated
		w.Apply(next, keyed("ca.pem"))
		w.Settle()

		// The old ones return, and a user who does not know the operator tidies up.
		want = certificate
		w.Apply(source())
		w.Remove(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "ca"}})
		w.Settle()
	})
	report := fmt.Sprintf("found=%t run=%d", r.Failure != nil, r.Runs)
	if r.Failure != nil {
		t.Errorf("%s seconds=%.3f by=%q step=%d flaky=%t property=%q: %s", report, r.Failure.Took.Seconds(),
			r.Failure.Strategy, r.Failure.Step, r.Failure.Flaky, r.Failure.Property, r.Failure.Message)
		return
	}
	t.Log(report)
}

// holds reports whether the copy in the namespace one has exactly this under exactly this key.
func holds(h *history.History, key, want string) error {
	var cm corev1.ConfigMap
	o, ok := h.Object("", "ConfigMap", "one", "ca")
	if !ok || o.Into(&cm) != nil {
		return errors.New("there is no copy")
	}
	if len(cm.Data) != 1 || strings.TrimSpace(cm.Data[key]) != strings.TrimSpace(want) {
		return fmt.Errorf("it holds %q", cm.Data)
	}
	return nil
}
