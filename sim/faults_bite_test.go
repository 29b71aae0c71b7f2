package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// bite is a fault, a scenario that breaks under it and holds without it, and what breaks.
type bite struct {
	name     string
	fault    func() fault.Fault
	scenario func(...func() fault.Fault) func(*sim.World)
	property string
}

func (b bite) run(t *testing.T, opts ...sim.ExploreOption) {
	sim.Check(t, b.scenario(), sim.Runs(20))
	r := sim.Explore(t, b.scenario(b.fault), append([]sim.ExploreOption{sim.Runs(300), sim.For(0)}, opts...)...)
	count := r.Faults[0]
	t.Logf("%d runs; %s: injected %d times at %d opportunities, %d observed", r.Runs, count.Fault, count.Injected,
		count.Opportunities, count.Observed)
	if count.Opportunities == 0 || count.Injected == 0 || count.Observed == 0 {
		t.Errorf("the fault was not seen: %+v", count)
	}
	if r.Failure == nil || r.Failure.Property != b.property {
		if r.Failure != nil {
			t.Log(r.Failure.Text())
		}
		t.Fatalf("the fault does not break %q", b.property)
	}
	t.Log(r.Failure.Text())
}

// alarm sends a mail when it sees a ConfigMap turn to "red": it acts on a transition, not on a
// state.
type alarm struct{ mailer }

func (a *alarm) SetupWithManager(mgr ctrl.Manager) error {
	a.Client, a.http = mgr.GetClient(), sim.HTTPClient(mgr)
	turnsRed := predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectNew.GetAnnotations()["light"] == "red" && e.ObjectOld.GetAnnotations()["light"] != "red"
		},
	}
	return ctrl.NewControllerManagedBy(mgr).Named("alarm").For(&corev1.ConfigMap{},
		builder.WithPredicates(turnsRed)).Complete(a)
}

func (a *alarm) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	return reconcile.Result{}, a.send(ctx, req.Name)
}

func alarms(faults ...func() fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		w.External("mail.example", http.HandlerFunc(post))
		w.Start("alarm", func(mgr ctrl.Manager) error { return (&alarm{}).SetupWithManager(mgr) })
		for _, f := range faults {
			w.Inject(f())
		}
		w.Settle() // the watch begins, which delays alone may put off until the light is green again
		w.Eventually("every mail is sent", allSent)
		for _, light := range []string{"green", "red", "green"} {
			cm := configMap("src-a")
			cm.Annotations = map[string]string{"light": light}
			w.Apply(cm)
			w.Sleep(time.Second)
		}
		w.Settle()
	}
}

// undertaker digs a grave for every ConfigMap that is deleted.
type undertaker struct{ mailer }

func (u *undertaker) SetupWithManager(mgr ctrl.Manager) error {
	u.Client, u.http = mgr.GetClient(), sim.HTTPClient(mgr)
	deleted := predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
	return ctrl.NewControllerManagedBy(mgr).Named("undertaker").For(&corev1.ConfigMap{},
		builder.WithPredicates(deleted)).Complete(u)
}

func (u *undertaker) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	return reconcile.Result{}, u.send(ctx, req.Name)
}

// burying deletes a ConfigMap and makes another one of the same name.
func burying(faults ...func() fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		w.External("mail.example", http.HandlerFunc(post))
		w.Start("undertaker", func(mgr ctrl.Manager) error { return (&undertaker{}).SetupWithManager(mgr) })
		for _, f := range faults {
			w.Inject(f())
		}
		w.Eventually("every grave is dug", func(h *history.History) error {
			if n := len(h.Effects("mail")); n != 1 {
				return fmt.Errorf("one ConfigMap was deleted, %d graves were dug", n)
			}
			return nil
		})
		w.Sleep(5 * time.Second) // the undertaker watches, however slow its requests were
		w.Apply(configMap("src-a"))
		w.Sleep(time.Second)
		w.Remove(configMap("src-a"))
		w.Apply(configMap("src-a"))
		w.Settle()
	}
}

func mailingTwice(f ...func() fault.Fault) func(*sim.World) { return mailing(mailer{}, f...) }

