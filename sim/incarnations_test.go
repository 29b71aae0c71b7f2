package sim_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/result"
)

// A program that knows nothing of controller-runtime runs too, against the same cluster.
func TestAnyProgramRuns(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Run("greeter", func(ctx context.Context, cfg *rest.Config) error {
			c, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				return err
			}
			maps := c.CoreV1().ConfigMaps("default")
			watch, err := maps.Watch(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			defer watch.Stop()
			for e := range watch.ResultChan() {
				cm, ok := e.Object.(*corev1.ConfigMap)
				if !ok || cm.Name != "hello" {
					continue
				}
				if _, err := maps.Create(ctx, simtest.ConfigMap("hello-back"), metav1.CreateOptions{}); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
		w.Eventually("a greeting is returned", func(h *history.History) error {
			if _, ok := h.Object("", "ConfigMap", "default", "hello-back"); !ok {
				return errors.New("there is no hello-back")
			}
			return nil
		})
		w.Sleep(time.Second)
		w.Apply(simtest.ConfigMap("hello"))
		w.Settle()
	}, sim.Runs(30))
}

// What a leader does to stay one is one line of the story, however long it stays.
func TestIdleLeasesAreFolded(t *testing.T) {
	sim.Explore(t, func(w *sim.World) {
		for _, name := range []string{"one", "two"} {
			w.Start(name, simtest.Mirror,
				sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "mirror",
					LeaderElectionNamespace: "default"}))
		}
		w.Sleep(3 * time.Hour)
		writes := 0
		for _, e := range w.History().Events {
			if e.Write() && e.Ref.Kind == "Lease" {
				writes++
			}
		}
		var lines []string
		for _, line := range w.History().Render() {
			if strings.Contains(line, "Lease") {
				lines = append(lines, line)
			}
		}
		if last := lines[len(lines)-1]; writes < 5000 || len(lines) > 5 ||
			!strings.Contains(last, fmt.Sprintf("renews Lease default/mirror, %d× since", writes-1)) {
			t.Errorf("%d lease writes are shown as\n%s", writes, strings.Join(lines, "\n"))
		}
	}, sim.Runs(1), sim.Strategy("random"))
}

// Two replicas elect a leader. When it dies, the other takes over once the lease has run out, also
// if replicas warm their caches up.
func TestSecondReplicaTakesOver(t *testing.T) {
	for _, warm := range []bool{false, true} {
		o := ctrl.Options{LeaderElection: true, LeaderElectionID: "mirror", LeaderElectionNamespace: "default"}
		o.Controller.EnableWarmup = &warm
		sim.Check(t, func(w *sim.World) {
			w.Start("one", simtest.Mirror, sim.Options(o))
			w.Start("two", simtest.Mirror, sim.Options(o))
			w.Inject(fault.Crash("one"), fault.Crash("two"), fault.StaleCache(10*time.Second))
			w.Eventually("every source has its copy", simtest.Mirrored)
			w.Sometimes("a second replica works after the first has died", func(h *history.History) bool {
				died := ""
				for _, e := range h.Events {
					switch {
					case e.Kind == history.Crash:
						died = e.Process
					case e.Kind == history.Dequeue && died != "" && e.Process != died:
						return true
					}
				}
				return false
			})
			w.Apply(simtest.Source("src-a", "k", "1"), simtest.Source("src-b", "k", "1"))
			w.Settle()
			w.Apply(simtest.Source("src-a", "k", "2"))
			w.Settle()
		}, sim.Runs(40), sim.For(0), sim.Verify(4))
	}
}

// caller sends its request through http.DefaultTransport, with or without the reconcile's context.
type caller struct {
	client.Client
	context bool
	err     *error
}

func (c *caller) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if !c.context {
		ctx = context.Background()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://mail.example/x", nil)
	if err != nil {
		return reconcile.Result{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	*c.err = err
	return reconcile.Result{}, nil
}

// http.DefaultTransport is replaced during a run: what belongs to a reconcile reaches the simulated
// outside. The rest is refused by name, which fails the test of another process.
func TestDefaultTransportIsReplaced(t *testing.T) {
	const guard = "WAVETANK_TEST_TRANSPORT"
	before, resolver := http.DefaultTransport, net.DefaultResolver
	var got error
	c := &caller{context: os.Getenv(guard) == "", err: &got}
	defer func() { fmt.Println("the caller got", got) }()
	sim.Check(t, func(w *sim.World) {
		w.External("mail.example", http.HandlerFunc(simtest.Post))
		w.Start("caller", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).
				Named("caller").
				For(&corev1.ConfigMap{}, simtest.Role("source")).
				Complete(c)
		})
		w.Apply(simtest.Source("a"))
		w.Settle()
	}, sim.Runs(1))
	if !c.context {
		return
	}
	if got != nil {
		t.Errorf("a reconcile's request was refused: %v", got)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDefaultTransportIsReplaced$")
	cmd.Env = append(os.Environ(), guard+"=1")
	want := "POST http://mail.example/x was sent through http.DefaultTransport with a context that belongs to " +
		"no reconcile"
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
		t.Errorf("without the reconcile's context: %v\n%s", err, out)
	}
	if http.DefaultTransport != before {
		t.Error("http.DefaultTransport was not put back")
	}
	if net.DefaultResolver != resolver {
		t.Error("net.DefaultResolver was not put back")
	}
}

