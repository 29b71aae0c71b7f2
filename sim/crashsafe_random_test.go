package sim_test

import (
	"context"
	"fmt"
	"math/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

func newUUID() string { return string(uuid.NewUUID()) }

// bookkeeper gives each ConfigMap an account outside, and a ConfigMap that says where it is. The
// account's reference is random. Each reference makes one account.
type bookkeeper struct {
	client.Client
	live     client.Reader
	outside  *http.Client
	draw     func() string
	recorded bool // the reference is recorded before it is used
}

func (b *bookkeeper) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := b.live.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	ref := cm.Data["reference"]
	drawn := ref == ""
	if drawn {
		ref = b.draw()
	}
	if drawn && b.recorded {
		if err := b.record(ctx, &cm, ref); err != nil {
			return reconcile.Result{}, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://accounts.example/v1/"+ref, nil)
	if err != nil {
		return reconcile.Result{}, err
	}
	resp, err := b.outside.Do(r)
	if err != nil {
		return reconcile.Result{}, err
	}
	defer resp.Body.Close()
	if drawn && !b.recorded {
		if err := b.record(ctx, &cm, ref); err != nil {
			return reconcile.Result{}, err
		}
	}
	where := simtest.ConfigMap(cm.Name + "-" + ref)
	_, err = controllerutil.CreateOrUpdate(ctx, b.Client, where, func() error {
		where.Data = map[string]string{"url": "http://accounts.example/v1/" + ref}
		return controllerutil.SetControllerReference(&cm, where, b.Scheme())
	})
	return reconcile.Result{}, err
}

func (b *bookkeeper) record(ctx context.Context, cm *corev1.ConfigMap, ref string) error {
	cm.Data = map[string]string{"reference": ref}
	return b.Update(ctx, cm)
}

// booked is the scenario of a bookkeeper.
func booked(draw func() string, recorded bool) func(*sim.World) {
	return func(w *sim.World) {
		calm := w.Undisturbed()
		made := map[string]bool{}
		w.External("accounts.example", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if ref := strings.TrimPrefix(r.URL.Path, "/v1/"); !made[ref] {
				made[ref] = true
				history.AddEffect(r.Context(), history.Effect{Kind: "account", Key: ref})
			}
		}))
		w.Start("p", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("account").For(&corev1.ConfigMap{}, simtest.Role("source")).
				Complete(&bookkeeper{mgr.GetClient(), mgr.GetAPIReader(), sim.HTTPClient(mgr), draw, recorded})
		})
		w.Inject(fault.Crash("p"), fault.LostReply(), fault.StaleCache(10*time.Second), fault.ServerError())
		w.Eventually("nothing leaves a trace", property.CrashSafe(calm))
		w.Eventually("one account each", func(h *history.History) error {
			if len(made) > 2 {
				return fmt.Errorf("there are %d accounts", len(made))
			}
			return nil
		})
		w.Apply(simtest.Source("a"), simtest.Source("b"))
		w.Settle()
	}
}

// A random value that a correct operator keeps is another one in each run, whatever it comes from.
func TestCrashSafeAndRandomValues(t *testing.T) {
	for from, draw := range map[string]func() string{
		"crypto/rand":  newUUID,
		"math/rand":    func() string { return fmt.Sprintf("r%d", 1e8+rand.Intn(9e8)) },
		"apimachinery": func() string { return utilrand.String(10) },
	} {
		if f := sim.Explore(t, booked(draw, true), sim.Runs(30), sim.For(0)).Failure; f != nil {
			t.Errorf("%s: %s", from, f.Text())
		}
	}
	f := sim.Explore(t, booked(newUUID, false), sim.Runs(30), sim.For(0)).Failure
	if f == nil || f.Property != "one account each" {
		t.Errorf("a reference that is used before it is recorded: %v", f)
	}
}
