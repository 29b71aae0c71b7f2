package world

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// ends makes a run and returns how it ended, and its steps.
func ends(t *testing.T, source choice.Source, maxSteps int, scenario func(*World)) (result.Ending, int) {
	t.Helper()
	defer process.Enter(logr.Discard(), process.Outside{})()
	r := Runner(scenario)(t, source, run.Settings{MaxSteps: maxSteps})
	return r.Ending, r.Steps
}

// mustHold makes a run on the default schedule, which must not fail.
func mustHold(t *testing.T, scenario func(*World)) {
	t.Helper()
	if e, _ := ends(t, choice.Play(nil), 50000, scenario); e.Failed() {
		t.Error(e.Sentence())
	}
}

func configMapA() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
}

// reconciling is a reconcile of a ConfigMap.
type reconciling struct {
	mgr *process.Manager
	cm  *corev1.ConfigMap
}

// reconciles starts an operator of ConfigMaps that does what do does, once its object is read.
func reconciles(w *World, o ctrl.Options, do func(context.Context, *reconciling) (ctrl.Result, error)) {
	w.Start("op", func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
			Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
				var cm corev1.ConfigMap
				if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				return do(ctx, &reconciling{mgr.(*process.Manager), &cm})
			}))
	}, ProcessOptions{Manager: o, ListThenWatch: true})
}

// put sets a key of the ConfigMap's data.
func (r *reconciling) put(ctx context.Context, key, value string) error {
	if r.cm.Data == nil {
		r.cm.Data = map[string]string{}
	}
	r.cm.Data[key] = value
	return r.mgr.GetClient().Update(ctx, r.cm)
}

// get asks the outside service, and reports whether its answer is empty.
func (r *reconciling) get(ctx context.Context) (empty bool, err error) {
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://shop.example/a", nil)
	if err != nil {
		return false, err
	}
	resp, err := r.mgr.HTTPClient().Do(get)
	if err != nil {
		return false, err
	}
	return resp.ContentLength == 0, resp.Body.Close()
}

// ownsSecret is the textbook operator: each ConfigMap owns a Secret. Its informer of ConfigMaps
// loses its watch when the ConfigMap is deleted, and cannot list for 30 s, so that its reflector
// backs off. Meanwhile the operator creates the Secret and the collector deletes it, again and
// again.
func ownsSecret() (choice.Source, func(*World)) {
	deleted, lost, cut := false, false, false
	source := choice.Func(func(p choice.Point) int {
		switch {
		case p.Kind == story.Arm:
			return 2
		case p.Kind != story.Inject || !deleted || cut:
			return 0
		case strings.HasPrefix(p.Of, "Relist"):
			lost = true
			return 1
		case strings.HasPrefix(p.Of, "Forbidden") && lost:
			cut = true
			return p.N - 1
		}
		return 0
	})
	return source, func(w *World) {
		reconciles(w, ctrl.Options{}, func(ctx context.Context, r *reconciling) (ctrl.Result, error) {
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.cm.Namespace, Name: r.cm.Name}}
			_, err := controllerutil.CreateOrUpdate(ctx, r.mgr.GetClient(), s, func() error {
				return controllerutil.SetControllerReference(r.cm, s, r.mgr.GetScheme())
			})
			return ctrl.Result{}, err
		})
		w.Inject(fault.Relist(fault.OfKind("ConfigMap")), fault.Forbidden(30*time.Second, fault.OfKind("ConfigMap")))
		w.Apply(configMapA())
		w.Sleep(2 * time.Second)
		deleted = true
		w.Remove(configMapA())
		w.Settle()
	}
}

func TestSettleOutlastsAReflectorsBackOff(t *testing.T) {
	source, scenario := ownsSecret()
	e, steps := ends(t, source, 50000, scenario)
	if e.Failed() {
		t.Fatal(e.Sentence())
	}
	if steps > 1000 {
		t.Errorf("%d steps; expected the collector to slow down", steps)
	}
	source, scenario = ownsSecret()
	if e, _ := ends(t, source, steps*4/5, scenario); e.Failed() {
		t.Errorf("with fewer steps: %s", e.Sentence())
	}
}

// settled is whether the ConfigMap has a key in its data.
func settled(key string) func(*history.History) error {
	return func(h *history.History) error {
		var cm corev1.ConfigMap
		if o, ok := h.Object("", "ConfigMap", "default", "a"); !ok || o.Into(&cm) != nil || cm.Data[key] == "" {
			return errors.New("it is not")
		}
		return nil
	}
}

// An outside service needs twelve requests until it has created something. It refuses the others,
// and says when to ask again, or it accepts them all and the operator asks for the state.
func TestSettleWaitsForACreationOutside(t *testing.T) {
	for code, requests := range map[int]int{http.StatusServiceUnavailable: 12, http.StatusAccepted: 12,
		http.StatusNotFound: 12, http.StatusOK: maxPolls - 1} {
		mustHold(t, func(w *World) {
			asked := 0
			w.External("shop.example", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				if asked++; asked < requests {
					rw.WriteHeader(code)
					return
				}
				fmt.Fprint(rw, "ready")
			}))
			reconciles(w, ctrl.Options{}, func(ctx context.Context, r *reconciling) (ctrl.Result, error) {
				if r.cm.Data["made"] == "yes" {
					return ctrl.Result{}, nil
				}
				if empty, err := r.get(ctx); err != nil || empty {
					return ctrl.Result{RequeueAfter: 30 * time.Second}, err
				}
				return ctrl.Result{}, r.put(ctx, "made", "yes")
			})
			w.Eventually(fmt.Sprintf("it is made, though the service answers %d at first", code), settled("made"))
			w.Apply(configMapA())
			w.Settle()
		})
	}
}

