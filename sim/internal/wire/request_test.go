package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
)

// A request takes effect in one step, and its reply is delivered in another.
func TestARequestTakesTwoSteps(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		got := w.create(w.program("p"), "a")
		if w.stored("a") || got.Done {
			t.Fatal("the request took effect before the scheduler let it")
		}
		w.Sched.Step(time.Second)
		if !w.stored("a") || got.Done {
			t.Fatalf("after one step: stored %v, reply %s", w.stored("a"), got)
		}
		expect(t, "commits", w.commits, "[ADDED a]")
		w.Sched.Step(time.Second)
		expect(t, "reply", got, http.StatusCreated)
		expect(t, "steps", w.Sched.Steps(), 2)
		expect(t, "time", w.Sched.Now(), 2*time.Millisecond)
		expect(t, "history", w.events(), "[request create a reply create]")
		reply := w.History.Events[1]
		expect(t, "reply's event", fmt.Sprint(reply.Call, reply.Process, reply.Incarnation, reply.Code), "0p1 201")
	})
}

// What goes wrong with a request, where, and what its caller and the server know of it then.
func TestRulings(t *testing.T) {
	refused := &apiserver.Response{Code: http.StatusServiceUnavailable, Body: []byte(`{}`)}
	for name, c := range map[string]struct {
		arrive, landed Ruling
		stored         bool
		answer         string
		killed         bool
	}{
		"nothing":                  {stored: true, answer: "201"},
		"lost before the effect":   {arrive: Ruling{Lose: errLost}, answer: errLost.Error()},
		"lost after the effect":    {landed: Ruling{Lose: errLost}, stored: true, answer: errLost.Error()},
		"refused":                  {arrive: Ruling{Answer: refused}, answer: "503"},
		"another answer":           {landed: Ruling{Answer: refused}, stored: true, answer: "503"},
		"killed before the effect": {arrive: Ruling{Kill: true}, answer: "waits", killed: true},
		"killed after the effect":  {landed: Ruling{Kill: true}, stored: true, answer: "waits", killed: true},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.arrive = func(*Call) Ruling { return c.arrive }
				w.landed = func(*Call) Ruling { return c.landed }
				p := w.program("p")
				got := w.create(p, "a")
				w.drain(time.Second)
				expect(t, "stored", w.stored("a"), c.stored)
				expect(t, "answer", got, c.answer)
				expect(t, "killed", p.killed, c.killed)
				w.Release(synctest.Wait)
				if c.killed {
					expect(t, "answer when the run ends", got, ErrDead)
				}
			})
		})
	}
}

// A poll whose interval divides its time-out has a timer and a deadline that are due at one
// instant. Which fires first must not matter: a request of that instant is not sent.
func TestARequestAtItsDeadlineIsNotSent(t *testing.T) {
	for range 20 {
		run(t, func(t *testing.T, w *world) {
			p, asked := w.program("p"), 0
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			go func() {
				defer cancel()
				for tick := time.NewTicker(2 * time.Second); ; {
					select {
					case <-tick.C:
					case <-ctx.Done():
						return
					}
					asked++
					url := "http://" + APIHost + "/api/v1/namespaces"
					req, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
					_, err := p.RoundTrip(req)
					if err != nil && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("the request ended with %v", err)
					}
				}
			}()
			w.drain(time.Minute)
			if asked < 4 || len(w.History.Events) != 8 {
				t.Errorf("of %d requests there are these events, want 8 of 4: %s", asked, w.events())
			}
		})
	}
}

// Seen is called when the consequence reaches the caller, not before.
func TestSeenIsCalledWithTheReply(t *testing.T) {
	for _, leg := range []string{"arrive", "landed"} {
		run(t, func(t *testing.T, w *world) {
			seen := 0
			ruling := func(*Call) Ruling { return Ruling{Seen: func() { seen++ }} }
			if leg == "arrive" {
				w.arrive = ruling
			} else {
				w.landed = ruling
			}
			w.create(w.program("p"), "a")
			w.Sched.Step(time.Second)
			expect(t, leg+": seen after the effect", seen, 0)
			w.Sched.Step(time.Second)
			expect(t, leg+": seen after the reply", seen, 1)
		})
	}
}

