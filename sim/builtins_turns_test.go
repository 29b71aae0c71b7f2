// This file exists for models of a scenario that wake a program: it has its turn before time goes
// on, whether or not the runtime lets it run at once.

package sim_test

import (
	"context"
	"net/http"
	"runtime"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// bell wakes a program, and may let it run before whatever rang it is over.
type bell struct {
	rings   chan struct{}
	yields  int
	at      string // where it is rung
	cluster actor.Cluster
	rung    time.Duration
}

func (b *bell) ring(at string) {
	if b.at != at || b.rung > 0 {
		return
	}
	b.rung = b.cluster.Now()
	close(b.rings)
	for range b.yields {
		runtime.Gosched()
	}
}

func (*bell) Name() string               { return "bell" }
func (b *bell) Observe(apiserver.Change) { b.ring("a change") }

func (b *bell) Begin(c actor.Cluster) {
	b.cluster = c
	c.After(time.Second, "ring", func() { b.ring("a step") })
}

func TestWhoAModelWakesHasItsTurnAtOnce(t *testing.T) {
	for _, at := range []string{"a step", "a change", "a request"} {
		for _, yields := range []int{0, 1000} {
			sim.Check(t, func(w *sim.World) {
				b, lives := &bell{rings: make(chan struct{}), yields: yields, at: at}, 0
				w.Builtin(b)
				w.External("bell.example",
					http.HandlerFunc(func(http.ResponseWriter, *http.Request) { b.ring("a request") }))
				w.Run("sleeper", func(ctx context.Context, _ *rest.Config) error {
					if lives++; lives > 1 {
						<-ctx.Done()
						return nil
					}
					<-b.rings
					return nil
				})
				if at == "a request" {
					w.Run("visitor", func(ctx context.Context, config *rest.Config) error {
						visitor, err := rest.HTTPClientFor(config)
						if err != nil {
							return err
						}
						r, err := visitor.Get("https://bell.example")
						if err != nil {
							return err
						}
						<-ctx.Done()
						return r.Body.Close()
					})
				}
				w.Sleep(time.Second / 2)
				if at == "a change" {
					w.Apply(simtest.ConfigMap("bell"))
				}
				w.Sleep(3 * time.Second)
				for _, e := range w.History().Events {
					if e.Kind == history.Stop && e.At != b.rung {
						t.Errorf("rung by %s with %d yields at %v, and the sleeper was seen to end at %v", at, yields,
							b.rung, e.At)
					}
				}
				w.Sometimes("the sleeper ends", func(h *history.History) bool { return h.Count(history.Stop) > 0 })
			}, sim.Runs(10), sim.For(0))
		}
	}
}