func TestWatchFaultsBite(t *testing.T) {
	const once = "each mail is sent at most once"
	for _, b := range []bite{
		{"DroppedWatch", func() fault.Fault { return fault.DroppedWatch() }, mailingTwice, once},
		{"Relist", func() fault.Fault { return fault.Relist() }, burying, "every grave is dug"},
		{"Expired", func() fault.Fault { return fault.Expired() }, burying, "every grave is dug"},
		{"MissedStates", func() fault.Fault { return fault.MissedStates(10 * time.Second) },
			alarms, "every mail is sent"},
	} {
		t.Run(b.name, func(t *testing.T) { b.run(t) })
	}
}

// never is an operator that gives up for good on an error of one sort.
func givesUpOn(gone func(error) bool) func(...func() fault.Fault) func(*sim.World) {
	return func(f ...func() fault.Fault) func(*sim.World) { return tallying(gone, f...) }
}

func TestRefusalsBite(t *testing.T) {
	const counted = "the ticket is counted"
	for _, b := range []bite{
		{"Rejected, as invalid", func() fault.Fault { return fault.Rejected("n must be even") },
			givesUpOn(apierrors.IsInvalid), counted},
		{"Rejected, by a webhook", func() fault.Fault {
			return fault.Rejected("n must be even",
				fault.OfKind("ConfigMap"))
		}, givesUpOn(apierrors.IsForbidden), counted},
		{"Forbidden", func() fault.Fault { return fault.Forbidden(time.Minute, fault.In("tally")) },
			givesUpOn(apierrors.IsForbidden), counted},
	} {
		t.Run(b.name, func(t *testing.T) { b.run(t) })
	}
}

// What a refused controller is told is what kube-apiserver says.
func TestForbiddenSpeaksLikeKubernetes(t *testing.T) {
	var got error
	sim.Explore(t, func(w *sim.World) {
		w.Start("tally", func(mgr ctrl.Manager) error {
			return (&tally{counter{mgr.GetClient(), mgr.GetAPIReader(), 1, true},
				func(err error) bool { got = err; return false }}).SetupWithManager(mgr)
		})
		w.Inject(fault.Forbidden(time.Minute, fault.OnVerb("get")))
		w.Apply(configMap("total", "n", "0"), withRole("ticket", configMap("a")))
		w.Settle()
		for _, e := range w.History().Events {
			if refused := e.Kind == history.Request && e.Code == http.StatusForbidden; e.Injected != refused {
				t.Errorf("injected=%v: %s", e.Injected, e.String())
			}
		}
	}, sim.Runs(20))
	want := `configmaps "total" is forbidden: User "tally" cannot get resource "configmaps" in API group "" ` +
		`in the namespace "default"`
	if got == nil || got.Error() != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

// slowpoke sends its mail in the background of a reconcile's context and loses it when the process
// ends before.
func TestRestartBites(t *testing.T) {
	bite{"Restart", func() fault.Fault { return fault.Restart("mailer") }, mailingTwice,
		"each mail is sent at most once"}.run(t)
}

// numbered raises the number on the ConfigMap that it is told to, one step per second, and does so
// only while it leads.
type raiser struct {
	client.Client
	live  client.Reader
	fence bool // takes no for an answer: writes with an optimistic lock
}

func (r *raiser) SetupWithManager(mgr ctrl.Manager) error {
	r.Client, r.live = mgr.GetClient(), mgr.GetAPIReader()
	return ctrl.NewControllerManagedBy(mgr).Named("raiser").For(&corev1.ConfigMap{}, role("number")).Complete(r)
}

func (r *raiser) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := r.live.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	n, _ := strconv.Atoi(cm.Data["n"])
	if n >= 20 {
		return reconcile.Result{}, nil
	}
	patch := client.MergeFrom(cm.DeepCopy())
	if r.fence {
		patch = client.MergeFromWithOptions(cm.DeepCopy(), client.MergeFromWithOptimisticLock{})
	}
	cm.Data = map[string]string{"n": strconv.Itoa(n + 1)}
	return reconcile.Result{RequeueAfter: time.Second}, r.Patch(ctx, &cm, patch)
}

