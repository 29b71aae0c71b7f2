// Package moods is what the tests of the command drive to see it switch to exact mode: a program whose runs differ now
// and then, as long as Go's runtime leaves something to chance.
package moods

import (
	"errors"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

var runs int

// mood is "exact" where two maps of one instant are gone through alike, and otherwise another one in every fifth run.
func mood() string {
	order := func() []int {
		m := make(map[int]bool, 64)
		for i := range 64 {
			m[i] = true
		}
		return slices.Collect(maps.Keys(m))
	}
	runs++
	switch {
	case slices.Equal(order(), order()) && slices.Equal(order(), order()):
		return "exact"
	case runs%5 == 0:
		return "bad"
	}
	return "good"
}

// TestMoods breaks in exact mode alone.
func TestMoods(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Always("no mood is exact", func(h *history.History) error {
			if o, ok := h.Object("", "ConfigMap", "default", "mood"); ok {
				var cm corev1.ConfigMap
				if err := o.Into(&cm); err != nil || cm.Data["is"] == "exact" {
					return errors.New("it is exact")
				}
			}
			return nil
		})
		w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mood"}, Data: map[string]string{"is": mood()}})
		w.Settle()
	}, sim.Verify(1))
}