// A request that is put back takes effect in a later step, and pays no latency again.
func TestAHeldRequestWaitsForAnotherStep(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		arrivals := 0
		w.arrive = func(*Call) Ruling { arrivals++; return Ruling{Hold: arrivals == 1} }
		got := w.create(w.program("p"), "a")
		w.Sched.Step(time.Second)
		expect(t, "stored after one step", w.stored("a"), false)
		w.Sched.Step(time.Second)
		expect(t, "stored after two steps", w.stored("a"), true)
		expect(t, "time of the effect", w.Sched.Now(), time.Millisecond)
		w.drain(time.Second)
		expect(t, "answer", got, http.StatusCreated)
	})
}

// Only requests to the outside take effect twice; the API server's own retries are the client's.
func TestAgainDoublesAnEffectOutside(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		calls := 0
		serve := func(rw http.ResponseWriter, _ *http.Request) { calls++; rw.WriteHeader(http.StatusAccepted) }
		if err := w.Hosts.Outside("git.example", http.HandlerFunc(serve)); err != nil {
			t.Fatal(err)
		}
		w.arrive = func(*Call) Ruling { return Ruling{Again: true} }
		p := w.program("p")
		outside := w.send(context.Background(), p, http.MethodPost, "http://git.example/pulls", "")
		inside := w.create(p, "a")
		w.drain(time.Second)
		expect(t, "calls of the model", calls, 2)
		expect(t, "answers", fmt.Sprint(outside, inside), "202 201")
		expect(t, "effects", len(w.History.Effects(history.Requested)), 2)
		expect(t, "commits", w.commits, "[ADDED a]")
	})
}

// Requests that were sent in one phase arrive in an order that does not depend on which goroutine
// ran first: by process, method, path and body, and by the client that sends them.
func TestRequestsOfOnePhaseHaveACanonicalOrder(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p, q := w.program("p"), w.program("q")
		first, second := p.Client(), p.Client()
		var order []string
		w.arrive = func(c *Call) Ruling {
			order = append(order, fmt.Sprint(c.Port.Name(), " ", c.client))
			return Ruling{}
		}
		for _, rt := range []http.RoundTripper{q, second, first, p} {
			w.send(context.Background(), rt, http.MethodGet, configMaps, "")
		}
		w.drain(time.Second)
		expect(t, "order", order, "[p/1 0 p/1 1 p/1 2 q/1 0]")
	})
}

// One context ends two calls, and Go tells them in any order. Each learns of it in a step of its
// own, in canonical order, and what had not arrived never does.
func TestCancelledRequestsEndInSteps(t *testing.T) {
	for range 5 {
		run(t, func(t *testing.T, w *world) {
			p := w.program("p")
			w.latency = func(*Call, story.Kind) time.Duration { return time.Hour }
			ctx, cancel := context.WithCancel(context.Background())
			b := w.send(ctx, p, http.MethodDelete, configMaps+"/b", "")
			a := w.send(ctx, p, http.MethodDelete, configMaps+"/a", "")
			w.Sched.Quiesce()
			cancel()
			synctest.Wait()
			if a.Done || b.Done {
				t.Fatal("a caller learnt of the end before the scheduler let it")
			}
			w.Sched.Disturb()
			w.Sched.Step(time.Second)
			expect(t, "after one step", fmt.Sprint(a, b), "context canceled waits")
			w.drain(2 * time.Hour)
			expect(t, "after two steps", b, context.Canceled)
			expect(t, "history", w.events(), "[reply delete a the caller gave up reply delete b the caller gave up]")
		})
	}
}

