package process

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// run calls f with a new world, in a bubble, and ends the world when f has returned.
func run(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	defer Enter(logr.Discard(), Outside{})()
	synctest.Test(t, func(t *testing.T) {
		Seed(t, 0)
		w := newWorld()
		defer func() {
			w.Teardown(synctest.Wait)
			time.Sleep(2 * time.Hour) // goroutines that sleep come to their end
		}()
		f(t, w)
	})
}

// drain performs all that becomes due before a time.
func (w *world) drain(until time.Duration) {
	w.Sched.Disturb()
	for w.Sched.Step(until) {
	}
}

// events are the events of some kinds, in short.
func (w *world) events(kinds ...history.Kind) string {
	var out []string
	for _, e := range w.History.Events {
		for _, k := range kinds {
			if e.Kind == k {
				out = append(out, strings.TrimSpace(fmt.Sprintf("%v %s %s %s", e.At, k, e.Actor(), e.Remark())))
			}
		}
	}
	return strings.Join(out, "\n")
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s:\n%v\nwant\n%v", what, got, want)
	}
}

// obedient runs until it is asked to end.
func obedient(ctx context.Context, _ *rest.Config) error {
	<-ctx.Done()
	return nil
}

var changes = []history.Kind{history.Start, history.Stop, history.Crash}

// A crash ends an incarnation; the next one starts from nothing.
func TestACrashBeginsANewIncarnation(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		var memory []int
		p := w.Start("p", func(ctx context.Context, _ *rest.Config) error {
			count := 0
			count++
			memory = append(memory, count)
			<-ctx.Done()
			return nil
		}, Settings{})
		w.drain(time.Second)
		first := p.Current()
		first.Kill()
		first.Kill() // once is enough
		if p.Current() != nil || !first.Port.Dead() {
			t.Error("the killed incarnation is still there")
		}
		w.drain(time.Minute)
		expect(t, "events", w.events(changes...), "0s start p/1\n1s crash p/1\n11s start p/2")
		expect(t, "what each incarnation counts", memory, "[1 1]")
		expect(t, "incarnations", fmt.Sprint(p.Incarnations(), " ", p.Current().Name()), "2 p/2")
		expect(t, "found by name", fmt.Sprint(w.Find("p") == p, w.Find("q") == nil), "true true")
		expect(t, "exits", w.exits, "[]")
	})
}

// The kubelet doubles its back-off from 10 s to 5 min, and forgets it when a program has run for 10
// min.
func TestTheBackOffOfRestarts(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.Start("p", obedient, Settings{})
		var waits []time.Duration
		crash := func() {
			died := w.Sched.Now()
			p.Current().Kill()
			for p.Current() == nil && w.Sched.Step(died+time.Hour) {
			}
			waits = append(waits, w.Sched.Now()-died)
		}
		for range 7 {
			crash()
		}
		w.drain(w.Sched.Now() + 10*time.Minute)
		crash()
		expect(t, "waits", waits, "[10s 20s 40s 1m20s 2m40s 5m0s 5m0s 10s]")
	})
}

// A program that ends whenever it is asked to is in the same back-off, except for the first time.
func TestTheBackOffOfGracefulRestarts(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.Start("p", obedient, Settings{})
		var waits []time.Duration
		for range 4 {
			w.drain(w.Sched.Now() + time.Second)
			asked, l := w.Sched.Now(), p.Current()
			for l.Stop(); p.Current() == nil || p.Current() == l; {
				if !w.Sched.Step(asked + time.Hour) {
					break
				}
			}
			waits = append(waits, w.Sched.Now()-asked)
		}
		expect(t, "waits", waits, "[0s 10s 20s 40s]")
	})
}

// Faults may begin 20 incarnations, until the world settles.
func TestFaultsEndAProcessSoOftenOnly(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.Start("p", obedient, Settings{})
		for range 2 {
			n := 0
			for ; p.restarts.MayEnd(); n++ {
				p.Current().Kill()
				w.drain(w.Sched.Now() + time.Hour)
			}
			expect(t, "incarnations that were ended", n, "19")
			if w.Settled(); !p.restarts.MayEnd() {
				t.Error("the count does not start at zero when the world has settled")
			}
			p.Current().Kill()
			w.drain(w.Sched.Now() + time.Hour)
		}
	})
}

