package auto_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
	"github.com/wavetank/wavetank/sim/result"
)

// All widgets get the size of the first. That is found if two widgets have nothing to do with one
// another, and not if one names the other. Who comes first may get the first number.
func TestOrder(t *testing.T) {
	// An annotation names what belongs together: users draw parts as they like, and leave them out.
	two := func(beside string) auto.Option {
		left := &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "left"}, Spec: WidgetSpec{Size: 1}}
		right := copied(left)
		right.Spec.Size = 2
		right.Name, right.Annotations = "right", map[string]string{"beside": beside}
		return auto.Objects(left, right)
	}
	exchanged := 0
	explore := func(flaw string, o ...auto.Option) *result.Failure {
		return sim.Explore(t, func(w *sim.World) {
			start(w, flaw)
			auto.Scenario(w, append(o, auto.Actions(2))...)
			for _, d := range w.History().Draws() {
				if d.Label == "order" {
					exchanged++
				}
			}
		}, sim.Runs(20), sim.For(0)).Failure
	}
	f := explore("keeps the first", two("nobody"))
	if f == nil || f.Property != auto.SameInAnyOrder || !strings.Contains(f.Message, "create Widget default/left") {
		t.Fatalf("expected %q, found %+v", auto.SameInAnyOrder, f)
	}
	t.Log(f.Message)
	for _, c := range f.Story.Choices {
		if c.Of != "order" {
			t.Errorf("the exchange is enough, and %v is left", c)
		}
	}
	exchanged = 0
	if f := explore("", two("nobody")); f != nil {
		t.Errorf("a correct operator: %+v", f)
	}
	if exchanged < 3 {
		t.Errorf("of 20 runs %d had another order", exchanged)
	}
	if f := explore("numbers them", two("nobody")); f != nil {
		t.Errorf("they have exchanged their numbers: %+v", f)
	}
	if f := explore("keeps the first", two("left")); f != nil {
		t.Errorf("one widget names the other: %+v", f)
	}
	if f := explore("keeps the first", two("nobody"), auto.Without(auto.SameInAnyOrder)); f != nil {
		t.Errorf("it is switched off: %+v", f)
	}
}
