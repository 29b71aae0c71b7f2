package sim_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// copyOfA copies the ConfigMap "a".
func copyOfA(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
	if cm.Name != "a" {
		return reconcile.Result{}, nil
	}
	copied := simtest.ConfigMap("a-copy")
	_, err := controllerutil.CreateOrUpdate(ctx, c, copied, func() error {
		copied.Data = cm.Data
		return nil
	})
	return reconcile.Result{}, err
}

// copyChanges violates its property on every schedule.
func copyChanges(w *sim.World) {
	w.Start("mirror", simtest.Reconciles(copyOfA))
	w.Always("the copy stays", func(h *history.History) error {
		if d, _ := simtest.Data(h, "a-copy"); d["k"] == "2" {
			return history.About(errors.New("it changes"), history.Ref{Kind: "ConfigMap", Namespace: "default",
				Name: "a-copy"})
		}
		return nil
	})
	w.Apply(simtest.ConfigMap("a", "k", "1"))
	w.Settle()
	w.Apply(simtest.ConfigMap("a", "k", "2"))
	w.Settle()
}

// A failure shows what a write changed and which line of the operator sent it. One of the default
// schedule needs no fault. It has a paragraph, a measurement and a story as any other has; the
// paragraph names the line that would have to be different. Doubled runs have the same failure.
func TestFailureShowsChangesAndLines(t *testing.T) {
	t.Setenv("SIM_EXPLAIN", "5s")
	f := simtest.Violates(t, "the copy stays", copyChanges, sim.Verify(1), sim.Stories(t.TempDir()))
	matches(t, f.Text(),
		`    needs no fault, no delay and no other order: it fails on the default schedule`,
		`user +\S+ ConfigMap default/a → rv \d+ \(data\.k 1 → 2\)\n`,
		`mirror/1 +\S+ ConfigMap default/a-copy → rv \d+ \(data\.k 1 → 2\) at sim/\w+\.go:\d+\n`,
		`No step decides, and no fault is needed: 20 of 20 runs with other schedules and no fault violate the `+
			`property, too\. What would have to be different is what the program does at \S+\.go:\d+\.`)
	s, err := story.Read(f.File)
	if err != nil || len(s.Choices) > 0 || len(s.Why) == 0 || len(s.Shares) == 0 {
		t.Fatalf("its story is %+v, %v", s, err)
	}
	if strings.Contains(string(s.Encode()), " /") {
		t.Errorf("a path of this machine is in\n%s", s.Encode())
	}
	last := f.History.Events[len(f.History.Events)-1]
	if last.Kind != history.Violation || len(last.About) != 1 || last.About[0].Name != "a-copy" {
		t.Errorf("the violation is about %v", last.About)
	}
	if again := sim.Explore(t, copyChanges, sim.Replay(f.File)).Failure; again == nil || again.Message != f.Message {
		t.Errorf("its replay ends with %v", again)
	}
}

// matches fails the test unless the text matches each expression.
func matches(t *testing.T, text string, expressions ...string) {
	t.Helper()
	for _, want := range expressions {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%q does not match:\n%s", want, text)
		}
	}
}

// A panic in a scenario begins with the scenario's line, and its stack comes last.
func TestPanicShowsItsLineFirst(t *testing.T) {
	f := simtest.Violates(t, "", func(w *sim.World) {
		w.Apply(simtest.ConfigMap("a"))
		panic("no luck")
	})
	matches(t, f.Text(), `^text_test\.go:\d+: panic at step 2\n    no luck\n    00:`,
		`(?s)the story was not kept.*goroutine `)
	if strings.Contains(f.Message+string(f.Story.Encode()), "goroutine ") {
		t.Errorf("the message or the story has the stack:\n%s\n%s", f.Message, f.Story.Encode())
	}
}

