package sim_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// A request that was frozen before it arrived is not frozen again: who stops writing ten seconds
// before another one may must be right where pauses last eight.
func TestPauseHoldsUpARequestOnce(t *testing.T) {
	const longest = 8 * time.Second
	r := sim.Explore(t, func(w *sim.World) {
		var sent time.Time
		w.Run("one", func(ctx context.Context, cfg *rest.Config) error {
			c, err := client.New(cfg, client.Options{})
			if err != nil {
				return err
			}
			sent = time.Now()
			err = c.Create(ctx, configMap("late"))
			<-ctx.Done()
			return errors.Join(err, ctx.Err())
		})
		w.Inject(fault.Pause("one", longest, fault.OnVerb("create")))
		w.Always("it is under way for ten seconds at most", func(h *history.History) error {
			var late corev1.ConfigMap
			o, ok := h.Object("", "ConfigMap", "default", "late")
			if !ok || o.Into(&late) != nil || late.CreationTimestamp.Sub(sent) <= 10*time.Second {
				return nil
			}
			return fmt.Errorf("it was sent at %v and arrived at %v", sent, late.CreationTimestamp)
		})
		w.Settle()
	}, sim.Strategy("swarm"), sim.Runs(300), sim.For(0), sim.Verify(5))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
	if c := r.Faults[0]; c.Observed == 0 {
		t.Errorf("it was never frozen: %+v", c)
	}
}
