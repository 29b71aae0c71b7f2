// This file judges how often an upgrade is tried again that is refused for good.

package clusterextension

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
	"github.com/wavetank/wavetank/sim/property"
)

const (
	// periods is how many attempts are made after the faults, at least.
	periods = 5
	// longestSleep is the limit of the work queue, longestRestart that of the kubelet.
	longestSleep, longestRestart = 1000 * time.Second, 5 * time.Minute
)

// attempts reports whether a request asks for the object that is refused.
func attempts(e *history.Event) bool {
	return e.Verb == "create" && e.Ref.Kind == "Deployment" && e.Ref.Namespace == cause
}

// settles holds if there is one attempt in each period of back-off, and the operator keeps trying
// after the faults.
func (b *Record) settles() properties.Judge {
	paced := property.BackoffSettled("controller-operator-cluster-extension-controller", time.Second, attempts)
	return func(h *history.History) error {
		if err := paced(h); err != nil || !b.over {
			return err
		}
		n := 0
		for _, e := range h.Events {
			if e.Kind == history.Request && e.At >= b.measuredFrom && attempts(&e) {
				n++
			}
		}
		if n < periods {
			return fmt.Errorf("%d attempts since %s, and %d are expected; the status says %s", n,
				history.Clock(b.measuredFrom), periods, b.status)
		}
		return nil
	}
}

// count returns how many elements match.
func count[T any](all []T, matches func(T) bool) (n int) {
	for _, element := range all {
		if matches(element) {
			n++
		}
	}
	return n
}
