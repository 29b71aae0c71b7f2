package sim_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// mailer sends one mail for each source and writes "sent" onto it. Its flaws are switched on one by
// one.
type mailer struct {
	client.Client
	live client.Reader
	http *http.Client

	forgetful bool          // does not look whether it has sent the mail
	swallow   bool          // takes every failed write for somebody else's problem
	hasty     time.Duration // gives up on the outside after this long
	trusting  bool          // takes any answer for a success
}

func (m *mailer) SetupWithManager(mgr ctrl.Manager) error {
	m.Client, m.live, m.http = mgr.GetClient(), mgr.GetAPIReader(), sim.HTTPClient(mgr)
	return ctrl.NewControllerManagedBy(mgr).Named("mailer").For(&corev1.ConfigMap{}, role("source")).Complete(m)
}

func (m *mailer) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := m.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if cm.Annotations["sent"] != "" && !m.forgetful {
		return reconcile.Result{}, nil
	}
	if err := m.send(ctx, req.Name); err != nil {
		return reconcile.Result{}, err
	}
	if m.forgetful {
		return reconcile.Result{}, nil
	}
	patch := client.MergeFrom(cm.DeepCopy())
	if cm.Annotations == nil {
		cm.Annotations = map[string]string{}
	}
	cm.Annotations["sent"] = "yes"
	return reconcile.Result{}, m.Patch(ctx, &cm, patch)
}

func (m *mailer) send(ctx context.Context, name string) error {
	if m.hasty > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.hasty)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://mail.example/"+name,
		strings.NewReader("hello"))
	if err != nil {
		return err
	}
	resp, err := m.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 && !m.trusting {
		return fmt.Errorf("the mail server answers %s", resp.Status)
	}
	return nil
}

// post is the outside world: it delivers every mail.
func post(w http.ResponseWriter, r *http.Request) {
	history.AddEffect(r.Context(), history.Effect{Kind: "mail", Key: strings.TrimPrefix(r.URL.Path, "/")})
}

func onceEach(h *history.History) error {
	seen := map[string]int{}
	for i, e := range h.Effects("mail") {
		if j, ok := seen[e.Key]; ok {
			return fmt.Errorf("mail %s was sent as effect %d and again as effect %d", e.Key, j+1, i+1)
		}
		seen[e.Key] = i
	}
	return nil
}

func allSent(h *history.History) error {
	for _, o := range h.Objects("", "ConfigMap") {
		if !strings.HasPrefix(o.Ref.Name, "src") {
			continue
		}
		sent := false
		for _, e := range h.Effects("mail") {
			sent = sent || e.Key == o.Ref.Name
		}
		if !sent {
			return fmt.Errorf("no mail was sent for %s", o.Ref.Name)
		}
	}
	return nil
}

func mailing(m mailer, faults ...func() fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		w.External("mail.example", http.HandlerFunc(post))
		w.Start("mailer", func(mgr ctrl.Manager) error { m := m; return m.SetupWithManager(mgr) })
		for _, f := range faults {
			w.Inject(f())
		}
		w.Always("each mail is sent at most once", onceEach)
		w.Eventually("every mail is sent", allSent)
		w.Apply(withRole("source", configMap("src-a", "k", "1")))
		touch := client.RawPatch(types.MergePatchType, []byte(`{"data":{"k":"2"}}`))
		if err := w.Client().Patch(w.Context(), configMap("src-a"), touch); err != nil {
			panic(err)
		}
		w.Settle()
	}
}

// tally is the counter that gives up when its write fails.
type tally struct {
	counter
	gaveUp func(error) bool
}

func (t *tally) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("tally").For(&corev1.ConfigMap{}, role("ticket")).Complete(t)
}

func (t *tally) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	res, err := t.counter.Reconcile(ctx, req)
	if err != nil && t.gaveUp(err) {
		err = nil
	}
	return res, err
}

func tallying(gaveUp func(error) bool, faults ...func() fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		w.Apply(configMap("total", "n", "0"))
		w.Start("tally", func(mgr ctrl.Manager) error {
			return (&tally{counter{mgr.GetClient(), mgr.GetAPIReader(), 1, true}, gaveUp}).SetupWithManager(mgr)
		})
		for _, f := range faults {
			w.Inject(f())
		}
		w.Eventually("the ticket is counted", func(h *history.History) error {
			if d, _ := data(h, "total"); d["n"] != "1" {
				return fmt.Errorf("one ticket was counted as %s", d["n"])
			}
			return nil
		})
		w.Apply(withRole("ticket", configMap("a")))
		w.Settle()
	}
}

