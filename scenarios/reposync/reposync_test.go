// This file is the suite: the table of the story with its catalogue, and every order in which a namespace can be emptied.

package reposync

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/history"
)

func TestVerdicts(t *testing.T) { verdicts.Test(t, Table()) }

// stride leaves out orders: go test has no time for all 5040.
var stride = flag.Int("orders.stride", 250, "try one in so many of the 5040 orders of types; 1 for all")

// The types of what is in the namespace: the three that matter to each other first.
var kindsInside = []string{
	"rolebindings.rbac.authorization.k8s.io", "reposyncs.configsync.gke.io", "resourcegroups.kpt.dev", "secrets", "configmaps", "services", "serviceaccounts",
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

// stuck says whether the namespace does not finish in the undisturbed run, with the types deleted in an order.
func stuck(t *testing.T, v reposync.Variant, order []string, pace time.Duration) bool {
	t.Helper()
	return breaks(t, finishes, v, order, pace)
}

// breaks says whether that run breaks a sentence.
func breaks(t *testing.T, sentence string, v reposync.Variant, order []string, pace time.Duration) bool {
	t.Helper()
	r := sim.Explore(t, told(Setting{Chain: 2, Order: order, Pace: pace}, asks[sentence], deletesNamespace)(v),
		sim.Runs(1), sim.For(0), sim.Verify(0), sim.Shrink(0), sim.Stories(t.TempDir()))
	if f := r.Failure; f != nil && f.Property != sentence {
		t.Fatalf("%v: %s", order, f.Text())
	}
	return r.Failure != nil
}

// The six orders of the types that matter to each other, for every variant, where the namespace controller is as fast as it
// can be. The reconciler never is as fast.
func TestOrdersOfThePairsThatMatter(t *testing.T) {
	answers := Table().Column("namespace finishes")
	for _, v := range reposync.Variants() {
		orders(kindsInside[:3], func(order []string) {
			if falls := answers.Answer(v) == verdicts.Falls; falls != stuck(t, v, order, 0) {
				t.Errorf("%s is stuck after %v: want %v", v, order, falls)
			}
		})
	}
}

// The six orders of what is managed, each of which depends on the next: only one of them is right, and a variant that does not
// enforce it keeps it by luck.
func TestOrdersOfWhatIsManaged(t *testing.T) {
	answers := Table().Column("order among all, namespace deleted")
	right := kindsInside[4:]
	for _, v := range reposync.Variants() {
		orders(right, func(order []string) {
			falls := answers.Answer(v) == verdicts.Falls && !slices.Equal(order, right)
			if falls != breaks(t, strongOrder, v, order, 0) {
				t.Errorf("%s deletes out of order after %v: want %v", v, order, falls)
			}
		})
	}
}

// Where the namespace controller takes five seconds for each step, what was reported depends on one pair: the RoleBinding goes
// before the RepoSync is deleted.
func TestOrdersOfASlowNamespace(t *testing.T) {
	orders(kindsInside[:3], func(order []string) {
		want := slices.Index(order, kindsInside[0]) < slices.Index(order, kindsInside[1])
		if got := stuck(t, reposync.V0, order, 5*time.Second); got != want {
			t.Errorf("V0 is stuck after %v: %v, want %v", order, got, want)
		}
		if stuck(t, reposync.V10, order, 5*time.Second) {
			t.Errorf("V10 is stuck after %v", order)
		}
	})
}

// Where the RoleBinding goes long before the RepoSync is deleted, the manager wants to make it anew, is told that the namespace
// terminates, and says so on the RepoSync.
func TestABindingIsNotMadeAnewInATerminatingNamespace(t *testing.T) {
	refused, said := false, false
	r := sim.Explore(t, told(Setting{Order: kindsInside[:2], Pace: 5 * time.Second}, func(*Story) {}, func(s *Story) {
		s.DeleteNamespace(shop.Namespace)
		s.Sleep(12 * time.Second)
		for _, e := range s.History().Events {
			terminating := strings.Contains(string(e.Received), "NamespaceTerminating")
			refused = refused || e.Process == Manager && e.Verb == "create" && e.Ref.Kind == "RoleBinding" && terminating
		}
		s.take(s.History())
		said = strings.Contains(s.syncs[0].says[len(s.syncs[0].says)-1].text, "because it is being terminated")
	})(reposync.V0), sim.Runs(1), sim.For(0), sim.Verify(0))
	if r.Failure != nil || !refused || !said {
		t.Errorf("refused: %v, said so: %v, %v", refused, said, r.Err())
	}
}

// Every order of all seven types, or some of them.
func TestEveryOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for _, v := range []reposync.Variant{reposync.V0, reposync.V2, reposync.V5, reposync.V10} {
		all, tried, n := 0, 0, 0
		orders(kindsInside, func(order []string) {
			if all++; all%*stride == 0 {
				tried++
				if stuck(t, v, order, 0) {
					n++
				}
			}
		})
		if falls := v == reposync.V0; falls != (n > 0) {
			t.Errorf("%s is stuck in %d of %d orders", v, n, tried)
		}
		t.Logf("%s is stuck in %d of %d orders that were tried, of %d", v, n, tried, all)
	}
}

// What users do who do not know what they are doing, or know it too well, is nothing by which the full cure is stuck or led astray.
func TestFullCureWhateverUsersDo(t *testing.T) {
	askBoth := func(s *Story) { askFinishes(s); askGoes(s) }
	askSpares := func(s *Story) {
		askGoes(s)
		s.Eventually("what is not the tenant's is still there", func(*history.History) error {
			return s.Client().Get(s.Context(), types.NamespacedName{Namespace: elsewhere, Name: treasure}, &corev1.Secret{})
		})
	}
	for name, told := range map[string]func(*sim.World){
		"something is declared that nobody serves, the RepoSync goes":  told(Setting{Unserved: true}, askGoes, deletesSync)(reposync.V10),
		"something is declared that nobody serves, the namespace goes": told(Setting{Unserved: true}, askBoth, deletesNamespace)(reposync.V10),
		"the RepoSync depends on what it manages":                      told(Setting{Circular: true}, askBoth, deletesSync)(reposync.V10),
		"the RepoSync depends on it, and the namespace goes":           told(Setting{Circular: true}, askBoth, deletesNamespace)(reposync.V10),
		"all depend on each other, the RepoSync goes":                  told(Setting{Circular: true, Chain: 2}, askBoth, deletesSync)(reposync.V10),
		"all depend on each other, the namespace goes":                 told(Setting{Circular: true, Chain: 2}, askBoth, deletesNamespace)(reposync.V10),
		"the finalizers are taken off":                                 told(Setting{}, askBoth, strippedFirst)(reposync.V10),
		"an inventory names what is in another namespace":              told(Setting{}, askSpares, coveted)(reposync.V10),
	} {
		t.Run(name, func(t *testing.T) { sim.Check(t, told, sim.Runs(10), sim.For(0), sim.Verify(1)) })
	}
}
