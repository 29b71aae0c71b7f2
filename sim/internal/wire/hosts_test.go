package wire

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/history"
)

// says is a model that answers with a word.
func says(word string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, word) })
}

func TestHostsAndPatterns(t *testing.T) {
	const noHost = "no such host"
	for host, want := range map[string]struct{ answer, unknown string }{
		"git.example":        {answer: "exact"},
		"ghcr.example":       {answer: "pattern"},
		"eu.registry.sample": {answer: "longer"},
		"us.registry.sample": {answer: "long"},
		"web.port.test:80":   {answer: "port"},
		"a.b.example":        {answer: noHost, unknown: "a.b.example"}, // a star stands for no dot
		"gone.example.org":   {answer: noHost},
		"x.gone.test":        {answer: noHost},
		"ab.clash":           {answer: noHost, unknown: `ab.clash both "?b.clash" and "a?.clash"`},
		"nobody.example.org": {answer: noHost, unknown: "nobody.example.org"},
	} {
		t.Run(host, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				for pattern, h := range map[string]http.Handler{
					"git.example": says("exact"), "*.example": says("pattern"), "*.registry.sample": says("long"),
					"e?.registry.sample": says("longer"), "gone.example.org": nil, "*.gone.test": nil,
					"*.port.test:*": says("port"),
					"a?.clash":      says("one"), "?b.clash": says("other"),
				} {
					if err := w.Hosts.Outside(pattern, h); err != nil {
						t.Fatal(err)
					}
				}
				w.asks(t, host, want.answer, want.unknown)
			})
		})
	}
}

// asks sends a request to a host, and checks its answer and which hosts are unknown then.
func (w *world) asks(t *testing.T, host, answer, unknown string) {
	got := w.send(context.Background(), w.program("p"), http.MethodGet, "http://"+host+"/", "")
	w.drain(time.Second)
	text := got.Body
	if got.Err != nil {
		text = got.Err.Error()
	}
	if !strings.Contains(text, answer) {
		t.Errorf("%s answers %q, want %q", host, text, answer)
	}
	expect(t, "unknown hosts", strings.Join(w.unknown, ", "), unknown)
}

func TestHostsThatCannotBeDeclared(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for _, host := range []string{"a.example", "*.example"} {
			if err := w.Hosts.Outside(host, says("")); err != nil {
				t.Fatal(err)
			}
		}
		for host, want := range map[string]string{
			"a.example": "declared twice", "*.example": "declared twice", APIHost: "declared twice",
			"*.example/path": "has a slash", "[.example*": "malformed",
		} {
			if err := w.Hosts.Outside(host, says("")); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", host, err, want)
			}
		}
		if err := w.Hosts.Remote("a.example", w.Server()); err == nil {
			t.Error("a cluster was declared at a host that has a model")
		}
	})
}

const service = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"ports":[{"port":80}]}}`

// A Service has several names. What it does not have is refused, and a name of the cluster without
// a Service does not exist.
func TestHostsOfServices(t *testing.T) {
	for host, want := range map[string]struct{ answer, unknown string }{
		"web.default":                         {answer: "web"},
		"web.default.svc":                     {answer: "web"},
		"web.default.svc.cluster.local.":      {answer: "web"},
		"web.default.svc:80":                  {answer: "web"},
		"web.default.svc:81":                  {answer: "connection refused"},
		"other.default.svc":                   {answer: "no such host"},
		"other.default":                       {answer: "no such host"},
		"other.nowhere":                       {answer: "no such host", unknown: "other.nowhere"},
		"web.default.svc.another.domain.test": {answer: "no such host", unknown: "web.default.svc.another.domain.test"},
	} {
		t.Run(host, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Hosts.Services(func(s *corev1.Service) http.Handler { return says(s.Name) })
				w.must(t, "/api/v1/namespaces/default/services", service)
				w.asks(t, host, want.answer, want.unknown)
			})
		})
	}
}

// The effects of a request to a model are those that the model reports; without any, the request
// itself is one if it may have changed something.
func TestEffectsOutside(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		serve := func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/reported" {
				history.AddEffect(r.Context(), history.Effect{Kind: "pull request", Key: "7"})
			}
			if r.URL.Path == "/refused" {
				http.Error(rw, "no", http.StatusForbidden)
			}
		}
		if err := w.Hosts.Outside("git.example", http.HandlerFunc(serve)); err != nil {
			t.Fatal(err)
		}
		p := w.program("p")
		p.Attribute = func(context.Context) history.Reconcile { return reconcileOf(1) }
		for _, r := range []string{"POST /reported", "POST /unreported", "POST /refused", "GET /read"} {
			method, path, _ := strings.Cut(r, " ")
			w.send(context.Background(), p, method, "http://git.example"+path, "body")
			w.drain(w.Sched.Now() + time.Second)
		}
		var got []string
		for _, kind := range []string{"pull request", history.Requested} {
			for _, e := range w.History.Effects(kind) {
				got = append(got, fmt.Sprintf("%s %s%s of %s/%d %s, event %d",
					e.Kind, e.Key, e.Detail, e.Process, e.Incarnation, e.Reconcile, e.Event))
			}
		}
		expect(t, "effects", strings.Join(got, "\n"),
			"pull request 7 of p/1 c default/a #1, event 0\n"+
				history.Requested+" POST git.example/unreported of p/1 c default/a #1, event 2")
	})
}

// client-go's event broadcaster holds a mutex while it writes, so it gets at once what the server
// would say. The request itself takes steps like every other.
func TestEventSeriesAreAcknowledgedAtOnce(t *testing.T) {
	const events = "/apis/events.k8s.io/v1/namespaces/default/events"
	run(t, func(t *testing.T, w *world) {
		p := w.program("p")
		body := `{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e"},
			"eventTime":"2000-01-01T00:00:00.000000Z","type":"Normal","reason":"r","action":"a",
			"reportingController":"c","reportingInstance":"i","regarding":{"namespace":"default"}}`
		const series = `{"series":{"count":2,"lastObservedTime":"2000-01-01T00:00:01.000000Z"}}`
		b := &eventBroadcasterImpl{w, p}
		b.finishSeries(http.MethodPost, events, body)
		expect(t, "answer to a create", b.w.replies, "[POST "+events+"]")
		expect(t, "commits before the step", w.commits, "[]")
		b.finishSeries(http.MethodPatch, events+"/e", series)
		w.drain(time.Second)
		expect(t, "commits", w.commits, "[ADDED e]")
		b.finishSeries(http.MethodPatch, events+"/e", series)
		w.drain(2 * time.Second)
		expect(t, "commits", w.commits, "[ADDED e MODIFIED e]")
		expect(t, "steps of its caller", len(b.w.replies), 3)
	})
}

// eventBroadcasterImpl has the name of client-go's type, by which such requests are known.
type eventBroadcasterImpl struct {
	w *world
	p *program
}

func (e *eventBroadcasterImpl) finishSeries(method, path, body string) {
	req, err := http.NewRequest(method, "http://"+APIHost+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", map[string]string{
		http.MethodPost: "application/json", http.MethodPatch: "application/strategic-merge-patch+json",
	}[method])
	if _, err := e.p.RoundTrip(req); err != nil {
		panic(err)
	}
	e.w.replies = append(e.w.replies, method+" "+path)
}
