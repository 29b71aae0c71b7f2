// What failure messages say, and what they leave out.

package sim_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// The manager exits because one of its caches has not synced, and its error may name another kind.
// The message begins with the kind that the program may not list.
func TestAMissingRightIsNamed(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Apply(account("tenant"), simtest.ConfigMap("a"))
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "tenant"}, Rules: []rbacv1.PolicyRule{
			{Verbs: readsMaps.Verbs, APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}}}}
		w.Apply(role, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "tenant"},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "tenant"},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "tenant"}}})
		w.Start("tenant", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
				Owns(&corev1.ResourceQuota{}).Complete(reconcile.Func(simtest.Nothing))
		}, sim.As("default/tenant"))
		w.Settle()
	}, sim.Runs(1))
	if r.Failure == nil {
		t.Fatal("not found")
	}
	text := r.Failure.Text()
	_, observed, _ := strings.Cut(text, "the world did not settle within ")
	_, first, _ := strings.Cut(observed, ": ")
	if !strings.HasPrefix(first, "tenant may not list ResourceQuota (403); ") {
		t.Error("the headline does not begin with the right that is missing")
	}
	if why := strings.Join(r.Failure.Story.Paragraph(), "\n"); !strings.Contains(why, "list ResourceQuota → 403") {
		t.Error("the paragraph does not name the request that was refused")
	}
	if t.Failed() {
		t.Log(text)
	}
}

// A property that is violated in some runs of a choice sequence and not in others is not explained,
// and a line of the message says why: neither one that is random nor one that depends on something
// outside the run.
func TestAFailureThatIsNotRepeatedIsNotExplained(t *testing.T) {
	t.Setenv("SIM_EXPLAIN", "20s") // Explore explains only if it is asked to
	for name, violated := range map[string]func(run int) bool{
		"once":              func(run int) bool { return run == 1 },
		"every second time": func(run int) bool { return run%2 == 1 },
		"now and then":      func(run int) bool { return run%3 != 0 },
		"until it is told":  func(run int) bool { return run <= 4 },
	} {
		runs := 0
		r := sim.Explore(t, func(w *sim.World) {
			runs++
			is := violated(runs)
			w.Eventually("it is so", func(*history.History) error {
				if is {
					return errors.New("it is not so")
				}
				return nil
			})
			w.Apply(simtest.ConfigMap("a"))
			w.Settle()
		}, sim.Runs(20))
		if r.Failure == nil {
			t.Errorf("%s: nothing is found in %d runs", name, r.Runs)
			continue
		}
		text, reasons := r.Failure.Text(), 0
		for _, why := range []string{
			"FLAKY: its own choices do not repeat it", "Not measured: the same choices violate",
		} {
			reasons += strings.Count(text, why)
		}
		if reasons != 1 || strings.Contains(text, "It was decided") || strings.Contains(text, "No step decides") {
			t.Errorf("%s: %d lines say why nothing was measured:\n%s", name, reasons, text)
		}
	}
}

// A story of another version of the program still shows its violation. What was measured of the old
// one is left out, and a line says so.
func TestAStoryOfAnotherProgramIsNotExplained(t *testing.T) {
	t.Setenv("SIM_EXPLAIN", "20s") // Explore explains only if it is asked to
	dir := t.TempDir()
	f := sim.Explore(t, copyChanges, sim.Stories(dir)).Failure
	if f == nil || !strings.Contains(f.Text(), "No step decides") {
		t.Fatalf("nothing is found, or nothing measured: %+v", f)
	}
	again := sim.Explore(t, copyChanges, sim.Replay(f.File)).Failure
	if again == nil || !strings.Contains(again.Text(), "No step decides") {
		t.Fatalf("a replay by the same program does not say what was measured: %+v", again)
	}
	other := sim.Explore(t, func(w *sim.World) {
		w.Apply(simtest.ConfigMap("of-another-version"))
		copyChanges(w)
	}, sim.Replay(f.File)).Failure
	if other == nil {
		t.Fatal("the other program passes")
	}
	const why = "Not measured: the story is of another version of the program, whose steps were others."
	if text := other.Text(); strings.Count(text, why) != 1 || strings.Contains(text, "No step decides") {
		t.Errorf("%q is missing:\n%s", why, text)
	}
}

// The message has a line for each fault that it counts, and no more.
func TestAMessageShowsTheFaultsThatItCounts(t *testing.T) {
	f := sim.Explore(t, func(w *sim.World) {
		w.Run("one", func(ctx context.Context, cfg *rest.Config) error {
			c, err := client.New(cfg, client.Options{})
			if err != nil {
				return err
			}
			err = c.Create(ctx, simtest.ConfigMap("late"))
			<-ctx.Done()
			return errors.Join(err, ctx.Err())
		})
		w.Inject(fault.Pause("one", 8*time.Second))
		w.Eventually("it is there soon", func(h *history.History) error {
			var late corev1.ConfigMap
			o, ok := h.Object("", "ConfigMap", "default", "late")
			if ok && o.Into(&late) == nil && late.CreationTimestamp.After(history.Date(time.Second)) {
				return fmt.Errorf("%s is late", o.Ref)
			}
			return nil
		})
		w.Settle()
	}, sim.Strategy("swarm"), sim.Runs(300), sim.For(0)).Failure
	if f == nil {
		t.Fatal("nothing is found")
	}
	text := f.Text()
	faults := regexp.MustCompile(`(?m)^    \d\S+ +\S+ +fault: `)
	if n := len(faults.FindAllString(text, -1)); n != f.Story.After.Faults ||
		!strings.Contains(text, "Pause(one, 8s): resumes") {
		t.Errorf("it counts %d faults, and shows %d:\n%s", f.Story.After.Faults, n, text)
	}
}