// Settle does not wait long for an operator that never stops asking an outside service.
func TestSettleDoesNotWaitForAPollerOutside(t *testing.T) {
	mustHold(t, func(w *World) {
		w.External("shop.example", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {}))
		reconciles(w, ctrl.Options{}, func(ctx context.Context, r *reconciling) (ctrl.Result, error) {
			_, err := r.get(ctx)
			return ctrl.Result{RequeueAfter: 3 * time.Second}, err
		})
		w.Apply(configMapA())
		w.Settle()
		if now := w.sched.Now(); now > 5*time.Minute {
			t.Errorf("settled after %v", now)
		}
	})
}

// A certificate is renewed every hour, by design, which takes five seconds. Settle gives up after
// three hours, in the middle of the third renewal.
func TestSettleJudgesAtAQuietMoment(t *testing.T) {
	mustHold(t, func(w *World) {
		w.Without("settles")
		reconciles(w, ctrl.Options{}, func(ctx context.Context, r *reconciling) (ctrl.Result, error) {
			at, _ := time.Parse(time.RFC3339, r.cm.Data["begun"])
			if time.Since(at) < time.Hour {
				return ctrl.Result{RequeueAfter: time.Hour}, nil
			}
			now := time.Now().Format(time.RFC3339)
			if err := r.put(ctx, "begun", now); err != nil {
				return ctrl.Result{}, err
			}
			time.Sleep(5 * time.Second)
			return ctrl.Result{}, r.put(ctx, "ended", now)
		})
		judged := 0
		w.Eventually("what has begun has ended", func(h *history.History) error {
			var cm corev1.ConfigMap
			judged++
			if o, ok := h.Object("", "ConfigMap", "default", "a"); !ok || o.Into(&cm) != nil ||
				cm.Data["begun"] != cm.Data["ended"] {
				return fmt.Errorf("%v", cm.Data)
			}
			return nil
		})
		w.Apply(configMapA())
		w.Sleep(16 * time.Second)
		w.Settle()
		if judged == 0 || w.sched.Now() < 3*time.Hour {
			t.Errorf("judged %d times until %v", judged, w.sched.Now())
		}
	})
}

// unsettled runs an operator that the world does not settle with, with each kind of queue, and
// returns the messages.
func unsettled(t *testing.T, do func(context.Context, *reconciling) (ctrl.Result, error)) (messages []string) {
	t.Helper()
	for _, priority := range []bool{false, true} {
		o := ctrl.Options{}
		o.Controller.UsePriorityQueue = &priority
		e, _ := ends(t, choice.Play(nil), 50000, func(w *World) {
			reconciles(w, o, do)
			w.Apply(configMapA())
			w.Settle()
		})
		if e.Kind != result.Settles {
			t.Fatalf("priority=%v: the run ended with %q", priority, e.Sentence())
		}
		messages = append(messages, e.Message)
	}
	return messages
}

func TestUnsettledNamesAKeyThatFails(t *testing.T) {
	n := 0
	for _, got := range unsettled(t, func(ctx context.Context, r *reconciling) (ctrl.Result, error) {
		n++
		log := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.cm.Namespace, Name: "log"}}
		if _, err := controllerutil.CreateOrUpdate(ctx, r.mgr.GetClient(), log, func() error {
			log.Data = map[string][]byte{"tried": []byte(fmt.Sprint(n))}
			return nil
		}); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, errors.New("there is no database")
	}) {
		first, _, _ := strings.Cut(got, ";")
		if !strings.Contains(first, "reconciles of op op default/a since faults ended failed, the last") ||
			!strings.Contains(first, "there is no database") {
			t.Errorf("the message does not begin with the error: %s", got)
		}
		if strings.Contains(got, "Without") {
			t.Errorf("the message advises to hide the error: %s", got)
		}
	}
}

// The wait of three hours has room for two writes, because each period takes five seconds more.
func TestUnsettledAdvisesAPeriodicWriter(t *testing.T) {
	for _, got := range unsettled(t, func(ctx context.Context, r *reconciling) (ctrl.Result, error) {
		at, _ := time.Parse(time.RFC3339, r.cm.Data["at"])
		if time.Since(at) < time.Hour {
			return ctrl.Result{RequeueAfter: time.Hour}, nil
		}
		defer time.Sleep(5 * time.Second)
		return ctrl.Result{}, r.put(ctx, "at", time.Now().Format(time.RFC3339))
	}) {
		if !strings.Contains(got, `as 2 times since faults ended`) ||
			!strings.Contains(got, `say w.Without("settles")`) {
			t.Errorf("no advice: %s", got)
		}
	}
}

// A Settle that need not settle may use up the steps of a run. The scenario continues after it.
func TestAScenarioContinuesWhenSettleUsedUpTheSteps(t *testing.T) {
	e, _ := ends(t, choice.Play(nil), 300, func(w *World) {
		w.Without("settles", "no hot loop")
		reconciles(w, ctrl.Options{}, func(ctx context.Context, r *reconciling) (ctrl.Result, error) {
			return ctrl.Result{RequeueAfter: time.Second}, r.put(ctx, "at", time.Now().Format(time.RFC3339))
		})
		w.Apply(configMapA())
		w.Settle()
		w.Sleep(10 * time.Second)
		w.Remove(configMapA())
		w.Settle()
	})
	if e.Failed() {
		t.Error(e.Sentence())
	}
}
