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
	fenced       = "of two processes only one goes on with what was begun"
	handsOff     = "a deployment of another provisioner is left alone"
)

// declare declares properties of a failing deployment.
func (w *World) declare(names ...string) {
	checks := map[string]func(*deployment) error{
		settles: w.settles, restrained: w.restrained, backoffGrows: w.backoffGrows, actionable: w.actionable,
		quiet: w.quiet, keepsOld: w.keepsOld, noWedge: w.noWedge,
		noOverlap: func(d *deployment) error { return d.overlap },
		bounded:   w.bounded,
	}
	for _, name := range names {
		w.Always(name, func(h *history.History) error {
			w.read(h)
			if w.faulty != (name == restrained) {
				return nil
			}
			return checks[name](w.of(app))
		})
	}
}

// mostRecords is how many release records may be kept.
const mostRecords = 10

// keepsOld (S0-S2): what a deployment had installed when something changed from outside stays.
func (r *Record) keepsOld(d *deployment) error {
	for o := range r.installedFor(d.name) {
		if at, gone := o.Removed(); gone && o.Created() <= r.changed && at >= r.changed {
			return fmt.Errorf("%s was installed, and its %s is gone", d.name, o.Ref)
		}
	}
	return nil
}

// bounded (S0-R1): no more than ten release records are kept.
func (r *Record) bounded(d *deployment) error {
	if n := r.releases(d.name); n > mostRecords {
		return fmt.Errorf("%s has %d release records", d.name, n)
	}
	return nil
}

// noWedge (S0-W1): three periods after a crash the deployment is installed, or its status has named
// the cause. Periods are sleeps that are longer than a clean-up takes, so that nothing but the
// operator is in its own way.
func (r *Record) noWedge(d *deployment) error {
	timers := 0
	for _, next := range d.since(r.crashed) {
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
	c := r.says(d.name)
	return fmt.Errorf("%s: since the crash at %s it has slept and tried %d times, and its status only says %s: %s",
		d.name, history.Clock(r.crashed), timers, c.Reason, oneLine(c.Message))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Installed holds when the deployments' status says that they are installed.
func (r *Record) Installed(names ...string) func(*history.History) error {
	return func(h *history.History) error {
		r.read(h)
		for _, name := range names {
			if c := r.says(name); !isTrue(c) {
				return fmt.Errorf("%s: %s: %s", name, c.Reason, oneLine(c.Message))
			}
		}
		return nil
	}
}

// NoOrphans (S1-S6, which the fixed variant takes over): what carries the deployment's name is what
// is wanted of it, so many objects.
func (r *Record) NoOrphans(name string, wanted int) func(*history.History) error {
	return func(h *history.History) error {
		r.read(h)
		var all []*view.Object[object]
		for o := range r.installedFor(name) {
			if o.Exists() {
				all = append(all, o)
			}
		}
		if isTrue(r.says(name)) && len(all) != wanted {
			return fmt.Errorf("%s is installed with %d objects, and %d carry its name, %s among them", name, wanted,
				len(all), first(all))
		}
		return nil
	}
}

// Recovers (S0-L3): so long after the last change from outside the deployment is installed. The
// time in which it is reconciled, which is as long as requests and clean-ups take, counts only as
// far as it is more than busy.
func (r *Record) Recovers(name string, within, busy time.Duration) func(*history.History) error {
	return func(h *history.History) error {
		r.read(h)
		c, since := r.says(name), h.Now()-r.changed
		late := since > within+busy || since > within && r.idle(r.of(name), h.Now()) > within
		if r.changed > 0 && late && !isTrue(c) {
			return fmt.Errorf("%s: %v after the cause was removed its status says %s: %s", name, since, c.Reason,
				oneLine(c.Message))
		}
		return nil
	}
}

// idle is for how long since the last change from outside nobody reconciled a deployment.
func (r *Record) idle(d *deployment, now history.Time) time.Duration {
	idle := now - r.changed
	for _, next := range d.reconciles {
		if begin := max(next.Began, r.changed); next.until(now) > begin {
			idle -= next.until(now) - begin
		}
	}
	return idle
}

// Prompt (S0-F1): whenever there is something to do for a deployment, a worker begins with it soon,
// whatever becomes of the others. The way of an event to the operator is not part of that.
func (r *Record) Prompt(name string, within time.Duration) func(*history.History) error {
	return func(h *history.History) error {
		r.read(h)
		for _, next := range r.of(name).reconciles {
			if late := next.Began - next.Ready; late > within {
				return fmt.Errorf("%s was due at %s, and it was %v until a worker had time for it", name,
					history.Clock(next.Ready), late)
			}
		}
		return nil
	}
}

// OneOwner (S0-T1): an object that two deployments want does not change hands, at most one of them
// is installed, and the status of each says that it is, or that the object is the other's. One that
// cannot be installed anyway may name that cause instead.
func (r *Record) OneOwner(name, other string) func(*history.History) error {
	return func(h *history.History) error {
		r.read(h)
		for _, o := range r.objects.All() {
			owners := map[string]bool{}
			for i := range o.States {
				owners[o.States[i].Value.Metadata.Labels[v1alpha1.OwnerNameLabel]] = true
			}
			if owners[name] && owners[other] {
				return fmt.Errorf("%s has belonged to %s and to %s", o.Ref, name, other)
			}
		}
		if isTrue(r.says(name)) && isTrue(r.says(other)) {
			return fmt.Errorf("%s and %s both say that they are installed", name, other)
		}
		for _, name := range []string{name, other} {
			if c := r.says(name); !isTrue(c) && !namesCause(c) && !namesOwner(c) {
				return fmt.Errorf("%s: the status says neither that it is installed, nor the cause, nor that its "+
					"objects are another's, but %s: %s", name, c.Reason, oneLine(c.Message))
			}
		}
		return nil
	}
}

// namesOwner says whether a status says that an object is another's: in Helm's words, or in the API
// server's (ValidateOwnerReferences).
func namesOwner(c metav1.Condition) bool {
	return strings.Contains(c.Message, "cannot be imported into the current release") ||
		strings.Contains(c.Message, "Only one reference can have Controller set to true")
}

// Fenced (S1-S8, which the fixed variant takes over): of two processes only one goes on with what
// was begun.
func (r *Record) Fenced(h *history.History) error {
	r.read(h)
	return r.fence.Broken()
}

// OneAtATime (S0-T1): one worker at a time reconciles a deployment.
func (r *Record) OneAtATime(h *history.History) error {
	r.read(h)
	for _, name := range r.names() {
		if err := r.of(name).crowded; err != nil {
			return err
		}
	}
	return nil
}

// HandsOff holds while no attempt has begun since the last change from outside.
func (r *Record) HandsOff(name string) func(*history.History) error {
	return func(h *history.History) error {
		r.read(h)
		for _, next := range r.of(name).since(r.changed) {
			if next.attempts > 0 {
				return fmt.Errorf("%s is somebody else's since %s, and at %s an attempt began", name,
					history.Clock(r.changed), history.Clock(next.Began))
			}
		}
		return nil
	}
}
