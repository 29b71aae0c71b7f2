//go:build conformance

package planted

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	results "github.com/wavetank/wavetank/sim/result"
)

// Flags of [TestPlantedBugsAreConfirmed].
var (
	confirmed = flag.String("planted.confirm", "", "confirm these bugs alone, by name, with commas between them")
	tableFile = flag.String("planted.table", "", "write the table of verdicts to this file")
)

// controlPlane starts a control plane and returns its kubeconfig.
func controlPlane(t *testing.T) string {
	t.Helper()
	env := &envtest.Environment{ControlPlaneStartTimeout: time.Minute, ControlPlaneStopTimeout: 20 * time.Second}
	env.ControlPlane.GetAPIServer().Configure().Set("advertise-address", "192.0.2.1")
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	if _, err := env.Start(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, env.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// storyOf finds the bug and returns the path of its story.
func storyOf(t *testing.T, b Bug) string { t.Helper(); return found(t, b.Name, b.Scenario(false)) }

func found(t *testing.T, name string, scenario func(*sim.World)) string {
	t.Helper()
	dir := t.TempDir()
	r := sim.Explore(t, scenario, sim.Strategy("portfolio"), sim.Runs(1000), sim.For(0), sim.Verify(0),
		sim.Stories(dir))
	if r.Failure == nil {
		t.Fatalf("%s is not found", name)
	}
	return filepath.Join(dir, r.Failure.Story.Name())
}

// confirm holds the server of a kubeconfig to a story.
func confirm(t *testing.T, kubeconfig, story string, scenario func(*sim.World)) results.Confirmation {
	t.Helper()
	return explored(t, kubeconfig, story, scenario).Confirmations[0]
}

func explored(t *testing.T, kubeconfig, story string, scenario func(*sim.World)) results.Report {
	t.Helper()
	set(t, "sim.confirm", kubeconfig)
	return sim.Explore(t, scenario, sim.Replay(story))
}

// set sets a flag for the rest of a test.
func set(t *testing.T, name, value string) {
	t.Helper()
	was := flag.Lookup(name).Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set(name, was) }) // it was set before
}

func bug(t *testing.T, name string) Bug {
	t.Helper()
	i := slices.IndexFunc(Bugs(), func(b Bug) bool { return b.Name == name })
	if i < 0 {
		t.Fatalf("there is no bug %s", name)
	}
	return Bugs()[i]
}

