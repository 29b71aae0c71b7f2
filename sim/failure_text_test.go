package sim_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

// A failure says what a write changed, which line of the operator sent it, and that it needs no
// fault. Doubled runs are alike with all that.
func TestAFailureSaysWhatWasChangedFromWhereAndWhatItNeeds(t *testing.T) {
	f := sim.Explore(t, func(w *sim.World) {
		w.Start("mirror", func(mgr ctrl.Manager) error {
			return (&mirror{Client: mgr.GetClient()}).SetupWithManager(mgr)
		})
		w.Always("the copy stays", func(h *history.History) error {
			var copied corev1.ConfigMap
			o, ok := h.Object("", "ConfigMap", "default", "a-copy")
			if ok && o.Into(&copied) == nil && copied.Data["k"] == "2" {
				return errors.New("it changes")
			}
			return nil
		})
		w.Apply(withRole("source", configMap("a", "k", "1")))
		w.Settle()
		w.Apply(withRole("source", configMap("a", "k", "2")))
		w.Settle()
	}, sim.Verify(1)).Failure
	if f == nil {
		t.Fatal("nothing is found")
	}
	text := f.Text()
	for _, want := range []string{
		`    needs no fault, no delay and no other order: it fails on the default schedule`,
		`user +\S+ ConfigMap default/a → rv \d+ \(data\.k 1 → 2\)\n`,
		`mirror/1 +\S+ ConfigMap default/a-copy → rv \d+ \(data\.k 1 → 2\) at sim/operators_test\.go:\d+\n`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, " /") {
		t.Errorf("a path of this machine is in\n%s", text)
	}
	last := f.History.Events[len(f.History.Events)-1]
	if last.Kind != history.Violation || len(last.Read) != 1 || last.Read[0].Name != "a-copy" {
		t.Errorf("the violation names the objects %v", last.Read)
	}
}