// With -v a campaign reports how much it tried. One that keeps going makes its runs even if the
// default schedule fails, and reports how many violated a property. A failure that needs no fault
// names its run.
func TestCampaignReportsWhatItTried(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, func(w *sim.World) {
			w.Start("mirror", simtest.Mirror)
			w.Inject(fault.StaleCache(time.Minute))
			w.Always("all is well", func(*history.History) error {
				if simtest.Case() == "violated" {
					return errors.New("it is not")
				}
				return nil
			})
			w.Apply(simtest.Source("a"))
			w.Settle()
		})
		return
	}
	for name, want := range map[string][]string{
		"violated": {`--- FAIL`, `sim: 10 of 10 runs broke a property; made were 10 runs in `,
			`    found by burst, run 0 of base seed \d+\n`},
		"holds": {`--- PASS`, `sim: nothing broke in 10 runs in .* of virtual time`, `StaleCache\(1m0s\) injected`},
	} {
		out, _ := simtest.ChildOf(t, name, "-sim.keep-going", "-sim.runs=10", "-sim.for=0", "-sim.shrink=0")
		matches(t, out, want...)
	}
}

// A request that the API model refuses is a warning in a campaign of one run, with the line that
// sent it and what to write instead.
func TestRefusedRequestIsAWarning(t *testing.T) {
	r := simtest.Holds(t, func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.Pod{}).Complete(reconcile.Func(
				func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					pod := &corev1.Pod{}
					pod.Namespace, pod.Name = req.Namespace, req.Name
					_ = mgr.GetClient().SubResource("resize").Update(ctx, pod)
					return reconcile.Result{}, nil
				}))
		})
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name = "default", "a"
		pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
		w.Apply(pod)
		w.Settle()
	}, sim.Runs(1))
	const want = `process "op" sent "update Pod/resize" at sim/text_test\.go:\d+, which the API model ` +
		`refuses with 501, as it does not model subresource "resize" of pods: .*put an interface there`
	if got := strings.Join(r.Warnings, "\n"); !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("the warnings are %q", got)
	}
}

// An operator that ignores the refusal of all its writes looks as quiet as a correct one.
func TestRequestsThatAllFailAreAWarning(t *testing.T) {
	for _, row := range []struct {
		name string // of the copy
		want bool
	}{
		{"Not A Name", true},
		{"copy", false}, // the answer to the second attempt is that it exists
	} {
		r := simtest.Holds(t, func(w *sim.World) {
			w.Start("op", func(mgr ctrl.Manager) error {
				return ctrl.NewControllerManagedBy(mgr).For(&corev1.Secret{}).Complete(reconcile.Func(
					func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
						_ = mgr.GetClient().Create(ctx, simtest.ConfigMap(row.name, "k", "v"))
						return reconcile.Result{}, nil
					}))
			})
			for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
				s := &corev1.Secret{}
				s.Namespace, s.Name = "default", name
				w.Apply(s)
			}
			w.Settle()
		}, sim.Runs(20), sim.For(0), sim.Verify(0))
		got := strings.Join(r.Warnings, "\n")
		want := `requests "create ConfigMap" of process "op" succeeded in 20 runs`
		if strings.Contains(got, want) != row.want || row.want && !strings.Contains(got, "answered 422") {
			t.Errorf("a copy named %q: %q", row.name, got)
		}
	}
}

// custom is a built-in controller of the scenario. It may act on any object.
type custom struct{}

func (*custom) Name() string             { return "custom" }
func (*custom) Begin(actor.Cluster)      {}
func (*custom) Observe(apiserver.Change) {}

