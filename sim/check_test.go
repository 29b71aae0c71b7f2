// This file exists for what the door does with calls that could be taken for misuse and are not.

package sim_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/campaign"
)

// stepping is a built-in controller that does one thing after a second.
type stepping struct{ do func(actor.Cluster) }

func (s *stepping) Name() string             { return "stepping" }
func (s *stepping) Observe(apiserver.Change) {}
func (s *stepping) Begin(c actor.Cluster) {
	c.After(time.Second, "do", func() { s.do(c) })
}

// A built-in controller may end a process in one of its steps, whether webhooks are there (the step
// has a stack of its own then) or not, and also after it has waited for one.
func TestABuiltinControllerStopsAProcess(t *testing.T) {
	for _, webhooks := range []bool{false, true} {
		withoutFailure(t, sim.Explore(t, func(w *sim.World) {
			w.Start("keeper",
				func(mgr ctrl.Manager) error { return (&keeper{mgr.GetAPIReader()}).SetupWithManager(mgr) })
			if webhooks {
				w.Apply(hooked(admissionregv1.Fail)...)
			}
			w.Builtin(&stepping{func(c actor.Cluster) {
				path := actor.Path("", "v1", "default", "configmaps", "")
				if err := actor.Do(c, http.MethodPost, path, configMap("a"), nil); err != nil {
					t.Error(err)
				}
				w.Stop("keeper")
			}})
			w.Settle()
			incarnations := 0
			for _, e := range w.History().Events {
				if e.Kind == history.Start {
					incarnations++
				}
			}
			if incarnations != 2 {
				t.Errorf("%d incarnations, want 2", incarnations)
			}
		}, sim.Runs(10), sim.Verify(1)))
	}
}

// shelf is a kind that one scheme alone knows: ConfigMaps under a type of the program's own.
type shelf struct{ corev1.ConfigMap }

func (s *shelf) DeepCopyObject() runtime.Object { return &shelf{*s.DeepCopy()} }

// A program without a manager has a scheme, too: what it knows, w.Apply and w.Client know.
func TestTheSchemeOfAProgramIsKnown(t *testing.T) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, &shelf{})
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	withoutFailure(t, sim.Explore(t, func(w *sim.World) {
		elsewhere := w.Cluster("prod.example")
		w.Run("op", func(ctx context.Context, _ *rest.Config) error { <-ctx.Done(); return nil },
			sim.Options(ctrl.Options{Scheme: scheme}))
		w.Apply(&shelf{*configMap("a", "k", "v")})
		elsewhere.Apply(&shelf{*configMap("b")})
		var got shelf
		if err := w.Client().Get(w.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &got); err != nil ||
			got.Data["k"] != "v" {
			t.Errorf("%v, %v", got.Data, err)
		}
	}, sim.Runs(1)))
}

// What was read can be changed and applied, whether w.Apply made it or not, and whether it is still
// the same object.
func TestApplyOfWhatWasRead(t *testing.T) {
	withoutFailure(t, sim.Explore(t, func(w *sim.World) {
		cm := configMap("a")
		if err := w.Client().Create(w.Context(), cm); err != nil {
			t.Error(err)
		}
		cm.Data = map[string]string{"k": "v"}
		w.Apply(cm)
		w.Remove(configMap("a"))
		w.Apply(configMap("a"))
		w.Apply(cm)
		var got corev1.ConfigMap
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(cm), &got); err != nil ||
			got.Data["k"] != "v" || got.UID == cm.UID {
			t.Errorf("%v %v, %v", got.UID, got.Data, err)
		}
	}, sim.Runs(1)))
}

// A process of which no reconcile ends well is worth a warning: what holds may hold because nothing
// is done.
func TestAProcessThatAchievesNothing(t *testing.T) {
	for _, failing := range []bool{false, true} {
		r := sim.Explore(t, func(w *sim.World) {
			w.Start("op", func(mgr ctrl.Manager) error {
				return ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{}).Complete(reconcile.Func(
					func(context.Context, reconcile.Request) (reconcile.Result, error) {
						if failing {
							return reconcile.Result{}, errors.New("no such flavour")
						}
						return reconcile.Result{}, nil
					}))
			})
			w.Apply(configMap("a"))
			w.Settle()
		}, sim.Runs(20), sim.For(0))
		got, want := strings.Join(r.Warnings, "\n"), ""
		if failing {
			want = `ConfigMap default/a never became ready: no such flavour; ` +
				`add to the scenario what the object needs (the last reconcile of controller "op" failed ` +
				`whenever the world was quiescent, in all 20 runs, so what holds may hold because nothing is done)`
		}
		if r.Failure != nil || got != want {
			t.Errorf("%v: warnings are %q, want %q", r.Failure, got, want)
		}
	}
}

// A campaign that found nothing says with -v how much it tried.
func TestACampaignSaysWhatItTried(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestAnotherCluster$", "-test.v")
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"sim: nothing broke in ", "of virtual time", "StaleCache(1m0s) injected"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %q is not said:\n%s", err, want, out)
		}
	}
}

// quiet is a host that keeps what it is told.
type quiet struct {
	*testing.T
	told []string
}

func (q *quiet) Package() string                { return "example.com/p" }
func (q *quiet) Replay(string) string           { return "" }
func (q *quiet) Logf(format string, a ...any)   { q.told = append(q.told, fmt.Sprintf(format, a...)) }
func (q *quiet) Fatalf(format string, a ...any) { q.Logf(format, a...) }

// A story whose property has moved to another line is still about that property, and one that meets
// a misuse of the door tells of the misuse alone.
func TestAStoryWhosePropertyMoved(t *testing.T) {
	broken := func(w *sim.World) {
		w.Always("nothing is there", func(h *history.History) error {
			if len(h.Objects("", "ConfigMap")) > 0 {
				return errors.New("something is")
			}
			return nil
		})
		w.Apply(configMap("a"))
	}
	dir := t.TempDir()
	file := sim.Explore(t, broken, sim.Stories(dir)).Failure.File
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	moved := regexp.MustCompile(`declared: .*`).ReplaceAll(text, []byte("declared: check_test.go:1"))
	if err := os.WriteFile(file, moved, 0o600); err != nil {
		t.Fatal(err)
	}
	q := &quiet{T: t}
	if r := sim.Explore(t, broken, sim.Replay(file), campaign.On(q)); r.Failure == nil || len(q.told) > 0 {
		t.Errorf("%+v, and it says %q", r.Failure, q.told)
	}
	sim.Explore(t, func(w *sim.World) { w.Install(42) }, sim.Replay(file), campaign.On(q))
	if len(q.told) != 1 || !strings.Contains(q.told[0], "w.Install was given a int") {
		t.Errorf("it says %q", q.told)
	}
}