// Every fault bites: a controller with the flaw that the fault is about breaks under it, and only
// under it.
func TestEveryFaultBites(t *testing.T) {
	never := func(error) bool { return false }
	anyError := func(error) bool { return true }
	for _, c := range []struct {
		name     string
		fault    func() fault.Fault
		scenario func(...func() fault.Fault) func(*sim.World)
		property string
	}{
		{"StaleCache", func() fault.Fault { return fault.StaleCache(30 * time.Second) },
			func(f ...func() fault.Fault) func(*sim.World) {
				return mailing(mailer{},
					f...)
			}, "each mail is sent at most once"},
		{"Crash", func() fault.Fault { return fault.Crash("mailer") },
			func(f ...func() fault.Fault) func(*sim.World) {
				return mailing(mailer{},
					f...)
			}, "each mail is sent at most once"},
		{"RacingRequeue", func() fault.Fault { return fault.RacingRequeue() },
			func(f ...func() fault.Fault) func(*sim.World) {
				return func(w *sim.World) {
					w.External("mail.example", http.HandlerFunc(post))
					w.Start("mailer",
						func(mgr ctrl.Manager) error { return (&mailer{forgetful: true}).SetupWithManager(mgr) })
					for _, declare := range f {
						w.Inject(declare())
					}
					w.Always("each mail is sent at most once", onceEach)
					w.Apply(withRole("source", configMap("src-a")))
					w.Settle()
				}
			}, "each mail is sent at most once"},
		{"LostReply", func() fault.Fault { return fault.LostReply() },
			func(f ...func() fault.Fault) func(*sim.World) {
				return mailing(mailer{},
					f...)
			}, "each mail is sent at most once"},
		{"SlowEffect", func() fault.Fault { return fault.SlowEffect(time.Minute) },
			func(f ...func() fault.Fault) func(*sim.World) {
				return mailing(mailer{hasty: 5 * time.Second},
					f...)
			}, "each mail is sent at most once"},
		{"FailedEffect", func() fault.Fault { return fault.FailedEffect() },
			func(f ...func() fault.Fault) func(*sim.World) {
				return mailing(mailer{trusting: true},
					f...)
			}, "every mail is sent"},
		{"DoubledEffect", func() fault.Fault { return fault.DoubledEffect() },
			func(f ...func() fault.Fault) func(*sim.World) {
				return mailing(mailer{},
					f...)
			}, "each mail is sent at most once"},
		{"HostDown, and the controller comes back", func() fault.Fault { return fault.HostDown(time.Minute) },
			func(f ...func() fault.Fault) func(*sim.World) {
				return mailing(mailer{},
					f...)
			}, ""},
		{"Conflict", func() fault.Fault { return fault.Conflict() },
			func(f ...func() fault.Fault) func(*sim.World) {
				return tallying(apierrors.IsConflict,
					f...)
			}, "the ticket is counted"},
		{"ServerError", func() fault.Fault { return fault.ServerError() },
			func(f ...func() fault.Fault) func(*sim.World) { return tallying(anyError, f...) },
			"the ticket is counted"},
		{"Unreachable", func() fault.Fault { return fault.Unreachable(time.Minute) },
			func(f ...func() fault.Fault) func(*sim.World) { return tallying(anyError, f...) },
			"the ticket is counted"},
		{"Unreachable, and the controller comes back", func() fault.Fault { return fault.Unreachable(time.Minute) },
			func(f ...func() fault.Fault) func(*sim.World) { return tallying(never, f...) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim.Check(t, c.scenario()) // without the fault it holds
			bites := sim.Explore(t, c.scenario(c.fault))
			count := bites.Faults[0]
			t.Logf("%d runs; %s: injected %d times at %d opportunities, %d observed", bites.Runs, count.Fault,
				count.Injected, count.Opportunities, count.Observed)
			if count.Opportunities == 0 || count.Injected == 0 || count.Observed == 0 {
				t.Errorf("the fault was not seen: %+v", count)
			}
			if c.property == "" {
				if bites.Failure != nil {
					t.Error(bites.Failure.Text())
				}
				return
			}
			if bites.Failure == nil || bites.Failure.Property != c.property {
				t.Fatalf("the fault does not bite: %+v", bites.Failure)
			}
			t.Log(bites.Failure.Text())
		})
	}
}