// A campaign warns about objects that a controller of a cluster would act on and none of the world
// does. An object that is watched, or that a controller of the scenario may act on, is no warning.
func TestIgnoredObjectsAreAWarning(t *testing.T) {
	watcher := func(w *sim.World) {
		w.Start("watcher", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ResourceQuota{}).Owns(&corev1.Pod{}).
				Complete(reconcile.Func(simtest.Nothing))
		})
	}
	for name, row := range map[string]struct {
		with func(*sim.World)
		want []string
	}{
		"none": {func(*sim.World) {}, []string{"1 object of kind Pod", "1 object of kind ResourceQuota"}},
		"a kubelet": {func(w *sim.World) { w.Builtin(kubelet.New()...) },
			[]string{"1 object of kind ResourceQuota"}},
		"one of the scenario": {func(w *sim.World) { w.Builtin(&custom{}) }, nil},
		"a program watches":   {watcher, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := sim.Explore(t, func(w *sim.World) {
				row.with(w)
				w.Apply(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "none"}})
				w.Apply(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"},
					Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c"}}}})
				w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}})
				w.Settle()
			}, sim.Runs(3), sim.For(0), sim.Verify(0)).Warnings
			got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "no process was started") })
			if len(got) != len(row.want) {
				t.Fatalf("warnings %q, want ones of %q", got, row.want)
			}
			for _, want := range row.want {
				if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
					t.Errorf("warnings %q, want one of %q", got, want)
				}
			}
		})
	}
}

// page is a request of an operator's own.
type page struct{ name string }

// stamp marks what it sees, by requests of its own type, and warms up.
func stamp(mgr ctrl.Manager) error {
	warm := true
	c, err := controller.NewTyped("stamp", mgr, controller.TypedOptions[page]{
		EnableWarmup: &warm,
		Reconciler: reconcile.TypedFunc[page](func(ctx context.Context, req page) (reconcile.Result, error) {
			cm := &corev1.ConfigMap{}
			if err := mgr.GetClient().Get(ctx, client.ObjectKey{Namespace: "default", Name: req.name},
				cm); err != nil || cm.Data["stamped"] != "" {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			cm.Data = map[string]string{"stamped": "yes"}
			return reconcile.Result{}, mgr.GetClient().Update(ctx, cm)
		}),
	})
	if err != nil {
		return err
	}
	add := func(o client.Object, q workqueue.TypedRateLimitingInterface[page]) { q.Add(page{o.GetName()}) }
	return c.Watch(source.TypedKind(mgr.GetCache(), &corev1.ConfigMap{}, handler.TypedFuncs[*corev1.ConfigMap, page]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*corev1.ConfigMap],
			q workqueue.TypedRateLimitingInterface[page]) {
			add(e.Object, q)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*corev1.ConfigMap],
			q workqueue.TypedRateLimitingInterface[page]) {
			add(e.ObjectNew, q)
		},
	}))
}

// A controller whose requests have a type of its own works. A warning names it, because it is not
// observed.
func TestUnobservedControllerIsAWarning(t *testing.T) {
	r := simtest.Holds(t, func(w *sim.World) {
		w.Start("post", stamp)
		w.Apply(simtest.ConfigMap("letter"))
		w.Settle()
		cm := simtest.ConfigMap("letter")
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(cm), cm); err != nil ||
			cm.Data["stamped"] != "yes" {
			t.Errorf("the letter is not stamped: %v, %v", cm.Data, err)
		}
	}, sim.Runs(3), sim.Verify(1))
	const want = `controller "stamp" (reconcile.TypedReconciler[`
	if all := strings.Join(r.Warnings, "\n"); strings.Count(all, want) != 1 ||
		!strings.Contains(all, `of process "post" is not observed`) {
		t.Errorf("the warnings are\n%s", all)
	}
}

// Two controllers with requests of their own watch one kind, and one begins later than the other.
func TestTypedControllersReplay(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		for i := range 6 {
			w.Apply(simtest.ConfigMap(fmt.Sprint("letter-", i)))
		}
		w.Start("post", func(mgr ctrl.Manager) error {
			if err := simtest.Mirror(mgr); err != nil {
				return err
			}
			return stamp(mgr)
		})
		w.Inject(fault.StaleCache(10*time.Second), fault.ServerError(), fault.Crash("post"))
		w.Settle()
	}, sim.Runs(100), sim.For(0), sim.Verify(1))
}
