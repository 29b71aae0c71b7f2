package sim_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

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

// A run that hangs ends with a message that names the goroutine, the call and the cure.
func TestAHungRunIsExplained(t *testing.T) {
	const guard = "WAVETANK_TEST_HANG"
	kinds := map[string]func(client.Client) reconcile.Reconciler{
		"lock":   func(c client.Client) reconcile.Reconciler { return &hoarder{Client: c} },
		"socket": func(c client.Client) reconcile.Reconciler { return &phoner{c} },
	}
	if kind := os.Getenv(guard); kind != "" {
		sim.Check(t, func(w *sim.World) {
			w.Start("hung", func(mgr ctrl.Manager) error {
				return ctrl.NewControllerManagedBy(mgr).Named("hung").For(&corev1.ConfigMap{}, role("source")).
					WithOptions(controller.Options{MaxConcurrentReconciles: 2}).Complete(kinds[kind](mgr.GetClient()))
			})
			w.Apply(withRole("source", configMap("a")), withRole("source", configMap("b")))
			w.Settle()
		})
		return
	}
	for _, c := range []struct{ kind, why, where string }{
		{"lock", "do not hold a lock across an API call", "(*hoarder).Reconcile"},
		{"socket", "it waits for a real socket", "(*phoner).Reconcile"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestAHungRunIsExplained$", "-sim.hang=1s")
			cmd.Env = append(os.Environ(), guard+"="+c.kind)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatal("the hung run passed")
			}
			for _, want := range []string{"--- FAIL: TestAHungRunIsExplained", "no progress for 1s", c.why, c.where, "watchdog_test.go"} {
				if !strings.Contains(string(out), want) {
					t.Errorf("the message does not say %q:\n%s", want, out)
				}
			}
		})
	}
}