func raising(fence bool, faults ...func() fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		for _, name := range []string{"one", "two"} {
			w.Start(name, func(mgr ctrl.Manager) error { return (&raiser{fence: fence}).SetupWithManager(mgr) },
				sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "raiser",
					LeaderElectionNamespace: "default"}))
		}
		for _, f := range faults {
			w.Inject(f())
		}
		w.Always("the number never falls", func(h *history.History) error {
			top := 0
			for i := range h.Events {
				for _, ch := range h.Events[i].Changes {
					var cm corev1.ConfigMap
					if ch.Ref.Kind != "ConfigMap" || (history.Object{JSON: ch.Object}).Into(&cm) != nil {
						continue
					}
					n, _ := strconv.Atoi(cm.Data["n"])
					if n < top {
						return fmt.Errorf("it falls from %d to %d by %s", top, n, h.Events[i].Actor())
					}
					top = n
				}
			}
			return nil
		})
		w.Apply(withRole("number", configMap("a", "n", "0")))
		w.Settle()
	}
}

// A leader that freezes with a write in hand wakes up when another one leads, and still writes.
func TestPauseMakesAZombie(t *testing.T) {
	paused := func() fault.Fault { return fault.Pause("one", 2*time.Minute) }
	bite{"Pause", paused, func(f ...func() fault.Fault) func(*sim.World) { return raising(false, f...) },
		"the number never falls"}.run(t)
	r := sim.Explore(t, raising(true, paused), sim.Runs(60), sim.For(0), sim.Verify(5))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
}

// A program that returns while it is frozen is not taken for ended before it wakes up. A schedule
// that prefers its end to all else must not make a run of that wait.
func TestNothingEndsFrozen(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Run("brief", func(ctx context.Context, cfg *rest.Config) error {
			c, err := client.New(cfg, client.Options{})
			if err != nil {
				return err
			}
			go func() {
				for ctx.Err() == nil {
					_ = c.Create(ctx, configMap("a"))
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
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
	if c := r.Faults[0]; c.Injected == 0 || c.Observed == 0 {
		t.Errorf("it was never frozen: %+v", c)
	}
}

// A leader whose lease was taken away works on until its RenewDeadline, beside its successor.
func TestLeaderOverlapBites(t *testing.T) {
	r := sim.Explore(t, raising(true, func() fault.Fault { return fault.LeaderOverlap() }), sim.Runs(60), sim.For(0),
		sim.Verify(5))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
	c := r.Faults[0]
	t.Logf("%d runs; %+v", r.Runs, c)
	if c.Injected == 0 || c.Observed == 0 {
		t.Errorf("no two leaders worked at once: %+v", c)
	}
}

// A leader that is asked to end and releases its lease is succeeded at once; one that keeps it,
// when it has run out.
func TestReleasedLeases(t *testing.T) {
	for _, release := range []bool{true, false} {
		sim.Check(t, func(w *sim.World) {
			for _, name := range []string{"one", "two"} {
				w.Start(name, func(mgr ctrl.Manager) error { return (&raiser{fence: true}).SetupWithManager(mgr) },
					sim.Options(ctrl.Options{
						LeaderElection: true, LeaderElectionID: "raiser", LeaderElectionNamespace: "default",
						LeaderElectionReleaseOnCancel: release}))
			}
			w.Apply(withRole("number", configMap("a", "n", "0")))
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
				if e.Kind == history.Dequeue && e.Process != first || e.Kind == history.Dequeue && e.Incarnation > 1 {
					if took := e.At - stopped; (took < 8*time.Second) != release {
						t.Errorf("released: %v, and the successor took %v to work", release, took)
					}
					return
				}
			}
			t.Errorf("nobody succeeded %s", first)
		}, sim.Runs(10))
	}
}

// restarted is the mailer whose process is started again after it has sent its mail.
func restarted(opts ...sim.ProcessOption) func(...func() fault.Fault) func(*sim.World) {
	return func(faults ...func() fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			w.External("mail.example", http.HandlerFunc(post))
			w.Start("mailer", func(mgr ctrl.Manager) error { return (&mailer{}).SetupWithManager(mgr) }, opts...)
			for _, f := range faults {
				w.Inject(f())
			}
			w.Always("each mail is sent at most once", onceEach)
			w.Apply(withRole("source", configMap("src-a")))
			w.Sleep(5 * time.Second)
			w.Stop("mailer")
			w.Settle()
		}
	}
}

// A server that trails takes informers back in time that list at resourceVersion=0. Those that
// begin with a consistent list start late, and that is all.
func TestStaleServerBites(t *testing.T) {
	stale := func() fault.Fault { return fault.StaleServer(time.Minute) }
	bite{"StaleServer", stale, restarted(sim.ListThenWatch()), "each mail is sent at most once"}.run(t)
	r := sim.Explore(t, restarted()(stale), sim.Runs(100), sim.For(0), sim.Verify(5))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
	if c := r.Faults[0]; c.Injected == 0 || c.Observed == 0 {
		t.Errorf("no read went to the other server: %+v", c)
	}
}

// Options vary from run to run, and the undisturbed run has those of the operator.
func TestVaryVariesOptions(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.External("mail.example", http.HandlerFunc(post))
		w.Start("mailer", func(mgr ctrl.Manager) error { return (&mailer{}).SetupWithManager(mgr) }, sim.Vary())
		w.Inject(fault.Crash("mailer"))
		w.Eventually("every mail is sent", allSent)
		w.Apply(withRole("source", configMap("src-a")), withRole("source", configMap("src-b")))
		w.Settle()
		w.Apply(withRole("source", configMap("src-a", "k", "1")))
		w.Settle()
	}, sim.Runs(60), sim.Verify(3), sim.Strategy("random"))
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
}

