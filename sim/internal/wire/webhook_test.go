package wire

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/wavetank/wavetank/models/apiserver"
)

// configure has ConfigMaps judged by a webhook, at a URL or, for "", at a Service.
func (w *world) configure(t *testing.T, url string) {
	t.Helper()
	client := `"service":{"namespace":"default","name":"hook","path":"/judge"}`
	if url != "" {
		client = fmt.Sprintf(`"url":%q`, url)
	}
	w.must(t, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
		`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
		"metadata":{"name":"hook"},"webhooks":[{"name":"hook.example.com",
		"sideEffects":"None","admissionReviewVersions":["v1"],"timeoutSeconds":5,"clientConfig":{`+client+`},
		"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`)
}

// judge is a webhook that allows all ConfigMaps but those called "bad".
func judge(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: review.Request.Name != "bad"}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(review) //nolint:errcheck // into memory
}

// serve lets a program serve the webhook.
func (w *world) serve(name string, h http.HandlerFunc) *program {
	p := w.program(name)
	start := func(f func()) { go f() }
	w.serving = append(w.serving, Endpoint{Port: p.Port, Handler: h, Context: context.Background(), Go: start})
	return p
}

// A request that a webhook judges waits at the server. The call arrives in one step and its answer
// in another.
func TestARequestWaitsForItsWebhook(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.configure(t, "")
		w.serve("hook", judge)
		p := w.program("p")
		good := w.create(p, "good")
		for _, want := range []string{"request", "call of the webhook"} {
			w.Sched.Step(time.Second)
			expect(t, "stored after the step of the "+want, w.stored("good"), false)
		}
		w.Sched.Step(time.Second)
		expect(t, "stored after the answer of the webhook", w.stored("good"), true)
		w.drain(time.Second)
		bad := w.create(p, "bad")
		w.drain(2 * time.Second)
		expect(t, "replies", fmt.Sprint(good, bad), "201 400")
		expect(t, "stored", w.stored("bad"), false)
		if len(w.Sched.Pending()) > 0 {
			t.Errorf("pending: %s", w.Sched.Pending()[0].What())
		}
	})
}

func TestWebhooksThatDoNotAnswer(t *testing.T) {
	lost := func(*Call) Ruling { return Ruling{Lose: errLost} }
	sleep := func(http.ResponseWriter, *http.Request) { time.Sleep(time.Minute) }
	for name, c := range map[string]struct {
		url     string
		rule    func(*Call) Ruling
		handler http.HandlerFunc
		says    string
	}{
		"nothing serves it":  {says: "connection refused"},
		"lost":               {rule: lost, handler: judge, says: errLost.Error()},
		"slow":               {handler: sleep, says: "context deadline exceeded"},
		"panics":             {handler: func(http.ResponseWriter, *http.Request) { panic("oops") }, says: "EOF"},
		"an unknown address": {url: "https://nobody.example/judge", says: "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.configure(t, c.url)
				if c.rule != nil {
					w.webhook = c.rule
				}
				if c.handler != nil {
					w.serve("hook", c.handler)
				}
				got := w.create(w.program("p"), "good")
				w.drain(10 * time.Minute)
				if got.Code != http.StatusInternalServerError || !strings.Contains(got.Body, c.says) {
					t.Errorf("%s %s; want %q", got, got.Body, c.says)
				}
			})
		})
	}
}

// A webhook at a URL may be a model of the outside world.
func TestAWebhookOutsideTheCluster(t *testing.T) {
	for _, host := range []string{"judge.example", "*.example"} {
		run(t, func(t *testing.T, w *world) {
			w.configure(t, "https://judge.example/judge")
			if err := w.Hosts.Outside(host, http.HandlerFunc(judge)); err != nil {
				t.Fatal(err)
			}
			p := w.program("p")
			good, bad := w.create(p, "good"), w.create(p, "bad")
			w.drain(time.Second)
			expect(t, "replies", fmt.Sprint(good, bad), "201 400")
		})
	}
}

// The server of a webhook is killed while it works: the connection ends, and the API server hears
// that.
func TestAWebhookServerIsKilled(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.configure(t, "")
		server := w.serve("hook", func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) })
		got := w.create(w.program("p"), "good")
		w.drain(100 * time.Millisecond)
		w.Bury(server.Port)
		w.drain(2 * time.Second)
		expect(t, "reply", got, http.StatusInternalServerError)
		expect(t, "webhook's error in the reply", strings.Contains(got.Body, "EOF"), true)
	})
}

// A call to a paused server waits until it resumes, and reaches it then.
func TestAFrozenWebhookServerIsAskedLater(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.configure(t, "")
		server := w.serve("hook", judge)
		server.Freeze()
		got := w.create(w.program("p"), "good")
		w.drain(time.Second)
		expect(t, "reply while it is frozen", got, "waits")
		server.Thaw()
		w.drain(2 * time.Second)
		expect(t, "reply when it resumes", got, http.StatusCreated)
	})
}

