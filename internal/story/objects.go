package story

import (
	"fmt"
	"slices"
	"strings"
)

// ObjectTotal counts how the reconciles of an object that a user made ended, over the runs of a
// campaign.
type ObjectTotal struct {
	Object     string `json:"object"` // kind and name
	Controller string `json:"controller"`
	Runs       int    `json:"runs"` // in which the object existed when the world was quiescent
	// Succeeded counts the runs in which its last reconcile had succeeded at one such moment.
	Succeeded int `json:"succeeded"`
	// Failure is the error of its last reconcile in the first run in which that failed.
	Failure string `json:"failure,omitempty"`
	// Missing are the objects that the error names and that do not exist.
	Missing []string `json:"missing,omitempty"`
	// Required is set if the campaign fails because the object never succeeded.
	Required bool `json:"required,omitempty"`
}

// NoNamespace ends the name of a missing object that was looked for without a namespace, though its
// kind has one.
const NoNamespace = " (no namespace)"

// maxObjects is how many objects of a campaign are counted: names may differ between runs.
const maxObjects = 1000

// AddObjects adds the counts of some objects to those of others.
func AddObjects(to, more []ObjectTotal) []ObjectTotal {
	for _, n := range more {
		same := func(t ObjectTotal) bool { return t.Object == n.Object && t.Controller == n.Controller }
		if len(to) >= maxObjects && !slices.ContainsFunc(to, same) {
			continue
		}
		t := at(&to, same, ObjectTotal{Object: n.Object, Controller: n.Controller})
		if t.Failure == "" {
			t.Failure, t.Missing = n.Failure, n.Missing
		}
		t.Runs += n.Runs
		t.Succeeded += n.Succeeded
		t.Required = t.Required || n.Required
	}
	return to
}

// enoughForObjects is how many runs of a campaign that is not complete say that an object never
// succeeds.
const enoughForObjects = 20

// maxHollow is how many objects are named that never succeed: a world may have thousands.
const maxHollow = 5

// HollowSentences has a sentence for each of the hollow objects that are required, or for each of
// the others; the last one counts those that are too many to be named.
func (r *Result) HollowSentences(required bool) (out []string) {
	more := 0
	for _, o := range r.Hollow() {
		switch {
		case o.Required != required:
		case len(out) == maxHollow:
			more++
		default:
			out = append(out, o.Sentence())
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("%d more objects never became ready", more))
	}
	return out
}

// Hollow are the objects whose last reconcile failed at every quiescent moment of every run. They
// existed in half of the runs at least. An object that is not required is only among them if its
// controller never succeeded for any object: a scenario may test that an object is refused.
func (r *Result) Hollow() (out []ObjectTotal) {
	if !r.Complete && r.Runs < enoughForObjects {
		return nil
	}
	succeeds := func(controller string) bool {
		return slices.ContainsFunc(r.Objects, func(o ObjectTotal) bool {
			return o.Controller == controller && o.Succeeded > 0
		})
	}
	for _, o := range r.Objects {
		if o.Succeeded == 0 && o.Runs > 0 && 2*o.Runs >= r.Runs && (o.Required || !succeeds(o.Controller)) {
			out = append(out, o)
		}
	}
	return out
}

// Sentence says that the object never succeeded, why, and what to do.
func (o ObjectTotal) Sentence() string {
	todo := "add to the scenario what the object needs"
	if o.Required {
		todo += `, or switch this off by auto.Without("every object reconciles")`
	}
	if len(o.Missing) > 0 {
		todo = fmt.Sprintf("add %s to the scenario", strings.Join(o.Missing, " and "))
		if nowhere, ok := strings.CutSuffix(o.Missing[0], NoNamespace); ok {
			todo = fmt.Sprintf("the program looked for %s without a namespace: give it the one that main does", nowhere)
		}
	}
	return fmt.Sprintf("%s never became ready: %s; %s (the last reconcile of controller %q failed whenever the world "+
		"was quiescent, in all %d runs, so what holds may hold because nothing is done)",
		o.Object, o.Failure, todo, o.Controller, o.Runs)
}