// A fault that never strikes in a whole campaign is worth a warning.
func TestFaultsThatNeverStrikeAreNamed(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Start("mirror", func(mgr ctrl.Manager) error { return (&mirror{mgr.GetClient()}).SetupWithManager(mgr) })
		w.Inject(fault.StaleCache(time.Second), fault.LeaderOverlap(), fault.Crash("mirror", fault.OfKind("Secret")))
		w.Apply(withRole("source", configMap("a")))
		w.Settle()
	}, sim.Runs(50))
	got := strings.Join(r.Warnings, "\n")
	want := "fault LeaderOverlap had no opportunity in 50 runs: look at its scope, or do not declare it\n" +
		"fault Crash(mirror) of Secret had no opportunity in 50 runs: look at its scope, or do not declare it"
	if !testing.Short() && got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A webhook that nobody answers fails the writes that it is asked about, as failurePolicy Fail has
// it.
func TestWebhookDownBites(t *testing.T) {
	none := admissionregv1.SideEffectClassNone
	guarded := func(f ...func() fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			address := "https://policy.example/check"
			w.External("policy.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				var review admissionv1.AdmissionReview
				if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
					panic(err)
				}
				review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
				json.NewEncoder(rw).Encode(review) //nolint:errcheck // into memory
			}))
			w.Apply(&admissionregv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "policy"},
				Webhooks: []admissionregv1.ValidatingWebhook{{
					Name: "policy.example.com", SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
					ClientConfig: admissionregv1.WebhookClientConfig{URL: &address},
					Rules: []admissionregv1.RuleWithOperations{{Operations: []admissionregv1.OperationType{"UPDATE"},
						Rule: admissionregv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
							Resources: []string{"configmaps"}}}},
				}}})
			tallying(apierrors.IsInternalError, f...)(w)
		}
	}
	bite{"WebhookDown", func() fault.Fault {
		return fault.WebhookDown(time.Minute,
			fault.Named("policy.example.com"))
	}, guarded, "the ticket is counted"}.run(t)
}

// A controller that has patience for ten seconds sees a namespace that takes longer.
func TestSlowNamespaceBites(t *testing.T) {
	ending := func(f ...func() fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			for _, declare := range f {
				w.Inject(declare())
			}
			w.Apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
			w.Remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
			w.Always("a namespace is gone within ten seconds", func(h *history.History) error {
				for _, o := range h.Objects("", "Namespace") {
					var ns corev1.Namespace
					if o.Ref.Name == "shop" && o.Into(&ns) == nil && ns.DeletionTimestamp != nil &&
						h.Now() > 10*time.Second {
						return fmt.Errorf("it is there at %v", h.Now())
					}
				}
				return nil
			})
			w.Settle()
		}
	}
	bite{"SlowNamespace", func() fault.Fault { return fault.SlowNamespace(time.Minute, fault.Named("shop")) }, ending,
		"a namespace is gone within ten seconds"}.run(t)
}
