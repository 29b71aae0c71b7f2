// This file exists to show at a glance what the variants of the story do differently: one policy,
// one line for each step from the framework as it was to the fixed variant.

package throttle

import (
	"fmt"
	"time"
)

// Variant names one stage of the story. The zero value is V4, the one to use.
type Variant string

// The variants, in the order of the story.
const (
	// V0a logs an error of the framework and goes on. The events that make it a hot loop are of the
	// handlers' own making.
	V0a Variant = "V0a"
	// V0b is V0a where handlers write to nothing but their children, so that no event follows.
	V0b Variant = "V0b"
	// V0c tries an object again half a second after a failure.
	V0c Variant = "V0c"
	// V1 ends the process, and leaves the rest to the kubelet: pull request 350.
	V1 Variant = "V1"
	// V2 throttles the object: pull request 351.
	V2 Variant = "V2"
	// V1V2 is what shipped: V2 for what happens to an object, V1 for the thin layer around it.
	V1V2 Variant = "V1+V2"
	// V3 is V0a with names of annotations that are always legal.
	V3 Variant = "V3"
	// V4 is the fixed variant.
	V4 Variant = "V4"
)

// reaction is what follows an error that is not a handler's.
type reaction int

const (
	swallow  reaction = iota // nothing: the event is lost
	insist                   // the object is tried again half a second later
	crash                    // the process ends
	throttle                 // the worker sleeps before it looks at the newest event
	backOff                  // the object is read and tried again after the same delays, and no worker waits for that
)

// policy is the set of decisions in which the variants differ. The zero policy is V0a.
type policy struct {
	// after follows an error on the way of an object through its handlers, around one outside of
	// that.
	after, around reaction
	// mute keeps handlers from writing to the object that they are called for.
	mute bool
	// key makes the name of a handler's annotation.
	key func(handler string) string
	// intent has a handler's start persisted before it runs, and names what it makes after that.
	intent bool
	// classify distinguishes answers of the API server, and keeps what a handler has come to until
	// it has been written down.
	classify bool
	// report says on the object, or where that is refused in an Event about it, what went wrong.
	report bool
	// idle is how long a worker waits for another event of its object before it ends.
	idle time.Duration
}

// policies is the table of the story.
func policies() map[Variant]policy {
	v0a := policy{key: plainKey, idle: 5 * time.Second}
	v0b := v0a
	v0b.mute = true
	v0c := v0a
	v0c.after, v0c.around = insist, insist
	v1 := v0a
	v1.after, v1.around = crash, crash
	v2 := v0a
	v2.after = throttle
	v1v2 := v2
	v1v2.around = crash
	v3 := v0a
	v3.key = legalKey
	v4 := policy{after: backOff, around: backOff, key: legalKey, intent: true, classify: true, report: true}

	return map[Variant]policy{V0a: v0a, V0b: v0b, V0c: v0c, V1: v1, V2: v2, V1V2: v1v2, V3: v3, V4: v4, "": v4}
}

// Variants lists every variant in the order of the story.
func Variants() []Variant { return []Variant{V0a, V0b, V0c, V1, V2, V1V2, V3, V4} }

func (v Variant) policy() (policy, error) {
	p, ok := policies()[v]
	if !ok {
		return policy{}, fmt.Errorf("throttle: there is no variant %q; the variants are %v", string(v), Variants())
	}
	return p, nil
}
