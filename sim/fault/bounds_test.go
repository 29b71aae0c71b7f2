// What faults do, and no more than that.

package fault_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// A request that is forbidden gets the text of kube-apiserver.
func TestForbiddenHasTheServersText(t *testing.T) {
	var got error
	c := simtest.Counter{Workers: 1, Locked: true, GivesUp: func(err error) bool { got = err; return false }}
	sim.Explore(t, func(w *sim.World) {
		w.Start("counter", c.Setup)
		w.Inject(fault.Forbidden(time.Minute, fault.OnVerb("get")))
		w.Apply(simtest.ConfigMap("total", "n", "0"), simtest.Ticket("a"))
		w.Settle()
		for _, e := range w.History().Events {
			if refused := e.Kind == history.Request && e.Code == http.StatusForbidden; e.Injected != refused {
				t.Errorf("injected=%v: %s", e.Injected, e.String())
			}
		}
	}, sim.Runs(20))
	want := `configmaps "total" is forbidden: User "counter" cannot get resource "configmaps" in API group "" ` +
		`in the namespace "default"`
	if got == nil || got.Error() != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

// A program that returns while it is paused ends when it resumes. A schedule that prefers its end
// to all other steps must not wait for that.
func TestPauseDelaysTheEndOfAProgram(t *testing.T) {
	r := simtest.Holds(t, func(w *sim.World) {
		w.Run("brief", func(ctx context.Context, cfg *rest.Config) error {
			c, err := client.New(cfg, client.Options{})
			if err != nil {
				return err
			}
			go func() {
				for ctx.Err() == nil {
					_ = c.Create(ctx, simtest.ConfigMap("a"))
					time.Sleep(time.Second)
				}
			}()
			select {
			case <-time.After(5 * time.Second):
			case <-ctx.Done():
			}
			return errors.New("enough")
		})
		w.Inject(fault.Pause("brief", time.Minute))
		w.Sleep(2 * time.Minute)
	}, sim.Strategy("burst"), sim.Runs(60), sim.For(0), sim.Verify(5))
	if c := r.Faults[0]; c.Injected == 0 || c.Observed == 0 {
		t.Errorf("it was never paused: %+v", c)
	}
}

// A request that was paused before it arrived is not paused again: with pauses of eight seconds it
// is under way for less than ten.
func TestPauseHoldsUpARequestOnce(t *testing.T) {
	r := simtest.Holds(t, func(w *sim.World) {
		var sent time.Time
		w.Run("one", func(ctx context.Context, cfg *rest.Config) error {
			c, err := client.New(cfg, client.Options{})
			if err != nil {
				return err
			}
			sent = time.Now()
			err = c.Create(ctx, simtest.ConfigMap("late"))
			<-ctx.Done()
			return errors.Join(err, ctx.Err())
		})
		w.Inject(fault.Pause("one", 8*time.Second, fault.OnVerb("create")))
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
	if c := r.Faults[0]; c.Observed == 0 {
		t.Errorf("it was never paused: %+v", c)
	}
}

// A leader that releases its lease when it is stopped is succeeded at once. Without the release,
// its successor works when the lease has run out.
func TestReleasedLeaseIsTakenAtOnce(t *testing.T) {
	for _, release := range []bool{true, false} {
		sim.Check(t, func(w *sim.World) {
			startRaisers(w, true, release)
			w.Apply(simtest.WithRole("number", simtest.ConfigMap("a", "n", "0")))
			w.Sleep(5 * time.Second)
			first := ""
			for _, e := range w.History().Events {
				if e.Kind == history.Dequeue {
					first = e.Process
				}
			}
			stopped := w.History().Now()
			w.Stop(first)
			w.Sleep(time.Minute)
			for _, e := range w.History().Events {
				if e.Kind == history.Dequeue && (e.Process != first || e.Incarnation > 1) {
					if took := e.At - stopped; (took < 8*time.Second) != release {
						t.Errorf("released: %v, and the successor took %v to work", release, took)
					}
					return
				}
			}
			t.Errorf("%s has no successor", first)
		}, sim.Runs(10))
	}
}

// Options vary from run to run, and the undisturbed run has those of the operator.
func TestVaryVariesOptions(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.External("mail.example", http.HandlerFunc(simtest.Post))
		w.Start("mailer", simtest.Mailer{}.Setup, sim.Vary())
		w.Inject(fault.Crash("mailer"))
		w.Eventually(allSent, simtest.AllSent)
		w.Apply(simtest.Source("src-a"), simtest.Source("src-b"))
		w.Settle()
		w.Apply(simtest.Source("src-a", "k", "1"))
		w.Settle()
	}, sim.Runs(60), sim.Verify(3), sim.Strategy("random"))
}

// A warning names each fault that had no opportunity in a whole campaign.
func TestFaultsWithoutAnOpportunityAreNamed(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Start("mirror", simtest.Mirror)
		w.Inject(fault.StaleCache(time.Second), fault.LeaderOverlap(), fault.Crash("mirror", fault.OfKind("Secret")))
		w.Apply(simtest.Source("a"))
		w.Settle()
	}, sim.Runs(50), sim.For(0))
	got := strings.Join(r.Warnings, "\n")
	want := "fault LeaderOverlap had no opportunity in 50 runs: look at its scope, or do not declare it\n" +
		"fault Crash(mirror) of Secret had no opportunity in 50 runs: look at its scope, or do not declare it"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A watch event lags by no more than the fault's limit.
