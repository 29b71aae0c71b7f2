// This file tests every order in which a namespace can be emptied.

package reposync

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
)

// stride leaves out orders: go test has no time for all 5040.
var stride = flag.Int("orders.stride", 250, "try one in so many of the 5040 orders of types; 1 for all")

// The types of what is in the namespace: the three that matter to each other first.
var kindsInside = []string{
	"rolebindings.rbac.authorization.k8s.io", "reposyncs.configsync.gke.io", "resourcegroups.kpt.dev", "secrets",
	"configmaps", "services", "serviceaccounts",
}

// orders calls f with every order of a list.
func orders(list []string, f func([]string)) {
	var place func(done, left []string)
	place = func(done, left []string) {
		if len(left) == 0 {
			f(slices.Clone(done))
		}
		for i := range left {
			place(append(slices.Clone(done), left[i]), slices.Delete(slices.Clone(left), i, i+1))
		}
	}
	place(nil, list)
}

// stuck reports whether the namespace does not finish in the undisturbed run, with the types
// deleted in an order.
func stuck(t *testing.T, v reposync.Variant, order []string, pace time.Duration) bool {
	t.Helper()
	return breaks(t, finishes, v, order, pace)
}

// breaks reports whether that run breaks a property.
func breaks(t *testing.T, property string, v reposync.Variant, order []string, pace time.Duration) bool {
	t.Helper()
	scenario := of(Setting{Chain: 2, Order: order, Pace: pace}, deletesNamespace).New(v, []string{property})
	r := sim.Explore(t, scenario, sim.Runs(1), sim.For(0), sim.Verify(0), sim.Shrink(0), sim.Stories(t.TempDir()))
	if f := r.Failure; f != nil && f.Property != property {
		t.Fatalf("%v: %s", order, f.Text())
	}
	return r.Failure != nil
}

// paces are how long the namespace controller takes for each of its steps: nothing promises how
// soon one type is emptied after another. The reconciler is faster than the slowest, and never as
// fast as the fastest.
var paces = []time.Duration{0, 100 * time.Millisecond, time.Second, 5 * time.Second}

var fastest, slowest = paces[0], paces[len(paces)-1]

// failsOrderly reports whether a variant fails a case in an undisturbed run. V7 does not: its
// reconciler has done before the namespace controller begins.
func failsOrderly(name string, v reposync.Variant) bool {
	return v != reposync.V7 && Table().Case(name).Outcome(v) == matrix.Fails
}

// The six orders of the types that matter to each other, for every variant. Who is stuck in the
// table is stuck at any pace where the RoleBinding goes before the RepoSync is deleted. Otherwise
// the reconciler has a time to do its work in: none in the fastest namespace, enough in the
// slowest, and between these it depends on the other types, too. Who is not stuck in the table
// never is.
//
//make:campaigns
func TestOrdersOfThePairsThatMatter(t *testing.T) {
	for _, v := range reposync.Variants() {
		fails := failsOrderly("namespace finishes", v)
		for _, pace := range paces {
			if between := pace != fastest && pace != slowest; between && !fails && v != reposync.V10 {
				continue // it takes seconds, and none of them has been seen to mind
			}
			orders(kindsInside[:3], func(order []string) {
				early := slices.Index(order, kindsInside[0]) < slices.Index(order, kindsInside[1])
				if fails && !early && pace != fastest && pace != slowest {
					return
				}
				if want := fails && (early || pace == fastest); want != stuck(t, v, order, pace) {
					t.Errorf("%s is stuck after %v at a pace of %v: want %v", v, order, pace, want)
				}
			})
		}
	}
}

