// This file holds the properties, by name, and those of what becomes of deployments and of their
// objects. Those of failures that settle are in backoff.go.

package bundledeployment

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/scenarios/internal/fence"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
	"github.com/wavetank/wavetank/sim/property"
)

// The names of the properties.
const (
	settles      = "there is one attempt for each period of back-off"
	restrained   = "a period has at most one attempt more than faults"
	backoffGrows = "the back-off counts one failure for each attempt"
	actionable   = "the status names the root cause"
	quiet        = "the status is not written while nothing is new"
	noOverlap    = "no attempt meets what is left of the one before"
	noOrphans    = "nothing is left of what is no longer wanted"
	keepsOld     = "what was installed outlives a failing upgrade"
	bounded      = "no more than ten release records are kept"
	recovers     = "it is installed soon after the cause is gone"
	prompt       = "a healthy deployment does not wait for failing ones"
	oneOwner     = "an object that two want belongs to one"
	noWedge      = "a crash wedges nothing"
	installed    = "every deployment is installed in the end"
	oneAtATime   = "one worker at a time reconciles a deployment"
	watchedOnce  = "a kind is watched once"
	stillWatched = "what is installed is watched"
	fenced       = fence.Property
	handsOff     = "a deployment of another provisioner is left alone"
)

// declare declares properties of app. During a fault phase that ends later, only restrained is
// judged, and at other times all others are. noOverlap (S0-S1), oneAtATime (S0-T1) and fenced
// (S1-S8, which the fixed variant takes over) are judged while the history is read.
func (w *World) declare(names ...string) {
	properties.Set{Read: w.read, Broken: w.Broken, Always: map[string]properties.Judge{
		settles:      property.AttemptsSettle(w.tries(0, func() history.Time { return w.measured })),
		restrained:   property.AttemptsBounded(w.tries(lag, func() history.Time { return 0 })),
		backoffGrows: w.judged(w.backoffGrows), quiet: w.judged(w.quiet), actionable: w.actionable,
		keepsOld: w.keepsOld, noWedge: w.noWedge, bounded: boundedRecords(), oneOwner: w.oneOwner,
		watchedOnce: w.watchedOnce, noOverlap: nil, oneAtATime: nil, fenced: nil,
	}, Eventually: map[string]properties.Judge{
		installed: w.installed, noOrphans: w.noOrphans, stillWatched: w.stillWatched,
	}, Paused: func(name string) bool { return w.faulty != (name == restrained) }}.Declare(w.World, names...)
}

// always declares a property of what the record has read.
func (w *World) always(name string, holds func() error) {
	w.Always(name, func(h *history.History) error {
		w.read(h)
		return holds()
	})
}

// keepsOld (S0-S2): the objects of a deployment stay that were installed before the last change.
func (r *Record) keepsOld(*history.History) error {
	for _, o := range r.objects.All() {
		at, gone := o.Removed()
		if owner(o) == app && gone && o.Created() <= r.changed && at >= r.changed {
			return fmt.Errorf("%s was installed, and its %s is gone", app, o.Ref)
		}
	}
	return nil
}

// boundedRecords (S0-R1) holds if no more than ten release records are kept.
func boundedRecords() properties.Judge {
	return property.BoundedRecords(history.Ref{Kind: "Secret"}, 10, func(o history.Object) string {
		var record metadata
		if o.Into(&record) != nil || record.Labels["owner"] != "helm" || record.Labels["name"] != app {
			return ""
		}
		return app
	})
}

// noWedge (S0-W1): three periods after a crash the deployment is installed, or its status has named
// the cause. Only sleeps count that are longer than a clean-up takes.
func (r *Record) noWedge(*history.History) error {
	timers := 0
	for _, next := range r.since(r.crashed) {
		if isTrue(next.ends) || namesCause(next.ends) {
			return nil
		}
		if next.Timed && next.Wait > r.cleanUp && next.Over {
			timers++
		}
	}
	if timers <= 3 {
		return nil
	}
	return fmt.Errorf("%s: since the crash at %s it has slept and tried %d times, and its status only says %s", app,
		history.Clock(r.crashed), timers, text(r.says(app)))
}

// text is the reason and the message of a condition, on one line.
func text(c metav1.Condition) string {
	return c.Reason + ": " + strings.Join(strings.Fields(c.Message), " ")
}

// installed holds when the status of app says that it is installed.
func (r *Record) installed(*history.History) error {
	if c := r.says(app); !isTrue(c) {
		return fmt.Errorf("%s: %s", app, text(c))
	}
	return nil
}

// noOrphans (S1-S6, which the fixed variant takes over): the objects labelled with the name of app
// are those that are wanted, a namespace and a ConfigMap.
func (r *Record) noOrphans(*history.History) error {
	const wanted = 2
	var all []*view.Object[metadata]
	for o := range r.objects.Live() {
		if owner(o) == app {
			all = append(all, o)
		}
	}
	if isTrue(r.says(app)) && len(all) != wanted {
		return fmt.Errorf("%s is installed with %d objects, and %d carry its name, %s among them", app, wanted,
			len(all), first(all))
	}
	return nil
}

// recovers (S0-L3): the deployment is installed within this time after the last change. The
// duration of its reconciles, which depends on requests and clean-ups, counts only as far as it
// exceeds busy.
func (r *Record) recovers(within, busy time.Duration) error {
	c, since := r.says(app), r.now-r.changed
	late := since > within+busy || since > within && r.idle() > within
	if r.changed > 0 && late && !isTrue(c) {
		return fmt.Errorf("%s: %v after the cause was removed its status says %s", app, since, text(c))
	}
	return nil
}

// idle returns for how long app was not reconciled since the last change.
func (r *Record) idle() time.Duration {
	idle := r.now - r.changed
	for _, next := range r.of(app).reconciles {
		idle -= max(next.until(r.now)-max(next.Began, r.changed), 0)
	}
	return idle
}

// oneOwner (S0-T1): an object that two deployments want never changes its owner, and at most one of
// them is installed. The status of each reports that it is installed, or that the object belongs to
// the other, or the cause for which it could not be installed anyway.
func (r *Record) oneOwner(*history.History) error {
	for _, o := range r.objects.All() {
		owners := map[string]bool{}
		for i := range o.States {
			owners[o.States[i].Value.Labels[v1alpha1.OwnerNameLabel]] = true
		}
		if owners[app] && owners[second] {
			return fmt.Errorf("%s has belonged to %s and to %s", o.Ref, app, second)
		}
	}
	if isTrue(r.says(app)) && isTrue(r.says(second)) {
		return fmt.Errorf("%s and %s both say that they are installed", app, second)
	}
	for _, name := range []string{app, second} {
		if c := r.says(name); !isTrue(c) && !namesCause(c) && !namesOwner(c) {
			return fmt.Errorf("%s: the status says neither that it is installed, nor the cause, nor that its objects "+
				"are another's, but %s", name, text(c))
		}
	}
	return nil
}

// namesOwner reports whether a status names another owner of an object: in Helm's words, or in
// those of the API server (ValidateOwnerReferences).
func namesOwner(c metav1.Condition) bool {
	return strings.Contains(c.Message, "cannot be imported into the current release") ||
		strings.Contains(c.Message, "Only one reference can have Controller set to true")
}

// handsOff holds while no attempt at app has begun since the last change.
func (r *Record) handsOff() error {
	for _, next := range r.since(r.changed) {
		if next.attempts > 0 {
			return fmt.Errorf("%s has another provisioner since %s, and at %s an attempt began", app,
				history.Clock(r.changed), history.Clock(next.Began))
		}
	}
	return nil
}