// A stale cache, a crash and a lost reply are confirmed, and the same stories do nothing to the
// fixed variants. What is falsified is not confirmed.
func TestConfirm(t *testing.T) {
	kubeconfig := controlPlane(t)
	for name, class := range map[string]string{
		"child-created-twice": "StaleCache", "pair-half-made": "Crash", "own-child-is-foreign": "LostReply",
	} {
		t.Run(name, func(t *testing.T) {
			b := bug(t, name)
			path := storyOf(t, b)
			s, err := story.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			of := func(c story.Choice) bool { return c.Kind == story.Inject && strings.HasPrefix(c.Of, class) }
			if !slices.ContainsFunc(s.Choices, of) {
				t.Fatalf("the story injects no %s: %v", class, s.Choices)
			}
			got := confirm(t, kubeconfig, path, b.Scenario(false))
			if got.Verdict != results.Confirmed || got.Confirmed != 1 {
				t.Errorf("the faulty variant: %s", got.Text())
			}
			got = confirm(t, kubeconfig, path, b.Scenario(true))
			if got.Verdict != results.NotConfirmed || !strings.Contains(got.Why, "violates nothing") {
				t.Errorf("the fixed variant: %s", got.Text())
			}
			s.Choices = slices.DeleteFunc(s.Choices, of)
			falsified, err := s.Write(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if got := confirm(t, kubeconfig, falsified, b.Scenario(false)); got.Verdict != results.NotConfirmed {
				t.Errorf("without its fault: %s", got.Text())
			}
			s.Property = "something else"
			if falsified, err = s.Write(t.TempDir()); err != nil {
				t.Fatal(err)
			}
			if got := confirm(t, kubeconfig, falsified, b.Scenario(false)); got.Verdict == results.Confirmed {
				t.Errorf("with another property: %s", got.Text())
			}
		})
	}
	t.Run("without the order of the story", func(t *testing.T) {
		b := bug(t, "child-created-twice")
		path := storyOf(t, b)
		set(t, "sim.free", "true")
		rows := explored(t, kubeconfig, path, b.Scenario(false)).Estimates[0].Rows
		if first, last := rows[0], rows[len(rows)-1]; first.Violated != 0 || last.Violated != 1 || last.Reconciles == 0 {
			t.Errorf("without faults %+v, in a cache that is late %+v", first, last)
		}
	})
	t.Run("a webhook that refuses", func(t *testing.T) {
		path := found(t, "a webhook", policed(false))
		if got := confirm(t, kubeconfig, path, policed(false)); got.Verdict != results.Confirmed || got.Steps < 4 {
			t.Error(got.Text())
		}
		if got := confirm(t, kubeconfig, path, policed(true)); got.Verdict != results.NotConfirmed {
			t.Errorf("a webhook that allows everything: %s", got.Text())
		}
	})
	t.Run("a server that lags", func(t *testing.T) {
		path := storyOf(t, bug(t, "child-created-twice"))
		s, err := story.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		s.Choices[len(s.Choices)-1].Of = "StaleServer(30s)"
		if path, err = s.Write(t.TempDir()); err != nil {
			t.Fatal(err)
		}
		got := confirm(t, kubeconfig, path, bug(t, "child-created-twice").Scenario(false))
		if got.Verdict != results.CannotBeConfirmed || !strings.Contains(got.Why, "second API server") {
			t.Error(got.Text())
		}
	})
	t.Run("a server that is not empty", func(t *testing.T) {
		path := storyOf(t, bug(t, "child-created-twice"))
		leave(t, kubeconfig)
		got := confirm(t, kubeconfig, path, bug(t, "child-created-twice").Scenario(false))
		if got.Verdict != results.CannotBeConfirmed || !strings.Contains(got.Why, "is not empty: it has ConfigMap") {
			t.Error(got.Text())
		}
	})
}

// policed is a world in which a webhook is asked about a ConfigMap.
func policed(allows bool) func(*sim.World) {
	return func(w *sim.World) {
		w.External("policy.example", &webhook.Admission{Handler: admission.HandlerFunc(
			func(context.Context, admission.Request) admission.Response {
				return admission.ValidationResponse(allows, "")
			})})
		w.Apply(&admissionregv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "policy"},
			Webhooks: []admissionregv1.ValidatingWebhook{{
				Name: "policy.example.com", AdmissionReviewVersions: []string{"v1"},
				SideEffects:  ptr.To(admissionregv1.SideEffectClassNone),
				ClientConfig: admissionregv1.WebhookClientConfig{URL: ptr.To("https://policy.example")},
				Rules: []admissionregv1.RuleWithOperations{{Operations: []admissionregv1.OperationType{"CREATE"},
					Rule: admissionregv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
						Resources: []string{"configmaps"}}}},
			}},
		})
		w.Always("nothing is refused", func(h *history.History) error {
			for _, e := range h.Events {
				if e.Code == http.StatusForbidden {
					return fmt.Errorf("%s is refused", e.Ref)
				}
			}
			return nil
		})
		_ = w.Client().Create(w.Context(), &corev1.ConfigMap{ // the property judges it
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
		w.Settle()
	}
}

// Stories of planted bugs are confirmed at a real API server: 90 % of those that one can show.
func TestPlantedBugsAreConfirmed(t *testing.T) {
	kubeconfig := controlPlane(t)
	counts := map[results.Verdict]int{}
	var rows []string
	for _, b := range Bugs() {
		if *confirmed != "" && !slices.Contains(strings.Split(*confirmed, ","), b.Name) {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			got := confirm(t, kubeconfig, storyOf(t, b), b.Scenario(false))
			counts[got.Verdict]++
			t.Log(got.Text())
			rows = append(rows, row(b, got))
		})
	}
	t.Log(counts)
	if shown := counts[results.Confirmed] + counts[results.NotConfirmed]; 10*counts[results.Confirmed] < 9*shown {
		t.Errorf("%d of %d are confirmed", counts[results.Confirmed], shown)
	}
	if *tableFile != "" {
		if err := os.WriteFile(*tableFile, []byte(strings.Join(rows, "")), 0o666); err != nil {
			t.Error(err)
		}
	}
}

// row is a row of docs/confirmed.md.
func row(b Bug, c results.Confirmation) string {
	why := ""
	if c.Verdict != results.Confirmed {
		why = strings.Join(strings.Fields(c.Why), " ")
	}
	pace := ""
	if c.Paced {
		pace = "yes"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %d | %s | %.1f | %s |\n", b.Name, b.Pattern, c.Verdict, c.Steps, pace,
		c.Took.Seconds(), strings.ReplaceAll(why, "|", "/"))
}