// A failed reconcile settles into back-off, and that counts as settled: the gaps double up to the
// cap.
func TestBackOffIsSettled(t *testing.T) {
	for _, priority := range []bool{true, false} {
		simtest.Holds(t, func(w *sim.World) {
			o := ctrl.Options{}
			o.Controller.UsePriorityQueue = &priority
			w.Start("op", simtest.Reconciles(
				func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
					return reconcile.Result{}, errors.New("out of luck")
				}), sim.Options(o))
			w.Apply(simtest.Source("a"))
			w.Settle()
			w.Sleep(3 * time.Hour)
			var waits []time.Duration
			for _, e := range w.History().Events {
				if e.Kind == history.Dequeue && e.Cause.Kind == history.CauseBackOff {
					waits = append(waits, e.Wait)
				}
			}
			for i, wait := range waits {
				if want := min(5*time.Millisecond<<min(i, 30), 1000*time.Second); wait != want {
					panic(fmt.Sprintf("back-off %d was %v, want %v (priority queue: %v)", i+1, wait, want, priority))
				}
			}
			if len(waits) < 20 {
				panic(fmt.Sprintf("only %d attempts", len(waits)))
			}
		}, sim.Runs(5))
	}
}

// A property that panics is named.
func TestPanickingPropertyIsNamed(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Eventually("all is well", func(*history.History) error { panic("oh") })
		w.Settle()
	}, sim.Runs(1))
	if f := r.Failure; f == nil || f.Kind != result.Panic || !strings.HasPrefix(f.Message,
		`the property "all is well" panicked: oh`) || !strings.HasPrefix(f.Site, "incarnations_test.go:") {
		t.Errorf("got %+v", r.Failure)
	}
}

// An incarnation may end before its caches have caught up, those of clusters that it has added
// included: the world goes quiet all the same, and the failure that ended it is reported.
func TestIncarnationMayEndBeforeItsCachesSync(t *testing.T) {
	index := func(i client.FieldIndexer) error {
		return i.IndexField(context.Background(), &corev1.ConfigMap{}, "k", func(client.Object) []string { return nil })
	}
	for name, setup := range map[string]func(ctrl.Manager) error{
		"its own": func(mgr ctrl.Manager) error { return index(mgr.GetFieldIndexer()) },
		"another cluster's": func(mgr ctrl.Manager) error {
			c, err := cluster.New(mgr.GetConfig())
			if err != nil {
				return err
			}
			return errors.Join(index(c.GetFieldIndexer()), mgr.Add(c))
		},
	} {
		t.Run(name, func(t *testing.T) {
			broken := sim.Explore(t, func(w *sim.World) {
				w.Start("op", setup)
				w.Always("nothing happens", func(*history.History) error { return errors.New("something did") })
				w.Settle()
			}, sim.Runs(1), sim.Shrink(0)).Failure
			if broken == nil || broken.Property != "nothing happens" {
				t.Errorf("got %+v", broken)
			}
			if err := sim.Explore(t, func(w *sim.World) {
				w.Start("op", setup)
				w.Stop("op")
				w.Settle()
			}, sim.Runs(1)).Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Without recovery a panic in a reconcile ends the process, and the kubelet starts it again. With
// it the incarnation continues.
func TestPanicsEndTheProcessUnlessRecovered(t *testing.T) {
	for _, recovers := range []bool{true, false} {
		scenario := func(w *sim.World) {
			w.Without("no panic")
			panics := 0
			w.Start("p", simtest.Reconciles(func(
				context.Context, client.Client, *corev1.ConfigMap,
			) (reconcile.Result, error) {
				if panics++; panics <= 2 {
					panic("no luck")
				}
				return reconcile.Result{}, nil
			}, controller.Options{RecoverPanic: &recovers}))
			w.Eventually("it restarts as in production", func(h *history.History) error {
				var tale []string
				for _, e := range h.Events {
					switch e.Kind {
					case history.Start, history.Crash:
						tale = append(tale, string(e.Kind)+"@"+e.At.Truncate(time.Second).String())
					case history.Done:
						tale = append(tale, e.Outcome.String())
					}
				}
				want := "start@0s, panic: no luck, panic: no luck, ok"
				if !recovers {
					want = "start@0s, panic: no luck, crash@0s, start@10s, panic: no luck, crash@10s, start@30s, ok"
				}
				if got := strings.Join(tale, ", "); got != want {
					t.Errorf("recovers=%v: %s\nwant %s", recovers, got, want)
				}
				return nil
			})
			w.Apply(simtest.Source("a"))
			w.Settle()
		}
		if f := sim.Explore(t, scenario, sim.Runs(1), sim.Strategy("exhaustive"), sim.Verify(1)).Failure; f != nil {
			t.Errorf("recovers=%v: %s", recovers, f.Text())
		}
		// Such ends replay, whatever else happens.
		many := func(w *sim.World) {
			w.Without("no panic")
			panics := 0
			w.Start("p", simtest.Reconciles(func(
				ctx context.Context, c client.Client, cm *corev1.ConfigMap,
			) (reconcile.Result, error) {
				if panics++; panics%3 == 0 && panics < 12 {
					panic("no luck")
				}
				cm.Data = map[string]string{"done": "yes"}
				return reconcile.Result{}, c.Update(ctx, cm)
			}, controller.Options{RecoverPanic: &recovers, MaxConcurrentReconciles: 2}))
			w.Inject(fault.Conflict(), fault.RacingRequeue())
			w.Apply(simtest.Source("a"), simtest.Source("b"))
			w.Settle()
		}
		if f := sim.Explore(t, many, sim.Runs(40), sim.For(0), sim.Verify(1)).Failure; f != nil {
			t.Errorf("recovers=%v: %s", recovers, f.Text())
		}
	}
}
