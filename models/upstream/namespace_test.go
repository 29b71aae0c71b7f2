package upstream

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

var namespaces = []controller{{"namespace-controller",
	func(w *sim.World, name string) { w.Run(name, namespaceController) }}}

func shop() *corev1.Namespace { return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}} }

func in(namespace, name string, finalizers ...string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: finalizers}
}

func pod(name string, grace int64) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: in("shop", name), Spec: corev1.PodSpec{
		NodeName: "n1", TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{Name: "c", Image: "i"}},
	}}
}

// release takes the finalizers off an object.
func release(w *sim.World, o client.Object) {
	key := client.ObjectKeyFromObject(o)
	if err := w.Client().Get(w.Context(), key, o); err != nil {
		panic(err)
	}
	o.SetFinalizers(nil)
	if err := w.Client().Update(w.Context(), o); err != nil {
		panic(err)
	}
}

func TestNamespace(t *testing.T) {
	for name, scenario := range map[string]func(*sim.World){
		"that is empty": func(w *sim.World) {
			w.Remove(shop())
			w.Sleep(time.Minute)
		},
		"with content": func(w *sim.World) {
			w.Apply(&corev1.ConfigMap{ObjectMeta: in("shop", "a")}, &corev1.Secret{ObjectMeta: in("shop", "a")},
				&corev1.ServiceAccount{ObjectMeta: in("shop", "a")})
			w.Remove(shop())
			w.Sleep(time.Minute)
		},
		"held by finalizers": func(w *sim.World) {
			w.Apply(&corev1.ConfigMap{ObjectMeta: in("shop", "a", "x.example/one")},
				&corev1.ConfigMap{ObjectMeta: in("shop", "b", "x.example/one", "x.example/two")},
				&corev1.Secret{ObjectMeta: in("shop", "a")})
			w.Remove(shop())
			w.Sleep(time.Minute)
		},
		"held for a while": func(w *sim.World) {
			held := &corev1.ConfigMap{ObjectMeta: in("shop", "a", "x.example/one")}
			w.Apply(held)
			w.Remove(shop())
			w.Sleep(time.Minute)
			release(w, held)
			w.Sleep(time.Minute)
		},
		"with pods that terminate": func(w *sim.World) {
			w.Apply(pod("a", 100), &corev1.ConfigMap{ObjectMeta: in("shop", "a")})
			w.Remove(shop())
			w.Sleep(time.Minute)
		},
		"with pods whose grace is over": func(w *sim.World) {
			w.Apply(pod("a", 20), &corev1.ConfigMap{ObjectMeta: in("shop", "a")})
			w.Remove(shop())
			w.Sleep(2 * time.Minute)
		},
		"of a name that comes again": func(w *sim.World) {
			w.Remove(shop())
			w.Sleep(time.Minute)
			w.Apply(shop(), &corev1.ConfigMap{ObjectMeta: in("shop", "a")})
			w.Sleep(time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, namespaces, func(w *sim.World) {
				w.Apply(shop())
				scenario(w)
			})
		})
	}
}

// The comparison fails if no controller does the work.
func TestWhatIsComparedDiffers(t *testing.T) {
	scenario := func(w *sim.World) {
		w.Apply(shop())
		w.Remove(shop())
		w.Sleep(time.Minute)
	}
	ours := ends(t, nil, scenario, state)
	if nobodys := ends(t, []controller{{name: "namespace-controller"}}, scenario, state); nobodys[0] == ours[0] {
		t.Errorf("without any namespace controller the end is the same:\n%s", ours[0])
	}
}

// TestPassesComeAtTheSameTimes compares when the collection that holds a namespace is deleted, in
// the run without latencies that comes first. The passes of the real controller take longer, for
// they ask after every type.
func TestPassesComeAtTheSameTimes(t *testing.T) {
	scenario := func(w *sim.World) {
		w.Apply(shop(), &corev1.ConfigMap{ObjectMeta: in("shop", "a", "x.example/one")})
		w.Remove(shop())
		w.Sleep(40 * time.Second)
	}
	passes := func(h *history.History) (at []time.Duration) {
		var began time.Duration
		for _, e := range h.Events {
			switch {
			case e.Kind != history.Request:
			case e.Process == "user" && e.Verb == "delete":
				began = e.At
			case e.Process == "namespace-controller" && e.Verb == "deletecollection" && e.Ref.Kind == "ConfigMap":
				at = append(at, e.At-began)
			}
		}
		return at
	}
	for _, arm := range [][]controller{nil, namespaces} {
		got := ends(t, arm, scenario, passes)[0]
		t.Logf("passes after %v", got)
		want := []time.Duration{5 * time.Second, 10 * time.Second, 18 * time.Second, 26 * time.Second, 34 * time.Second}
		if len(got) != len(want) {
			t.Fatalf("real controllers %v: passes after %v, want about %v", arm != nil, got, want)
		}
		for i := range want {
			if late := got[i] - want[i]; late < 0 || late > time.Second {
				t.Errorf("real controllers %v: passes after %v, want about %v", arm != nil, got, want)
			}
		}
	}
}
