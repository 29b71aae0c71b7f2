package upstream

import (
	"slices"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim"
)

// TestANamespaceOfOwners deletes a namespace with the work of the collector under way in it.
func TestANamespaceOfOwners(t *testing.T) {
	scenario := func(w *sim.World) {
		w.Install(widgets())
		w.Apply(shop())
		w.Sleep(31 * time.Second)
		f := family{w}
		root := f.make("ConfigMap", "root")
		f.make("Widget", "inner", blocking(root))
		f.make("Secret", "held", blocking(root))
		f.hold("Secret", "held", "x.example/one")
		f.make("Secret", "spared", f.make("Widget", "orphaning"))
		f.make("Secret", "abroad", f.makeIn("default", "ConfigMap", "owner"))
		f.hold("Widget", "orphaning", "orphan")
		f.delete("ConfigMap", "root", foreground)
		w.Remove(shop())
		w.Sleep(time.Minute)
		f.patch("Secret", "held", `{"metadata":{"finalizers":null}}`)
		w.Sleep(time.Minute)
	}
	first := ends(t, nil, scenario, state)[0].left
	for i, e := range ends(t, slices.Concat(namespaces, garbage), scenario, state) {
		if e.left != first {
			t.Errorf("the real controllers, run %d, leave otherwise than the models (-):\n%s", i, diff(first, e.left))
		}
	}
	t.Logf("left in the end:\n%s", first)
}