// The first failure after Fresh does not wait, once.
func TestTheFirstFailureOfAFreshProcessDoesNotWait(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.Start("p", obedient, Settings{})
		for range 3 {
			p.restarts.Fresh()
			p.Current().Kill()
			w.drain(w.Sched.Now() + time.Minute)
		}
		expect(t, "events", w.events(history.Start), "0s start p/1\n0s start p/2\n1m10s start p/3\n2m20s start p/4")
	})
}

// A program that ends by itself is started again, with a back-off, if the observer wants that.
func TestAProgramThatEndsByItself(t *testing.T) {
	leak := new(int)
	for name, c := range map[string]struct {
		main  Main
		gone  bool
		notes string
	}{
		"returns": {func(context.Context, *rest.Config) error { return nil }, false,
			"0s start p/1\n0s stop p/1 exited\n10s start p/2\n10s stop p/2 exited"},
		"fails": {func(context.Context, *rest.Config) error { return fmt.Errorf("no route, object %p", leak) }, true,
			"0s start p/1\n0s stop p/1 exited: no route, object 0x…"},
		"panics": {func(context.Context, *rest.Config) error { panic("oops") }, true,
			"0s start p/1\n0s stop p/1 exited: panic: oops"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.gone = c.gone
				w.Start("p", c.main, Settings{})
				w.drain(15 * time.Second)
				expect(t, "events", w.events(changes...), c.notes)
				var panicked *PanicError
				if is := errors.As(w.exits[0], &panicked); is != (name == "panics") {
					t.Errorf("the observer is notified of %v", w.exits[0])
				} else if is && !strings.Contains(panicked.Stack, "TestAProgramThatEndsByItself") {
					t.Errorf("the stack does not say where it panicked:\n%s", panicked.Stack)
				}
			})
		})
	}
}

// SIGTERM ends the context. A program that has ended is started again at once, and one that does
// not end is killed after 30 s.
func TestStop(t *testing.T) {
	for name, c := range map[string]struct {
		obeys bool
		notes string
	}{
		"obedient": {true, "0s start p/1\n1s stop p/1 asked to stop\n1s stop p/1 exited\n1s start p/2"},
		"stubborn": {false, "0s start p/1\n1s stop p/1 asked to stop\n31s crash p/1\n41s start p/2"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				p := w.Start("p", func(ctx context.Context, _ *rest.Config) error {
					if <-ctx.Done(); !c.obeys {
						time.Sleep(time.Hour)
					}
					return nil
				}, Settings{})
				w.drain(time.Second)
				l := p.Current()
				l.Stop()
				l.Stop() // once is enough
				if !l.Ending() {
					t.Error("it was asked to stop and is not ending")
				}
				w.drain(time.Minute)
				expect(t, "events", w.events(changes...), c.notes)
			})
		})
	}
}

// Each incarnation draws names of its own, also when every choice is the default choice.
func TestIncarnationsDrawDifferentNames(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		Seed(t, 0)
		drawn := map[string]int{}
		main := func(ctx context.Context, _ *rest.Config) error {
			drawn[utilrand.String(5)]++
			drawn[fmt.Sprint(rand.Int63())]++ //nolint:gosec // as client-go draws its jitter
			return obedient(ctx, nil)
		}
		for _, name := range []string{"p", "q"} {
			w.Start(name, main, Settings{})
			w.drain(w.Sched.Now() + time.Second)
		}
		for range 3 {
			for _, name := range []string{"p", "q"} {
				w.Find(name).Current().Stop()
				w.drain(w.Sched.Now() + time.Hour)
			}
		}
		expect(t, "different values of eight incarnations", len(drawn), 16)
	})
}

