package property_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

var secrets = history.Ref{Kind: "Secret"}

// paused reports whether the schedule is suspended, or does not exist.
func paused(h *history.History) bool {
	var cm corev1.ConfigMap
	o, ok := h.Object("", "ConfigMap", "default", "a")
	return !ok || o.Into(&cm) != nil || cm.Data["suspend"] == "yes"
}

// backsUpHourly makes a Secret each hour, the first at once. It begins again after a suspension.
// flaw is "third" or "again", or nothing.
func backsUpHourly(w *sim.World, flaw string) {
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		if cm.Data["suspend"] == "yes" {
			return result{}, nil
		}
		now := time.Now()
		at, _ := time.Parse(time.RFC3339, cm.Data["at"])
		if left := time.Hour - now.Sub(at); left > 0 && !(flaw == "again" && o.seen["backups"] == 0) {
			return result{RequeueAfter: left}, nil
		}
		if o.seen["backups"]++; flaw != "third" || o.seen["backups"] != 3 {
			name := at.Unix() // the same in each attempt
			if flaw == "again" {
				name = now.Unix()
			}
			backup := &corev1.Secret{ObjectMeta: named(fmt.Sprint("after-", name))}
			if err := client.IgnoreAlreadyExists(o.Create(c, backup)); err != nil {
				return result{}, err
			}
		}
		return result{RequeueAfter: time.Hour}, o.set(c, cm, "at", now.Format(time.RFC3339))
	}, nil)
}

func backsUp(flaw string) func(*sim.World, bool) {
	return func(w *sim.World, flawed bool) {
		w.Without("settles")
		w.Always("CreatedEachPeriod", property.CreatedEachPeriod(secrets, time.Hour, 5*time.Minute, paused))
		backsUpHourly(w, map[bool]string{true: flaw}[flawed])
		w.Sleep(2 * time.Hour) // without a schedule
		w.Apply(work("a"))
		w.Sleep(4*time.Hour + 20*time.Minute)
		edit(w, "suspend", "yes")
		w.Sleep(5 * time.Hour)
		edit(w, "suspend", "no")
		w.Sleep(90 * time.Minute)
		w.Stop("operator")
		w.Settle()
	}
}

func backsUpTwice(w *sim.World, flawed bool) {
	w.Without("settles")
	w.Eventually("CreatedExactly", property.CreatedExactly(secrets, 3))
	backsUpHourly(w, map[bool]string{true: "again"}[flawed])
	w.Apply(work("a"))
	w.Sleep(130 * time.Minute)
	w.Stop("operator")
	w.Sleep(time.Minute)
	w.Remove(work("a"))
	w.Settle()
}

// Without a function the first period begins with the run, and a crash may delay one creation.
func TestCreatedEachPeriodUnderFaults(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.Without("settles")
		w.Always("CreatedEachPeriod", property.CreatedEachPeriod(secrets, time.Hour, 5*time.Minute, nil))
		backsUpHourly(w, "")
		w.Inject(fault.Crash("operator"), fault.StaleCache(30*time.Second), fault.ServerError())
		w.Apply(work("a"))
		w.Sleep(5 * time.Hour)
		w.Settle()
	}, sim.Runs(50), sim.For(0), sim.Shrink(0))
}