// The six orders of what is managed, each of which depends on the next, at both ends: only one of
// them is right, and a variant that does not enforce it keeps it by luck.
//
//make:campaigns
func TestOrdersOfWhatIsManaged(t *testing.T) {
	right := kindsInside[4:]
	for _, v := range reposync.Variants() {
		for _, pace := range []time.Duration{fastest, slowest} {
			orders(right, func(order []string) {
				fails := failsOrderly("order among all, namespace deleted", v) && !slices.Equal(order, right)
				if fails != breaks(t, strongOrder, v, order, pace) {
					t.Errorf("%s deletes out of order after %v at a pace of %v: want %v", v, order, pace, fails)
				}
			})
		}
	}
}

// If the RoleBinding goes long before the RepoSync is deleted, the manager tries to create it, gets
// the error that the namespace terminates, and reports it on the RepoSync.
func TestABindingIsNotCreatedInATerminatingNamespace(t *testing.T) {
	refused, said := false, false
	scenario := of(Setting{Order: kindsInside[:2], Pace: 5 * time.Second}, func(s *World) {
		deletesNamespace(s)
		s.Sleep(12 * time.Second)
		for _, e := range s.History().Events {
			terminating := strings.Contains(string(e.Received), "NamespaceTerminating")
			refused = refused || e.Process == Manager && e.Verb == "create" && e.Ref.Kind == "RoleBinding" &&
				terminating
		}
		s.read(s.History())
		said = strings.Contains(s.syncs[0].Value().says(), "because it is being terminated")
	}).New(reposync.V0, nil)
	r := sim.Explore(t, scenario, sim.Runs(1), sim.For(0), sim.Verify(0))
	if r.Failure != nil || !refused || !said {
		t.Errorf("refused: %v, said so: %v, %v", refused, said, r.Err())
	}
}

// Every order of all seven types, or some of them, each at another pace than the one before.
//
//make:campaigns
func TestEveryOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for _, v := range []reposync.Variant{reposync.V0, reposync.V2, reposync.V5, reposync.V10} {
		all, tried, n := 0, 0, 0
		orders(kindsInside, func(order []string) {
			if all++; all%*stride == 0 {
				tried++
				if stuck(t, v, order, paces[tried%len(paces)]) {
					n++
				}
			}
		})
		if fails := v == reposync.V0; fails != (n > 0) {
			t.Errorf("%s is stuck in %d of %d orders", v, n, tried)
		}
		t.Logf("%s is stuck in %d of %d orders that were tried, of %d", v, n, tried, all)
	}
}

// What users do who do not know what they are doing, or know it too well, neither stops the fixed
// variant nor leads it astray.
//
//make:campaigns
func TestFixedVariantWhateverUsersDo(t *testing.T) {
	unserved := Setting{Declare: func(all []*unstructured.Unstructured) []*unstructured.Unstructured {
		return append(all, bare("example.com/v1", "Unserved", shop.Namespace, "nowhere"))
	}}
	for name, w := range map[string]workload{
		"something is declared that nobody serves, the RepoSync goes":  of(unserved, deletesSync),
		"something is declared that nobody serves, the namespace goes": of(unserved, deletesNamespace),
		"the RepoSync depends on what it manages":                      of(circular(0), circle(deletesSync)),
		"the RepoSync depends on it, and the namespace goes":           of(circular(0), circle(deletesNamespace)),
		"all depend on each other, the RepoSync goes":                  of(circular(2), circle(deletesSync)),
		"all depend on each other, the namespace goes":                 of(circular(2), circle(deletesNamespace)),
		"the finalizers are taken off":                                 of(Setting{}, strippedFirst),
		"an inventory names what is in another namespace": of(Setting{}, func(s *World) {
			s.Eventually("what is not the tenant's is still there", func(*history.History) error {
				return s.Client().Get(s.Context(), types.NamespacedName{Namespace: elsewhere, Name: treasure},
					&corev1.Secret{})
			})
			coveted(s)
		}),
	} {
		scenario := w.New(reposync.V10, []string{finishes, goes})
		t.Run(name, func(t *testing.T) { sim.Check(t, scenario, sim.Runs(10), sim.For(0), sim.Verify(1)) })
	}
}