func TestStaleCacheKeepsItsLimit(t *testing.T) {
	const d = 10 * time.Second
	simtest.Holds(t, func(w *sim.World) {
		w.Start("mirror", simtest.Mirror)
		w.Inject(fault.StaleCache(d))
		at, read := map[int64]history.Time{}, 0
		w.Always("a watch event lags by ten seconds at most", func(h *history.History) error {
			for ; read < len(h.Events); read++ {
				e := &h.Events[read]
				for _, c := range e.Changes {
					at[c.Revision] = e.At
				}
				if e.Kind == history.Deliver && e.Verb != "LIST" && e.Ref.Kind == "ConfigMap" &&
					e.At-at[e.Revision] > d+time.Second {
					return fmt.Errorf("%s rv %d was committed at %s and delivered at %s", e.Ref, e.Revision,
						history.Clock(at[e.Revision]), history.Clock(e.At))
				}
			}
			return nil
		})
		for i := range 4 {
			w.Apply(simtest.ConfigMap("a", "k", fmt.Sprint(i)))
		}
		w.Settle()
	}, sim.Runs(200), sim.For(0))
}

// A create is known by the name of the object that it makes.
func TestNamedMatchesACreate(t *testing.T) {
	for _, f := range []declared{
		func() fault.Fault { return fault.LostReply(fault.OnVerb("create"), fault.Named("default/src-a-copy")) },
		func() fault.Fault {
			return fault.Crash("mirror", fault.OnVerb("create"), fault.Named("default/src-a-copy"))
		},
	} {
		r := simtest.Holds(t, func(w *sim.World) {
			w.Start("mirror", simtest.Mirror)
			w.Inject(f())
			w.Apply(simtest.Source("src-a", "k", "1"))
			w.Settle()
		}, sim.Runs(50), sim.For(0))
		if r.Faults[0].Opportunities == 0 {
			t.Errorf("%s had no opportunity", r.Faults[0].Fault)
		}
	}
}

// No watch event reaches a process that is cut off.
func TestUnreachableStopsWatchEvents(t *testing.T) {
	cut := 0
	simtest.Holds(t, func(w *sim.World) {
		w.Start("p", simtest.Mirror)
		w.Inject(fault.StaleCache(10*time.Second), fault.Unreachable(time.Minute))
		w.Always("a process that is cut off gets no event", func(h *history.History) error {
			var until history.Time
			for i := range h.Events {
				switch e := &h.Events[i]; {
				case e.Kind == history.Fault && e.Injection.Is("Unreachable"):
					how, _, _ := strings.Cut(strings.TrimPrefix(e.Injection.How, "for "), ",")
					long, err := time.ParseDuration(how)
					if err != nil {
						panic(err)
					}
					until, cut = e.At+long, cut+1
				case e.Kind == history.Heal:
					until = 0
				case e.Kind == history.Deliver && e.At < until:
					return fmt.Errorf("until %s, and %s", history.Clock(until), e.String())
				}
			}
			return nil
		})
		for i := range 4 {
			w.Apply(simtest.Source("src-a", "k", fmt.Sprint(i)))
			w.Sleep(time.Second)
		}
		w.Settle()
	}, sim.Runs(300), sim.For(0))
	if cut == 0 {
		t.Error("the process was never cut off")
	}
}