// The reply is on its way and the caller gives up: the effect stays, and the caller hears of its
// context only.
func TestACancelledRequestMayHaveTakenEffect(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(context.Background())
		w.latency = func(_ *Call, leg story.Kind) time.Duration {
			return map[story.Kind]time.Duration{story.Reply: time.Hour}[leg]
		}
		got := w.send(ctx, w.program("p"), http.MethodPost, configMaps, configMap("a"))
		w.Sched.Step(time.Second)
		cancel()
		w.drain(2 * time.Hour)
		expect(t, "stored", w.stored("a"), true)
		expect(t, "answer", got, context.Canceled)
	})
}

// The writes of a frozen process arrive, whatever its contexts say. It learns of nothing before it
// resumes.
func TestAFrozenProcessHearsNothing(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.program("p")
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		w.latency = func(*Call, story.Kind) time.Duration { return time.Minute }
		got := w.send(ctx, p, http.MethodPost, configMaps, configMap("a"))
		w.Sched.Quiesce()
		p.Freeze()
		w.drain(90 * time.Second)
		expect(t, "frozen", p.Frozen(), true)
		expect(t, "stored", w.stored("a"), true)
		expect(t, "answer while it is frozen", got, "waits")
		p.Thaw()
		w.drain(91 * time.Second)
		expect(t, "answer when it resumes", got, context.DeadlineExceeded)
		expect(t, "thawed", p.Thawed(), 90*time.Second)
		p.Thaw() // one that is not frozen stays as it is
		expect(t, "thawed", p.Thawed(), 90*time.Second)
	})
}

func TestADeadProcessSendsNothing(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.program("p")
		before := w.create(p, "before")
		w.Bury(p.Port)
		after := w.create(p, "after")
		w.drain(time.Second)
		expect(t, "answers", fmt.Sprint(before, " ", after), "waits "+ErrDead.Error())
		expect(t, "commits", w.commits, "[]")
		w.Dismiss(p.Port, synctest.Wait)
		expect(t, "answer when its goroutines may end", before, ErrDead)
		expect(t, "history", w.events(), "[]")
	})
}

// Informers ask for discovery while they hold a mutex, so it takes no step.
func TestDiscoveryIsAnsweredAtOnce(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		got := w.send(context.Background(), w.program("p"), http.MethodGet, "/api/v1", "")
		expect(t, "answer", got, http.StatusOK)
		expect(t, "steps", w.Sched.Steps(), 0)
	})
}

// A property reads through a port that serves reads at once and unrecorded. Its writes take steps.
func TestADirectPortReadsAtOnce(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.commit(t, "a")
		p := w.program("p")
		p.Direct = func() bool { return true }
		read := w.send(context.Background(), p, http.MethodGet, configMaps+"/a", "")
		written := w.create(p, "b")
		expect(t, "answers", fmt.Sprint(read, written), "200 waits")
		expect(t, "history", w.events(), "[request create a]")
	})
}

// A call made on the scheduling goroutine runs the scheduler until it is answered.
func TestDriveRunsTheSchedulerUntilTheReply(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.program("p")
		p.Drive = func(replied func() bool) {
			for !replied() && w.Sched.Step(time.Minute) {
			}
		}
		req, _ := http.NewRequest(http.MethodGet, "http://"+APIHost+configMaps, nil)
		resp, err := p.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%v, %v", resp, err)
		}
		expect(t, "steps", w.Sched.Steps(), 2)
	})
}

// Another cluster has a host of its own; what happens there is recorded under it, and built-in
// controllers of this cluster do not hear of it.
func TestRequestsToAnotherCluster(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		other := apiserver.New(apiserver.Options{Now: time.Now})
		if err := w.Hosts.Remote("east.example", other); err != nil {
			t.Fatal(err)
		}
		url := "http://east.example" + configMaps
		got := w.send(context.Background(), w.program("p"), http.MethodPost, url, configMap("a"))
		w.drain(time.Second)
		expect(t, "answer", got, http.StatusCreated)
		expect(t, "stored here", w.stored("a"), false)
		expect(t, "stored there", other.Typed("", "configmaps", "default", "a") != nil, true)
		expect(t, "commits", w.commits, "[]")
		expect(t, "cluster", w.History.Events[0].Ref.Cluster, "east.example")
	})
}

