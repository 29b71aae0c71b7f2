// This file exists for effects outside the cluster of which their model says nothing.

package sim_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

// records is a DNS service that does not know of effects: each POST makes a record.
type records struct{ made int }

func (r *records) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch {
	case req.Method == http.MethodPost:
		r.made++
		w.WriteHeader(http.StatusCreated)
	case strings.HasSuffix(req.URL.Path, "/absent"):
		w.WriteHeader(http.StatusNotFound)
	case req.Method == "PATCH":
		history.AddEffect(req.Context(), history.Effect{Kind: "renamed", Key: "a"})
	case req.Method == "PURGE":
		history.AddEffect(req.Context(), history.Effect{Key: "b"})
	}
}

func TestOutsideRequestsAreEffects(t *testing.T) {
	want := []string{
		"request/ POST dns.example/records", "request/ PUT dns.example/records/a", "renamed/a ", "request/b ",
		"request/ DELETE dns.example/records/a",
	}
	simtest.Holds(t, func(w *sim.World) {
		w.External("dns.example", &records{})
		url := "https://policy.example/validate"
		hook := hooked(admissionregv1.Fail)[1].(*admissionregv1.ValidatingWebhookConfiguration)
		hook.Webhooks[0].ClientConfig = admissionregv1.WebhookClientConfig{URL: &url}
		hook.Webhooks[0].Rules[0].Operations = []admissionregv1.OperationType{"CREATE"}
		w.External("policy.example", &webhook.Admission{Handler: admission.HandlerFunc(
			func(context.Context, admission.Request) admission.Response { return admission.Allowed("") })})
		w.Apply(hook, simtest.ConfigMap("a")) // the API server's own POST to a webhook is no effect
		w.Run("op", func(ctx context.Context, cfg *rest.Config) error {
			for _, call := range []string{"GET /records", "HEAD /records", "POST /records", "PUT /records/a",
				"PUT /records/absent",
				"PATCH /records/a", "PURGE /records/b", "DELETE /records/a"} {
				method, path, _ := strings.Cut(call, " ")
				req, err := http.NewRequestWithContext(ctx, method, "http://dns.example"+path, strings.NewReader("{}"))
				if err != nil {
					return err
				}
				resp, err := (&http.Client{Transport: cfg.Transport}).Do(req)
				if err != nil {
					return err
				}
				resp.Body.Close()
			}
			<-ctx.Done()
			return nil
		})
		w.Settle()
		var got []string
		for _, e := range w.History().Effects("") {
			got = append(got, fmt.Sprintf("%s/%s %s", e.Kind, e.Key, e.Detail))
			if at := w.History().Events[e.Event]; at.Kind != history.Request || at.Host != "dns.example" ||
				e.Process != "op" {
				t.Errorf("effect %s is of %s by %q", got[len(got)-1], at.Host, e.Process)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the effects are %q, want %q", got, want)
		}
	}, sim.Runs(2), sim.Verify(1))
}

// An operator that sets its records again in each reconcile does nothing wrong.
func TestEffectsWithoutAKeyViolateNothing(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		dns := &records{}
		w.External("mail.example", dns)
		w.Start("op", simtest.Mailer{Forgetful: true}.Setup)
		w.Always("at most once", property.AtMostOnce(""))
		w.Always("at most one request", property.AtMostOnce(history.Requested))
		w.Eventually("exactly once", property.ExactlyOnce(""))
		w.Always("rests", property.IdempotentAtRest())
		w.Apply(simtest.Source("a"))
		w.Settle()
		w.Stop("op")
		w.Settle()
		if n := len(w.History().Effects(history.Requested)); n != dns.made || n < 2 {
			t.Errorf("%d letters were sent and %d effects are recorded; at least 2 of each were expected", dns.made, n)
		}
	}, sim.Runs(5), sim.Verify(1))
}

// What led to a second record: the first request belongs to it, though the model names no key.
func TestChainHasRequestsWithoutAKey(t *testing.T) {
	report := sim.Explore(t, func(w *sim.World) {
		dns := &records{}
		w.External("mail.example", dns)
		w.Start("op", simtest.Mailer{}.Setup)
		w.Inject(fault.LostReply())
		w.Always("one record", func(*history.History) error {
			if dns.made > 1 {
				return fmt.Errorf("there are %d records", dns.made)
			}
			return nil
		})
		w.Apply(simtest.Source("a"))
		w.Settle()
	}, sim.Stories(t.TempDir()))
	if report.Failure == nil {
		t.Fatal("a lost reply makes no second record")
	}
	h := report.Failure.History
	var posts, linked []int
	for i, e := range h.Events {
		if e.Kind == history.Request && e.Verb == http.MethodPost {
			posts = append(posts, i)
		}
	}
	for _, l := range reports.Chain(h) {
		for _, i := range []int{l.From, l.To} {
			if slices.Contains(posts, i) && !slices.Contains(linked, i) {
				linked = append(linked, i)
			}
		}
	}
	slices.Sort(linked)
	if len(posts) != 2 || !slices.Equal(posts, linked) {
		t.Errorf("the requests %v made records, and the chain of causes has %v", posts, linked)
	}
	if text := strings.Join(h.Render(), "\n"); strings.Contains(text, "; request:") {
		t.Errorf("the story says a request twice:\n%s", text)
	}
}