// A fault that lasts fails many requests, or makes many reconciles begin with a stale cache. It is
// observed once for each injection.
func TestFaultIsObservedOnceForEachInjection(t *testing.T) {
	counts := sim.Explore(t, func(w *sim.World) {
		w.Start("restless", simtest.Restless)
		w.Without("settles", "no hot loop")
		w.Inject(fault.Forbidden(10*time.Minute), fault.Unreachable(10*time.Minute), fault.StaleCache(10*time.Minute),
			fault.Rejected("no"), fault.StaleServer(10*time.Minute))
		w.Apply(simtest.Source("a"))
		w.Sleep(30 * time.Minute)
	}, sim.Runs(40), sim.For(0), sim.Verify(0)).Faults
	for _, c := range counts {
		if c.Observed == 0 || c.Observed > c.Injected || c.Injected > c.Opportunities {
			t.Errorf("%s was observed %d times, injected %d times and had %d opportunities; each is at most the next",
				c.Fault, c.Observed, c.Injected, c.Opportunities)
		}
	}
}

// After EndFaults nothing is injected until Inject declares more. Then only those faults are
// injected; the counts of the others stay.
func TestEndFaultsEmptiesTheSet(t *testing.T) {
	var before, between int
	after := map[string]int{}
	r := simtest.Holds(t, func(w *sim.World) {
		injected := func(name string) (n int) {
			from := len(w.History().Events)
			w.Apply(simtest.Source(name))
			w.Sleep(time.Minute)
			for _, e := range w.History().Events[from:] {
				if e.Kind == history.Fault {
					n++
					if name == "three" {
						after[e.Injection.Class]++
					}
				}
			}
			return n
		}
		w.External("mail.example", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		w.Start("mailer", simtest.Mailer{}.Setup)
		w.Inject(fault.ServerError(fault.In("mailer")))
		before += injected("one")
		w.EndFaults()
		between += injected("two")
		w.Inject(fault.LostReply(fault.In("mailer")))
		injected("three")
		w.Settle()
	}, sim.Runs(30), sim.For(0), sim.Verify(3))
	if before == 0 || between != 0 || after["LostReply"] == 0 || after["ServerError"] != 0 {
		t.Errorf("%d faults before EndFaults, %d after it, %v after Inject", before, between, after)
	}
	if len(r.Faults) != 2 || r.Faults[0].Injected == 0 || r.Faults[1].Injected == 0 {
		t.Errorf("the counts are %+v", r.Faults)
	}
}

// A server may lag for one kind while another kind is current. It lags by what happened to the
// kind, however short that lasted.
func TestStaleServerLagsForOneKind(t *testing.T) {
	seen := map[string]bool{}
	pair := func(k string) []client.Object {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"},
			StringData: map[string]string{"k": k}}
		return []client.Object{simtest.ConfigMap("a", "k", k), secret}
	}
	look := func(mgr ctrl.Manager) reconcile.Func {
		looked := false // what comes later passes through every state
		return func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			var cm corev1.ConfigMap
			var secret corev1.Secret
			if looked {
				return reconcile.Result{}, nil
			}
			looked = true
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, &secret); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			state := "gone"
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); client.IgnoreNotFound(err) != nil {
				return reconcile.Result{}, err
			} else if err == nil {
				state = cm.Data["k"]
			}
			seen["ConfigMap "+state+", Secret "+string(secret.Data["k"])] = true
			return reconcile.Result{}, nil
		}
	}
	simtest.Holds(t, func(w *sim.World) {
		w.Apply(pair("first")...)
		w.Sleep(10 * time.Second)
		w.Apply(pair("second")...)
		w.Remove(simtest.ConfigMap("a"))
		w.Apply(pair("third")...)
		w.Sleep(10 * time.Second)
		w.Inject(fault.StaleServer(time.Minute))
		w.Start("late", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).
				Watches(&corev1.Secret{}, &handler.EnqueueRequestForObject{}).Complete(look(mgr))
		}, sim.ListThenWatch())
		w.Settle()
	}, sim.Strategy("random"), sim.Runs(400), sim.For(0), sim.Verify(5))
	for _, want := range []string{"ConfigMap second, Secret third", "ConfigMap gone, Secret third",
		"ConfigMap third, Secret second", "ConfigMap first, Secret third", "ConfigMap third, Secret first"} {
		if !seen[want] {
			t.Errorf("no run saw %q; seen: %q", want, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// patient makes a Secret for each ConfigMap, unless it has one, and looks for it in its cache after
// 20 s. If it is not there then, it makes another one.
func patient(stale fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			c := mgr.GetClient()
			return ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
				Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
					var have corev1.SecretList
					err := c.List(ctx, &have, client.MatchingLabels{"of": r.Name})
					if err != nil || len(have.Items) > 0 {
						return reconcile.Result{}, err
					}
					made := &corev1.Secret{}
					made.Namespace, made.GenerateName, made.Labels = r.Namespace, "s-", map[string]string{"of": r.Name}
					return reconcile.Result{RequeueAfter: 20 * time.Second}, c.Create(ctx, made)
				}))
		})
		w.Inject(stale)
		w.Always("there is one secret", func(h *history.History) error {
			if n := len(h.Objects("", "Secret")); n > 1 {
				return fmt.Errorf("there are %d", n)
			}
			return nil
		})
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}
}