// A paused program that ends does so when it resumes. Its end is not visible before.
func TestAFrozenProgramEndsLater(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.Start("p", func(ctx context.Context, _ *rest.Config) error {
			time.Sleep(time.Second)
			return errors.New("over")
		}, Settings{})
		w.Sched.Quiesce()
		l := p.Current()
		l.Port.Freeze()
		w.drain(5 * time.Second)
		expect(t, "events while it is frozen", w.events(changes...), "0s start p/1")
		expect(t, "ending", l.Ending(), true)
		l.Port.Thaw()
		w.Sched.Disturb()
		w.drain(6 * time.Second)
		expect(t, "events", w.events(changes...), "0s start p/1\n5s stop p/1 exited: over")
	})
}

// A process is stopped and nothing of it takes effect any more: neither what it has sent nor what
// it sends.
func TestNothingOfAKilledProcessTakesEffect(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		answered := 0
		p := w.Start("p", func(ctx context.Context, cfg *rest.Config) error {
			client, err := rest.HTTPClientFor(cfg)
			if err != nil {
				return err
			}
			if _, err := client.Get(cfg.Host + "/api/v1/namespaces"); err == nil {
				answered++
			}
			return nil
		}, Settings{})
		w.Sched.Quiesce()
		p.Current().Kill()
		w.drain(time.Second)
		expect(t, "requests", w.History.Count(history.Request), 0)
		expect(t, "answers", answered, 0)
		expect(t, "exits", w.exits, "[]")
	})
}

// Clients are numbered as a program makes them, and so are their requests of one phase ordered.
func TestClientsOfAProgramAreNumbered(t *testing.T) {
	for range 5 {
		run(t, func(t *testing.T, w *world) {
			var order []string
			w.arrive = func(c *wire.Call) { order = append(order, c.Request.Header.Get("Client")) }
			w.Start("p", func(ctx context.Context, cfg *rest.Config) error {
				for _, name := range []string{"first", "second", "third"} {
					client, err := rest.HTTPClientFor(cfg)
					if err != nil {
						return err
					}
					go func() {
						req, _ := http.NewRequestWithContext(ctx, http.MethodGet, cfg.Host+"/api/v1/namespaces", nil)
						req.Header.Set("Client", name)
						client.Do(req) //nolint:errcheck // only its order matters
					}()
				}
				<-ctx.Done()
				return nil
			}, Settings{})
			w.drain(time.Second)
			expect(t, "order", order, "[first second third]")
		})
	}
}

// A ServiceAccount's token is for the account that exists when the incarnation starts.
func TestIdentity(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.create(t, "/api/v1/namespaces/default/serviceaccounts",
			`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"robot"}}`)
		p := w.Start("p", obedient, Settings{Account: "default/robot"}).Current().Port
		q := w.Start("q", obedient, Settings{}).Current().Port
		if p.User != "system:serviceaccount:default:robot" || p.UID == "" || len(p.Groups) != 3 {
			t.Errorf("a ServiceAccount is %q, %q of %v", p.User, p.UID, p.Groups)
		}
		if q.User != "q" || q.UID != "" || q.Groups[0] != "system:masters" {
			t.Errorf("an administrator is %q, %q of %v", q.User, q.UID, q.Groups)
		}
	})
}

// Reap lets the goroutines of incarnations that are over end while the run continues.
func TestReapEndsTheGoroutinesOfTheDead(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ended := 0
		p := w.Start("p", func(ctx context.Context, cfg *rest.Config) error {
			defer func() { ended++ }()
			client, err := rest.HTTPClientFor(cfg)
			if err != nil {
				return err
			}
			_, err = client.Get(cfg.Host + "/api/v1/namespaces")
			return err
		}, Settings{})
		w.Sched.Quiesce()
		p.Current().Kill()
		w.Sched.Quiesce()
		expect(t, "ended before", ended, 0)
		w.Reap(synctest.Wait)
		expect(t, "ended after", ended, 1)
		w.Reap(synctest.Wait) // none is left
		expect(t, "pending", w.Sched.Pending()[0].What(), "restart of p, which crashed")
	})
}
