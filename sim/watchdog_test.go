package sim_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
)

// hoarder holds a lock across an API call.
type hoarder struct {
	client.Client
	mu sync.Mutex
}

func (h *hoarder) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return reconcile.Result{}, client.IgnoreAlreadyExists(h.Create(ctx, configMap(req.Name+"-kept")))
}

// phoner waits for a real socket.
type phoner struct{ client.Client }

func (p *phoner) Reconcile(context.Context, reconcile.Request) (reconcile.Result, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return reconcile.Result{}, err
	}
	_, err = l.Accept()
	return reconcile.Result{}, err
}

// looper never blocks.
type looper struct{ client.Client }

func (l *looper) Reconcile(context.Context, reconcile.Request) (reconcile.Result, error) {
	for i := 0; ; i++ {
		if i < 0 {
			return reconcile.Result{}, nil
		}
	}
}

func pollForEver() {
	for {
		time.Sleep(time.Second)
	}
}

// A run that hangs ends with a message that names the goroutine, the call and the cure.
func TestAHungRunIsExplained(t *testing.T) {
	const guard = "WAVETANK_TEST_HANG"
	kinds := map[string]func(client.Client) reconcile.Reconciler{
		"lock":   func(c client.Client) reconcile.Reconciler { return &hoarder{Client: c} },
		"socket": func(c client.Client) reconcile.Reconciler { return &phoner{c} },
		"loop":   func(c client.Client) reconcile.Reconciler { return &looper{c} },
	}
	waits := map[string]func(*sim.World){
		"channel": func(*sim.World) { <-make(chan int) },
		"polling": func(*sim.World) { pollForEver() },
		"property": func(w *sim.World) {
			w.Always("it comes",
				func(*history.History) error { pollForEver(); return nil })
		},
	}
	idle := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result,
		error) {
		return reconcile.Result{}, nil
	})
	if kind := os.Getenv(guard); kind != "" {
		sim.Check(t, func(w *sim.World) {
			w.Start("hung", func(mgr ctrl.Manager) error {
				if kinds[kind] == nil {
					return ctrl.NewControllerManagedBy(mgr).Named("hung").For(&corev1.ConfigMap{}).Complete(idle)
				}
				return ctrl.NewControllerManagedBy(mgr).Named("hung").For(&corev1.ConfigMap{}, role("source")).
					WithOptions(controller.Options{MaxConcurrentReconciles: 2}).Complete(kinds[kind](mgr.GetClient()))
			})
			w.Apply(withRole("source", configMap("a")), withRole("source", configMap("b")))
			w.Settle()
			if wait := waits[kind]; wait != nil {
				wait(w)
				w.Settle()
			}
		}, sim.Stories(os.Getenv(guard+"_STORIES")))
		return
	}
	for _, c := range []struct{ kind, why, where string }{
		{"lock", "do not hold a lock across an API call", "(*hoarder).Reconcile"},
		{"socket", "it waits for a real socket", "(*phoner).Reconcile"},
		{"loop", "it never blocks: a loop without a pause", "(*looper).Reconcile"},
		{"channel", "only time passes while the scenario, or a property, waits", "TestAHungRunIsExplained.func"},
		{"polling", "only time passes while the scenario, or a property, waits", "pollForEver"},
		{"property", "only time passes while the scenario, or a property, waits", "pollForEver"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel() // it makes no run itself
			dir := t.TempDir()
			hung := func(args ...string) string {
				cmd := exec.Command(os.Args[0],
					append([]string{"-test.run=^TestAHungRunIsExplained$", "-sim.hang=1s"}, args...)...)
				cmd.Env = append(os.Environ(), guard+"="+c.kind, guard+"_STORIES="+dir)
				out, err := cmd.CombinedOutput()
				if err == nil {
					t.Fatal("the hung run passed")
				}
				return string(out)
			}
			out := hung("-sim.seed=5")
			stories, _ := story.List(dir)
			if len(stories) != 1 || !strings.Contains(hung("-sim.replay="+stories[0]), c.why) {
				t.Errorf("the stories %v do not hang again", stories)
			}
			for _, want := range append(stories, "of base seed 5", "reconciles hung default/", "replay: go test ",
				"--- FAIL: TestAHungRunIsExplained", "no progress for 1s", "the same choices made no progress there "+
					"either", c.why, c.where, "watchdog_test.go") {
				if !strings.Contains(out, want) {
					t.Errorf("the message does not say %q:\n%s", want, out)
				}
			}
		})
	}
}