// A lag of 10 s at most hides what happens after a wait of 20 s. It may outlast the wait, unless it
// is a hard limit: then a warning says so.
func TestStaleCacheOutlastsWaits(t *testing.T) {
	const property = "there is one secret"
	f := simtest.Violates(t, property, patient(fault.StaleCache(10*time.Second)), sim.Runs(100), sim.For(0))
	simtest.Contains(t, f.Text(), "fault: StaleCache(10s): outlasts the wait for its Secret default/s-")
	if f.Flaky {
		t.Error("the failure is flaky")
	}
	r := simtest.Holds(t, patient(fault.StaleCache(10*time.Second, fault.HardLimit())), sim.Runs(100), sim.For(0))
	simtest.Contains(t, strings.Join(r.Warnings, "\n"), "ended while the operator still waited for its own write")
	// Lags of up to a minute outlast the wait by themselves.
	simtest.Violates(t, property, patient(fault.StaleCache(time.Minute, fault.HardLimit())), sim.Runs(100), sim.For(0))
}

// TestCrashAtOnceRestarts: the first restart waits for nothing, the second for 10 s.
func TestCrashAtOnceRestarts(t *testing.T) {
	twice := false
	sim.Explore(t, func(w *sim.World) {
		w.Start("counter", simtest.Counter{Workers: 1}.Setup)
		w.Inject(fault.Crash("counter", fault.AtOnce()))
		w.Apply(simtest.ConfigMap("total", "n", "0"))
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			w.Apply(simtest.Ticket(name))
		}
		w.Settle()
		var starts, ends []history.Time
		for _, e := range w.History().Events {
			switch e.Kind {
			case history.Start:
				starts = append(starts, e.At)
			case history.Crash:
				ends = append(ends, e.At)
			}
		}
		for i := range ends {
			if wait := starts[i+1] - ends[i]; i == 0 && wait >= time.Second ||
				i == 1 && (wait < 10*time.Second || wait > 11*time.Second) {
				t.Errorf("after end number %d the process started again after %v", i+1, wait)
			}
		}
		twice = twice || len(ends) > 1
	}, sim.Runs(100), sim.For(0), sim.Verify(20))
	if !twice {
		t.Error("no run had two crashes")
	}
}

// The restarts of a process that is restarted at nearly every write back off: there are 20
// incarnations at most in three hours.
func TestRestartsBackOff(t *testing.T) {
	writes := func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
		cm.Data = map[string]string{"at": fmt.Sprint(time.Now().Unix())}
		return reconcile.Result{RequeueAfter: 10 * time.Second}, c.Update(ctx, cm)
	}
	most := 0
	simtest.Holds(t, func(w *sim.World) {
		w.Without("settles", "no hot loop")
		w.Start("writer", simtest.Reconciles(writes))
		w.Inject(fault.Restart("writer"), fault.Crash("writer", fault.AtOnce()))
		w.Apply(simtest.ConfigMap("a"))
		w.Sleep(3 * time.Hour)
		begun := w.History().Count(history.Start)
		if begun > 20 {
			t.Errorf("%d incarnations", begun)
		}
		most = max(most, begun)
	}, sim.Strategy("swarm"), sim.Runs(6), sim.For(0))
	if most < 15 {
		t.Errorf("the faults ended the process %d times at most, so the test shows little", most)
	}
}
