package correct

import (
	"fmt"
	"slices"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

// stage is the world of a scenario, with what the scenarios of the suite have in common.
type stage struct {
	*sim.World
	processes   []string
	controllers []string // that are not named like a process
	unfit       []string // faults that find nothing to disturb, by the beginning of their declaration

	// A bare stage has no users and no properties of the scenario. What users would apply are
	// samples.
	bare    bool
	samples []client.Object
	broken  []string // properties of package auto that the operator does not promise
}

// start adds a process with a manager, and declares the definition of Widgets.
func (s *stage) start(name string, options ctrl.Options, setup func(ctrl.Manager) error) {
	options.Scheme = scheme
	if len(s.processes) == 0 {
		s.Install("testdata/widgets.yaml")
	}
	s.processes = append(s.processes, name)
	s.Start(name, setup, sim.Options(options))
}

// disturb declares the faults that any operator may experience, and those that the scenario adds.
func (s *stage) disturb(more ...fault.Fault) {
	for _, p := range s.processes {
		more = append(more, fault.Crash(p), fault.Restart(p), fault.Pause(p, 30*time.Second))
	}
	more = append(more, fault.StaleCache(30*time.Second), fault.StaleServer(10*time.Second), fault.LostReply(),
		fault.Conflict(), fault.ServerError(), fault.Relist(), fault.DroppedWatch(), fault.MissedStates(20*time.Second),
		fault.Unreachable(20*time.Second), fault.Forbidden(20*time.Second), fault.RacingRequeue())
	s.Inject(slices.DeleteFunc(more, func(f fault.Fault) bool {
		return slices.ContainsFunc(s.unfit, func(name string) bool { return strings.HasPrefix(f.String(), name) })
	})...)
}

// outside are the faults of a service outside the cluster.
func outside() []fault.Fault {
	return []fault.Fault{fault.FailedEffect(), fault.SlowEffect(5 * time.Second), fault.DoubledEffect()}
}

// The names of the properties that promise declares.
const (
	sameEnd   = "faults do not change the end state"
	restful   = "a settled world stays as it is"
	lost      = "no controller overwrites a change that it has not observed"
	orphans   = "nothing outlives its owners"
	names     = "status names what exists"
	observed  = "observedGeneration is true"
	deletes   = "only what was read is deleted"
	starving  = "no key waits long for a worker"
	backingUp = "a failing key keeps to its back-off"
	futile    = "no key is requeued in vain"
)

// promise declares the properties of package property that fit any operator, except those that are
// named. The scenario may not draw values later.
func (s *stage) promise(except ...string) {
	if s.bare {
		for _, name := range except {
			if asked := byAuto[name]; asked != "" {
				s.broken = append(s.broken, asked)
			}
		}
		return
	}
	always := func(name string, holds func(*history.History) error) {
		if !slices.Contains(except, name) {
			s.Always(name, holds)
		}
	}
	always(restful, property.IdempotentAtRest())
	always(lost, property.NoLostUpdate())
	always(deletes, property.DeletesWhatItRead())
	always(starving, property.NoStarvation(time.Minute)) // a cache that starts waits while two faults last
	for _, name := range slices.Concat(s.processes, s.controllers) {
		always(name+": "+backingUp, property.BackoffSettled(name, 5*time.Second, nil))
	}
	always(futile, property.NoFutileRequeue(20))
	eventually := func(name string, holds func(*history.History) error) {
		if !slices.Contains(except, name) {
			s.Eventually(name, holds)
		}
	}
	eventually(orphans, property.NoOrphans(time.Minute))
	eventually(names, property.StatusNamesWhatExists())
	eventually(observed, property.ObservedGeneration())
	if !slices.Contains(except, sameEnd) {
		s.Eventually(sameEnd, property.CrashSafe(s.Undisturbed()))
	}
}

// edit is the change of a Widget by a user.
func (s *stage) edit(name string, change func(*Widget)) {
	if s.bare {
		return
	}
	var w Widget
	must(s.Client().Get(s.Context(), key(name), &w))
	old := w.DeepCopy()
	change(&w)
	must(s.Client().Patch(s.Context(), &w, client.MergeFrom(old)))
}

// restart ends every process. The next incarnation reconciles all that there is.
func (s *stage) restart() {
	if s.bare {
		return
	}
	for _, p := range s.processes {
		s.World.Stop(p)
	}
	s.Settle()
}

// finally declares what the operator must have done with a Widget, if it exists, whenever the world
// has settled.
func (s *stage) finally(sentence, name string, holds func(*history.History, *Widget) error) {
	s.Eventually(sentence, func(h *history.History) error {
		var w Widget
		if o, ok := h.Object(group.Group, "Widget", ns, name); !ok || o.Into(&w) != nil {
			return nil
		}
		return holds(h, &w)
	})
}

// ownedBy maps an object to the Widgets that own it, whether as controllers or not.
func ownedBy(mgr ctrl.Manager) handler.EventHandler {
	return handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &Widget{})
}

// into reads an object of the history, and reports whether it exists.
func into(h *history.History, group, kind, namespace, name string, out any) bool {
	o, ok := h.Object(group, kind, namespace, name)
	return ok && o.Into(out) == nil
}

// absent complains about an object that exists.
func absent(h *history.History, kind, name string) error {
	if _, ok := h.Object("", kind, ns, name); ok {
		return fmt.Errorf("%s %s exists", kind, name)
	}
	return nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
