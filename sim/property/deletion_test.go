package property_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/property"
)

// A Namespace may be kept by a finalizer in its own metadata, whether it still holds something or
// not.
func TestNamespaceFinishesNamesItsFinalizers(t *testing.T) {
	kept := "kept by metadata.finalizers: " + finalizer
	for want, in := range map[string][]string{
		"is empty, and " + kept: nil,
		"still holds ConfigMap team/a (kept by " + finalizer + "), and is " + kept: {finalizer},
	} {
		f := sim.Explore(t, func(w *sim.World) {
			w.Without("no stuck finalizer")
			w.Eventually("namespaces finish", property.NamespaceFinishes(time.Minute))
			team := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team", Finalizers: []string{finalizer}}}
			a := work("a")
			a.Namespace, a.Finalizers = "team", in
			w.Apply(team, a)
			w.Remove(team)
			w.Settle()
			w.Sleep(2 * time.Minute)
			w.Settle()
		}, sim.Runs(1), sim.Shrink(0), sim.Stories(t.TempDir())).Failure
		if f == nil || !strings.HasSuffix(f.Message, want) {
			t.Errorf("it failed with %v; expected a message that ends with %q", f, want)
		}
	}
}