// The caller is gone when its webhook has answered: the server gives up, and nothing is stored.
func TestTheServerGivesUpWhenTheCallerIsGone(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.configure(t, "")
		w.serve("hook", judge)
		p := w.program("p")
		w.create(p, "good")
		w.Sched.Step(time.Second)
		w.Bury(p.Port)
		w.drain(time.Second)
		expect(t, "stored", w.stored("good"), false)
	})
}

// A step of a built-in controller waits for webhooks, too, and then continues.
func TestAStepOfABuiltInControllerWaitsForWebhooks(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.configure(t, "")
		w.serve("hook", judge)
		var log []string
		req, _ := http.NewRequest(http.MethodPost, "http://"+APIHost+configMaps, nil)
		step := func() {
			resp := w.Write("controller", apiserver.Request{
				Method: http.MethodPost, URL: req.URL, Body: []byte(configMap("a")), User: "c",
				Header: http.Header{"Content-Type": {"application/json"}}, Groups: []string{"system:masters"},
			})
			log = append(log, fmt.Sprint(resp.Code))
		}
		w.Step(step, func() { log = append(log, "ended") })
		expect(t, "before the webhook has answered", log, "[]")
		w.drain(time.Second)
		expect(t, "when it has", log, "[201 ended]")
		w.Step(step, func() { log = append(log, "not reached") })
		w.Release(synctest.Wait)
		expect(t, "when the run has ended", log, "[201 ended]")
	})
}

// Without webhooks a step is over when it returns.
func TestAStepWithoutWebhooksEndsAtOnce(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ended := false
		w.Step(func() { w.commit(t, "a") }, func() { ended = true })
		expect(t, "ended", ended, true)
		expect(t, "commits", w.commits, "[ADDED a]")
	})
}

func answer(patch string) []byte {
	encoded := base64.StdEncoding.EncodeToString([]byte(patch))
	const review = `{"kind":"AdmissionReview","response":{"uid":"u","allowed":true,"patchType":"JSONPatch","patch":%q}}`
	return fmt.Appendf(nil, review, encoded)
}

func patchIn(t *testing.T, body []byte) string {
	t.Helper()
	var review struct {
		Response struct{ Patch []byte }
	}
	if err := json.Unmarshal(body, &review); err != nil {
		t.Fatal(err)
	}
	return string(review.Response.Patch)
}

// Whatever order the fields of an object come in, the patch is the same and does the same.
func TestPatchesInOneOrder(t *testing.T) {
	before := []byte(`{"a":{"k":1},"b":{"list":[1,{"x":1,"y":2},3,4]},"1":{"2":"z"}}`)
	fields := [][]string{
		{`{"op":"replace","path":"/a/k","value":2}`, `{"op":"add","path":"/a/l","value":3}`},
		{
			`{"op":"remove","path":"/b/list/3"}`, `{"op":"remove","path":"/b/list/2"}`,
			`{"op":"replace","path":"/b/list/1/x","value":5}`,
		},
		{
			`{"op":"add","path":"/c","value":{}}`, `{"op":"add","path":"/c/z","value":1}`,
			`{"op":"add","path":"/c/y","value":1}`,
		},
		{`{"op":"remove","path":"/1"}`},
	}
	want, done := "", ""
	for range 50 {
		text := ""
		for _, i := range rand.Perm(len(fields)) {
			for _, o := range fields[i] {
				text += "," + o
			}
		}
		got := patchIn(t, sortPatch(answer("["+text[1:]+"]")))
		p, err := jsonpatch.DecodePatch([]byte(got))
		if err != nil {
			t.Fatal(err)
		}
		after, err := p.Apply(before)
		if err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if want == "" {
			want, done = got, string(after)
		}
		if got != want || string(after) != done {
			t.Errorf("%s\n%s\n%s\n%s", got, want, after, done)
		}
	}
	if done != `{"a":{"k":2,"l":3},"b":{"list":[1,{"x":5,"y":2}]},"c":{"y":1,"z":1}}` {
		t.Error(done)
	}
}

// What depends on its order keeps it, and what is no patch stays as it is.
func TestPatchesThatKeepTheirOrder(t *testing.T) {
	for _, patch := range []string{
		`[{"op":"add","path":"/list/-","value":"b"},{"op":"add","path":"/list/-","value":"a"}]`,
		`[{"op":"add","path":"/b","value":{"x":1}},{"op":"move","path":"/a","from":"/b"}]`,
		`[{"op":"add","path":"/b","value":{}},{"op":"add","path":"/a","value":1},{"op":"test","path":"/a","value":1}]`,
		`[{"op":"add","path":"/b/c","value":1},{"op":"replace","path":"/b","value":{}}]`,
		`nonsense`, `[{"path":7}]`, `[]`,
	} {
		if got := patchIn(t, sortPatch(answer(patch))); got != patch {
			t.Errorf("%s became %s", patch, got)
		}
	}
	for _, body := range []string{"", "nonsense", `{"patch":1}`, `{"response":{"patch":"###"}}`} {
		if got := string(sortPatch([]byte(body))); got != body {
			t.Errorf("%s became %s", body, got)
		}
	}
}