// A run can note the line that made each request.
func TestCallersOfRequests(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Callers = map[int][]uintptr{}
		w.create(w.program("p"), "a")
		w.drain(time.Second)
		if len(w.Callers) != 1 || len(w.Callers[0]) < 2 {
			t.Errorf("callers by event: %v", w.Callers)
		}
	})
}

// A watch or list outside any reconcile that fails leaves its program without news, until it is
// repeated or no reflector would repeat it any more.
func TestFailedListsAreRemembered(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.program("p")
		lose := errLost
		w.arrive = func(*Call) Ruling { return Ruling{Lose: lose} }
		list := func() {
			w.send(context.Background(), p, http.MethodGet, configMaps, "")
			w.drain(w.Sched.Now() + time.Second)
		}
		list()
		s := w.Watches.Lost()
		if len(s) != 1 || s[0].Since != 2*time.Millisecond || s[0].Until() != s[0].Since+time.Minute {
			t.Fatalf("after a failed list: %v", s)
		}
		lose = nil
		list()
		expect(t, "after a list that came through", len(w.Watches.Lost()), 0)
		lose = errLost
		list()
		w.drain(2 * time.Minute)
		expect(t, "after a minute", len(w.Watches.Lost()), 0)
	})
}

func TestWritesOfUsersTakeEffectAtOnce(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.commit(t, "a")
		expect(t, "commits", w.commits, "[ADDED a]")
		expect(t, "history", w.events(), "[request create a]")
		expect(t, "process", w.History.Events[0].Process, "user")
		req, _ := http.NewRequest(http.MethodGet, "http://"+APIHost+configMaps+"/a", nil)
		read := w.Read(&apiserver.Request{Method: http.MethodGet, URL: req.URL, Groups: []string{"system:masters"}})
		expect(t, "read", read.Code, http.StatusOK)
		w.Hosts.Trim(0)
	})
}

// reconcileOf is a reconcile of default/a.
func reconcileOf(n int) history.Reconcile {
	return history.Reconcile{Key: history.Key{Controller: "c", Namespace: "default", Name: "a"}, N: n}
}

// The parts of a call that histories and choices are made of.
func TestACallInWords(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		var got []string
		w.arrive = func(c *Call) Ruling {
			got = append(got, fmt.Sprintf("%s | %s | %s | %v %v", c, c.Description(), c.Actor(), c.Writes(), c.Idle()))
			return Ruling{Lose: errors.New("lost")}
		}
		p := w.program("p")
		p.Attribute = func(ctx context.Context) history.Reconcile {
			r, _ := ctx.Value(key{}).(history.Reconcile)
			return r
		}
		w.create(p, "a")
		reconcile := context.WithValue(context.Background(), key{}, reconcileOf(3))
		w.send(reconcile, p, http.MethodPut, configMaps+"/a/status", configMap("a"))
		const lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l"
		w.send(context.Background(), p, http.MethodGet, lease, "")
		w.drain(time.Second)
		want := []string{
			"get Lease default/l | get Lease default/l | p/1 at " + lease + " | false true",
			"create ConfigMap default/ | create ConfigMap default/a | p/1 at " + configMaps + " | true false",
			"update ConfigMap default/a/status | update ConfigMap default/a/status | p/1 c default/a | true false",
		}
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Errorf("%q, want %q", got, want)
				break
			}
		}
	})
}

type key struct{}

// A create that is refused has the name of its object on record, though no object has it.
func TestRefusedCreateHasAName(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.commit(t, "a")
		p := w.program("p")
		got := w.create(p, "a")
		generated := w.send(context.Background(), p, http.MethodPost, configMaps,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"b-"},"data":{"not valid":"x"}}`)
		w.drain(time.Second)
		expect(t, "replies", fmt.Sprint(got, generated), "409 422")
		var names []string
		for _, e := range w.History.Events {
			if e.Kind == history.Request && e.Process == "p" {
				names = append(names, e.Ref.Name)
			}
		}
		slices.Sort(names)
		expect(t, "names", fmt.Sprintf("%q", names), `["" "a"]`)
	})
}
