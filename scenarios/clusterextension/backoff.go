// This file judges how often an upgrade is tried again that is refused for good.

package clusterextension

import (
	"cmp"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
	"github.com/wavetank/wavetank/sim/property"
)

// maxSleep is the limit of the work queue, maxRestart that of the kubelet.
const maxSleep, maxRestart = 1000 * time.Second, 5 * time.Minute

// attempts reports whether a request asks for the object that is refused.
func attempts(e *history.Event) bool {
	return e.Verb == "create" && e.Ref.Kind == "Deployment" && e.Ref.Namespace == cause
}

// settles holds if there is one attempt in each period of back-off, and the operator keeps trying
// after the faults.
func (b *Record) settles() properties.Judge {
	paced := property.BackoffSettled("controller-operator-cluster-extension-controller", time.Second, attempts)
	continues := property.AttemptsSettle(property.Attempts{
		Of: func(e *history.Event) string {
			if e.Kind == history.Request && attempts(e) {
				return app
			}
			return ""
		},
		Period:  func([]property.Attempt) time.Duration { return 0 }, // BackoffSettled judges them
		Longest: maxSleep + time.Minute, Ended: func() history.Time { return b.measuredFrom },
	})
	return func(h *history.History) error { return cmp.Or(paced(h), continues(h)) }
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
